//! The only place that picks backends: from a project's settings to the stores.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use feature_defs::project::{Location, Project};
use feature_defs::redis_place::RedisPlace;

use crate::config::{EmbeddedSettings, Password, RedisSettings};
use crate::error::{Error, ErrorKind, Result};
use crate::objects::Objects;
use crate::offline::OfflineStore;
use crate::offline::parquet::ParquetStore;
use crate::online::OnlineStore;
use crate::online::embedded::EmbeddedStore;
use crate::online::redis;
use crate::registry::Registry;
use crate::registry::sql::{SchemaChange, SqlRegistry};

const REGISTRY_PLACES: &str = "sqlite:// or postgres://";

/// Opens the project's registry.
///
/// # Errors
/// `Invalid` when the location is not one of a registry, else those of the backend.
pub async fn registry(project: &Project) -> Result<Arc<dyn Registry>> {
    match &project.places.registry {
        Location::Sqlite(file) => Ok(Arc::new(SqlRegistry::sqlite(&place(project, file)).await?)),
        Location::Postgres(url) => Ok(Arc::new(SqlRegistry::postgres(url).await?)),
        other => Err(misplaced("registry", other, REGISTRY_PLACES)),
    }
}

/// Brings the schema of the project's registry up to date.
///
/// # Errors
/// As [`registry`], but for an older schema.
pub async fn migrate_registry(project: &Project) -> Result<SchemaChange> {
    match &project.places.registry {
        Location::Sqlite(file) => SqlRegistry::migrate_sqlite(&place(project, file)).await,
        Location::Postgres(url) => SqlRegistry::migrate_postgres(url).await,
        other => Err(misplaced("registry", other, REGISTRY_PLACES)),
    }
}

/// Opens the project's offline store.
///
/// # Errors
/// `Invalid` when the location is not one of an offline store, else those of the backend.
pub fn offline(project: &Project) -> Result<Arc<dyn OfflineStore>> {
    match &project.places.offline {
        Location::Local(folder) => Ok(Arc::new(ParquetStore::local(&place(project, folder))?)),
        Location::Objects(url) => Ok(Arc::new(ParquetStore::new(Objects::open(url)?.store()))),
        other => Err(misplaced(
            "offline store",
            other,
            "a folder or object storage",
        )),
    }
}

/// Opens the project's online store.
///
/// # Errors
/// `Invalid` when the location is not one of an online store, else those of the backend. A server is connected to when
/// it is first used. Needs a runtime of Tokio.
pub fn online(project: &Project) -> Result<Arc<dyn OnlineStore>> {
    match &project.places.online {
        Location::Embedded(folder) => {
            let folder = place(project, folder);
            let settings = EmbeddedSettings::default();
            Ok(Arc::new(EmbeddedStore::open(&folder, settings)?))
        }
        Location::Redis(server) => {
            let settings = redis_settings(project, server);
            Ok(Arc::new(redis::open(&settings)?))
        }
        other => Err(misplaced("online store", other, "embedded:// or redis://")),
    }
}

/// Where passwords of the online store's server are read from, in this order.
const PASSWORDS: [&str; 2] = ["NIGHTFILL_ONLINE_PASSWORD", "REDIS_PASSWORD"];

/// A project's settings of a server: keys of its own, and a password from the environment.
fn redis_settings(project: &Project, server: &RedisPlace) -> RedisSettings {
    let namespace = match (&server.namespace, &project.environment) {
        (Some(namespace), _) => namespace.to_string(),
        (None, Some(environment)) => format!("{}.{environment}", project.name),
        (None, None) => project.name.to_string(),
    };
    let mut settings = RedisSettings::new(server.clone(), namespace);
    let passwords = PASSWORDS.iter().filter_map(|name| std::env::var(name).ok());
    settings.password = passwords.map(Password::new).next();
    settings
}

/// A path of the settings, which starts at the project's root unless it is absolute.
fn place(project: &Project, path: &Path) -> PathBuf {
    project.root.join(path)
}

fn misplaced(what: &str, location: &Location, expected: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("`{location}` is no place for the {what}: expected {expected}"),
    )
}
