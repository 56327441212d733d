//! Feature services: the ordered, typed list of features that a model reads.

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::value::Value;

/// An ordered, typed list of features; not a running process.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureService {
    /// The service's name.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// Other names under which it answers, which no service and no other alias has.
    pub aliases: Vec<Name>,
    /// Its features in order, wildcards expanded. No feature and no feature's name stands in it twice.
    pub features: Vec<ServiceFeature>,
    /// Hash of names, defaults and order, and of the features' fingerprints.
    pub fingerprint: Fingerprint,
}

impl FeatureService {
    /// Whether a feature of a view is among its features.
    #[must_use]
    pub fn reads(&self, view: &Name, feature: &Name) -> bool {
        let mut references = self.features.iter().map(|feature| &feature.reference);
        references.any(|reference| reference.view == *view && reference.feature == *feature)
    }
}

/// One feature of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceFeature {
    /// What it is called in answers, training sets and models: `view.feature` unless the service says otherwise.
    pub name: String,
    /// Which feature.
    pub reference: FeatureRef,
    /// Its type, from the view.
    pub data_type: DataType,
    /// Hash of all that decides its values, from the view.
    pub fingerprint: Fingerprint,
    /// Where it comes from.
    pub origin: Origin,
    /// Taken where the stored value is missing or expired, and reported as defaulted; without one the value is null.
    /// An observed null stays null, and an unavailable value is never replaced (rule 6).
    pub default: Option<Value>,
}

/// Where a service's feature comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A feature view: read from the served release.
    Stored,
    /// A request view: computed for the request.
    Request,
}
