//! SQL texts inside definition files: places in the SQL become places in the file that the user wrote.

use std::ops::Range;

use crate::definitions::DefinitionFile;
use crate::error::{Problem, Span};
use crate::parse::yaml::Text;
use crate::sql::Fault;

/// A text that is read by another parser, with the way back to its file.
#[derive(Debug, Clone)]
pub(crate) struct Embedded {
    /// The text.
    pub(crate) text: String,
    /// All of it in its file.
    pub(crate) span: Span,
    /// For each line of the text: its first byte in the text, and in the file. Empty when the file's form
    /// (escapes, folded lines) has no simple way back.
    lines: Vec<(usize, usize)>,
}

impl Embedded {
    /// A whole file.
    pub(crate) fn file(file: &DefinitionFile) -> Self {
        Self {
            text: file.text.clone(),
            span: Span {
                file: file.path.clone(),
                bytes: 0..file.text.len(),
            },
            lines: vec![(0, 0)],
        }
    }

    /// A scalar of a YAML file with the text `source`.
    pub(crate) fn scalar(scalar: &Text, source: &str) -> Self {
        Self {
            text: scalar.text.clone(),
            span: scalar.span.clone(),
            lines: line_starts(&scalar.text, source, &scalar.span.bytes).unwrap_or_default(),
        }
    }

    /// Where a part of the text stands in its file, or all of the text when that is not known.
    pub(crate) fn place(&self, part: Option<Range<usize>>) -> Span {
        let found = part.and_then(|part| {
            let (text_start, file_start) = self
                .lines
                .iter()
                .rev()
                .find(|(start, _)| *start <= part.start)?;
            let start = file_start + (part.start - text_start);
            let one_line = !self.text.get(part.clone())?.contains('\n');
            let end = if one_line || self.lines.len() == 1 {
                start + part.len()
            } else {
                start
            };
            (end <= self.span.bytes.end).then_some(start..end)
        });
        Span {
            file: self.span.file.clone(),
            bytes: found.unwrap_or_else(|| self.span.bytes.clone()),
        }
    }

    /// A fault of this text as a problem of its file.
    pub(crate) fn problem(&self, fault: Fault) -> Problem {
        Problem {
            message: fault.message,
            span: self.place(fault.range),
            label: fault.label,
            help: fault.help,
        }
    }
}

/// Finds each line of `text` within `source[within]`, in order.
fn line_starts(text: &str, source: &str, within: &Range<usize>) -> Option<Vec<(usize, usize)>> {
    let mut lines = Vec::new();
    let mut at_text = 0;
    let mut at_source = within.start;
    for line in text.split('\n') {
        let found = source.get(at_source..within.end)?.find(line)?;
        lines.push((at_text, at_source + found));
        at_text += line.len() + 1;
        at_source += found + line.len();
    }
    Some(lines)
}
