//! The manifest: what a model is and reads, as JSON.

use feature_defs::data_type::DataType;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::model::Transform;
use feature_defs::name::{FeatureRef, Name};
use feature_defs::value::Value;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use crate::input::Input;
use crate::report::ImportReport;

/// What a model is and reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    pub(super) model: Name,
    pub(super) service: Name,
    pub(super) service_fingerprint: Fingerprint,
    pub(super) output: Name,
    pub(super) transform: Transform,
    pub(super) objective: Option<String>,
    pub(super) inputs: Vec<Input>,
    pub(super) report: ImportReport,
    /// Of the scores of the verification rows.
    pub(super) checksum: Fingerprint,
}

/// The manifest as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    model: Name,
    service: Name,
    service_fingerprint: Fingerprint,
    output: Name,
    transform: String,
    objective: Option<String>,
    inputs: Vec<WrittenInput>,
    report: ImportReport,
    checksum: Fingerprint,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInput {
    /// With `feature`, of one that is called `view.feature`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    view: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature: Option<Name>,
    /// Of one that is called otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type")]
    data_type: DataType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Fingerprint>,
    /// In the JSON form of values; `null` is a default too.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    default: Option<Json>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

fn written(input: &Input) -> WrittenInput {
    let full = input.name.split_once('.').and_then(|(view, feature)| {
        let full = (Name::parse(view).ok()?, Name::parse(feature).ok()?);
        Some(full)
    });
    let name = full.is_none().then(|| input.name.clone());
    let (view, feature) = full.unzip();
    WrittenInput {
        view,
        feature,
        name,
        data_type: input.data_type,
        fingerprint: input.fingerprint,
        default: input.default.as_ref().map(|value| {
            let json = value_json(value, input.data_type);
            serde_json::from_slice(&json).expect("the JSON form of a value is JSON")
        }),
    }
}

impl Manifest {
    pub(super) fn to_json(&self) -> Vec<u8> {
        let inputs = self.inputs.iter().map(written);
        let written = Written {
            model: self.model.clone(),
            service: self.service.clone(),
            service_fingerprint: self.service_fingerprint,
            output: self.output.clone(),
            transform: self.transform.name().to_owned(),
            objective: self.objective.clone(),
            inputs: inputs.collect(),
            report: self.report.clone(),
            checksum: self.checksum,
        };
        serde_json::to_vec(&written).expect("strings, numbers and lists have a JSON form")
    }

    pub(super) fn from_json(json: &[u8]) -> Result<Self, String> {
        let written: Written = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let transform = Transform::NAMED
            .iter()
            .find(|(name, _)| *name == written.transform);
        let (_, transform) =
            transform.ok_or_else(|| format!("`{}` is not a transform", written.transform))?;
        let mut inputs = Vec::new();
        for input in written.inputs {
            let name = match (input.view, input.feature, input.name) {
                (Some(view), Some(feature), None) => FeatureRef { view, feature }.to_string(),
                (None, None, Some(name)) => name,
                _ => return Err("an input has no name, or two".to_owned()),
            };
            let default = input
                .default
                .map(|json| Value::from_json(&json, input.data_type))
                .transpose()
                .map_err(|error| error.to_string())?;
            inputs.push(Input {
                name,
                data_type: input.data_type,
                fingerprint: input.fingerprint,
                default,
            });
        }
        Ok(Self {
            model: written.model,
            service: written.service,
            service_fingerprint: written.service_fingerprint,
            output: written.output,
            transform: *transform,
            objective: written.objective,
            inputs,
            report: written.report,
            checksum: written.checksum,
        })
    }
}

/// The JSON form of a value.
fn value_json(value: &Value, data_type: DataType) -> Vec<u8> {
    let mut json = Vec::new();
    value.write_json(data_type, &mut json);
    json
}

/// A value for people.
pub(super) fn value_text(value: &Value, data_type: DataType) -> String {
    String::from_utf8_lossy(&value_json(value, data_type)).into_owned()
}
