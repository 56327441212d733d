//! From a release's number to a plan: definitions and bundles from the registry, everything checked before it serves.

use std::path::PathBuf;
use std::sync::Arc;

use feature_defs::error::Problems;
use feature_defs::name::Name;
use feature_defs::parse;
use indexmap::IndexMap;
use scorer::bundle::Bundle;
use store::online::OnlineStore;
use store::registry::Registry;
use store::release::{Release, ReleaseNumber};

use crate::predict::plan::{OpenBundle, ReleasePlan};

/// Where releases are loaded from.
#[derive(Debug, Clone)]
pub struct Loader {
    /// Definitions and bundles.
    pub registry: Arc<dyn Registry>,
    /// Releases and rows.
    pub online: Arc<dyn OnlineStore>,
    /// The project's root, which the definitions' settings are relative to.
    pub root: PathBuf,
}

/// Why a release cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A store did not give what was asked for.
    #[error("{what} cannot be read: {source}")]
    Store {
        /// What was asked for.
        what: String,
        /// Why not.
        source: store::error::Error,
    },
    /// The registry lacks the version of the definitions that the release names.
    #[error("the registry has no version {version} of the definitions")]
    NoDefinitions {
        /// The version.
        version: u64,
    },
    /// The definitions of the release do not read by this program.
    #[error("the definitions of the release do not read: {problems}")]
    Definitions {
        /// What is wrong with them.
        problems: Problems,
    },
    /// Definitions, release, rows and bundles do not fit each other.
    #[error("{message}")]
    Mismatch {
        /// What does not fit what.
        message: String,
    },
}

impl Loader {
    /// The release that the online store serves, ready to answer; `None` when it serves none.
    ///
    /// # Errors
    /// [`LoadError`]
    pub async fn load_served(&self) -> Result<Option<ReleasePlan>, LoadError> {
        match self.served().await? {
            Some(number) => self.load(number).await.map(Some),
            None => Ok(None),
        }
    }

    /// The number of the release that the online store serves.
    ///
    /// # Errors
    /// [`LoadError::Store`]
    pub async fn served(&self) -> Result<Option<ReleaseNumber>, LoadError> {
        let served = self.online.served().await;
        served.map_err(reading("which release is served"))
    }

    /// A release, ready to answer: read, checked, and warmed up.
    ///
    /// # Errors
    /// [`LoadError`]
    pub async fn load(&self, number: ReleaseNumber) -> Result<ReleasePlan, LoadError> {
        let release = self.online.release(number).await;
        let release = release.map_err(reading(&format!("release {number}")))?;
        let version = release.definitions_version;
        let applied = self.registry.definitions(Some(version)).await;
        let applied = applied
            .map_err(reading("the definitions"))?
            .ok_or(LoadError::NoDefinitions { version })?;
        let mut bundles = Vec::new();
        for model in &release.models {
            let bytes = self.registry.bundle(model.bundle).await;
            let what = format!("the bundle of model `{}`", model.model);
            bundles.push((model.model.clone(), bytes.map_err(reading(&what))?));
        }
        let root = self.root.clone();
        let files = applied.definitions.files;
        // Planning expressions and checking bundles take milliseconds, which requests must not wait for.
        let planned =
            tokio::task::spawn_blocking(move || plan(root, files, release, bundles)).await;
        planned.unwrap_or_else(|panic| {
            Err(LoadError::Mismatch {
                message: format!("loading the release failed: {panic}"),
            })
        })
    }
}

fn reading(what: &str) -> impl FnOnce(store::error::Error) -> LoadError {
    let what = what.to_owned();
    |source| LoadError::Store { what, source }
}

fn plan(
    root: PathBuf,
    files: Vec<feature_defs::definitions::DefinitionFile>,
    release: Release,
    bundles: Vec<(Name, Vec<u8>)>,
) -> Result<ReleasePlan, LoadError> {
    let definitions =
        parse::parse(&root, files).map_err(|problems| LoadError::Definitions { problems })?;
    if definitions.fingerprint != release.definitions {
        return Err(LoadError::Mismatch {
            message: format!(
                "release {} was made by definitions {}, the registry's version {} is {}",
                release.number,
                release.definitions.short(),
                release.definitions_version,
                definitions.fingerprint.short()
            ),
        });
    }
    let mut opened = IndexMap::new();
    for (model, bytes) in bundles {
        let refused = |why: String| LoadError::Mismatch {
            message: format!("the bundle of model `{model}` {why}"),
        };
        let bundle = Bundle::from_bytes(&bytes)
            .map_err(|error| refused(format!("does not read: {error}")))?;
        let declared = definitions
            .models
            .get(&model)
            .ok_or_else(|| refused("is of no declared model".to_owned()))?;
        bundle
            .check_model(declared, &definitions.services[&declared.service])
            .map_err(|misfit| refused(format!("does not fit: {misfit}")))?;
        let open = OpenBundle {
            short: bundle.fingerprint().short(),
            inputs: bundle
                .inputs()
                .iter()
                .map(|input| input.name.clone())
                .collect(),
            scorer: bundle.scorer(),
            transform: bundle.transform(),
        };
        opened.insert(model, open);
    }
    let mismatch = |error: crate::predict::plan::PlanError| LoadError::Mismatch {
        message: error.to_string(),
    };
    let plan = ReleasePlan::new(definitions, release, opened).map_err(mismatch)?;
    plan.warm_up().map_err(mismatch)?;
    Ok(plan)
}
