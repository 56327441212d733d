//! `nightfill status`: what is applied, what ran, what is served, how fresh it is.

mod models;
mod runs;
mod views;

use feature_defs::definitions::Definitions;
use feature_defs::time::{Clock, SystemClock};
use serde_json::json;
use store::release::{Release, ReleaseNumber};

use crate::args::{Format, Global};
use crate::output::{self, table};
use crate::project::Opened;

/// How many runs are shown.
const RUNS: u32 = 5;

/// Shows the applied definitions, the served release, the age of its views, its models, those that wait for the next
/// night, and the newest runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill status --format json")]
pub(crate) struct Status {}

impl Status {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        let applied = opened.newest().await?;
        let version = applied.as_ref().map(|applied| applied.version);
        let fingerprint = applied
            .as_ref()
            .map(|applied| applied.definitions.fingerprint);
        let files = match (opened.files, fingerprint) {
            (None, _) => Files::Broken,
            (Some(files), Some(applied)) if files == applied => Files::Applied,
            (Some(_), _) => Files::Differ,
        };
        let applied = applied.map(|applied| opened.read(applied)).transpose()?;
        let applied = applied.map(|applied| applied.definitions);
        let served = opened.served().await?;
        let served_by = served_by(&opened, served.as_ref()).await?;
        let rolled_back = opened.online.rolled_back().await?;
        let runs = opened.registry.runs(RUNS).await?;
        let now = SystemClock.now();
        let views = views::of(served.as_ref(), served_by.as_ref(), applied.as_ref(), now);
        let models = models::of(&opened, served.as_ref(), applied.as_ref()).await?;

        if global.format == Format::Json {
            return output::json(&json!({
                "project": opened.project.name,
                "environment": opened.project.environment,
                "now": now,
                "definitions": {
                    "version": version,
                    "files_applied": files == Files::Applied,
                    "files_have_problems": files == Files::Broken,
                },
                "served": served,
                "rolled_back": rolled_back,
                "views": views,
                "models": models,
                "runs": runs.iter().map(runs::json).collect::<Vec<_>>(),
            }));
        }
        output::line(format_args!("project      {}", opened.project.name))?;
        if let Some(environment) = &opened.project.environment {
            output::line(format_args!("environment  {environment}"))?;
        }
        output::line(format_args!(
            "definitions  {}",
            definitions_line(version, files)
        ))?;
        output::line(format_args!(
            "served       {}",
            served_line(served.as_ref())
        ))?;
        if !rolled_back.is_empty() {
            output::line(format_args!(
                "rolled back  {}",
                rolled_back_line(&rolled_back)
            ))?;
        }
        section(
            &["view", "rows", "as of", "age", "ttl", "state"],
            1,
            views.iter().map(views::ViewStatus::row).collect(),
        )?;
        section(
            &["model", "bundle", "state"],
            0,
            models.iter().map(models::ModelStatus::row).collect(),
        )?;
        section(
            &["run", "as of", "started", "outcome"],
            0,
            runs.iter().map(runs::row).collect(),
        )
    }
}

/// How the definition files stand to what is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Applied,
    Differ,
    Broken,
}

/// The definitions that the served release was made by, if they still read: their TTLs are the ones that count.
async fn served_by(
    opened: &Opened,
    served: Option<&Release>,
) -> anyhow::Result<Option<Definitions>> {
    let Some(release) = served else {
        return Ok(None);
    };
    let version = Some(release.definitions_version);
    let version = opened.registry.definitions(version).await?;
    let read = version.and_then(|version| opened.read(version).ok());
    Ok(read.map(|read| read.definitions))
}

/// A table with an empty line before it, unless it is empty.
fn section(headings: &[&str], number: usize, rows: Vec<Vec<String>>) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    output::line(format_args!("\n{}", table(headings, &[number], &rows)))
}

fn definitions_line(version: Option<u64>, files: Files) -> String {
    let files = match files {
        Files::Applied => "",
        Files::Differ => "; the files differ from it: `nightfill apply` makes them count",
        Files::Broken => "; the files have problems: `nightfill check` shows them",
    };
    match version {
        None => "none applied: run `nightfill apply`".to_owned(),
        Some(version) => format!("version {version} applied{files}"),
    }
}

fn served_line(served: Option<&Release>) -> String {
    served.map_or_else(
        || "no release yet: run `nightfill run`".to_owned(),
        |release| format!("release {}, as of {}", release.number, release.as_of),
    )
}

fn rolled_back_line(releases: &[ReleaseNumber]) -> String {
    let numbers: Vec<String> = releases.iter().map(ToString::to_string).collect();
    let noun = if numbers.len() == 1 {
        "release"
    } else {
        "releases"
    };
    format!("{noun} {}", numbers.join(", "))
}
