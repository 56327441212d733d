//! Opening a registry.

use std::io::Read;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::{Executor, raw_sql};

use super::SqlRegistry;
use super::error::failed;
use super::schema::SchemaChange;
use crate::error::{Error, ErrorKind, Result};

/// What every connection to SQLite starts with: readers beside one writer, writes that are on disk when they return,
/// and ten seconds of patience with another process's write.
const SQLITE_SETTINGS: &str = "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; \
    PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

/// How long a call waits for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const CONNECTIONS: u32 = 4;

/// Which database holds a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Database {
    Sqlite,
    Postgres,
}

impl SqlRegistry {
    /// Opens the registry in a SQLite file, which is made when it is not there.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be had, `Unsupported` when its schema is older or newer than this binary's.
    pub async fn sqlite(file: &Path) -> Result<Self> {
        Self::in_file(file, async |registry| registry.ready().await).await
    }

    /// Brings the schema of the registry in a SQLite file up to date.
    ///
    /// # Errors
    /// As [`SqlRegistry::sqlite`], but for an older schema.
    pub async fn migrate_sqlite(file: &Path) -> Result<SchemaChange> {
        Self::in_file(file, async |registry| registry.migrate().await).await
    }

    /// Opens the registry in a PostgreSQL database. What the URL does not say comes from the environment (`PGPASSWORD`,
    /// `PGSSLMODE`, ...) and the user's password file. The tables are in the connection's own schema;
    /// `?options=-csearch_path%3Dname` picks another.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer, `Unsupported` when its schema is older or newer than this binary's.
    pub async fn postgres(url: &str) -> Result<Self> {
        Self::on_server(url, async |registry| registry.ready().await).await
    }

    /// Brings the schema of the registry in a PostgreSQL database up to date.
    ///
    /// # Errors
    /// As [`SqlRegistry::postgres`], but for an older schema.
    pub async fn migrate_postgres(url: &str) -> Result<SchemaChange> {
        Self::on_server(url, async |registry| registry.migrate().await).await
    }

    async fn in_file<T>(file: &Path, then: impl AsyncFnOnce(Self) -> Result<T>) -> Result<T> {
        let doing = || format!("opening registry `{}`", file.display());
        let unusable = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, "its folder cannot be used")
                .with_source(error)
                .while_doing(doing())
        };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(unusable)?;
        }
        if !is_free_or_sqlite(file) {
            let message =
                "it is no SQLite database: move it away, or name another file as the `registry`";
            return Err(Error::new(ErrorKind::Unavailable, message).while_doing(doing()));
        }
        let url = format!("sqlite://{}?mode=rwc", percent_encoded(file));
        let done = async { then(Self::connect(&url, Database::Sqlite).await?).await };
        done.await
            .map_err(|error: Error| error.while_doing(doing()))
    }

    async fn on_server<T>(url: &str, then: impl AsyncFnOnce(Self) -> Result<T>) -> Result<T> {
        let done = async { then(Self::connect(url, Database::Postgres).await?).await };
        done.await
            .map_err(|error: Error| error.while_doing(format!("opening registry `{url}`")))
    }

    pub(super) async fn connect(url: &str, database: Database) -> Result<Self> {
        install_default_drivers();
        let options = AnyConnectOptions::from_str(url).map_err(failed)?;
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(CONNECT_TIMEOUT)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if database == Database::Sqlite {
                        connection.execute(raw_sql(SQLITE_SETTINGS)).await?;
                    }
                    Ok(())
                })
            })
            .connect_with(options)
            .await
            .map_err(failed)?;
        Ok(Self { pool, database })
    }
}

/// Whether a file is not there yet, is empty, or starts as SQLite's files do. What cannot be read is left to SQLite.
fn is_free_or_sqlite(file: &Path) -> bool {
    const START: &[u8] = b"SQLite format 3\0";
    if file.is_dir() {
        return false;
    }
    let Ok(opened) = std::fs::File::open(file) else {
        return true;
    };
    let mut start = Vec::new();
    let read = opened.take(START.len() as u64).read_to_end(&mut start);
    read.is_err() || start.is_empty() || start == START
}

/// A path as it stands in a URL.
fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                encoded.push(char::from(*byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
