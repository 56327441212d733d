//! Columns with one value for all rows of a file, which stands beside the file: in its path, or in a table's log.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use arrow::compute::take;
use feature_defs::source::{Column, Source};
use feature_defs::value::Value;

use crate::error::Result;

/// The columns of a file that do not stand in it.
#[derive(Debug)]
pub(super) struct FixedColumns {
    /// For each declared column its one value, if it has one.
    values: Vec<Option<ArrayRef>>,
}

impl FixedColumns {
    /// Asks for the value of each declared column; `None` where the file holds it.
    pub(super) fn of(
        source: &Source,
        value: impl Fn(&str, &Column) -> Result<Option<Value>>,
    ) -> Result<Self> {
        let of_column = |(name, column): (&String, &Column)| {
            let value = value(name, column)?;
            Ok(value.map(|value| Value::array(&[value], column.data_type)))
        };
        let values = source.columns.iter().map(of_column);
        Ok(Self {
            values: values.collect::<Result<_>>()?,
        })
    }

    /// Whether a declared column is one of these.
    pub(super) fn has(&self, column: usize) -> bool {
        self.values[column].is_some()
    }

    /// A declared column of so many rows, if it is one of these.
    pub(super) fn column(&self, column: usize, rows: usize) -> Option<ArrayRef> {
        let value = self.values[column].as_ref()?;
        let rows = UInt64Array::from_value(0, rows);
        // Row 0 is there.
        Some(take(value, &rows, None).unwrap_or_else(|_| Arc::clone(value)))
    }
}
