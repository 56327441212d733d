//! The log: on standard error, as much of it as `NIGHTFILL_LOG` or `RUST_LOG` says.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

/// Starts the log. What the registry's driver says comes with our own errors. A verb that stays up tells what it does; the others speak of trouble only.
pub(crate) fn start(stays_up: bool) {
    let unless_told = if stays_up {
        "info,tokio_cron_scheduler=warn,sqlx=off"
    } else {
        "warn,sqlx=off"
    };
    let asked = ["NIGHTFILL_LOG", "RUST_LOG"]
        .iter()
        .find_map(|variable| std::env::var(variable).ok().filter(|v| !v.is_empty()));
    let filter = EnvFilter::builder().parse_lossy(asked.as_deref().unwrap_or(unless_told));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .init();
}
