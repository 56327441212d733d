//! `nightfill release`: which releases there are, what is in them, and the way back.

use std::cmp::Reverse;

use anyhow::{Context, bail};
use feature_defs::name::Name;
use feature_defs::time::Stopwatch;
use serde_json::json;
use store::release::{Release as Record, ReleaseNumber};

use crate::args::{Format, Global};
use crate::numbers;
use crate::output::{self, table};
use crate::project::{Opened, no_release};

/// Releases: what a night published, and which of them is served.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Release {
    /// List the releases that can be served
    #[command(after_help = "Example:\n  nightfill release list --format json")]
    List,
    /// Show what a release is made of
    #[command(after_help = "Example:\n  nightfill release show 41")]
    Show {
        /// Its number [default: the served release]
        #[arg(value_parser = numbers::release)]
        number: Option<u64>,
    },
    /// Serve an earlier release again, at once
    #[command(
        after_help = "Examples:\n  nightfill release rollback          back to the one before\n  nightfill release rollback --to 39"
    )]
    Rollback {
        /// The release to serve [default: the newest one before the served release that was not rolled back]
        #[arg(long, value_name = "NUMBER", value_parser = numbers::release)]
        to: Option<u64>,
    },
    /// Drop old releases from the online store, with the rows that only they hold
    #[command(
        after_help = "Example:\n  nightfill release drop --keep 14      after each night; the served release always stays"
    )]
    Drop {
        /// How many of the newest releases stay, at least 2, so that there is a way back
        #[arg(long, value_name = "COUNT", value_parser = numbers::kept_releases)]
        keep: usize,
    },
}

impl Release {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        match self {
            Self::List => list(&opened, global.format).await,
            Self::Show { number } => show(&opened, number, global.format).await,
            Self::Rollback { to } => rollback(&opened, to, global.format).await,
            Self::Drop { keep } => drop_old(&opened, keep, global.format).await,
        }
    }
}

async fn list(opened: &Opened, format: Format) -> anyhow::Result<()> {
    let served = opened.online.served().await?;
    let rolled_back = opened.online.rolled_back().await?;
    let mut releases = opened.online.releases().await?;
    releases.sort_by_key(|release| Reverse(release.number));
    if format == Format::Json {
        return output::json(&json!({
            "served": served,
            "rolled_back": rolled_back,
            "releases": releases,
        }));
    }
    if releases.is_empty() {
        return output::line("no releases yet: `nightfill run` publishes one");
    }
    let rows: Vec<Vec<String>> = releases
        .iter()
        .map(|release| {
            let state = if Some(release.number) == served {
                "served"
            } else if rolled_back.contains(&release.number) {
                "rolled back"
            } else {
                ""
            };
            vec![
                release.number.to_string(),
                state.to_owned(),
                release.as_of.to_string(),
                release.created_at.to_string(),
                release.views.len().to_string(),
                release.models.len().to_string(),
                release
                    .views
                    .iter()
                    .map(|view| view.rows)
                    .sum::<u64>()
                    .to_string(),
            ]
        })
        .collect();
    let headings = ["release", "", "as of", "created", "views", "models", "rows"];
    output::line(table(&headings, &[0, 4, 5, 6], &rows))
}

async fn show(opened: &Opened, number: Option<u64>, format: Format) -> anyhow::Result<()> {
    let served = opened.online.served().await?;
    let number = number.map(ReleaseNumber).or(served);
    let number = number.ok_or_else(no_release)?;
    let release = opened.online.release(number).await?;
    if format == Format::Json {
        return output::json(&json!({ "served": served == Some(number), "release": release }));
    }
    output::line(describe(&release, served == Some(number)))
}

