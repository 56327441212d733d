//! The project: its name, its root and where its state lives.

use std::fmt;
use std::path::PathBuf;

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::name::Name;

/// What `nightfill.yaml` says. Settings only: no object of the product is here.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// The project's name.
    pub name: Name,
    /// The name that it had before, under which its registry may still know it.
    pub renamed_from: Option<Name>,
    /// The folder that holds `nightfill.yaml`; relative paths start here.
    pub root: PathBuf,
    /// The zone of sources and schedules that do not name one.
    pub timezone: Tz,
    /// Where its state lives, in its environment.
    pub places: Places,
    /// Which of its environments this is; none is the project by itself.
    pub environment: Option<Name>,
    /// Where its state lives in each environment: never two in one place.
    pub environments: IndexMap<Name, Places>,
}

/// Where state lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Where the registry is.
    pub registry: Location,
    /// Where snapshots are kept.
    pub offline: Location,
    /// Where the served releases are.
    pub online: Location,
}

impl Project {
    /// The project in one of its environments; `None` when it declares none of that name.
    #[must_use]
    pub fn in_environment(mut self, name: &str) -> Option<Self> {
        let (name, places) = self.environments.get_key_value(name)?;
        self.environment = Some(name.clone());
        self.places = places.clone();
        Some(self)
    }
}

impl Places {
    /// The settings that say the same as those of another environment, by name.
    pub(crate) fn shared_with<'a>(&'a self, other: &Self) -> Vec<(&'static str, &'a Location)> {
        let places = [
            ("registry", &self.registry, &other.registry),
            ("offline", &self.offline, &other.offline),
            ("online", &self.online, &other.online),
        ];
        let shared = places.into_iter().filter(|(_, own, other)| own == other);
        shared.map(|(setting, own, _)| (setting, own)).collect()
    }
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
