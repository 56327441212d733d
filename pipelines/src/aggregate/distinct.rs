//! Values as they are told apart.

use feature_defs::time::Instant;
use feature_defs::value::Value;

use crate::column::Cell;

/// A value as `count distinct` compares it: by number, not by bits (0 equals -0, and NaN equals NaN).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Distinct {
    Number(i128),
    Float(u64),
    Bytes(Box<[u8]>),
}

impl Distinct {
    pub(super) fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Number(-1),
            Cell::Bool(value) => Self::Number(value.into()),
            Cell::Int(value) | Cell::Timestamp(value) => Self::Number(value.into()),
            Cell::UInt(value) => Self::Number(value.into()),
            Cell::Date(days) => Self::Number(days.into()),
            Cell::Decimal { unscaled, .. } => Self::Number(unscaled),
            Cell::Float(value) if value.is_nan() => Self::Float(f64::NAN.to_bits()),
            Cell::Float(value) => Self::Float((value + 0.0).to_bits()),
            Cell::String(value) => Self::Bytes(value.as_bytes().into()),
            // Refused when definitions are checked.
            Cell::Nested { .. } => Self::Number(-1),
            Cell::Bytes(value) | Cell::Uuid(value) => Self::Bytes(value.into()),
        }
    }
}

impl Distinct {
    /// The value, of the type of one that it was compared with.
    pub(super) fn like(&self, other: &Value) -> Value {
        let integer = |number: &i128| i64::try_from(*number).unwrap_or_default();
        match (self, other) {
            (Self::Number(number), Value::Bool(_)) => Value::Bool(*number != 0),
            (Self::Number(number), Value::Int(_)) => Value::Int(integer(number)),
            (Self::Number(number), Value::Timestamp(_)) => {
                Value::Timestamp(Instant::from_micros(integer(number)))
            }
            (Self::Number(number), Value::UInt(_)) => {
                Value::UInt(u64::try_from(*number).unwrap_or_default())
            }
            (Self::Number(number), Value::Date(_)) => {
                Value::Date(i32::try_from(*number).unwrap_or_default())
            }
            (Self::Number(number), Value::Decimal { scale, .. }) => Value::Decimal {
                unscaled: *number,
                scale: *scale,
            },
            (Self::Float(bits), _) => Value::Float(f64::from_bits(*bits)),
            (Self::Bytes(bytes), Value::String(_)) => {
                Value::String(String::from_utf8_lossy(bytes).into_owned())
            }
            (Self::Bytes(bytes), Value::Bytes(_)) => Value::Bytes(bytes.to_vec()),
            (Self::Bytes(bytes), Value::Uuid(_)) => {
                Value::Uuid(bytes.as_ref().try_into().unwrap_or_default())
            }
            _ => Value::Null,
        }
    }
}
