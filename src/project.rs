//! The project that a verb works on: its folder, its definition files, its stores.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use feature_defs::definitions::Definitions;
use feature_defs::parse::{self, LoadError, PROJECT_FILE};
use store::offline::OfflineStore;
use store::online::OnlineStore;
use store::registry::Registry;

use crate::args::Global;
use crate::output;

/// The folder of the project: the one that was named, or the nearest one upwards from here.
///
/// # Errors
/// When there is none.
pub(crate) fn root(global: &Global) -> anyhow::Result<PathBuf> {
    if let Some(named) = &global.project {
        if !named.join(PROJECT_FILE).is_file() {
            bail!("`{}` holds no `{PROJECT_FILE}`", named.display());
        }
        return Ok(named.clone());
    }
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    let holds_project = |folder: &&Path| folder.join(PROJECT_FILE).is_file();
    let found = here.ancestors().find(holds_project).map(Path::to_path_buf);
    found.ok_or_else(|| {
        anyhow!(
            "neither `{}` nor a folder above it holds `{PROJECT_FILE}`: name the project with `--project DIR`, or make one with `nightfill init DIR`",
            here.display()
        )
    })
}

/// The definitions as the files say.
///
/// # Errors
/// Every problem of the files, or that they cannot be read.
pub(crate) fn definitions(root: &Path) -> anyhow::Result<Definitions> {
    match parse::load(root) {
        Ok(definitions) => Ok(definitions),
        // Not wrapped, so that they are shown with their source excerpts.
        Err(LoadError::Problems(problems)) => Err(problems.into()),
        Err(other) => Err(other.into()),
    }
}

/// A project whose stores are open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What the definition files say.
    pub(crate) files: Definitions,
    /// The record.
    pub(crate) registry: Arc<dyn Registry>,
    /// All snapshots.
    pub(crate) offline: Arc<dyn OfflineStore>,
    /// The served releases.
    pub(crate) online: Arc<dyn OnlineStore>,
}

/// The definitions that runs and servers use.
#[derive(Debug)]
pub(crate) struct Applied {
    /// Their version in the registry.
    pub(crate) version: u64,
    /// The definitions, with today's settings of the project.
    pub(crate) definitions: Definitions,
}

impl Opened {
    /// Opens the stores that the project names, making those that are not there yet.
    ///
    /// # Errors
    /// When the definition files have problems or a store does not open.
    pub(crate) async fn open(global: &Global) -> anyhow::Result<Self> {
        Self::with(definitions(&root(global)?)?).await
    }

    /// Opens the stores that `files` name.
    ///
    /// # Errors
    /// When a store does not open.
    pub(crate) async fn with(files: Definitions) -> anyhow::Result<Self> {
        let project = &files.project;
        let registry = store::open::registry(project).await?;
        let offline = store::open::offline(project)?;
        let online = store::open::online(project)?;
        Ok(Self {
            files,
            registry,
            offline,
            online,
        })
    }

    /// The applied definitions; says so when the files have moved on since.
    ///
    /// # Errors
    /// When nothing was applied yet, or what was applied does not read any more.
    pub(crate) async fn applied(&self) -> anyhow::Result<Applied> {
        let newest = self.registry.definitions(None).await?;
        let newest = newest.ok_or_else(|| {
            anyhow!("no definitions are applied yet: run `nightfill apply` first")
        })?;
        if newest.definitions.fingerprint != self.files.fingerprint {
            output::note(format_args!(
                "note: the definition files differ from version {}, which is applied; `nightfill apply` makes them count",
                newest.version
            ));
        }
        let mut definitions = parse::parse(&self.files.project.root, newest.definitions.files)
            .with_context(|| {
                format!(
                    "version {} of the definitions does not read",
                    newest.version
                )
            })?;
        definitions.project = self.files.project.clone();
        Ok(Applied {
            version: newest.version,
            definitions,
        })
    }
}
