//! `nightfill apply`: makes the definition files a new version in the registry.

use anyhow::bail;
use feature_defs::definitions::Definitions;
use feature_defs::difference::Difference;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::time::{Clock, SystemClock};
use pipelines::bundles::newest_bundles;
use serde_json::json;
use store::error::ErrorKind;
use store::registry::NewDefinitions;

use crate::args::{Format, Global};
use crate::changes;
use crate::numbers;
use crate::output;
use crate::project::{self, Opened};
use crate::verbs::check::unreadable_sources;

/// Checks the definition files and records them as the version that runs and servers use from now on.
/// The same definitions again change nothing. Who applied is taken from the variable `USER`, or `LOGNAME`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nightfill apply --project shop\n  nightfill apply --against 3     only if version 3 is still the newest, as `nightfill plan` showed it"
)]
pub(crate) struct Apply {
    /// The version that the change was planned against: if another one was applied since, nothing happens
    #[arg(long, value_name = "VERSION", value_parser = numbers::version)]
    against: Option<u64>,
    /// Apply files that declare nothing, where something is applied: every view stops being computed
    #[arg(long)]
    allow_empty: bool,
}

impl Apply {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let definitions = project::asked_for(global)?;
        let files = Some(definitions.fingerprint);
        let opened = Opened::with(definitions.project.clone(), files).await?;
        if !self.allow_empty {
            refuse_losing_all(&opened, &definitions).await?;
        }
        let mut outcome = apply(&opened, &definitions, self.against).await?;
        outcome
            .warnings
            .extend(unreadable_sources(&definitions).await);
        for warning in &outcome.warnings {
            output::note(format_args!("warning: {warning}"));
        }
        match global.format {
            Format::Json => output::json(&json!({
                "version": outcome.version,
                "fingerprint": outcome.fingerprint,
                "changed": outcome.changed,
                "difference": outcome.difference,
                "warnings": outcome.warnings,
            })),
            Format::Text => outcome.tell(),
        }
    }
}

/// What an apply did.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The newest version now.
    pub(crate) version: u64,
    fingerprint: Fingerprint,
    /// Whether this apply made it.
    pub(crate) changed: bool,
    difference: Difference,
    /// What of the project does not fit these definitions any more.
    warnings: Vec<String>,
}

impl Outcome {
    fn tell(&self) -> anyhow::Result<()> {
        if !self.difference.is_empty() {
            output::line(changes::objects(&self.difference))?;
        }
        let (version, fingerprint) = (self.version, self.fingerprint.short());
        if self.changed {
            output::line(format_args!("applied version {version} ({fingerprint})"))
        } else {
            output::line(format_args!(
                "nothing to do: version {version} ({fingerprint}) is applied"
            ))
        }
    }
}

/// A folder without its definition files is a project that declares nothing.
async fn refuse_losing_all(opened: &Opened, files: &Definitions) -> anyhow::Result<()> {
    let (version, difference) = planned(opened, files).await?;
    if files.is_empty() && !difference.is_empty() {
        bail!(
            "the files below `{}` declare nothing, and version {version} declares {}: nothing was changed; if everything is meant to go, say `nightfill apply --allow-empty`",
            opened.project.root.display(),
            output::counted(difference.objects.len(), "object")
        );
    }
    Ok(())
}

/// The newest version, and what the definitions would change in it.
///
/// # Errors
/// When the registry fails.
pub(crate) async fn planned(
    opened: &Opened,
    files: &Definitions,
) -> anyhow::Result<(u64, Difference)> {
    let newest = opened.newest().await?;
    let version = newest.as_ref().map_or(0, |newest| newest.version);
    // What an older program applied and this one cannot read any more is described as all new.
    let before = newest.and_then(|newest| opened.read(newest).ok());
    let before = before.map(|applied| applied.definitions);
    Ok((version, Difference::between(before.as_ref(), files)))
}

/// Applies the definitions that were read from the files of `opened`, if the newest version is still the one that they
/// were planned `against`.
///
/// # Errors
/// When the registry fails, or somebody else applied since.
pub(crate) async fn apply(
    opened: &Opened,
    files: &Definitions,
    against: Option<u64>,
) -> anyhow::Result<Outcome> {
    let (known, difference) = planned(opened, files).await?;
    let expected = against.unwrap_or(known);
    if expected < known {
        bail!("{OVERTAKEN}: the newest is version {known} and not {expected}");
    }
    if expected > known {
        let newest = match known {
            0 => "no version is applied yet".to_owned(),
            known => format!("version {known} is the newest"),
        };
        bail!("{newest}, and not {expected}: nothing was changed; look at `nightfill plan` again");
    }
    let new = NewDefinitions {
        project: Some(opened.project.name.clone()),
        fingerprint: files.fingerprint,
        files: files.files.clone(),
        applied_at: SystemClock.now(),
        applied_by: user(),
    };
    let former = opened.project.renamed_from.as_ref();
    let applied = opened.registry.apply(expected, &new, former).await;
    let version = applied.map_err(|error| match error.kind() {
        ErrorKind::Conflict => anyhow::Error::new(error).context(OVERTAKEN),
        _ => error.into(),
    })?;
    Ok(Outcome {
        version,
        fingerprint: files.fingerprint,
        changed: version != known,
        difference,
        warnings: warnings(opened, files).await?,
    })
}

/// One line a model whose newest bundle the next night would refuse.
pub(crate) async fn warnings(
    opened: &Opened,
    applied: &Definitions,
) -> anyhow::Result<Vec<String>> {
    let bundles = newest_bundles(opened.registry.as_ref(), applied).await?;
    let warnings = bundles.into_iter().filter_map(|bundle| {
        let (model, why) = (&bundle.model, bundle.misfit?);
        Some(format!(
            "nights are refused until another bundle of model `{model}` is imported (`nightfill model import {model} FILE`) or, where only the way of computing differs, the newest is accepted (`nightfill model accept {model}`): {model}@{} does not fit these definitions: {why}",
            bundle.fingerprint.short()
        ))
    });
    Ok(warnings.collect())
}

const OVERTAKEN: &str =
    "another apply came first and nothing was changed: look at `nightfill plan` again";

/// Who applied where no variable says it.
pub(crate) const NOBODY: &str = "unknown";

fn user() -> String {
    let variables = ["USER", "LOGNAME"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok());
    named.unwrap_or_else(|| NOBODY.to_owned())
}