fn describe(release: &Record, served: bool) -> String {
    let served = if served { ", served" } else { "" };
    let mut text = format!(
        "release {}{served}\n  as of        {}\n  created      {}\n  definitions  version {} ({})\n",
        release.number,
        release.as_of,
        release.created_at,
        release.definitions_version,
        release.definitions.short()
    );
    let views = release.views.iter().map(|view| {
        vec![
            "view".to_owned(),
            view.view.to_string(),
            view.as_of.to_string(),
            view.rows.to_string(),
            view.content.short(),
        ]
    });
    let models = release.models.iter().map(|model| {
        vec![
            "model".to_owned(),
            model.model.to_string(),
            String::new(),
            String::new(),
            model.bundle.short(),
        ]
    });
    let rows: Vec<Vec<String>> = views.chain(models).collect();
    for line in table(&["", "name", "as of", "rows", "content"], &[3], &rows).lines() {
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text.trim_end().to_owned()
}

async fn rollback(opened: &Opened, to: Option<u64>, format: Format) -> anyhow::Result<()> {
    let stopwatch = Stopwatch::start();
    let served = opened.online.served().await?;
    let from = served.ok_or_else(no_release)?;
    let to = match to.map(ReleaseNumber) {
        Some(to) if to == from => bail!("release {to} is served already"),
        Some(to) => to,
        None => {
            let releases = opened.online.releases().await?;
            let rolled_back = opened.online.rolled_back().await?;
            before(from, &releases, &rolled_back).with_context(|| {
                format!("there is no release before {from} that was not rolled back: `nightfill release list` shows what there is, `--to NUMBER` serves any of it")
            })?
        }
    };
    let unserved = unserved_models(opened, from, to).await?;
    opened.online.flip(Some(from), to).await?;
    let seconds = stopwatch.elapsed().as_secs_f64();
    if !unserved.is_empty() {
        output::note(format_args!(
            "warning: release {to} holds no bundle of `{}`: what release {from} served of it is not served any more",
            join(&unserved)
        ));
    }
    match format {
        Format::Json => output::json(&json!({
            "served": to,
            "was": from,
            "unserved_models": unserved,
        })),
        Format::Text => output::line(format_args!(
            "serving {to} again (was {from}); {seconds:.1} s; running servers follow within a second"
        )),
    }
}

async fn drop_old(opened: &Opened, keep: usize, format: Format) -> anyhow::Result<()> {
    let releases = opened.online.releases().await?;
    let served = opened.online.served().await?;
    let mut dropped = Vec::new();
    for number in old(&releases, served, keep) {
        opened.online.drop_release(number).await?;
        dropped.push(number);
    }
    if format == Format::Json {
        return output::json(&json!({ "dropped": dropped }));
    }
    if dropped.is_empty() {
        return output::line("nothing to drop");
    }
    let numbers: Vec<String> = dropped.iter().map(ToString::to_string).collect();
    output::line(format_args!(
        "dropped {}: {}",
        output::counted(dropped.len() as u64, "release"),
        numbers.join(", ")
    ))
}

/// The releases, by ascending number, that are neither served nor among the newest `keep`.
fn old(releases: &[Record], served: Option<ReleaseNumber>, keep: usize) -> Vec<ReleaseNumber> {
    let old = &releases[..releases.len().saturating_sub(keep)];
    let numbers = old.iter().map(|release| release.number);
    numbers.filter(|number| Some(*number) != served).collect()
}

/// The models of one release that another does not hold.
async fn unserved_models(
    opened: &Opened,
    from: ReleaseNumber,
    to: ReleaseNumber,
) -> anyhow::Result<Vec<Name>> {
    let from = opened.online.release(from).await?;
    let to = opened.online.release(to).await?;
    let models = from.models.into_iter().map(|held| held.model);
    let unserved = models.filter(|model| to.models.iter().all(|held| held.model != *model));
    Ok(unserved.collect())
}

fn join(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(Name::as_str).collect();
    names.join("`, `")
}

/// The newest release before `from` that nobody went back behind: what was wrong once is not gone back to.
fn before(
    from: ReleaseNumber,
    releases: &[Record],
    rolled_back: &[ReleaseNumber],
) -> Option<ReleaseNumber> {
    let numbers = releases.iter().map(|release| release.number);
    let mut candidates = numbers.filter(|number| *number < from && !rolled_back.contains(number));
    candidates.next_back()
}
