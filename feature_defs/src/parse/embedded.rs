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
    /// For each word of the text: its first byte in the text, and in the file. The words after one that is written with
    /// escapes are left out.
    words: Vec<(usize, usize)>,
    /// Whether it is a whole file.
    is_file: bool,
    /// Bytes of the first line in the file.
    first_line_length: usize,
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
            words: vec![(0, 0)],
            is_file: true,
            first_line_length: line_length(&file.text),
        }
    }

    /// A scalar of a YAML file with the text `source`.
    pub(crate) fn scalar(scalar: &Text, source: &str) -> Self {
        Self {
            text: scalar.text.clone(),
            span: scalar.span.clone(),
            is_file: false,
            words: words(&scalar.text, source, &scalar.span.bytes),
            first_line_length: source.get(scalar.span.bytes.clone()).map_or(0, line_length),
        }
    }

    /// Where a part of the text stands in its file. The text's first word stands for all of it, and its first line for
    /// a part whose place is not known.
    pub(crate) fn place(&self, part: Option<Range<usize>>) -> Span {
        let part = part.unwrap_or_else(|| first_word(&self.text));
        Span {
            file: self.span.file.clone(),
            bytes: self.in_file(part).unwrap_or_else(|| self.first_line()),
        }
    }

    fn in_file(&self, part: Range<usize>) -> Option<Range<usize>> {
        let mut words = self.words.iter().rev();
        let (text_start, file_start) = words.find(|(start, _)| *start <= part.start)?;
        let start = file_start + (part.start - text_start);
        let one_word = self.is_file
            || !self
                .text
                .get(*text_start..part.start)?
                .contains(char::is_whitespace);
        if !one_word {
            return None;
        }
        let first_line = self.text.get(part)?.lines().next().unwrap_or_default();
        let end = start + first_line.len();
        (end <= self.span.bytes.end).then_some(start..end)
    }

    /// The first line of the text's place in its file.
    fn first_line(&self) -> Range<usize> {
        let Range { start, end } = self.span.bytes;
        start..end.min(start + self.first_line_length)
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

/// Finds each word of `text` within `source[within]`, in order, up to the first that is written otherwise. Blanks between
/// words may differ, as in folded texts.
fn words(text: &str, source: &str, within: &Range<usize>) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let Some(place) = source.get(within.clone()) else {
        return words;
    };
    let mut at_text = 0;
    let mut at_place = 0;
    for word in text.split_whitespace() {
        at_text += text[at_text..].find(word).unwrap_or_default();
        let rest = &place[at_place..];
        let next = rest.len() - rest.trim_start().len();
        let found = match rest[next..].starts_with(word) {
            true => Some(next),
            false if words.is_empty() => rest.find(word),
            false => None,
        };
        let Some(found) = found else {
            break;
        };
        words.push((at_text, within.start + at_place + found));
        at_text += word.len();
        at_place += found + word.len();
    }
    words
}

fn line_length(text: &str) -> usize {
    text.lines().next().map_or(0, str::len)
}

/// The first word of a SQL text after blanks and comments.
fn first_word(text: &str) -> Range<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.trim().is_empty() || line.trim_start().starts_with("--");
        if !blank {
            start += line.len() - line.trim_start().len();
            let word = text[start..].split_whitespace().next().unwrap_or_default();
            return start..start + word.len();
        }
        start += line.len();
    }
    0..0
}
