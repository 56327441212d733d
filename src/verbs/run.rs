//! `nightfill run`: one night, now.

use std::num::NonZeroUsize;
use std::sync::Arc;

use feature_defs::name::Name;
use feature_defs::time::{Clock, Instant, SystemClock, TimeSpan};
use pipelines::progress::Progress;
use pipelines::run::{Night, RunReport, RunRequest};
use pipelines::session::{Session, SessionSettings};
use serde_json::json;

use crate::args::{AsOf, Format, Global};
use crate::output::{self, table};
use crate::progress::Shown;
use crate::project::{Applied, Opened};

/// Computes the feature views of the applied definitions as of an instant, keeps them offline, stages them online and
/// flips to the new release. What was served before stays served until then, and if the night fails. The same night
/// again changes nothing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill run --as-of 1997-10-01\n  nightfill run --views customer_spend,customer_ltv"
)]
pub(crate) struct Run {
    /// The instant to look from: RFC 3339 with a zone, or a date, midnight in the project's zone [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
    /// The views to compute; the others keep their served snapshots [default: all]
    #[arg(long, value_name = "VIEW", value_delimiter = ',', value_parser = Name::parse)]
    views: Vec<Name>,
    /// Publish views without any row even where the served release has some
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    means: Means,
}

/// How long a night that died keeps the next one waiting, unless told otherwise.
const LEASE: TimeSpan = match TimeSpan::from_micros(30_000_000) {
    Some(span) => span,
    None => panic!("30 s is not negative"),
};

/// What a night may use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Means {
    /// Threads to compute with [default: one a processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Memory for sorting and aggregating, in MiB, before it spills to disk
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory: usize,
    /// How long a night that died keeps the next one waiting
    #[arg(long, value_name = "SPAN", default_value_t = LEASE, value_parser = TimeSpan::parse)]
    pub(crate) lease: TimeSpan,
}

impl Default for Means {
    fn default() -> Self {
        Self {
            threads: None,
            memory: 2048,
            lease: LEASE,
        }
    }
}

impl Run {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let applied = opened.applied().await?;
        let as_of = match &self.as_of {
            Some(as_of) => as_of.instant(&opened.files.project)?,
            None => SystemClock.now(),
        };
        let views = (!self.views.is_empty()).then_some(self.views);
        let shown = Shown::new();
        let request = RunRequest {
            as_of,
            views,
            allow_empty: self.allow_empty,
            holder: holder(),
            lease_length: self.means.lease,
        };
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
        holder: holder(),
        lease_length: LEASE,
    }
}

/// A night on the project's stores.
///
/// # Errors
/// When the engine does not start.
pub(crate) fn with(opened: &Opened, means: &Means) -> anyhow::Result<Night> {
    Ok(Night {
        session: session(means)?,
        registry: Arc::clone(&opened.registry),
        offline: Arc::clone(&opened.offline),
        online: Arc::clone(&opened.online),
        clock: Arc::new(SystemClock),
    })
}

/// The engine, with these means.
///
/// # Errors
/// When it does not start.
pub(crate) fn session(means: &Means) -> anyhow::Result<Session> {
    let mut settings = SessionSettings {
        memory_limit: means.memory << 20,
        ..SessionSettings::default()
    };
    if let Some(threads) = means.threads {
        settings.threads = threads;
    }
    Ok(Session::new(&settings)?)
}

/// Who runs the night: this process.
pub(crate) fn holder() -> String {
    format!("process {}", std::process::id())
}

/// What a night did, in a line.
pub(crate) fn summary(report: &RunReport) -> String {
    let keys: u64 = report.views.iter().map(|view| view.keys).sum();
    let views = output::counted(report.views.len(), "view");
    let release = report.to;
    if report.flipped() {
        format!(
            "release {release} as of {}: {views}, {keys} rows",
            report.as_of
        )
    } else {
        format!(
            "release {release} as of {} is served already: nothing changed",
            report.as_of
        )
    }
}

/// What a night did: its release, a line a view, the flip.
pub(crate) fn describe(report: &RunReport) -> String {
    let rows: Vec<Vec<String>> = report
        .views
        .iter()
        .map(|view| {
            let what = match (view.computed, view.rows_written) {
                (false, _) => format!("kept as of {}", view.as_of),
                (true, 0) => "no row changed".to_owned(),
                (true, written) => format!("{written} rows published"),
            };
            let what = match view.rows_without_key {
                0 => what,
                rows => format!("{what}; {rows} without a key passed over"),
            };
            vec![
                format!("  {}", view.view),
                format!("{} rows read", view.rows_read),
                format!("{} keys", view.keys),
                format!("{:.2} s", view.seconds),
                what,
            ]
        })
        .collect();
    let from = report
        .from
        .map_or_else(|| "none".to_owned(), |from| from.to_string());
    let flip = if report.flipped() {
        format!("  flip {from} -> {}, now serving", report.to)
    } else {
        format!("  nothing changed: {} keeps serving", report.to)
    };
    let head = format!(
        "release {}  as of {}  {:.2} s",
        report.to, report.as_of, report.seconds
    );
    let views = table(&["  view", "", "", "", ""], &[1, 2, 3], &rows);
    let views: Vec<&str> = views.lines().skip(1).collect();
    format!("{head}\n{}\n{flip}", views.join("\n"))
}
