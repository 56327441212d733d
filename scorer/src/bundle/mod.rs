//! Bundles: a quantised model with what it must be fed, as bytes that prove themselves.
//!
//! ```text
//!   0        8         12                16          16+m         16+m+e    16+m+e+32
//!   | nfbundle | version | manifest bytes m | manifest | ensemble e | BLAKE3 of all before |
//!                u32       u32                JSON       integers and floats, little-endian
//! ```
//!
//! The manifest says what the model is: its name, service, inputs by name with types and defaults, transform, and the
//! report of its import. The ensemble is drawn in [`mod@format`]. Reading checks the hash first, then every count, reference
//! and shape, then scores the verification rows and compares the bits with those of the import. Bytes that fail are an
//! error; they neither panic nor ask for more memory than they are long.

pub mod format;

mod binding;
mod manifest;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use feature_defs::article::with_article;
use feature_defs::data_type::DataType;
use feature_defs::feature_service::FeatureService;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::model::{Model, Transform};
use feature_defs::name::Name;

pub use binding::Mismatch;

use crate::Scorer;
use crate::input::{self, Input};
use crate::kernels;
use crate::report::{self, ImportReport};
use crate::trees::{Ensemble, QuantizeError, Quantized};
use manifest::Manifest;

/// A model, ready to score: what it reads, and the quantised ensemble.
#[derive(Debug, Clone)]
pub struct Bundle {
    manifest: Manifest,
    quantized: Quantized,
    scorer: Arc<dyn Scorer>,
    bytes: Arc<[u8]>,
    fingerprint: Fingerprint,
}

