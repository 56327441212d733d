//! `nightfill model`: trained models on their way into releases.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use feature_defs::definitions::Definitions;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::suggestion::accepted;
use feature_defs::time::{Clock, SystemClock};
use scorer::bundle::Bundle;
use scorer::import::lightgbm;
use serde_json::json;
use store::registry::NewBundle;

use crate::args::{Format, Global};
use crate::output::{self, table};
use crate::project::Opened;

/// Models: trained files, bound by name to the features of their service.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Model {
    /// Check a LightGBM text model against its service, and keep it for the next night's release
    #[command(after_help = "Example:\n  nightfill model import churn model.txt")]
    Import {
        /// The model, as the definitions name it
        #[arg(value_name = "NAME", value_parser = Name::parse)]
        model: Name,
        /// The file that LightGBM's `save_model` wrote
        file: PathBuf,
    },
    /// Keep the newest import although features that it reads are computed in another way by now
    #[command(after_help = "Example:\n  nightfill model accept churn")]
    Accept {
        /// The model, as the definitions name it
        #[arg(value_name = "NAME", value_parser = Name::parse)]
        model: Name,
    },
    /// List the imported models
    #[command(after_help = "Example:\n  nightfill model list --format json")]
    List,
}

impl Model {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::open(global).await?;
        match self {
            Self::Import { model, file } => {
                let imported = import(&opened, &model, &file).await?;
                imported.tell(global.format)
            }
            Self::Accept { model } => accept(&opened, &model, global.format).await,
            Self::List => list(&opened, global.format).await,
        }
    }
}

/// What an import kept.
#[derive(Debug)]
pub(crate) struct Imported {
    model: Name,
    fingerprint: Fingerprint,
    inputs: usize,
    bytes: usize,
    file_bytes: usize,
    /// Whether the registry had it before.
    known: bool,
    /// Whether it was the newest already.
    newest: bool,
}

impl Imported {
    /// One line for people, one document for scripts.
    ///
    /// # Errors
    /// When standard output is gone.
    pub(crate) fn tell(&self, format: Format) -> anyhow::Result<()> {
        if format == Format::Json {
            return output::json(&json!({
                "model": self.model,
                "bundle": self.fingerprint,
                "inputs": self.inputs,
                "bytes": self.bytes,
                "known": self.known,
            }));
        }
        output::line(self)
    }
}

impl std::fmt::Display for Imported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (model, bundle, inputs) = (&self.model, self.fingerprint.short(), self.inputs);
        let kib = |bytes: usize| bytes.div_ceil(1024);
        if self.newest {
            return write!(f, "{model}@{bundle} is imported already: {inputs} inputs");
        }
        if self.known {
            return write!(
                f,
                "{model}@{bundle} is the newest again: {inputs} inputs; the next run releases it"
            );
        }
        write!(
            f,
            "imported {model}@{bundle}: {inputs} inputs, {} KiB of text became a bundle of {} KiB; the next run releases it",
            kib(self.file_bytes),
            kib(self.bytes)
        )
    }
}

/// Why a model that is not declared is not taken.
pub(crate) fn undeclared(definitions: &Definitions, model: &Name) -> anyhow::Error {
    let known: Vec<&str> = definitions.models.keys().map(Name::as_str).collect();
    let help = accepted(model.as_str(), &known);
    anyhow!("the applied definitions declare no model `{model}`: {help}")
}

/// Imports a LightGBM text model for a declared model.
///
/// # Errors
/// When the model is not declared, the file is not a LightGBM model, or its features are not those of the service.
pub(crate) async fn import(opened: &Opened, model: &Name, file: &Path) -> anyhow::Result<Imported> {
    let definitions = opened.applied().await?.definitions;
    let declared = definitions
        .models
        .get(model)
        .ok_or_else(|| undeclared(&definitions, model))?;
    let service = &definitions.services[&declared.service];
    let text = fs::read_to_string(file).map_err(|error| unreadable(file, error))?;
    let ensemble =
        lightgbm::read(&text).with_context(|| format!("`{}` is not imported", file.display()))?;
    let bundle = Bundle::build(declared, service, &ensemble)
        .with_context(|| format!("`{}` is not imported", file.display()))?;
    let fingerprint = bundle.fingerprint();
    let bundles = opened.registry.bundles().await?;
    let of_model: Vec<_> = bundles
        .iter()
        .filter(|entry| entry.model == *model)
        .collect();
    let known = of_model
        .iter()
        .any(|entry| entry.fingerprint == fingerprint);
    let newest = of_model
        .last()
        .is_some_and(|entry| entry.fingerprint == fingerprint);
    let bytes = bundle.to_bytes();
    let imported = Imported {
        model: model.clone(),
        fingerprint,
        inputs: bundle.inputs().len(),
        bytes: bytes.len(),
        file_bytes: text.len(),
        known,
        newest,
    };
    let kept = NewBundle {
        model: model.clone(),
        fingerprint,
        bytes,
        imported_at: SystemClock.now(),
    };
    opened.registry.put_bundle(&kept).await?;
    Ok(imported)
}

