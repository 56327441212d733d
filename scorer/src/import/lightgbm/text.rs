//! Lines, fields and lists of numbers, with places for errors.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::ImportError;

/// Longest piece of the file that a message repeats.
const QUOTED: usize = 40;

/// A line and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) number: usize,
}

impl Line<'_> {
    pub(super) fn error(&self, message: impl Into<String>) -> ImportError {
        ImportError::new(self.number, message)
    }
}

/// The lines of a text, front to back.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    rest: std::str::Lines<'a>,
    read: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.lines(),
            read: 0,
        }
    }

    /// The next line, empty or not.
    pub(super) fn next(&mut self) -> Option<Line<'a>> {
        let text = self.rest.next()?;
        self.read += 1;
        Some(Line {
            text,
            number: self.read,
        })
    }

    /// The next line that is not empty.
    pub(super) fn next_filled(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next()?;
            if !line.text.is_empty() {
                return Some(line);
            }
        }
    }

    /// An error at the line that was read last.
    pub(super) fn error(&self, message: impl Into<String>) -> ImportError {
        ImportError::new(self.read.max(1), message)
    }
}

/// The `key=value` lines of a block, up to the empty line that ends it.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    fields: BTreeMap<&'a str, Field<'a>>,
    start: Line<'a>,
}

/// The value of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    key: &'a str,
    pub(super) text: &'a str,
    line: usize,
}

impl<'a> Fields<'a> {
    /// Reads a block whose heading is `start`. Keys without `=` have an empty value.
    pub(super) fn read(start: Line<'a>, lines: &mut Lines<'a>) -> Result<Self, ImportError> {
        let mut fields = BTreeMap::new();
        while let Some(line) = lines.next() {
            if line.text.is_empty() {
                break;
            }
            let (key, text) = line.text.split_once('=').unwrap_or((line.text, ""));
            let field = Field {
                key,
                text,
                line: line.number,
            };
            if fields.insert(key, field).is_some() {
                return Err(line.error(format!("`{}` stands here twice", shorten(key))));
            }
        }
        Ok(Self { fields, start })
    }

    pub(super) fn get(&self, key: &str) -> Option<Field<'a>> {
        self.fields.get(key).copied()
    }

    pub(super) fn require(&self, key: &str) -> Result<Field<'a>, ImportError> {
        self.get(key).ok_or_else(|| {
            self.start
                .error(format!("`{}` has no `{key}`", self.start.text))
        })
    }
}

impl<'a> Field<'a> {
    pub(super) fn error(&self, message: impl Into<String>) -> ImportError {
        ImportError::new(self.line, message)
    }

    /// The value as one number.
    pub(super) fn number<T: FromStr>(&self) -> Result<T, ImportError> {
        self.parse(self.text)
    }

    /// The value as `count` numbers with blanks between.
    pub(super) fn numbers<T: FromStr>(&self, count: usize) -> Result<Vec<T>, ImportError> {
        let mut numbers = Vec::new();
        for word in self.words() {
            if numbers.len() == count {
                break;
            }
            numbers.push(self.parse(word)?);
        }
        let found = self.words().count();
        if found == count {
            Ok(numbers)
        } else {
            Err(self.error(format!(
                "`{}` has {found} values, expected {count}",
                self.key
            )))
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.text.split(' ').filter(|word| !word.is_empty())
    }

    fn parse<T: FromStr>(&self, word: &str) -> Result<T, ImportError> {
        word.parse().map_err(|_| {
            let word = shorten(word);
            self.error(format!(
                "`{word}` is not a number that `{}` takes",
                self.key
            ))
        })
    }
}

/// The start of a text, as far as messages repeat it.
pub(super) fn shorten(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(QUOTED).collect();
    match characters.next() {
        Some(_) => start + "...",
        None => start,
    }
}
