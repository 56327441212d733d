//! The project: its name, its root and where its state lives.

use std::fmt;
use std::path::PathBuf;

use chrono_tz::Tz;
use indexmap::IndexMap;

use crate::name::Name;
use crate::redis_place::RedisPlace;

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
    /// The PostgreSQL databases that sources are read from, by name: their URLs in its environment, without passwords.
    pub databases: IndexMap<Name, String>,
    /// Where files of sources are besides the project's folder, by name, in its environment.
    pub roots: IndexMap<Name, Root>,
    /// Which of its environments this is; none is the project by itself.
    pub environment: Option<Name>,
    /// What is different in each environment.
    pub environments: IndexMap<Name, Environment>,
}

/// What an environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Where state lives: never where another environment keeps its own.
    pub places: Places,
    /// The databases of the project that are others here.
    pub databases: IndexMap<Name, String>,
    /// The roots of the project that are elsewhere here.
    pub roots: IndexMap<Name, Root>,
}

/// A place below which files of sources are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// A folder on local disk; relative to the project's root unless absolute.
    Folder(PathBuf),
    /// Objects below a URL: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`.
    Objects(String),
}

impl Root {
    /// The schemes of object storage.
    pub const SCHEMES: [&str; 3] = ["s3://", "gs://", "az://"];

    /// Whether a text is a URL of object storage.
    #[must_use]
    pub fn is_of_objects(text: &str) -> bool {
        Self::SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Objects(url) => f.write_str(url),
        }
    }
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
        let (name, environment) = self.environments.get_key_value(name)?;
        self.environment = Some(name.clone());
        self.places = environment.places.clone();
        self.databases.extend(environment.databases.clone());
        self.roots.extend(environment.roots.clone());
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
    /// `s3://bucket/prefix`, `gs://...` or `az://...`: object storage.
    Objects(String),
    /// `embedded://path`: an LMDB folder, memory-mapped by every process that uses it.
    Embedded(PathBuf),
    /// `redis://user@host:6379/0`: a Redis or Valkey server, without a password.
    Redis(RedisPlace),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) | Self::Objects(url) => f.write_str(url),
            Self::Local(path) => write!(f, "{}", path.display()),
            Self::Embedded(path) => write!(f, "embedded://{}", path.display()),
            Self::Redis(place) => place.fmt(f),
        }
    }
}
