//! JSON lines: an object a line, columns by key, and a line for every error. A key that is left out is null.

use std::io::{BufRead, BufReader, Read};

use arrow::array::ArrayRef;
use feature_defs::source::Source;
use feature_defs::value::Value;
use serde_json::error::Category;

use super::columns::Columns;
use super::files::{FileBytes, SourceFile};
use super::fixed::FixedColumns;
use super::json_values::{self, Members, shown};
use super::partitions;
use crate::column::Builder;
use crate::error::{Error, Result};
use crate::session::BATCH_ROWS;

/// A line is read as a whole: one that is longer is most likely a file of another kind.
const MAX_LINE_BYTES: u64 = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file of JSON lines.
#[derive(Debug)]
pub(super) struct JsonLinesFile {
    file: SourceFile,
    fixed: FixedColumns,
}

/// Opens the files of a source, whose lines together have all declared columns.
///
/// Lines leave out what is null, so that no line has to have all columns. A column that none has is a mistake in its name;
/// files are read for it no further than until all columns were seen, which most often is their first line.
pub(super) fn open(files: Vec<SourceFile>, source: &Source) -> Result<Vec<JsonLinesFile>> {
    let mut opened = Vec::with_capacity(files.len());
    for file in files {
        opened.push(JsonLinesFile {
            fixed: partitions::in_path(&file, source)?,
            file,
        });
    }
    let columns = source.columns.keys().map(String::as_str);
    let mut missing: Vec<&str> = columns
        .filter(|name| !source.partitions().iter().any(|column| column == name))
        .collect();
    let mut first: Option<(usize, Vec<String>)> = None;
    for (place, file) in opened.iter().enumerate() {
        let keys = file.look_for(&mut missing)?;
        first = first.or(keys.map(|keys| (place, keys)));
    }
    match first {
        Some((place, keys)) if !missing.is_empty() => {
            let file = &opened[place].file;
            let message = format!(
                "no line of the source has `{}`, which source `{}` declares (the first line has: {}){}",
                missing.join("`, `"),
                source.name,
                keys.join(", "),
                partitions::hint(file, &missing)
            );
            Err(Error::input(&file.shown, message))
        }
        _ => Ok(opened),
    }
}

impl JsonLinesFile {
    /// Takes the columns that lines of the file have out of `missing`; reads its first line at least, and gives the keys
    /// of it if there is one.
    fn look_for(&self, missing: &mut Vec<&str>) -> Result<Option<Vec<String>>> {
        let mut lines = Lines::open(&self.file)?;
        let mut first = None;
        while let Some(line) = lines.next()? {
            let members = line.members()?;
            missing.retain(|name| members.get(name).is_none());
            if first.is_none() {
                first = Some(members.names().map(str::to_owned).collect());
            }
            if missing.is_empty() {
                break;
            }
        }
        Ok(first)
    }

    /// Reads some columns of all rows in their declared types, batch by batch with the number of its first row in the
    /// file (from 1), until `take` says false.
    pub(super) fn read(
        &self,
        wanted: &Columns,
        take: &mut dyn FnMut(u64, Vec<ArrayRef>) -> Result<bool>,
    ) -> Result<()> {
        let mut lines = Lines::open(&self.file)?;
        let mut first_row = 1;
        loop {
            let in_file = wanted.read().iter().copied();
            let in_file = in_file.filter(|column| !self.fixed.has(*column));
            let mut builders: Vec<(usize, Builder)> = in_file
                .map(|column| (column, Builder::new(wanted.data_type(column))))
                .collect();
            let mut rows = 0;
            while rows < BATCH_ROWS
                && let Some(line) = lines.next()?
            {
                let members = line.members()?;
                for (column, builder) in &mut builders {
                    append(builder, *column, &members, wanted, &line)?;
                }
                rows += 1;
            }
            if rows == 0 {
                return Ok(());
            }
            let mut built = builders.iter_mut().map(|(_, builder)| builder.finish());
            let columns = wanted.read().iter().map(|column| {
                let fixed = self.fixed.column(*column, rows);
                fixed.or_else(|| built.next())
            });
            if !take(first_row, columns.flatten().collect())? {
                return Ok(());
            }
            first_row += rows as u64;
        }
    }

    pub(super) const fn file(&self) -> &SourceFile {
        &self.file
    }
}

