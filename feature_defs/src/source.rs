//! Sources: where event or fact rows come from.

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::Name;

/// Files of rows, each row with the instant at which it was true.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The source's name; SQL views select from it.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// Path or glob, relative to the project's root. It never leaves that root.
    pub path: String,
    /// How the files are read.
    pub format: SourceFormat,
    /// The columns that the product may read, by name, in declared order. Files may hold more and in any order.
    pub columns: IndexMap<String, Column>,
    /// The column with each row's event time, a `timestamp` or a `date` (midnight in [`Source::timezone`]).
    pub event_time: String,
    /// The column that says when each row became known, if there is one; a `timestamp` or a `date`.
    pub created_time: Option<String>,
    /// The zone of times without one. Converted once, at the scan (rule 1).
    pub timezone: Tz,
    /// Hash of everything above but the description.
    pub fingerprint: Fingerprint,
}

/// A declared column of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its type: the files' type must widen to it without loss, or the scan refuses them.
    pub data_type: DataType,
}

/// The format of a source's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFormat {
    /// Parquet.
    Parquet,
    /// CSV with a header line, read by name. An empty unquoted field is null.
    Csv {
        /// The byte between fields.
        delimiter: u8,
    },
}