/// Why a bundle cannot be made or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BundleError {
    /// The model's features are not those of its service.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A feature that no model can read.
    #[error(
        "feature `{feature}` is {}: a model reads numbers, bools, dates and timestamps",
        with_article(data_type)
    )]
    Unreadable {
        /// The feature's full name.
        feature: String,
        /// Its type.
        data_type: DataType,
    },
    /// The declared transform is not the one that the model was trained for, or there is none that belongs to it.
    #[error(
        "the model was trained for `{objective}`, whose scores {} into answers: {}",
        declared.map_or_else(|| "no transform of ours turns".to_owned(), |name| format!("`{name}` does not turn")),
        advice(*expected)
    )]
    Transform {
        /// The objective, as the model file has it.
        objective: String,
        /// The transform that the definitions declare.
        declared: Option<&'static str>,
        /// The transform that belongs to the objective, if there is one.
        expected: Option<&'static str>,
    },
    /// The ensemble does not fit into integer bins.
    #[error("the model cannot be quantised: {0}")]
    Quantize(#[from] QuantizeError),
    /// Scores of the quantised form differ from those of the model.
    #[error("verification row {row} scores {found}, expected {expected}")]
    Inexact {
        /// Which of the verification rows.
        row: usize,
        /// The quantised form's score.
        found: f64,
        /// The model's own score.
        expected: f64,
    },
    /// Bytes that are no bundle, or not a whole one.
    #[error("not a bundle: {0}")]
    Corrupt(String),
    /// A bundle of another version of the format.
    #[error("bundle format {found} is not supported: this version reads format {supported}")]
    Version {
        /// The version found.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
}

impl Bundle {
    /// Binds an ensemble to the service that a model declares, by feature name, quantises it and verifies the result.
    ///
    /// # Errors
    /// When the features differ, a feature's type cannot be read, the transform does not belong to the objective, or
    /// the ensemble does not fit the limits.
    pub fn build(
        model: &Model,
        service: &FeatureService,
        ensemble: &Ensemble,
    ) -> Result<Self, BundleError> {
        let inputs = binding::bind(&ensemble.feature_names, service)?;
        for input in &inputs {
            if !input::is_readable(input.data_type) {
                return Err(BundleError::Unreadable {
                    feature: input.name.clone(),
                    data_type: input.data_type,
                });
            }
        }
        let transform = transform_of(model.transform, ensemble)?;
        let quantized = Quantized::new(ensemble)?;
        let scorer: Arc<dyn Scorer> = Arc::new(kernels::fastest(&quantized));
        let (report, checksum) = report::verify(ensemble, &quantized, scorer.as_ref())?;
        let manifest = Manifest {
            model: model.name.clone(),
            service: service.name.clone(),
            service_fingerprint: service.fingerprint,
            output: model.output.clone(),
            transform,
            objective: ensemble.objective.as_ref().map(|o| o.text.clone()),
            inputs,
            report,
            checksum,
        };
        Ok(Self::sealed(manifest, quantized, scorer))
    }

    fn sealed(manifest: Manifest, quantized: Quantized, scorer: Arc<dyn Scorer>) -> Self {
        let bytes: Arc<[u8]> = format::write(&manifest, &quantized).into();
        Self {
            fingerprint: Fingerprint::of([&bytes]),
            manifest,
            quantized,
            scorer,
            bytes,
        }
    }

    /// The same trees for features that are computed in another way by now: somebody says that the scores still hold.
    ///
    /// # Errors
    /// [`Misfit`] when anything else differs too.
    pub fn accept(&self, model: &Model, service: &FeatureService) -> Result<Self, Misfit> {
        let mut accepted = self.clone();
        for input in &mut accepted.manifest.inputs {
            let mut features = service.features.iter();
            let feature = features.find(|feature| feature.name == input.name);
            input.fingerprint = feature.map(|feature| feature.fingerprint);
        }
        accepted.manifest.service_fingerprint = service.fingerprint;
        accepted.check_model(model, service)?;
        Ok(Self::sealed(
            accepted.manifest,
            accepted.quantized,
            accepted.scorer,
        ))
    }

    /// Reads a bundle, checks all of it, and scores once.
    ///
    /// # Errors
    /// [`BundleError::Version`] for another format, [`BundleError::Corrupt`] for anything else that does not fit.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let (manifest, quantized) = format::read(bytes)?;
        let corrupt = |message: String| Err(BundleError::Corrupt(message));
        if let Err(error) = quantized.check() {
            return corrupt(error.to_string());
        }
        if manifest.inputs.len() != quantized.width() {
            return corrupt(format!(
                "{} inputs are named, but the trees read {}",
                manifest.inputs.len(),
                quantized.width()
            ));
        }
        if let Some(input) = manifest
            .inputs
            .iter()
            .find(|i| !input::is_readable(i.data_type))
        {
            return corrupt(format!(
                "input `{}` is {}",
                input.name,
                with_article(input.data_type)
            ));
        }
        let scorer: Arc<dyn Scorer> = Arc::new(kernels::fastest(&quantized));
        if report::checksum(&quantized, scorer.as_ref()) != manifest.checksum {
            return corrupt(
                "the verification rows do not score as they did at the import".to_owned(),
            );
        }
        Ok(Self {
            manifest,
            quantized,
            scorer,
            bytes: bytes.into(),
            fingerprint: Fingerprint::of([bytes]),
        })
    }

    /// The whole bundle.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.to_vec()
    }

    /// Hash of the bytes.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The model that this is a version of.
    #[must_use]
    pub fn model(&self) -> &Name {
        &self.manifest.model
    }

    /// The service that the model was bound to.
    #[must_use]
    pub fn service(&self) -> &Name {
        &self.manifest.service
    }

    /// The service's fingerprint at the import.
    #[must_use]
    pub fn service_fingerprint(&self) -> Fingerprint {
        self.manifest.service_fingerprint
    }

    /// The name of the score in answers.
    #[must_use]
    pub fn output(&self) -> &Name {
        &self.manifest.output
    }

    /// Applied to the raw score.
    #[must_use]
    pub fn transform(&self) -> Transform {
        self.manifest.transform
    }

    /// What a row holds, in the order of its values. This order is the model's, not the service's: bind by name.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.manifest.inputs
    }

    /// What the import found.
    #[must_use]
    pub fn report(&self) -> &ImportReport {
        &self.manifest.report
    }

    /// The quantised ensemble.
    #[must_use]
    pub fn quantized(&self) -> &Quantized {
        &self.quantized
    }

    /// The kernel that scores rows of [`Bundle::inputs`].
    #[must_use]
    pub fn scorer(&self) -> Arc<dyn Scorer> {
        Arc::clone(&self.scorer)
    }

    /// Checks that a model and its service are still those that this bundle was made for: exactly its inputs, by name,
    /// with the same types and defaults, in any order, computed in the same way; and its transform, if one is declared.
    ///
    /// # Errors
    /// [`Misfit`] with all that differs.
    pub fn check_model(&self, model: &Model, service: &FeatureService) -> Result<(), Misfit> {
        self.check_service(service)?;
        let bundle = self.manifest.transform;
        match model.transform {
            Some(declared) if declared != bundle => Err(Misfit::Transform {
                declared: declared.name(),
                bundle: bundle.name(),
            }),
            _ => Ok(()),
        }
    }

    fn check_service(&self, service: &FeatureService) -> Result<(), Mismatch> {
        binding::check(&self.manifest.inputs, service)
    }
}

/// What a bundle and the definitions disagree about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The service has other features.
    #[error(transparent)]
    Features(#[from] Mismatch),
    /// The model declares another transform.
    #[error(
        "the model declares the transform `{declared}`, and its bundle was imported with `{bundle}`"
    )]
    Transform {
        /// By the definitions.
        declared: &'static str,
        /// By the bundle.
        bundle: &'static str,
    },
}

/// The transform of a bundle. Raw scores can always be asked for; any other transform must be the objective's own, which
/// is also taken when none is declared. A model without an objective was trained on one of the user's making: raw
/// scores, unless they know better.
fn transform_of(
    declared: Option<Transform>,
    ensemble: &Ensemble,
) -> Result<Transform, BundleError> {
    let Some(objective) = &ensemble.objective else {
        return Ok(declared.unwrap_or(Transform::Identity));
    };
    match (declared, objective.transform) {
        (Some(Transform::Identity), _) => Ok(Transform::Identity),
        (None, Some(own)) => Ok(own),
        (Some(declared), Some(own)) if declared == own => Ok(own),
        (declared, own) => Err(BundleError::Transform {
            objective: objective.text.clone(),
            declared: declared.map(Transform::name),
            expected: own.map(Transform::name),
        }),
    }
}

fn advice(expected: Option<&'static str>) -> String {
    match expected {
        None => "declare `identity` for raw scores".to_owned(),
        Some("identity") => "declare `identity`".to_owned(),
        Some(expected) => format!("declare `{expected}`, or `identity` for raw scores"),
    }
}
