//! Models: what scores a feature service.

use crate::about::About;
use crate::fingerprint::Fingerprint;
use crate::name::Name;

/// A declared model. Its trained file is imported as a bundle, bound to the service by feature name.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The model's name; `POST /v1/predict/<name>` asks it.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// The service whose features it reads.
    pub service: Name,
    /// The name of the score in answers.
    pub output: Name,
    /// Applied to the model's raw score; left out, it is the one that belongs to the model's objective.
    pub transform: Option<Transform>,
    /// Hash of the above but the description, and of the service's fingerprint.
    pub fingerprint: Fingerprint,
}

/// What turns a raw score into the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// The raw score itself.
    Identity,
    /// `1 / (1 + exp(-raw))`.
    Sigmoid,
    /// `exp(raw)`.
    Exp,
}

impl Transform {
    /// The transforms by the names that definitions use.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("identity", Self::Identity),
        ("sigmoid", Self::Sigmoid),
        ("exp", Self::Exp),
    ];

    /// The transform's name, as definitions write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, transform)| *transform == self);
        named.map_or("", |(name, _)| name)
    }

    /// Applies the transform to a raw score.
    #[must_use]
    pub fn apply(self, raw: f64) -> f64 {
        match self {
            Self::Identity => raw,
            Self::Sigmoid => 1.0 / (1.0 + (-raw).exp()),
            Self::Exp => raw.exp(),
        }
    }
}
