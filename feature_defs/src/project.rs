//! The project: its name, its root and where its state lives.

use std::fmt;
use std::path::PathBuf;

use chrono_tz::Tz;

use crate::name::Name;

/// What `nightfill.yaml` says. Settings only: no object of the product is here.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// The project's name.
    pub name: Name,
    /// The folder that holds `nightfill.yaml`; relative paths start here.
    pub root: PathBuf,
    /// The zone of sources and schedules that do not name one.
    pub timezone: Tz,
    /// Where the registry is.
    pub registry: Location,
    /// Where snapshots are kept.
    pub offline: Location,
    /// Where the served releases are.
    pub online: Location,
}

/// A place, written `scheme://...`, a path being relative to the project's root unless absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// `sqlite://path`: a SQLite file.
    Sqlite(PathBuf),
    /// `postgres://user@host/database`: a PostgreSQL database, as written and without a password.
    Postgres(String),
    /// A folder on local disk.
    Local(PathBuf),
    /// `embedded://path`: an LMDB folder, memory-mapped by every process that uses it.
    Embedded(PathBuf),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) => f.write_str(url),
            Self::Local(path) => write!(f, "{}", path.display()),
            Self::Embedded(path) => write!(f, "embedded://{}", path.display()),
        }
    }
}
