//! A place in a Redis or Valkey server: `redis://user@host:6379/0?namespace=shop`.

use std::fmt;

use crate::name::Name;

const DEFAULT_PORT: u16 = 6379;

/// Where in which server an online store is. There is no password in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisPlace {
    /// Whether the connection is encrypted: `rediss://`.
    pub tls: bool,
    /// The user; none is the server's default one.
    pub user: Option<String>,
    /// The server's name or address.
    pub host: String,
    /// The server's port, 6379 unless another is written.
    pub port: u16,
    /// The number of the database, 0 unless another is written.
    pub database: i64,
    /// What the keys of this store start with; none is the project's name, with that of its environment.
    pub namespace: Option<Name>,
}

/// Why a text is no [`RedisPlace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedisPlaceError {
    /// A password stands in it.
    Password,
    /// No host is named.
    NoHost,
    /// What follows the host's colon is no port.
    Port,
    /// The path is no number of a database.
    Database,
    /// Something else than a namespace follows the `?`.
    Option,
    /// The namespace is no name.
    Namespace,
}

impl RedisPlace {
    /// Parses a text that starts with `redis://` or `rediss://`; `None` for any other.
    #[must_use]
    pub fn parse(text: &str) -> Option<Result<Self, RedisPlaceError>> {
        let (tls, rest) = match text.strip_prefix("redis://") {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix("rediss://")?),
        };
        Some(Self::after_scheme(tls, rest))
    }

    fn after_scheme(tls: bool, rest: &str) -> Result<Self, RedisPlaceError> {
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(RedisPlaceError::Password);
        }
        let (host, port) = host_and_port(address)?;
        let database = match path {
            "" => 0,
            path => decimal(path)
                .map(i64::from)
                .ok_or(RedisPlaceError::Database)?,
        };
        let namespace = match options.split_once('=') {
            _ if options.is_empty() => None,
            Some(("namespace", name)) => {
                Some(Name::parse(name).map_err(|_| RedisPlaceError::Namespace)?)
            }
            Some(("password", _)) => return Err(RedisPlaceError::Password),
            _ => return Err(RedisPlaceError::Option),
        };
        Ok(Self {
            tls,
            user: user.filter(|user| !user.is_empty()).map(str::to_owned),
            host,
            port,
            database,
            namespace,
        })
    }
}

/// An IPv6 address stands in brackets.
fn host_and_port(address: &str) -> Result<(String, u16), RedisPlaceError> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or(RedisPlaceError::NoHost)?;
            let port = match rest {
                "" => None,
                rest => Some(rest.strip_prefix(':').ok_or(RedisPlaceError::Port)?),
            };
            (host, port)
        }
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    if host.is_empty() {
        return Err(RedisPlaceError::NoHost);
    }
    let port = match port {
        Some(port) => decimal(port)
            .filter(|port| *port > 0)
            .ok_or(RedisPlaceError::Port)?,
        None => DEFAULT_PORT,
    };
    Ok((host.to_owned(), port))
}

fn decimal(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for RedisPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls { "rediss://" } else { "redis://" })?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        write!(f, ":{}/{}", self.port, self.database)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "?namespace={namespace}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_its_default_and_the_whole_is_shown() {
        for (written, shown) in [
            ("redis://db", "redis://db:6379/0"),
            ("redis://db/", "redis://db:6379/0"),
            ("rediss://night@db:6380/3", "rediss://night@db:6380/3"),
            ("redis://[::1]:7000", "redis://[::1]:7000/0"),
            (
                "redis://db?namespace=shop",
                "redis://db:6379/0?namespace=shop",
            ),
        ] {
            let place = RedisPlace::parse(written).expect("a scheme");
            let place = place.expect("a place");
            assert_eq!(place.to_string(), shown);
            assert_eq!(RedisPlace::parse(shown), Some(Ok(place)));
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        use RedisPlaceError as Error;
        for (written, error) in [
            ("redis://user:secret@db", Error::Password),
            ("redis://:secret@db", Error::Password),
            ("redis://db?password=secret", Error::Password),
            ("redis://", Error::NoHost),
            ("redis://user@/0", Error::NoHost),
            ("redis://db:port", Error::Port),
            ("redis://db:0", Error::Port),
            ("redis://db:99999", Error::Port),
            ("redis://db/shop", Error::Database),
            ("redis://db/-1", Error::Database),
            ("redis://db?protocol=resp3", Error::Option),
            ("redis://db?namespace=My Shop", Error::Namespace),
        ] {
            assert_eq!(RedisPlace::parse(written), Some(Err(error)), "{written}");
        }
        assert_eq!(RedisPlace::parse("embedded://db"), None);
    }
}
