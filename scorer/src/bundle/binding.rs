//! Binding by name: a model's features against a service's. Positions never decide.

use std::collections::BTreeMap;
use std::fmt;

use feature_defs::data_type::DataType;
use feature_defs::feature_service::{FeatureService, ServiceFeature};
use feature_defs::name::Name;
use feature_defs::value::Value;

use crate::input::Input;

/// How the features of a model and of a service differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The service.
    pub service: Name,
    /// Read by the model, not in the service; in the model's order.
    pub missing: Box<[String]>,
    /// In the service, not read by the model; in the service's order.
    pub extra: Box<[String]>,
    /// In both, but not the same: each with what differs.
    pub different: Box<[String]>,
    /// All that the model reads.
    pub model_features: Box<[String]>,
    /// All that the service has.
    pub service_features: Box<[String]>,
}

impl std::error::Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let service = &self.service;
        if self.missing.is_empty() && self.extra.is_empty() {
            let different = shortened(&self.different);
            return write!(
                f,
                "service `{service}` has other features by the names that the model reads: {different}"
            );
        }
        write!(
            f,
            "service `{service}` and the model do not have the same features"
        )?;
        for (what, names) in [
            ("only in the model", &self.missing),
            ("only in the service", &self.extra),
        ] {
            if !names.is_empty() {
                write!(f, "; {what}: {}", quote(names))?;
            }
        }
        if !self.different.is_empty() {
            write!(f, "; different: {}", shortened(&self.different))?;
        }
        write!(f, "; their order does not matter")?;
        write!(f, "\n  model:   {}", quote(&self.model_features))?;
        write!(f, "\n  service: {}", quote(&self.service_features))
    }
}

/// How many of a list are shown.
const SHOWN: usize = 8;

fn quote(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    shortened(&quoted)
}

fn shortened(all: &[String]) -> String {
    let shown = all[..all.len().min(SHOWN)].join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The inputs of a model that was trained on columns with these names, in their order.
pub(super) fn bind(names: &[String], service: &FeatureService) -> Result<Vec<Input>, Mismatch> {
    let by_name = by_name(service);
    let inputs: Vec<Input> = names
        .iter()
        .filter_map(|name| by_name.get(name).copied().map(Input::from))
        .collect();
    let mismatch = compare(names.to_vec(), Vec::new(), service);
    if mismatch.is_empty() {
        Ok(inputs)
    } else {
        Err(mismatch)
    }
}

/// Checks names, types and defaults.
pub(super) fn check(inputs: &[Input], service: &FeatureService) -> Result<(), Mismatch> {
    let by_name = by_name(service);
    let mut different = Vec::new();
    for input in inputs {
        let name = &input.name;
        let Some(feature) = by_name.get(name) else {
            continue;
        };
        if feature.data_type != input.data_type {
            different.push(format!(
                "`{name}` is {} in the model, {} in the service",
                input.data_type, feature.data_type
            ));
        } else if !same_default(&input.default, &feature.default) {
            different.push(format!(
                "`{name}` has default {} in the model, {} in the service",
                show(input.default.as_ref(), input.data_type),
                show(feature.default.as_ref(), input.data_type)
            ));
        } else if input
            .fingerprint
            .is_some_and(|kept| kept != feature.fingerprint)
        {
            different.push(format!(
                "`{name}` is computed in another way than when the model was imported"
            ));
        }
    }
    let names = inputs.iter().map(|input| input.name.clone()).collect();
    let mismatch = compare(names, different, service);
    if mismatch.is_empty() {
        Ok(())
    } else {
        Err(mismatch)
    }
}

impl Mismatch {
    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.different.is_empty()
    }
}

fn compare(
    model_features: Vec<String>,
    different: Vec<String>,
    service: &FeatureService,
) -> Mismatch {
    let by_name = by_name(service);
    let in_model: BTreeMap<&String, ()> = model_features.iter().map(|name| (name, ())).collect();
    let service_features: Vec<String> = service
        .features
        .iter()
        .map(|feature| feature.name.clone())
        .collect();
    Mismatch {
        service: service.name.clone(),
        missing: model_features
            .iter()
            .filter(|name| !by_name.contains_key(*name))
            .cloned()
            .collect(),
        extra: service_features
            .iter()
            .filter(|name| !in_model.contains_key(name))
            .cloned()
            .collect(),
        different: different.into(),
        model_features: model_features.into(),
        service_features: service_features.into(),
    }
}

fn by_name(service: &FeatureService) -> BTreeMap<String, &ServiceFeature> {
    let features = service.features.iter();
    features
        .map(|feature| (feature.name.clone(), feature))
        .collect()
}

/// Equal, with NaN equal to itself.
fn same_default(one: &Option<Value>, other: &Option<Value>) -> bool {
    match (one, other) {
        (Some(Value::Float(one)), Some(Value::Float(other))) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

fn show(default: Option<&Value>, data_type: DataType) -> String {
    match default {
        None => "none".to_owned(),
        Some(value) => super::manifest::value_text(value, data_type),
    }
}
