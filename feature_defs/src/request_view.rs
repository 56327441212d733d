//! Request views: features computed at request time from stored features and request fields.

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::value::Value;

/// Features that exist only once a request is there.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestView {
    /// The view's name.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// The fields that a request brings, in declared order.
    pub inputs: Vec<RequestField>,
    /// The features, in declared order.
    pub features: Vec<RequestFeature>,
    /// Hash of all that decides its values.
    pub fingerprint: Fingerprint,
}

impl RequestView {
    /// The feature of this name.
    #[must_use]
    pub fn feature(&self, name: &Name) -> Option<&RequestFeature> {
        self.features.iter().find(|feature| feature.name == *name)
    }
}

/// A field that a request brings, one value an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestField {
    /// Its name in the request. Fields of several request views with the same name must have the same type.
    pub name: Name,
    /// Its type; values are not cast.
    pub data_type: DataType,
    /// Taken where the request leaves the field out; without one the field is required.
    pub default: Option<Value>,
    /// Whether a request may say `null`.
    pub nullable: bool,
}

/// One request-time feature.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestFeature {
    /// Its name within the view.
    pub name: Name,
    /// The SQL expression, over request fields (`amount`) and stored features (`view.feature`).
    pub expression: String,
    /// Its type, found by planning the expression.
    pub data_type: DataType,
    /// The request fields it reads, sorted.
    pub fields: Vec<Name>,
    /// The stored features it reads, sorted.
    pub features: Vec<FeatureRef>,
    /// What it is, for people.
    pub description: Option<String>,
    /// Hash of all that decides its values: not of its name, nor of what stands beside it in the view.
    pub fingerprint: Fingerprint,
}
