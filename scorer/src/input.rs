//! What a model reads: features by name, and the number that each value is to it.
//!
//! | type | number |
//! | --- | --- |
//! | `bool` | 0 or 1 |
//! | integers, floats | the value, as the nearest f64 |
//! | `decimal(p,s)` | the unscaled value as f64, divided by 10^s |
//! | `date` | days since 1970-01-01 |
//! | `timestamp` | microseconds since 1970-01-01T00:00:00Z |
//! | null of any type | NaN |
//! | `string`, `bytes`, `uuid`, lists, vectors, structs | none: a model cannot read them |

use feature_defs::data_type::DataType;
use feature_defs::feature_service::ServiceFeature;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::value::Value;

/// One input of a model: where its value in a row comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// What the feature is called in the service.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Hash of all that decided its values when the model was imported; bundles of before it was kept have none.
    pub fingerprint: Option<Fingerprint>,
    /// What the service takes where the value is missing or expired.
    pub default: Option<Value>,
}

impl From<&ServiceFeature> for Input {
    fn from(feature: &ServiceFeature) -> Self {
        Self {
            name: feature.name.clone(),
            data_type: feature.data_type,
            fingerprint: Some(feature.fingerprint),
            default: feature.default.clone(),
        }
    }
}

/// Whether a model can read values of this type.
#[must_use]
pub const fn is_readable(data_type: DataType) -> bool {
    data_type.is_model_input()
}

/// The number that a value is to a model; `None` for types that are no numbers.
#[must_use]
pub fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Null => f64::NAN,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Int(value) => *value as f64,
        Value::UInt(value) => *value as f64,
        Value::Float(value) => *value,
        Value::Decimal { unscaled, scale } => *unscaled as f64 / 10_f64.powi(i32::from(*scale)),
        Value::Date(days) => f64::from(*days),
        Value::Timestamp(instant) => instant.micros() as f64,
        Value::String(_) | Value::Bytes(_) | Value::Uuid(_) | Value::List(_) | Value::Struct(_) => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feature_defs::time::Instant;

    #[test]
    fn values_are_the_numbers_of_the_table() {
        let decimal = Value::Decimal {
            unscaled: 11_840,
            scale: 2,
        };
        for (value, expected) in [
            (Value::Bool(true), 1.0),
            (Value::Int(-3), -3.0),
            (Value::UInt(u64::MAX), 18_446_744_073_709_551_615.0),
            (Value::Float(0.1), 0.1),
            (decimal, 118.4),
            (Value::Date(10_135), 10_135.0),
            (
                Value::Timestamp(Instant::from_micros(875_664_000_000_000)),
                875_664_000_000_000.0,
            ),
        ] {
            assert_eq!(number(&value), Some(expected), "{value:?}");
        }
        assert!(number(&Value::Null).is_some_and(f64::is_nan));
        assert_eq!(number(&Value::String("1".to_owned())), None);
    }
}
