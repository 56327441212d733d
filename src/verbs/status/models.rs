//! Which bundle of each model is served, and which one waits for the next night.

use feature_defs::definitions::Definitions;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use pipelines::bundles::newest_bundles;
use serde::Serialize;
use store::release::{Release, ReleaseModel};

use crate::project::Opened;

/// A model with a bundle that is served or would be next, or with none.
#[derive(Debug, Serialize)]
pub(super) struct ModelStatus {
    model: Name,
    bundle: Option<Fingerprint>,
    /// Whether the served release holds this bundle.
    served: bool,
    state: &'static str,
}

/// The served bundles, then the newest ones that are not served, then the declared models without any.
pub(super) async fn of(
    opened: &Opened,
    served: Option<&Release>,
    applied: Option<&Definitions>,
) -> anyhow::Result<Vec<ModelStatus>> {
    let served: Vec<&ReleaseModel> = served
        .into_iter()
        .flat_map(|release| &release.models)
        .collect();
    let newest = match applied {
        Some(applied) => newest_bundles(opened.registry.as_ref(), applied).await?,
        None => Vec::new(),
    };
    let misfits = |bundle| {
        let mut newest = newest.iter();
        newest.any(|newest| newest.fingerprint == bundle && newest.misfit.is_some())
    };
    let mut models: Vec<ModelStatus> = served
        .iter()
        .map(|held| ModelStatus {
            model: held.model.clone(),
            bundle: Some(held.bundle),
            served: true,
            state: if misfits(held.bundle) {
                "served; does not fit the applied definitions: nights are refused"
            } else {
                "served"
            },
        })
        .collect();
    let waiting = newest
        .iter()
        .filter(|newest| served.iter().all(|held| held.bundle != newest.fingerprint));
    models.extend(waiting.map(|newest| ModelStatus {
        model: newest.model.clone(),
        bundle: Some(newest.fingerprint),
        served: false,
        state: if newest.misfit.is_some() {
            "does not fit the applied definitions: nights are refused"
        } else {
            "imported: the next `nightfill run` releases it"
        },
    }));
    let declared = applied
        .into_iter()
        .flat_map(|applied| applied.models.keys());
    let without = declared.filter(|name| newest.iter().all(|bundle| bundle.model != **name));
    models.extend(without.map(|name| ModelStatus {
        model: name.clone(),
        bundle: None,
        served: false,
        state: "no bundle yet: `nightfill model import` brings one",
    }));
    Ok(models)
}

impl ModelStatus {
    pub(super) fn row(&self) -> Vec<String> {
        let bundle = self.bundle.map(|bundle| bundle.short());
        vec![
            self.model.to_string(),
            bundle.unwrap_or_else(|| "-".to_owned()),
            self.state.to_owned(),
        ]
    }
}
