//! Settings of the server: data only, each with its default.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// What one request may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most entities in a request. Default 5,000.
    pub entities: usize,
    /// Most bytes in a request's body. Default 16 MiB, which 5,000 entities with 40 request fields fit.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entities: 5_000,
            body_bytes: 16 << 20,
        }
    }
}

/// How the server listens and what it holds callers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Where to listen; port 0 takes a free one. Default `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// What one request may ask for.
    pub limits: Limits,
    /// Requests that are answered at once; more are refused with 503. Default 1,024.
    pub concurrent_requests: usize,
    /// Time for an answer, from the whole head on. Default 5 s.
    pub request_deadline: Duration,
    /// Time for a request's head to arrive, on an idle connection too. Default 75 s.
    pub header_timeout: Duration,
    /// Time for requests in flight to end once the server shuts down. Default 10 s.
    pub drain: Duration,
    /// How often the online store is asked which release it serves. Default 200 ms.
    pub release_poll: Duration,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            limits: Limits::default(),
            concurrent_requests: 1_024,
            request_deadline: Duration::from_secs(5),
            header_timeout: Duration::from_secs(75),
            drain: Duration::from_secs(10),
            release_poll: Duration::from_millis(200),
        }
    }
}
