//! The project that a verb works on: its folder, its settings, its stores, its definitions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use feature_defs::definitions::Definitions;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::parse::{self, LoadError, PROJECT_FILE};
use feature_defs::project::Project;
use feature_defs::suggestion::accepted;
use store::offline::OfflineStore;
use store::online::OnlineStore;
use store::registry::{AppliedDefinitions, Registry};
use store::release::Release;

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

/// Why nothing can be asked before the first night.
pub(crate) fn no_release() -> anyhow::Error {
    anyhow!("no release is served yet: `nightfill run` publishes one")
}

/// The definitions as the files say.
///
/// # Errors
/// Every problem of the files, or that they cannot be read.
pub(crate) fn definitions(root: &Path) -> anyhow::Result<Definitions> {
    parse::load(root).map_err(unwrapped)
}

/// The definitions of the project that a verb works on, as the files say, in the environment that was asked for.
///
/// # Errors
/// As [`root`] and [`definitions`], and when the project does not declare the environment.
pub(crate) fn asked_for(global: &Global) -> anyhow::Result<Definitions> {
    let mut definitions = definitions(&root(global)?)?;
    definitions.project = in_environment(definitions.project, global)?;
    Ok(definitions)
}

/// Where the project that a verb works on keeps its state, in the environment that was asked for.
///
/// # Errors
/// As [`root`] and [`settings`], and when the project does not declare the environment.
pub(crate) fn placed(global: &Global) -> anyhow::Result<Project> {
    in_environment(settings(&root(global)?)?, global)
}

fn in_environment(project: Project, global: &Global) -> anyhow::Result<Project> {
    let Some(name) = &global.env else {
        return Ok(project);
    };
    let known: Vec<String> = project
        .environments
        .keys()
        .map(ToString::to_string)
        .collect();
    project.in_environment(name).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let help = match known.as_slice() {
            [] => format!("`{PROJECT_FILE}` declares none: add `environments: {{ {name}: {{}} }}`"),
            known => accepted(name, known),
        };
        anyhow!("there is no environment `{name}`: {help}")
    })
}

/// The settings, whatever the definitions say.
///
/// # Errors
/// Every problem of the settings, or that they cannot be read.
pub(crate) fn settings(root: &Path) -> anyhow::Result<Project> {
    parse::settings(root).map_err(unwrapped)
}

/// Problems stand alone, so that they are shown with their source excerpts.
fn unwrapped(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::Problems(problems) => problems.into(),
        other => other.into(),
    }
}

/// What is said where a verb needs applied definitions and there are none.
pub(crate) const NONE_APPLIED: &str = "no definitions are applied yet: run `nightfill apply` first";

/// A project whose stores are open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it is, and where its stores are.
    pub(crate) project: Project,
    /// Hash of what the definition files say; none when they have problems.
    pub(crate) files: Option<Fingerprint>,
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
    /// Opens the stores that the project names, making those that are not there yet. Definition files with problems
    /// are said to have them and stop nothing: what is applied counts.
    ///
    /// # Errors
    /// When the settings have problems or a store does not open.
    pub(crate) async fn open(global: &Global) -> anyhow::Result<Self> {
        let root = root(global)?;
        let files = parse::load(&root).ok();
        let files = files.map(|definitions| definitions.fingerprint);
        let project = in_environment(settings(&root)?, global)?;
        let opened = Self::with(project, files).await?;
        if files.is_none() {
            opened.tell_problems().await?;
        }
        Ok(opened)
    }

    /// Opens the stores of a project whose definition files have the hash `files`.
    ///
    /// # Errors
    /// When a store does not open.
    pub(crate) async fn with(project: Project, files: Option<Fingerprint>) -> anyhow::Result<Self> {
        let registry = store::open::registry(&project).await?;
        let offline = store::open::offline(&project)?;
        let online = store::open::online(&project)?;
        Ok(Self {
            project,
            files,
            registry,
            offline,
            online,
        })
    }

    async fn tell_problems(&self) -> anyhow::Result<()> {
        let problems = "note: the definition files have problems (`nightfill check` shows them)";
        match self.newest().await? {
            Some(newest) => output::note(format_args!(
                "{problems}; version {}, which is applied, is used",
                newest.version
            )),
            None => output::note(format_args!("{problems}, and none are applied yet")),
        }
        Ok(())
    }

    /// The newest version of the definitions, if any was applied.
    ///
    /// # Errors
    /// When the registry is another project's, whose versions these would follow.
    pub(crate) async fn newest(&self) -> anyhow::Result<Option<AppliedDefinitions>> {
        let newest = self.registry.definitions(None).await?;
        let owner = newest.as_ref().and_then(|n| n.definitions.project.as_ref());
        let Project {
            name, renamed_from, ..
        } = &self.project;
        match owner {
            Some(owner) if owner != name && Some(owner) != renamed_from.as_ref() => bail!(
                "the registry `{}` is project `{owner}`'s, and this is project `{name}`: name another place as the `registry` in `{PROJECT_FILE}`; or, if this project was called `{owner}` before, add `renamed_from: {owner}` there",
                self.project.places.registry
            ),
            _ => Ok(newest),
        }
    }

    /// The applied definitions; says so when the files have moved on since.
    ///
    /// # Errors
    /// When nothing was applied yet, or what was applied does not read any more.
    pub(crate) async fn applied(&self) -> anyhow::Result<Applied> {
        let newest = self.newest().await?;
        let newest = newest.ok_or_else(|| anyhow!(NONE_APPLIED))?;
        let applied = newest.definitions.fingerprint;
        if self.files.is_some_and(|files| files != applied) {
            output::note(format_args!(
                "note: the definition files differ from version {}, which is applied; `nightfill apply` makes them count",
                newest.version
            ));
        }
        self.read(newest)
    }

    /// A version of the definitions.
    ///
    /// # Errors
    /// When it does not read any more.
    pub(crate) fn read(&self, version: AppliedDefinitions) -> anyhow::Result<Applied> {
        let (version, files) = (version.version, version.definitions.files);
        let mut definitions = parse::parse(&self.project.root, files)
            .with_context(|| format!("version {version} of the definitions does not read"))?;
        definitions.project = self.project.clone();
        Ok(Applied {
            version,
            definitions,
        })
    }

    /// The release that is served.
    ///
    /// # Errors
    /// When the online store does not answer.
    pub(crate) async fn served(&self) -> anyhow::Result<Option<Release>> {
        match self.online.served().await? {
            Some(number) => Ok(Some(self.online.release(number).await?)),
            None => Ok(None),
        }
    }
}
