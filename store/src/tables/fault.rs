//! What PostgreSQL says, in our words: with the database and the table, never with a password.

use crate::error::{Error, ErrorKind};

/// Why a database could not be opened.
pub(super) fn not_opened(database: &str, error: sqlx::Error) -> Error {
    let message = match &error {
        sqlx::Error::Database(said) if said.code().is_some_and(|code| code.starts_with("28")) => {
            format!(
                "database `{database}` does not let its user in: passwords come from `PGPASSWORD` or the password file"
            )
        }
        sqlx::Error::Configuration(_) => {
            format!("what `databases` says of `{database}` is no URL of PostgreSQL")
        }
        _ => format!("database `{database}` does not answer"),
    };
    with_source(ErrorKind::Unavailable, message, error)
}

/// Why a table could not be read.
pub(super) fn unread(database: &str, error: sqlx::Error) -> Error {
    let message = match &error {
        sqlx::Error::Database(said) if said.code().as_deref() == Some("42501") => {
            format!("database `{database}` does not let its user read it: grant `SELECT`")
        }
        _ => format!("database `{database}` stopped giving rows"),
    };
    with_source(ErrorKind::Unavailable, message, error)
}

fn with_source(kind: ErrorKind, message: String, error: sqlx::Error) -> Error {
    match error {
        // What the database says, without its number.
        sqlx::Error::Database(said) => {
            Error::new(kind, message).with_source(said.message().to_owned())
        }
        // May quote the URL.
        sqlx::Error::Configuration(_) => Error::new(kind, message),
        error => Error::new(kind, message).with_source(error),
    }
}
