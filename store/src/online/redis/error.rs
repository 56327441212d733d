//! What the server says, as a store's error.

use redis::{RedisError, ServerErrorKind};

use crate::error::{Error, ErrorKind};

/// An error of the server or of the way to it, with the kind that says what to do about it.
pub(super) fn failed(error: RedisError) -> Error {
    use redis::ErrorKind as Redis;
    // Of many commands, the first that failed says why.
    let of_many = error.clone().into_server_errors();
    let first = of_many.as_ref().and_then(|errors| errors.first());
    let error = first.map_or(error, |(_, first)| first.clone().into());
    let (kind, message) = match (error.kind(), error.code()) {
        (_, Some("OOM")) => (
            ErrorKind::Unavailable,
            "the online store's server is out of memory: raise its `maxmemory`, or drop old releases (`nightfill release drop`)",
        ),
        (_, Some("MISCONF")) => (
            ErrorKind::Unavailable,
            "the online store's server cannot write to its disk and takes no writes",
        ),
        (Redis::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => (
            ErrorKind::Invalid,
            "the online store's server refuses the user or the password: the user stands in the URL, the password in `NIGHTFILL_ONLINE_PASSWORD` or `REDIS_PASSWORD`",
        ),
        (Redis::Server(ServerErrorKind::NoPerm), _) => (
            ErrorKind::Invalid,
            "the online store's user may not do this: docs/redis.md lists what it has to be allowed",
        ),
        (Redis::Server(ServerErrorKind::ReadOnly), _) => (
            ErrorKind::Unavailable,
            "the online store's server is a replica and takes no writes: name its master",
        ),
        (Redis::Server(ServerErrorKind::Moved | ServerErrorKind::CrossSlot), _) => (
            ErrorKind::Unsupported,
            "the online store's server is part of a cluster, which is not supported: name one that stands alone",
        ),
        (Redis::Server(ServerErrorKind::BusyLoading), _) => (
            ErrorKind::Unavailable,
            "the online store's server is still loading its data",
        ),
        (Redis::Io, _) => (
            ErrorKind::Unavailable,
            "the online store's server cannot be reached",
        ),
        (Redis::InvalidClientConfig, _) => (
            ErrorKind::Invalid,
            "the online store's server refuses the settings",
        ),
        _ if error.is_unrecoverable_error() => (
            ErrorKind::Unavailable,
            "the online store's server broke off",
        ),
        _ => (ErrorKind::Internal, "the online store failed"),
    };
    Error::new(kind, message).with_source(error)
}
