//! The manifest: what a model is and reads, as JSON.

use feature_defs::data_type::DataType;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::model::Transform;
use feature_defs::name::{FeatureRef, Name};
use feature_defs::time::Instant;
use feature_defs::value::Value;
use serde::{Deserialize, Serialize};

use super::transform_name;
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
    view: Name,
    feature: Name,
    #[serde(rename = "type")]
    data_type: DataType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<WrittenValue>,
}

/// A value of a type that models read; floats and decimals by their exact digits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenValue {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(String),
    Decimal(String, u8),
    Date(i32),
    Timestamp(i64),
}

impl Manifest {
    pub(super) fn to_json(&self) -> Vec<u8> {
        let inputs = self.inputs.iter().map(|input| WrittenInput {
            view: input.name.view.clone(),
            feature: input.name.feature.clone(),
            data_type: input.data_type,
            default: input.default.as_ref().and_then(write_value),
        });
        let written = Written {
            model: self.model.clone(),
            service: self.service.clone(),
            service_fingerprint: self.service_fingerprint,
            output: self.output.clone(),
            transform: transform_name(self.transform).to_owned(),
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
            let default = input.default.map(|value| read_value(&value)).transpose()?;
            inputs.push(Input {
                name: FeatureRef {
                    view: input.view,
                    feature: input.feature,
                },
                data_type: input.data_type,
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

fn write_value(value: &Value) -> Option<WrittenValue> {
    Some(match value {
        Value::Null => WrittenValue::Null,
        Value::Bool(value) => WrittenValue::Bool(*value),
        Value::Int(value) => WrittenValue::Int(*value),
        Value::UInt(value) => WrittenValue::UInt(*value),
        Value::Float(value) => WrittenValue::Float(value.to_string()),
        Value::Decimal { unscaled, scale } => WrittenValue::Decimal(unscaled.to_string(), *scale),
        Value::Date(days) => WrittenValue::Date(*days),
        Value::Timestamp(instant) => WrittenValue::Timestamp(instant.micros()),
        Value::String(_) | Value::Bytes(_) => return None,
    })
}

fn read_value(written: &WrittenValue) -> Result<Value, String> {
    let refused = |text: &str| format!("default `{text}` is not a number");
    Ok(match written {
        WrittenValue::Null => Value::Null,
        WrittenValue::Bool(value) => Value::Bool(*value),
        WrittenValue::Int(value) => Value::Int(*value),
        WrittenValue::UInt(value) => Value::UInt(*value),
        WrittenValue::Float(text) => Value::Float(text.parse().map_err(|_| refused(text))?),
        WrittenValue::Decimal(text, scale) => Value::Decimal {
            unscaled: text.parse().map_err(|_| refused(text))?,
            scale: *scale,
        },
        WrittenValue::Date(days) => Value::Date(*days),
        WrittenValue::Timestamp(micros) => Value::Timestamp(Instant::from_micros(*micros)),
    })
}

/// A default for people.
pub(super) fn value_text(value: &Value, data_type: DataType) -> String {
    match crate::input::number(value) {
        Some(number) if number.is_nan() => "null".to_owned(),
        Some(number) => number.to_string(),
        None => format!("a {data_type}"),
    }
}
