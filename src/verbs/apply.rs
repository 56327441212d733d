//! `nightfill apply`: makes the definition files a new version in the registry.

use feature_defs::definitions::Definitions;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::parse;
use feature_defs::time::{Clock, SystemClock};
use indexmap::IndexMap;
use pipelines::bundles::newest_bundles;
use serde_json::json;
use store::registry::NewDefinitions;

use crate::args::{Format, Global};
use crate::output;
use crate::project::{self, Opened};

/// Checks the definition files and records them as the version that runs and servers use from now on.
/// The same definitions again change nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill apply --project shop")]
pub(crate) struct Apply {}

impl Apply {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let definitions = project::definitions(&project::root(global)?)?;
        let files = Some(definitions.fingerprint);
        let opened = Opened::with(definitions.project.clone(), files).await?;
        let outcome = apply(&opened, &definitions).await?;
        for warning in &outcome.warnings {
            output::note(format_args!("warning: {warning}"));
        }
        match global.format {
            Format::Json => output::json(&json!({
                "version": outcome.version,
                "fingerprint": outcome.fingerprint,
                "changed": outcome.changed,
                "changes": outcome.changes,
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
    /// One line an object that came, changed or went.
    changes: Vec<String>,
    /// What of the project does not fit these definitions any more.
    warnings: Vec<String>,
}

impl Outcome {
    fn tell(&self) -> anyhow::Result<()> {
        for change in &self.changes {
            output::line(format_args!("  {change}"))?;
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

/// Applies the definitions that were read from the files of `opened`.
///
/// # Errors
/// When the registry fails, or somebody else applies at the same time.
pub(crate) async fn apply(opened: &Opened, files: &Definitions) -> anyhow::Result<Outcome> {
    let newest = opened.registry.definitions(None).await?;
    let expected = newest.as_ref().map_or(0, |newest| newest.version);
    let before = newest.and_then(|newest| {
        // What an older program applied and this one cannot read any more is described as all new.
        parse::parse(&files.project.root, newest.definitions.files).ok()
    });
    let new = NewDefinitions {
        fingerprint: files.fingerprint,
        files: files.files.clone(),
        applied_at: SystemClock.now(),
        applied_by: user(),
    };
    let version = opened.registry.apply(expected, &new).await?;
    Ok(Outcome {
        version,
        fingerprint: files.fingerprint,
        changed: version != expected,
        changes: changes(before.as_ref(), files),
        warnings: warnings(opened, files).await?,
    })
}

/// One line a model whose newest bundle the next night would refuse.
async fn warnings(opened: &Opened, applied: &Definitions) -> anyhow::Result<Vec<String>> {
    let bundles = newest_bundles(opened.registry.as_ref(), applied).await?;
    let warnings = bundles.into_iter().filter_map(|bundle| {
        let (model, why) = (&bundle.model, bundle.misfit?);
        Some(format!(
            "the newest bundle of model `{model}`, {model}@{}, does not fit the definitions any more: {why}; nights are refused until another is imported: `nightfill model import {model} FILE`",
            bundle.fingerprint.short()
        ))
    });
    Ok(warnings.collect())
}

fn user() -> String {
    let variables = ["USER", "LOGNAME"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok());
    named.unwrap_or_else(|| "unknown".to_owned())
}

fn changes(before: Option<&Definitions>, after: &Definitions) -> Vec<String> {
    let prints = |definitions: &Definitions| {
        let mut all: IndexMap<(&'static str, Name), Fingerprint> = IndexMap::new();
        for (name, source) in &definitions.sources {
            all.insert(("source", name.clone()), source.fingerprint);
        }
        for (name, view) in &definitions.views {
            all.insert(("view", name.clone()), view.fingerprint);
        }
        for (name, view) in &definitions.request_views {
            all.insert(("request view", name.clone()), view.fingerprint);
        }
        for (name, service) in &definitions.services {
            all.insert(("service", name.clone()), service.fingerprint);
        }
        for (name, model) in &definitions.models {
            all.insert(("model", name.clone()), model.fingerprint);
        }
        all
    };
    let before = before.map(prints).unwrap_or_default();
    let after = prints(after);
    let mut changes = Vec::new();
    for ((kind, name), fingerprint) in &after {
        match before.get(&(*kind, name.clone())) {
            None => changes.push(format!("+ {kind} {name}")),
            Some(old) if old != fingerprint => changes.push(format!("~ {kind} {name}")),
            Some(_) => {}
        }
    }
    for (kind, name) in before.keys() {
        if !after.contains_key(&(*kind, name.clone())) {
            changes.push(format!("- {kind} {name}"));
        }
    }
    changes
}
