//! `nightfill schedule`: nights by the clock.

use feature_defs::time::Instant;
use pipelines::error::Result as NightResult;
use pipelines::run::RunReport;
use pipelines::schedule::{Due, ScheduleSettings, run_forever};
use serde_json::json;

use crate::args::{Format, Global};
use crate::output;
use crate::progress::Shown;
use crate::project::Opened;
use crate::verbs::run::{self, Means};

/// Runs nights when the cron expressions of the applied definitions say so, until ctrl-c or SIGTERM; a night that is
/// going on then is finished first. A night that fails is reported, the last release stays served, and the next night
/// comes as planned.
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
            root: opened.files.project.root.clone(),
            holder: run::holder(),
            lease_length: self.means.lease,
        };
        for view in applied.definitions.views.values() {
            let when = match &view.schedule {
                Some(schedule) => format!("`{}` {}", schedule.cron, schedule.timezone),
                None => "only when asked".to_owned(),
            };
            output::note(format_args!("{}: {when}", view.name));
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
