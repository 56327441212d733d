//! The newest bundle of each model: what the next release takes, or why it takes none.

use std::collections::BTreeMap;

use feature_defs::definitions::Definitions;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use scorer::bundle::Bundle;
use store::registry::Registry;

use crate::error::Result;

/// The newest bundle of a declared model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestBundle {
    /// The model.
    pub model: Name,
    /// The bundle's hash.
    pub fingerprint: Fingerprint,
    /// Why it does not fit the model's service as it is declared now, if it does not: a release never pairs a model with
    /// other features than it was trained on (rule 12).
    pub misfit: Option<String>,
}

/// The newest bundle of each declared model that has one, by model.
///
/// # Errors
/// Those of the registry.
pub async fn newest_bundles(
    registry: &dyn Registry,
    definitions: &Definitions,
) -> Result<Vec<NewestBundle>> {
    let mut newest = BTreeMap::new();
    for entry in registry.bundles().await? {
        // Oldest first, so a later entry of the same model is newer.
        newest.insert(entry.model, entry.fingerprint);
    }
    let mut bundles = Vec::new();
    for (name, fingerprint) in newest {
        let Some(model) = definitions.models.get(&name) else {
            continue;
        };
        let bytes = registry.bundle(fingerprint).await?;
        let misfit = match Bundle::from_bytes(&bytes) {
            Ok(bundle) => bundle
                .check_model(model, &definitions.services[&model.service])
                .err()
                .map(|mismatch| mismatch.to_string()),
            Err(error) => Some(error.to_string()),
        };
        bundles.push(NewestBundle {
            model: name,
            fingerprint,
            misfit,
        });
    }
    Ok(bundles)
}
