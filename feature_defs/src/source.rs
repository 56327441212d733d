//! Sources: where event or fact rows come from.

use std::fmt;

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::time::TimeSpan;

/// Rows from outside, each row with the instant at which it was true.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The source's name; SQL views select from it.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// Where its rows are.
    pub place: SourcePlace,
    /// The columns that the product may read, by name, in declared order. There may be more and in any order.
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
    /// Its type: that of the files or the table must widen to it without loss, or the scan refuses them.
    pub data_type: DataType,
}

/// Where a source's rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourcePlace {
    /// In files.
    Files(SourceFiles),
    /// In a table of a database.
    Table(SourceTable),
}

/// Files of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFiles {
    /// The root that the path starts at, by its name in the settings; the project's folder for `None`.
    pub root: Option<Name>,
    /// Path or glob, relative to its root; of a Delta table its folder. It never leaves that root.
    pub path: String,
    /// How the files are read.
    pub format: SourceFormat,
    /// The declared columns that stand in the paths of the files (`.../year=2024/...`) and not in them.
    pub partitions: Vec<String>,
}

/// A table or view of a PostgreSQL database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTable {
    /// The database, by its name in the project's settings.
    pub database: Name,
    /// The schema that the table is in, as the database writes it.
    pub schema: String,
    /// The table, as the database writes it.
    pub table: String,
}

/// What makes a path a glob.
pub const WILDCARDS: [char; 3] = ['*', '?', '['];

/// The folder of a Delta table that holds its log.
pub const DELTA_LOG: &str = "_delta_log";

/// The folders of a path or glob before its first wildcard; empty where there are none.
#[must_use]
pub fn folder_above(path: &str) -> &str {
    let wildcard = path.find(WILDCARDS).unwrap_or(path.len());
    path[..wildcard]
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder)
}

impl Source {
    /// Its files, unless it is a table.
    #[must_use]
    pub const fn files(&self) -> Option<&SourceFiles> {
        match &self.place {
            SourcePlace::Files(files) => Some(files),
            SourcePlace::Table(_) => None,
        }
    }

    /// The declared columns that stand in the paths of its files.
    #[must_use]
    pub fn partitions(&self) -> &[String] {
        self.files().map_or(&[], |files| &files.partitions)
    }
}

/// The path, after its root where that has a name.
impl fmt::Display for SourceFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(root) = &self.root {
            write!(f, "{root}: ")?;
        }
        f.write_str(&self.path)
    }
}

/// `schema.table`
impl fmt::Display for SourceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
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
    /// A Delta table: the path is its folder, and its log says which Parquet files and rows are of it.
    Delta,
}

impl SourceFormat {
    /// The formats by the names that definitions use.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("parquet", Self::Parquet),
        ("csv", Self::Csv { delimiter: b',' }),
        ("jsonl", Self::JsonLines),
        ("delta", Self::Delta),
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
            Self::Delta => f.write_str("delta"),
        }
    }
}
