//! What went wrong in a store, as an answer to "what should the caller do?".

use std::error::Error as StdError;
use std::fmt;

/// A result of a store.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller can do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The thing asked for is not there.
    NotFound,
    /// Somebody else changed it first: read again, decide again.
    Conflict,
    /// The request itself is wrong: correct it.
    Invalid,
    /// Stored bytes are not what they should be: restore or recompute them.
    Corrupt,
    /// The store did not answer: try again later.
    Unavailable,
    /// This backend or version cannot do it.
    Unsupported,
    /// A fault of ours.
    Internal,
}

/// A store's error. Its message does not repeat its source.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error without a cause. `message`: lower case, no full stop, names in backticks.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
        }
    }

    /// The same error with its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error, saying what was being done when it happened.
    #[must_use]
    pub fn while_doing(mut self, what: impl Into<String>) -> Self {
        self.context.push(what.into());
        self
    }

    /// What the caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
