//! A night of its own, in a folder that goes away: how `features --as-of` looks from any instant, by the same code that
//! runs nights and answers requests.

use anyhow::Context;
use feature_defs::definitions::Definitions;
use feature_defs::project::Location;
use feature_defs::time::Instant;
use pipelines::progress::Silent;
use serving::{Limits, Predictor};
use tempfile::TempDir;

use crate::project::{Applied, Opened};
use crate::verbs::run::{self, Means};
use crate::verbs::{apply, serve};

/// A release as of an instant that nobody else sees.
#[derive(Debug)]
pub(crate) struct Scratch {
    opened: Opened,
    /// Goes away with this, after the stores in it.
    _folder: TempDir,
}

impl Scratch {
    /// Computes the views as of an instant, from the sources of the project.
    ///
    /// # Errors
    /// When the night fails.
    pub(crate) async fn night(definitions: &Definitions, as_of: Instant) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("no temporary folder can be made")?;
        let mut definitions = definitions.clone();
        let at = |name: &str| folder.path().join(name);
        definitions.project.places.registry = Location::Sqlite(at("registry.db"));
        definitions.project.places.offline = Location::Local(at("offline"));
        definitions.project.places.online = Location::Embedded(at("online"));
        let project = definitions.project.clone();
        let opened = Opened::with(project, Some(definitions.fingerprint)).await?;
        let version = apply::apply(&opened, &definitions, None).await?.version;
        let applied = Applied {
            version,
            definitions,
        };
        let request = run::all_views(as_of);
        run::night(&opened, &applied, &request, &Means::default(), &Silent).await?;
        Ok(Self {
            opened,
            _folder: folder,
        })
    }

    /// A predictor that answers from it.
    ///
    /// # Errors
    /// When the release does not load.
    pub(crate) async fn predictor(&self) -> anyhow::Result<Predictor> {
        let components = serve::components(&self.opened);
        Ok(serving::open_predictor(&components, Limits::default()).await?)
    }
}
