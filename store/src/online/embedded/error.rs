//! What LMDB says, as a store's error.

use heed::MdbError;

use crate::error::{Error, ErrorKind};

/// An error of LMDB with the kind that says what to do about it.
pub(super) fn failed(error: heed::Error) -> Error {
    let (kind, message) = match &error {
        heed::Error::Mdb(MdbError::MapFull) => (
            ErrorKind::Unavailable,
            "the online store is full: drop old releases or raise `map_size`",
        ),
        heed::Error::Mdb(MdbError::MapResized) => (
            ErrorKind::Unavailable,
            "another process opened the online store with a larger `map_size`: use the same one",
        ),
        heed::Error::Mdb(MdbError::ReadersFull) => (
            ErrorKind::Unavailable,
            "the online store has too many reads at once: raise `max_readers`",
        ),
        heed::Error::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => (
            ErrorKind::Unavailable,
            "the disk of the online store is full",
        ),
        heed::Error::Io(_) => (
            ErrorKind::Unavailable,
            "the online store cannot be read or written",
        ),
        heed::Error::Mdb(
            MdbError::Corrupted
            | MdbError::PageNotFound
            | MdbError::Invalid
            | MdbError::VersionMismatch
            | MdbError::Incompatible,
        ) => (
            ErrorKind::Corrupt,
            "the online store's files are damaged or not its own: restore its folder, or move it away and run a night, which publishes anew",
        ),
        _ => (ErrorKind::Internal, "the online store failed"),
    };
    let failed = Error::new(kind, message);
    match kind {
        // The message says all that LMDB's word for it does.
        ErrorKind::Corrupt => failed,
        _ => failed.with_source(error),
    }
}
