//! Settings of the stores: data, no objects.

use std::fmt;
use std::time::Duration;

use feature_defs::redis_place::RedisPlace;

/// Settings of [`crate::online::embedded::EmbeddedStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedSettings {
    /// Most bytes that the store may grow to, a multiple of the page size, the same for all processes. It reserves
    /// address space, not memory or disk.
    pub map_size: usize,
    /// Most reads at once, over all processes.
    pub max_readers: u32,
}

impl Default for EmbeddedSettings {
    /// 256 GiB, 1,024 reads.
    fn default() -> Self {
        Self {
            map_size: 256 << 30,
            max_readers: 1_024,
        }
    }
}

/// Settings of [`crate::online::redis::open`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisSettings {
    /// The server.
    pub place: RedisPlace,
    /// The user's password.
    pub password: Option<Password>,
    /// What all keys start with, after `nf:`. Stores of different namespaces never meet.
    pub namespace: String,
    /// How long a read may take, connecting included; then it is unavailable.
    pub read_deadline: Duration,
    /// How long one call of a night may take.
    pub write_deadline: Duration,
    /// How long one attempt to connect may take.
    pub connect_deadline: Duration,
}

impl RedisSettings {
    /// A store in this namespace of a server: half a second for reads, half a minute for a call of a night, two seconds
    /// to connect.
    #[must_use]
    pub fn new(place: RedisPlace, namespace: impl Into<String>) -> Self {
        Self {
            place,
            password: None,
            namespace: namespace.into(),
            read_deadline: Duration::from_millis(500),
            write_deadline: Duration::from_secs(30),
            connect_deadline: Duration::from_secs(2),
        }
    }
}

/// A password, which nothing shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Hides a password.
    #[must_use]
    pub const fn new(password: String) -> Self {
        Self(password)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(...)")
    }
}
