//! `nightfill status`: what is applied, what ran, what is served, how fresh it is.

use feature_defs::as_of::within_ttl;
use feature_defs::time::{Clock, Instant, SystemClock, TimeSpan};
use serde_json::{Value, json};
use store::registry::{Run, RunOutcome};
use store::release::Release;

use crate::args::{Format, Global};
use crate::output::{self, table};
use crate::project::Opened;

/// How many runs are shown.
const RUNS: u32 = 5;

/// Shows the applied definitions, the newest runs, the served release, and the age of its views.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill status --format json")]
pub(crate) struct Status {}

impl Status {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let now = SystemClock.now();
        let applied = opened.registry.definitions(None).await?;
        let runs = opened.registry.runs(RUNS).await?;
        let served = match opened.online.served().await? {
            Some(number) => Some(opened.online.release(number).await?),
            None => None,
        };
        let files_applied = applied
            .as_ref()
            .is_some_and(|a| a.definitions.fingerprint == opened.files.fingerprint);
        let version = applied.as_ref().map(|applied| applied.version);
        let views = served.as_ref().map(|release| views(&opened, release, now));
        let views = views.unwrap_or_default();

        if global.format == Format::Json {
            return output::json(&json!({
                "project": opened.files.project.name,
                "now": now,
                "definitions": { "version": version, "files_applied": files_applied },
                "served": served,
                "views": views.iter().map(ViewAge::json).collect::<Vec<_>>(),
                "runs": runs.iter().map(run_json).collect::<Vec<_>>(),
            }));
        }
        output::line(format_args!("project      {}", opened.files.project.name))?;
        output::line(format_args!(
            "definitions  {}",
            definitions_line(version, files_applied)
        ))?;
        output::line(format_args!(
            "served       {}",
            served_line(served.as_ref())
        ))?;
        if !views.is_empty() {
            let rows: Vec<_> = views.iter().map(ViewAge::row).collect();
            let headings = ["view", "rows", "as of", "age", "ttl", "state"];
            output::line(format_args!("\n{}", table(&headings, &[1], &rows)))?;
        }
        if !runs.is_empty() {
            let rows: Vec<_> = runs.iter().map(run_row).collect();
            let headings = ["run", "as of", "started", "outcome"];
            output::line(format_args!("\n{}", table(&headings, &[0], &rows)))?;
        }
        Ok(())
    }
}

fn definitions_line(version: Option<u64>, files_applied: bool) -> String {
    match (version, files_applied) {
        (None, _) => "none applied: run `nightfill apply`".to_owned(),
        (Some(version), true) => format!("version {version} applied"),
        (Some(version), false) => format!(
            "version {version} applied; the files differ from it: `nightfill apply` makes them count"
        ),
    }
}

fn served_line(served: Option<&Release>) -> String {
    served.map_or_else(
        || "no release yet: run `nightfill run`".to_owned(),
        |release| format!("release {}, as of {}", release.number, release.as_of),
    )
}

/// How old a served view is.
struct ViewAge {
    name: String,
    rows: u64,
    as_of: Instant,
    age: TimeSpan,
    ttl: String,
    state: &'static str,
}

fn views(opened: &Opened, release: &Release, now: Instant) -> Vec<ViewAge> {
    let age_of = |as_of: Instant| {
        let micros = now.micros().saturating_sub(as_of.micros()).max(0);
        TimeSpan::from_micros(micros)
    };
    let mut ages = Vec::new();
    for view in &release.views {
        let declared = opened.files.views.get(&view.view);
        let expired = declared.is_some_and(|d| !within_ttl(view.as_of, d.ttl, now));
        ages.extend(age_of(view.as_of).map(|age| ViewAge {
            name: view.view.to_string(),
            rows: view.rows,
            as_of: view.as_of,
            age,
            ttl: declared.map_or_else(|| "-".to_owned(), |declared| declared.ttl.to_string()),
            state: if expired { "expired" } else { "fresh" },
        }));
    }
    ages
}

impl ViewAge {
    fn row(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.rows.to_string(),
            self.as_of.to_string(),
            roughly(self.age),
            self.ttl.clone(),
            self.state.to_owned(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "view": self.name,
            "rows": self.rows,
            "as_of": self.as_of,
            "age_seconds": self.age.micros() / 1_000_000,
            "ttl": self.ttl,
            "state": self.state,
        })
    }
}

/// A span in its two greatest units: `2d4h`, `3h05m`, `12s`.
fn roughly(span: TimeSpan) -> String {
    let seconds = span.micros() / 1_000_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, _, _) => format!("{hours}h{minutes:02}m"),
        _ => format!("{days}d{hours:02}h"),
    }
}

fn outcome(run: &Run) -> String {
    match &run.finished {
        None => "not finished".to_owned(),
        Some((_, RunOutcome::Published { release })) => format!("published release {release}"),
        Some((_, RunOutcome::Failed { message })) => format!("failed: {message}"),
    }
}

fn run_row(run: &Run) -> Vec<String> {
    vec![
        run.id.0.to_string(),
        run.run.as_of.to_string(),
        run.run.started_at.to_string(),
        outcome(run),
    ]
}

fn run_json(run: &Run) -> Value {
    json!({
        "run": run.id,
        "as_of": run.run.as_of,
        "definitions_version": run.run.definitions_version,
        "started_at": run.run.started_at,
        "finished_at": run.finished.as_ref().map(|(at, _)| at),
        "outcome": run.finished.as_ref().map(|(_, outcome)| outcome),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_show_their_two_greatest_units() {
        for (text, shown) in [
            ("12s", "12s"),
            ("125s", "2m05s"),
            ("3h", "3h00m"),
            ("52h", "2d04h"),
        ] {
            assert_eq!(roughly(TimeSpan::parse(text).expect("span")), shown);
        }
    }
}
