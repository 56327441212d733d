//! What the database says, as a store's error.

use sqlx::migrate::MigrateError;

use crate::error::{Error, ErrorKind};

/// An error of the database with the kind that says what to do about it.
pub(super) fn failed(error: sqlx::Error) -> Error {
    let (kind, message) = match &error {
        sqlx::Error::Database(database) if is_busy(&**database) => (
            ErrorKind::Unavailable,
            "the registry is busy with other processes",
        ),
        sqlx::Error::Database(database) if database.is_unique_violation() => {
            (ErrorKind::Conflict, "the registry has it already")
        }
        sqlx::Error::PoolTimedOut | sqlx::Error::Io(_) => {
            (ErrorKind::Unavailable, "the registry does not answer")
        }
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            (ErrorKind::Corrupt, "a row of the registry is damaged")
        }
        sqlx::Error::Database(_) => (
            ErrorKind::Unavailable,
            "the registry cannot be read or written",
        ),
        _ => (ErrorKind::Internal, "the registry failed"),
    };
    match error {
        // What the database says, without its number.
        sqlx::Error::Database(database) => {
            Error::new(kind, message).with_source(database.message().to_owned())
        }
        error => Error::new(kind, message).with_source(error),
    }
}

/// Why the schema could not be brought up to date.
pub(super) fn not_migrated(error: MigrateError) -> Error {
    match error {
        MigrateError::VersionMissing(version) => Error::new(
            ErrorKind::Unsupported,
            format!(
                "the registry's schema has version {version}, which is newer than this binary's: use a newer binary"
            ),
        ),
        MigrateError::VersionMismatch(version) => Error::new(
            ErrorKind::Unsupported,
            format!("the registry's schema version {version} is not this binary's"),
        ),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(error),
        error => Error::new(
            ErrorKind::Internal,
            "the registry's schema was not brought up to date",
        )
        .with_source(error),
    }
}

/// `SQLITE_BUSY`, `SQLITE_LOCKED` and their extended codes, which are shorter than the five signs of PostgreSQL's.
fn is_busy(database: &dyn sqlx::error::DatabaseError) -> bool {
    let Some(code) = database.code().filter(|code| code.len() < 5) else {
        return false;
    };
    code.parse::<u32>()
        .is_ok_and(|code| matches!(code & 0xff, 5 | 6))
}

/// A stored value that does not parse.
pub(super) fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!("{what} in the registry is damaged"),
    )
}
