//! The project: its name, its root and where its state lives.

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

/// A place, written `scheme://path`, with the path relative to the project's root unless absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// `sqlite://path`: a SQLite file.
    Sqlite(PathBuf),
    /// A folder on local disk.
    Local(PathBuf),
    /// `embedded://path`: an LMDB folder, memory-mapped by every process that uses it.
    Embedded(PathBuf),
}
