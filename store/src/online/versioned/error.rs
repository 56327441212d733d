//! What any server may be found to lack.

use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::release::ReleaseNumber;

pub(crate) fn no_answer_within(deadline: Duration) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!(
            "the online store's server did not answer within {} ms",
            deadline.as_millis()
        ),
    )
}

pub(crate) fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!("{what} of the online store is damaged or gone"),
    )
}

/// An answer that is none of the command's.
pub(crate) fn unexpected() -> Error {
    Error::new(
        ErrorKind::Internal,
        "the online store's server answered something else than was asked",
    )
}

/// A release whose mark is not there.
pub(crate) fn gone(release: ReleaseNumber) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "release `{release}` is not in the online store any more: it was dropped, or the server lost its data"
        ),
    )
}
