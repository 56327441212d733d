//! `nightfill serve`: the day, over HTTP.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::anyhow;
use feature_defs::time::SystemClock;
use serde_json::json;
use serving::startup::StartError;
use serving::{Components, ServerSettings};

use crate::args::{Format, Global};
use crate::project::Opened;
use crate::{listen, output};

/// Answers predictions and features over HTTP from the served release, follows every flip within a second, and stops
/// on ctrl-c or SIGTERM once the requests in flight have ended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill serve --listen 8081\n  nightfill serve --listen 0.0.0.0:8080"
)]
pub(crate) struct Serve {
    /// Where to listen: a port, which only this machine reaches, or an address with one; port 0 takes a free one
    #[arg(long, value_name = "[ADDRESS:]PORT", default_value = "127.0.0.1:8080", value_parser = listen::parse)]
    listen: SocketAddr,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let settings = ServerSettings {
            listen: self.listen,
            ..ServerSettings::default()
        };
        let signals = serving::shutdown::Signals::listen()?;
        let started = serving::start(settings, components(&opened)).await;
        let server = started.map_err(told)?;
        let served = server
            .predictor()
            .served()
            .map(|plan| plan.release().number);
        match (global.format, served) {
            (Format::Json, served) => {
                output::json(&json!({ "address": server.address(), "served": served }))?;
            }
            (Format::Text, Some(release)) => output::line(format_args!(
                "listening on http://{}, serving release {release}",
                server.address()
            ))?,
            (Format::Text, None) => output::line(format_args!(
                "listening on http://{}; no release yet: `nightfill run` publishes one",
                server.address()
            ))?,
        }
        signals.wait().await;
        output::note("stopping once the requests in flight have ended");
        server.shut_down().await;
        Ok(())
    }
}

/// Why the server did not start, with the way out where there is one.
pub(super) fn told(error: StartError) -> anyhow::Error {
    match error {
        StartError::Listen { address, source } if source.kind() == ErrorKind::AddrInUse => anyhow!(
            "port {} of {} is taken by another process: name another with `--listen`, as `--listen {}`; 0 takes a free one",
            address.port(),
            address.ip(),
            SocketAddr::new(address.ip(), address.port().wrapping_add(1).max(1024))
        ),
        other => other.into(),
    }
}

/// What a server or a predictor of this project is made of.
pub(crate) fn components(opened: &Opened) -> Components {
    Components {
        registry: Arc::clone(&opened.registry),
        online: Arc::clone(&opened.online),
        clock: Arc::new(SystemClock),
        root: opened.project.root.clone(),
    }
}
