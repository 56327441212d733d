//! Sources: where event or fact rows come from.

use std::fmt;

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::time::TimeSpan;

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
    /// The declared columns that stand in the paths of the files (`.../year=2024/...`) and not in them.
    pub partitions: Vec<String>,
    /// The columns that the product may read, by name, in declared order. Files may hold more and in any order.
    pub columns: IndexMap<String, Column>,
    /// The column with each row's event time, a `timestamp` or a `date` (midnight in [`Source::timezone`]).
    pub event_time: String,
    /// The column that says when each row became known, if there is one; a `timestamp` or a `date`.
    pub created_time: Option<String>,
    /// The zone of times without one. Converted once, at the scan (rule 1).
    pub timezone: Tz,
    /// How far back the source is known to go: older rows may be gone. `None` where it keeps all.
    pub retention: Option<TimeSpan>,
    /// Hash of everything above but what it says of itself and how long it keeps rows: neither decides a value.
    pub fingerprint: Fingerprint,
}

/// A declared column of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its type: the files' type must widen to it without loss, or the scan refuses them.
    pub data_type: DataType,
}

/// The format of a source's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// Parquet.
    Parquet,
    /// CSV with a header line, read by name. An empty unquoted field is null.
    Csv {
        /// The byte between fields.
        delimiter: u8,
    },
    /// JSON lines: an object a line, read by name. A key that a line leaves out is null.
    JsonLines,
}

impl SourceFormat {
    /// The formats by the names that definitions use.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("parquet", Self::Parquet),
        ("csv", Self::Csv { delimiter: b',' }),
        ("jsonl", Self::JsonLines),
    ];
}

/// As definitions write it, with a delimiter that is not the usual one.
impl fmt::Display for SourceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parquet => f.write_str("parquet"),
            Self::Csv { delimiter: b',' } => f.write_str("csv"),
            Self::Csv { delimiter } => {
                write!(f, "csv with `{}`", char::from(*delimiter).escape_default())
            }
            Self::JsonLines => f.write_str("jsonl"),
        }
    }
}
