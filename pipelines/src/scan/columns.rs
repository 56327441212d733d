//! Declared columns of a source that are read together, and errors that name their values.

use std::sync::Arc;

use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::source::Source;

use super::files::SourceFile;
use crate::error::Error;
use crate::nested::Failure;

/// Which declared columns are read.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    source: Arc<Source>,
    /// Places of the columns to read among the declared ones, each once.
    read: Vec<usize>,
}

impl Columns {
    pub(super) const fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            read: Vec::new(),
        }
    }

    /// The place of a declared column among those to read, which it joins if it is not there yet.
    pub(super) fn place(&mut self, name: &str) -> usize {
        let column = self.source.columns.get_index_of(name).unwrap_or_default();
        let place = self.read.iter().position(|read| *read == column);
        place.unwrap_or_else(|| {
            self.read.push(column);
            self.read.len() - 1
        })
    }

    pub(super) fn read(&self) -> &[usize] {
        &self.read
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Whether a declared column holds the event times.
    pub(super) fn is_event_time(&self, column: usize) -> bool {
        self.source.columns.get_index_of(&self.source.event_time) == Some(column)
    }

    pub(super) fn timezone(&self) -> Tz {
        self.source.timezone
    }

    pub(super) fn name(&self, column: usize) -> &str {
        self.source
            .columns
            .get_index(column)
            .map_or("", |(name, _)| name)
    }

    pub(super) fn data_type(&self, column: usize) -> DataType {
        self.source.columns[column].data_type
    }

    /// The error for a value of a file; `row` is its number in the file, from 1, where it has one: rows of a database have
    /// none, and neither have those of a file with deleted ones among them.
    pub(super) fn refuse(
        &self,
        file: &SourceFile,
        column: &str,
        row: u64,
        failure: &Failure,
    ) -> Error {
        let Failure { path, message, .. } = failure;
        let row = match self.source.files() {
            Some(_) if file.numbers_rows() => format!(", row {row}"),
            _ => String::new(),
        };
        Error::input(
            &file.shown,
            format!("column `{column}{path}`{row}: {message}"),
        )
    }
}