fn append(
    builder: &mut Builder,
    column: usize,
    members: &Members<'_>,
    wanted: &Columns,
    line: &Line<'_>,
) -> Result<()> {
    let name = wanted.name(column);
    let data_type = wanted.data_type(column);
    let refuse =
        |path: &str, message: &str| line.error(&format!(", column `{name}{path}`: {message}"));
    let value = match members.get(name) {
        Some(raw) => json_values::read(raw, data_type, wanted.timezone())
            .map_err(|fault| refuse(&fault.path, &fault.message))?,
        None if wanted.is_event_time(column) => {
            return Err(refuse("", "the line leaves the event time out"));
        }
        None => Value::Null,
    };
    if value == Value::Null && wanted.is_event_time(column) {
        return Err(refuse("", "the event time is null"));
    }
    let appended = builder.append(&value);
    appended.map_err(|_| refuse("", &format!("it does not fit {data_type}")))
}

/// The lines of a file that are not blank.
struct Lines<'f> {
    file: &'f SourceFile,
    input: BufReader<FileBytes>,
    raw: Vec<u8>,
    number: u64,
}

/// A line without its end.
struct Line<'f> {
    file: &'f SourceFile,
    /// From 1.
    number: u64,
    text: &'f str,
}

impl<'f> Lines<'f> {
    fn open(file: &'f SourceFile) -> Result<Self> {
        Ok(Self {
            file,
            input: BufReader::new(file.open()?),
            raw: Vec::new(),
            number: 0,
        })
    }

    fn next(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.raw.clear();
            let mut input = self.input.by_ref().take(MAX_LINE_BYTES + 1);
            let read = input.read_until(b'\n', &mut self.raw);
            let read = read.map_err(|e| Error::unreadable(&self.file.shown, &e))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 > MAX_LINE_BYTES {
                let message = format!(
                    "line {} is longer than {} MiB: JSON lines have one object a line",
                    self.number,
                    MAX_LINE_BYTES >> 20
                );
                return Err(Error::input(&self.file.shown, message));
            }
            if self.number == 1 && self.raw.starts_with(BYTE_ORDER_MARK) {
                self.raw.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.raw.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let text = std::str::from_utf8(&self.raw).map_err(|error| {
            let place = error.valid_up_to() + 1;
            let message = format!(
                "line {}, byte {place}: not UTF-8: save the file as UTF-8",
                self.number
            );
            Error::input(&self.file.shown, message)
        })?;
        Ok(Some(Line {
            file: self.file,
            number: self.number,
            text: text.trim_ascii_end(),
        }))
    }
}

impl<'f> Line<'f> {
    /// The members of the object that the line is.
    fn members(&self) -> Result<Members<'f>> {
        let text = self.text.trim_ascii_start();
        if !text.starts_with('{') {
            let help = match text.starts_with('[') {
                true => {
                    "; a file that is one list is not read: write each of its objects on a line of its own"
                }
                false => "",
            };
            let message = format!(
                ": {} is no object, and JSON lines have one a line{help}",
                shown(text)
            );
            return Err(self.error(&message));
        }
        let members: Members<'f> =
            serde_json::from_str(self.text).map_err(|error| self.not_json(&error))?;
        match members.repeated() {
            Some(name) => {
                Err(self.error(&format!(": the key `{name}` stands in the object twice")))
            }
            None => Ok(members),
        }
    }

    fn not_json(&self, error: &serde_json::Error) -> Error {
        if error.classify() == Category::Eof {
            return self.error(
                ": it ends inside its object: the file is cut off, or the object goes on in the next line, where JSON lines have one a line",
            );
        }
        let place = error.column();
        let before = self.text.get(..place).unwrap_or(self.text);
        let word_start = before
            .rfind([':', ',', '[', '{', ' '])
            .map_or(0, |start| start + 1);
        let word = &self.text[word_start..];
        let no_numbers = ["NaN", "Infinity", "-Infinity"];
        match no_numbers
            .into_iter()
            .find(|no_number| word.starts_with(no_number))
        {
            Some(word) => self.error(&format!(
                ", byte {}: JSON has no {word}: write it as a string, `\"{word}\"`",
                word_start + 1
            )),
            None => {
                let said = error.to_string();
                let said = said.split(" at line ").next().unwrap_or_default();
                self.error(&format!(", byte {place}: this is not JSON: {said}"))
            }
        }
    }

    fn error(&self, message: &str) -> Error {
        Error::input(&self.file.shown, format!("line {}{message}", self.number))
    }
}

#[cfg(test)]
mod tests;
