//! `nightfill log`: the history of the definitions.

use store::registry::VersionEntry;

use crate::args::{Format, Global};
use crate::output::{self, table};
use crate::project::{NONE_APPLIED, Opened};
use crate::verbs::apply::NOBODY;

/// Lists the versions of the definitions, newest first: when each was applied and by whom. `nightfill diff` shows what
/// is different between two of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill log --format json")]
pub(crate) struct Log {}

impl Log {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let mut history = opened.registry.history().await?;
        history.reverse();
        if global.format == Format::Json {
            return output::json(&history);
        }
        if history.is_empty() {
            return output::line(NONE_APPLIED);
        }
        let project = |entry: &VersionEntry| {
            let name = entry.project.as_ref().map(ToString::to_string);
            name.unwrap_or_else(|| NOBODY.to_owned())
        };
        let rows = history.iter().map(|entry| {
            vec![
                entry.version.to_string(),
                entry.applied_at.to_string(),
                entry.applied_by.clone(),
                project(entry),
                entry.fingerprint.short(),
            ]
        });
        if history.iter().any(|entry| entry.applied_by == NOBODY) {
            output::note(format_args!(
                "note: `{NOBODY}` applied where neither `USER` nor `LOGNAME` was set"
            ));
        }
        let headings = ["version", "applied", "by", "project", "fingerprint"];
        output::line(table(&headings, &[0], &rows.collect::<Vec<_>>()))
    }
}
