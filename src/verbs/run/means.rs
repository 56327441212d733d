//! What a night may use, as arguments.

use std::num::NonZeroUsize;

use feature_defs::time::TimeSpan;
use pipelines::session::{Session, SessionSettings};

use crate::numbers;

/// How long a night that died keeps the next one waiting, unless told otherwise.
pub(crate) const LEASE: TimeSpan = match TimeSpan::from_micros(30_000_000) {
    Some(span) => span,
    None => panic!("30 s is not negative"),
};

/// Memory of the engine in MiB, unless told otherwise.
const MEMORY: NonZeroUsize = match NonZeroUsize::new(2048) {
    Some(mebibytes) => mebibytes,
    None => panic!("2,048 is not zero"),
};

/// What a night may use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Means {
    #[command(flatten)]
    pub(crate) engine: Engine,
    /// How long a night that died keeps the next one waiting
    #[arg(long, value_name = "SPAN", default_value_t = LEASE, value_parser = lease)]
    pub(crate) lease: TimeSpan,
}

/// What a computation may use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Engine {
    /// Threads to compute with [default: one a processor]
    #[arg(long, value_name = "N", value_parser = numbers::threads)]
    threads: Option<NonZeroUsize>,
    /// Memory for sorting and aggregating before it spills to disk: MiB as a plain number, or with its unit, like `2GiB`
    #[arg(long, value_name = "MIB", default_value_t = MEMORY, value_parser = numbers::memory)]
    memory: NonZeroUsize,
}

impl Default for Means {
    fn default() -> Self {
        Self {
            engine: Engine {
                threads: None,
                memory: MEMORY,
            },
            lease: LEASE,
        }
    }
}

/// Reads the length of a lease.
///
/// # Errors
/// For a text that is no time span, or none at all.
pub(crate) fn lease(text: &str) -> Result<TimeSpan, String> {
    let span = TimeSpan::parse(text).map_err(|error| error.to_string())?;
    if span.micros() == 0 {
        return Err(
            "a lease of no length protects no night: write some seconds, like `30s`".to_owned(),
        );
    }
    Ok(span)
}

/// The engine, with these means.
///
/// # Errors
/// When it does not start.
pub(crate) fn session(engine: &Engine) -> anyhow::Result<Session> {
    let mut settings = SessionSettings {
        memory_limit: engine.memory.get().saturating_mul(1 << 20),
        ..SessionSettings::default()
    };
    if let Some(threads) = engine.threads {
        settings.threads = threads;
    }
    Ok(Session::new(&settings)?)
}
