//! `nightfill schedule`: nights by the clock.

use std::fmt;

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::time::{Clock, Instant, SystemClock};
use pipelines::error::Result as NightResult;
use pipelines::run::RunReport;
use pipelines::schedule::{Due, ScheduleSettings, next_due, run_forever};
use serde::Serialize;
use serde_json::json;

use crate::args::{Format, Global};
use crate::output;
use crate::progress::Shown;
use crate::project::Opened;
use crate::verbs::run::{self, Means};

/// Runs nights when the cron expressions of the applied definitions say so, until ctrl-c or SIGTERM; a night that is
/// going on then is finished first. A night that fails is reported, the last release stays served, and the next night
/// comes as planned. Nights that were missed while it was not running are not caught up with: `nightfill run` runs one
/// by hand. With `--format json`, each line of standard output is a document: first when each view is due, then a line a
/// night.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill schedule --project shop")]
pub(crate) struct Schedule {
    #[command(flatten)]
    means: Means,
}

impl Schedule {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let signals = serving::shutdown::Signals::listen()?;
        let opened = Opened::open(global).await?;
        let applied = opened.applied().await?;
        let night = run::with(&opened, &self.means)?;
        let settings = ScheduleSettings {
            root: opened.project.root.clone(),
            holder: run::holder(),
            lease_length: self.means.lease,
        };
        let plan = plan(&applied.definitions, SystemClock.now());
        match global.format {
            Format::Json => output::line(json!({ "views": plan }))?,
            Format::Text => plan.iter().for_each(output::note),
        }
        let format = global.format;
        let report = move |due: &Due, result: NightResult<RunReport>| {
            // Whoever reads our output may go away; the nights go on.
            let _ = tell(format, due.as_of, result);
        };
        let stop = signals.wait();
        Ok(run_forever(&night, &settings, &Shown::new(), &report, stop).await?)
    }
}

/// When a view is computed.
#[derive(Debug, Serialize)]
struct Planned<'a> {
    view: &'a Name,
    /// The cron expression; none for a view that is computed only when asked.
    cron: Option<&'a str>,
    timezone: Option<&'static str>,
    /// The first instant at which it falls due.
    next: Option<Instant>,
}

impl fmt::Display for Planned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(cron), Some(timezone)) = (self.cron, self.timezone) else {
            return write!(f, "{}: only when asked, by `nightfill run`", self.view);
        };
        write!(f, "{}: `{cron}` {timezone}, ", self.view)?;
        match self.next {
            Some(next) => write!(f, "next at {next}"),
            None => f.write_str("never again"),
        }
    }
}

fn plan(definitions: &Definitions, now: Instant) -> Vec<Planned<'_>> {
    let views = definitions.views.values();
    views
        .map(|view| {
            let schedule = view.schedule.as_ref();
            Planned {
                view: &view.name,
                cron: schedule.map(|schedule| schedule.cron.as_str()),
                timezone: schedule.map(|schedule| schedule.timezone.name()),
                next: schedule.and_then(|schedule| next_due(schedule, now)),
            }
        })
        .collect()
}

/// What became of a night: a line of JSON or a few lines of text.
fn tell(format: Format, as_of: Instant, result: NightResult<RunReport>) -> anyhow::Result<()> {
    match (result, format) {
        (Ok(report), Format::Text) => output::line(run::describe(&report)),
        (Ok(report), Format::Json) => {
            output::line(json!({ "release": report.to, "report": report }))
        }
        (Err(error), Format::Text) => {
            output::failure(
                &anyhow::Error::from(error).context(format!("the night as of {as_of} failed")),
            );
            Ok(())
        }
        (Err(error), Format::Json) => {
            output::line(json!({ "as_of": as_of, "error": error.to_string() }))
        }
    }
}
