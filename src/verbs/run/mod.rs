//! `nightfill run`: one night, now.

mod means;
mod report;

use std::sync::Arc;

use feature_defs::name::Name;
use feature_defs::time::{Clock, Instant, SystemClock};
use pipelines::progress::Progress;
use pipelines::run::{Night, RunReport, RunRequest, unasked_views};
use serde_json::json;

use crate::args::{AsOf, Format, Global};
use crate::output;
use crate::progress::Shown;
use crate::project::{Applied, Opened};

pub(crate) use means::{Engine, LEASE, Means, lease, session};
pub(crate) use report::{describe, summary};

/// Computes the feature views of the applied definitions as of an instant, keeps them offline, stages them online and
/// flips to the new release. What was served before stays served until then, and if the night fails. The same night
/// again changes nothing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill run --as-of 1997-10-01\n  nightfill run --views customer_spend,customer_ltv"
)]
pub(crate) struct Run {
    /// The instant to look from, not in the future: RFC 3339 with a zone, or a date, midnight in the project's zone
    /// [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
    /// The views to compute; the others keep their served snapshots [default: all]
    #[arg(long, value_name = "VIEW", value_delimiter = ',', value_parser = Name::parse)]
    views: Vec<Name>,
    /// Publish views without any row even where the served release has some
    #[arg(long)]
    allow_empty: bool,
    /// Release although declared checks fail
    #[arg(long)]
    allow_failed_checks: bool,
    /// Look from before the served release, so that serving goes back in time
    #[arg(long)]
    allow_earlier: bool,
    #[command(flatten)]
    means: Means,
}

impl Run {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let applied = opened.applied().await?;
        let as_of = match &self.as_of {
            Some(as_of) => as_of.instant(&opened.project)?,
            None => SystemClock.now(),
        };
        let views = (!self.views.is_empty()).then_some(self.views);
        let shown = Shown::new();
        let request = RunRequest {
            as_of,
            views,
            allow_empty: self.allow_empty,
            allow_failed_checks: self.allow_failed_checks,
            allow_earlier: self.allow_earlier,
            holder: holder(),
            lease_length: self.means.lease,
        };
        tell_unasked(&opened, &applied, &request).await?;
        let report = night(&opened, &applied, &request, &self.means, &shown).await?;
        drop(shown);
        match global.format {
            Format::Json => output::json(&json!({
                "release": report.to,
                "flipped": report.flipped(),
                "report": report,
            })),
            Format::Text => output::line(describe(&report)),
        }
    }
}

/// Says which views are computed although nobody asked for them, and why.
async fn tell_unasked(
    opened: &Opened,
    applied: &Applied,
    request: &RunRequest,
) -> anyhow::Result<()> {
    let served = opened.served().await?;
    let unasked = unasked_views(&applied.definitions, request, served.as_ref());
    for unasked in &unasked {
        if let Some(reader) = unasked.read_by {
            let view = unasked.view;
            output::note(format_args!(
                "note: `{view}` is computed too: `{reader}` reads it as of the same instant"
            ));
        }
    }
    let not_served = unasked.iter().filter(|unasked| unasked.read_by.is_none());
    let names: Vec<&str> = not_served.map(|unasked| unasked.view.as_str()).collect();
    let why = match &served {
        _ if names.is_empty() => return Ok(()),
        None => "no release is served yet, and a release has all views".to_owned(),
        Some(served) => format!(
            "release {}, which is served, does not have {} defined now",
            served.number,
            if names.len() == 1 {
                "it as it is"
            } else {
                "them as they are"
            }
        ),
    };
    output::note(format_args!(
        "note: `{}` {} computed too: {why}",
        names.join("`, `"),
        if names.len() == 1 { "is" } else { "are" }
    ));
    Ok(())
}

/// Runs a night on the project's stores.
///
/// # Errors
/// What stopped the night; the release before stays served.
pub(crate) async fn night(
    opened: &Opened,
    applied: &Applied,
    request: &RunRequest,
    means: &Means,
    progress: &dyn Progress,
) -> anyhow::Result<RunReport> {
    let night = with(opened, means)?;
    let (definitions, version) = (&applied.definitions, applied.version);
    Ok(pipelines::run::run(&night, definitions, version, request, progress).await?)
}

/// What a night as of an instant is asked for when nothing else is said: all views.
pub(crate) fn all_views(as_of: Instant) -> RunRequest {
    RunRequest {
        as_of,
        views: None,
        allow_empty: false,
        allow_failed_checks: false,
        allow_earlier: false,
        holder: holder(),
        lease_length: Means::default().lease,
    }
}

/// A night on the project's stores.
///
/// # Errors
/// When the engine does not start.
pub(crate) fn with(opened: &Opened, means: &Means) -> anyhow::Result<Night> {
    Ok(Night {
        session: session(&means.engine)?,
        registry: Arc::clone(&opened.registry),
        offline: Arc::clone(&opened.offline),
        online: Arc::clone(&opened.online),
        clock: Arc::new(SystemClock),
    })
}

/// Who runs the night: this process.
pub(crate) fn holder() -> String {
    format!("process {}", std::process::id())
}