/// Keeps the newest bundle of a model as one that was made for the features as they are computed now.
async fn accept(opened: &Opened, model: &Name, format: Format) -> anyhow::Result<()> {
    let definitions = opened.applied().await?.definitions;
    let declared = definitions
        .models
        .get(model)
        .ok_or_else(|| undeclared(&definitions, model))?;
    let bundles = opened.registry.bundles().await?;
    let mut of_model = bundles.iter().filter(|entry| entry.model == *model);
    let newest = of_model.next_back().ok_or_else(|| {
        anyhow!("there is no bundle of model `{model}` to accept: `nightfill model import {model} FILE` brings one")
    })?;
    let bundle = Bundle::from_bytes(&opened.registry.bundle(newest.fingerprint).await?)?;
    let service = &definitions.services[&declared.service];
    let bundle = match bundle.check_model(declared, service) {
        Ok(()) => bundle,
        Err(_) => bundle.accept(declared, service)?,
    };
    let changed = bundle.fingerprint() != newest.fingerprint;
    if changed {
        let kept = NewBundle {
            model: model.clone(),
            fingerprint: bundle.fingerprint(),
            bytes: bundle.to_bytes(),
            imported_at: SystemClock.now(),
        };
        opened.registry.put_bundle(&kept).await?;
    }
    let short = bundle.fingerprint().short();
    match (format, changed) {
        (Format::Json, _) => output::json(&json!({
            "model": model,
            "bundle": bundle.fingerprint(),
            "changed": changed,
        })),
        (Format::Text, true) => output::line(format_args!(
            "accepted {model}@{short}: it was {model}@{}; the next run releases it",
            newest.fingerprint.short()
        )),
        (Format::Text, false) => {
            output::line(format_args!("{model}@{short} fits: nothing to accept"))
        }
    }
}

fn unreadable(file: &Path, error: std::io::Error) -> anyhow::Error {
    let is_text = error.kind() != ErrorKind::InvalidData;
    let what = match is_text {
        true => "cannot be read",
        false => "is not the text that LightGBM's `save_model` writes",
    };
    anyhow::Error::new(error).context(format!("`{}` {what}", file.display()))
}

async fn list(opened: &Opened, format: Format) -> anyhow::Result<()> {
    let bundles = opened.registry.bundles().await?;
    let served = opened.served().await?;
    let served = served.map(|release| release.models).unwrap_or_default();
    let is_served = |fingerprint| served.iter().any(|model| model.bundle == fingerprint);
    if format == Format::Json {
        let entries: Vec<_> = bundles
            .iter()
            .map(|entry| {
                json!({
                    "model": entry.model,
                    "bundle": entry.fingerprint,
                    "bytes": entry.size,
                    "imported_at": entry.imported_at,
                    "served": is_served(entry.fingerprint),
                })
            })
            .collect();
        return output::json(&json!({ "models": entries }));
    }
    if bundles.is_empty() {
        return output::line("no models yet: `nightfill model import NAME FILE` brings one");
    }
    let rows: Vec<Vec<String>> = bundles
        .iter()
        .map(|entry| {
            let serving = if is_served(entry.fingerprint) {
                "served"
            } else {
                ""
            };
            vec![
                entry.model.to_string(),
                entry.fingerprint.short(),
                serving.to_owned(),
                entry.size.to_string(),
                entry.imported_at.to_string(),
            ]
        })
        .collect();
    output::line(table(
        &["model", "bundle", "", "bytes", "imported"],
        &[3],
        &rows,
    ))
}
