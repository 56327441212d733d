//! `nightfill serve`: the day, over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use feature_defs::time::SystemClock;
use serde_json::json;
use serving::{Components, ServerSettings};

use crate::args::{Format, Global};
use crate::output;
use crate::project::Opened;

/// Answers predictions and features over HTTP from the served release, follows every flip within a second, and stops
/// on ctrl-c or SIGTERM once the requests in flight have ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill serve --listen 0.0.0.0:8080")]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
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
        let server = serving::start(settings, components(&opened)).await?;
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

/// What a server or a predictor of this project is made of.
pub(crate) fn components(opened: &Opened) -> Components {
    Components {
        registry: Arc::clone(&opened.registry),
        online: Arc::clone(&opened.online),
        clock: Arc::new(SystemClock),
        root: opened.files.project.root.clone(),
    }
}
