//! Problems in definition files: all of them at once, each with its place.

use std::fmt;
use std::ops::Range;

use crate::definitions::DefinitionFile;

/// A place in a definition file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// Path of the file relative to the project's root.
    pub file: String,
    /// Bytes of the file's text.
    pub bytes: Range<usize>,
}

/// One thing that is wrong in a definition file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong: lower case, no full stop, names in backticks.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands at the place, or why it is wrong, in a few words; may be empty.
    pub label: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without a label. An empty `help` is none.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = help.into();
        Self {
            message: message.into(),
            span,
            label: String::new(),
            help: (!help.is_empty()).then_some(help),
        }
    }
}

/// Every problem that was found in one pass, with the texts that they point into.
#[derive(Debug, Clone)]
pub struct Problems {
    /// The problems, by file and place.
    pub problems: Vec<Problem>,
    /// The files that they point into.
    pub files: Vec<DefinitionFile>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::report::render(self, false))
    }
}

impl std::error::Error for Problems {}
