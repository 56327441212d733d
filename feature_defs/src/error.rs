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
            message: masked(&message.into()),
            span,
            label: String::new(),
            help: (!help.is_empty()).then(|| masked(&help)),
        }
    }
}

/// A text with the passwords of its URLs (`scheme://user:password@host`) starred out, each byte by one star, so that
/// places in it stay.
pub(crate) fn masked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme) = rest.find("://") {
        let (before, url) = rest.split_at(scheme + "://".len());
        shown.push_str(before);
        let end =
            url.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '/' | ','));
        let authority = &url[..end.unwrap_or(url.len())];
        let password = authority
            .rfind('@')
            .and_then(|at| authority[..at].find(':').map(|colon| colon + 1..at));
        if let Some(password) = password {
            shown.push_str(&authority[..password.start]);
            shown.extend(std::iter::repeat_n('*', password.len()));
            rest = &url[password.end..];
        } else {
            rest = url;
        }
    }
    shown.push_str(rest);
    shown
}

/// Every problem that was found in one pass, with the texts that they point into.
#[derive(Debug, Clone)]
pub struct Problems {
    /// The problems, by file and place.
    pub problems: Vec<Problem>,
    /// The files that they point into.
    pub files: Vec<DefinitionFile>,
}

impl Problems {
    /// Line and column, both from 1 and in characters, where a problem starts.
    #[must_use]
    pub fn place(&self, problem: &Problem) -> (usize, usize) {
        let mut files = self.files.iter();
        let file = files.find(|file| file.path == problem.span.file);
        let before = file
            .and_then(|file| file.text.get(..problem.span.bytes.start))
            .unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::report::render(self, false))
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn passwords_of_urls_are_starred_out_and_nothing_moves() {
        for (text, expected) in [
            (
                "registry: postgres://u:s3cr@t@db/x",
                "registry: postgres://u:******@db/x",
            ),
            (
                "a redis://:pw@h b postgres://u:pä@h",
                "a redis://:**@h b postgres://u:***@h",
            ),
            ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
            ("postgres://user@host:5432/x", "postgres://user@host:5432/x"),
            ("no url: a@b", "no url: a@b"),
        ] {
            let shown = masked(text);
            assert_eq!(shown, expected);
            assert_eq!(shown.len(), text.len());
        }
    }
}
