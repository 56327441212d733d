//! What stopped a night or a training set.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::error::DataFusionError;
use feature_defs::foreign;
use feature_defs::name::Name;
use feature_defs::sql::failure;
use feature_defs::suggestion::named;

use crate::session::Session;

/// A result of the pipelines.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a night or a training set stopped. Messages name what was being read or computed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A file of a source or a frame is not what its declaration says.
    #[error("`{file}`: {message}")]
    Input {
        /// The file, as it was found.
        file: String,
        /// What was found and what was expected, with column and row.
        message: String,
    },
    /// A value does not fit its declared type (rule 9).
    #[error("`{view}.{feature}` of {key}: {message}")]
    Value {
        /// The view.
        view: Name,
        /// The feature.
        feature: String,
        /// The entity's key, for people.
        key: String,
        /// What does not fit.
        message: String,
    },
    /// A view cannot be computed.
    #[error("`{view}`: {message}")]
    View {
        /// The view.
        view: Name,
        /// Why.
        message: String,
    },
    /// The request itself is wrong.
    #[error("{0}")]
    Refused(String),
    /// The query engine failed.
    #[error("{doing}: {message}")]
    Engine {
        /// What it was doing.
        doing: String,
        /// What it said.
        message: String,
    },
    /// A computation needs more memory than the engine may use.
    #[error("the memory limit is too small")]
    OutOfMemory,
    /// A file or folder of ours could not be read or written.
    #[error("`{}`: {}", path.display(), foreign::system(source))]
    Io {
        /// The path.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<std::io::Error>,
    },
    /// A store failed.
    #[error(transparent)]
    Store(Arc<store::error::Error>),
}

impl From<store::error::Error> for Error {
    /// The store's error, or the error of ours that stopped what it was storing.
    fn from(error: store::error::Error) -> Self {
        match cause_of::<Self>(&error) {
            Some(ours) => ours.clone(),
            None => Self::Store(Arc::new(error)),
        }
    }
}

impl Error {
    pub(crate) fn input(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Input {
            file: file.into(),
            message: message.into(),
        }
    }

    pub(crate) fn view(view: &Name, message: impl Into<String>) -> Self {
        Self::View {
            view: view.clone(),
            message: message.into(),
        }
    }

    /// A name that the definitions do not have.
    pub(crate) fn unknown(what: &str, name: &Name, known: &[&str]) -> Self {
        let named = named(name.as_str(), known.iter().copied());
        Self::Refused(format!("unknown {what} {named}"))
    }

    /// The same error, naming the view that was being computed where it does not.
    pub(crate) fn in_view(self, view: &Name, session: &Session) -> Self {
        match self {
            Self::OutOfMemory => {
                let limit = session.memory_limit().div_ceil(1 << 20);
                Self::view(
                    view,
                    format!("computing it takes more memory than {limit} MiB: raise `--memory`"),
                )
            }
            other => other,
        }
    }

    /// A file that the system does not give.
    pub(crate) fn unreadable(file: impl Into<String>, error: &std::io::Error) -> Self {
        Self::input(file, format!("cannot be read: {}", foreign::system(error)))
    }

    /// A file that is no Parquet file, or a broken one; `if_csv` says what to do where it is CSV.
    pub(crate) fn not_parquet(
        file: impl Into<String>,
        error: &(dyn std::error::Error + 'static),
        if_csv: &str,
    ) -> Self {
        if let Some(of_store) = cause_of::<store::error::Error>(error) {
            return Self::input(file, format!("cannot be read: {of_store}"));
        }
        let mut fault = store::offline::parquet_fault(error);
        if fault.starts_with("is not a Parquet file") {
            fault = format!("{fault}, or {if_csv} if it is CSV");
        }
        Self::input(file, fault)
    }

    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source: Arc::new(source),
        }
    }

    /// An error of the engine, or the error of ours that the engine carried.
    pub(crate) fn engine(doing: impl Into<String>, error: &DataFusionError) -> Self {
        if let Some(ours) = carried(error) {
            return ours;
        }
        if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) {
            return Self::OutOfMemory;
        }
        Self::Engine {
            doing: doing.into(),
            message: failure(error),
        }
    }
}

/// The error of this kind that an error is, or comes from.
fn cause_of<'a, E: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a E> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(found) = current.downcast_ref() {
            return Some(found);
        }
        cause = current.source();
    }
    None
}

/// The error of ours inside an engine's error, if there is one.
fn carried(error: &DataFusionError) -> Option<Error> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(ours) = current.downcast_ref::<Error>() {
            return Some(ours.clone());
        }
        if let Some(DataFusionError::External(inner)) = current.downcast_ref::<DataFusionError>()
            && let Some(ours) = inner.downcast_ref::<Error>()
        {
            return Some(ours.clone());
        }
        cause = current.source();
    }
    None
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

impl From<Error> for store::error::Error {
    fn from(error: Error) -> Self {
        Self::new(
            store::error::ErrorKind::Invalid,
            "the rows to store could not be computed",
        )
        .with_source(error)
    }
}
