//! One plain value of a row: what a [`RequestPlan`] computes with when it needs no arrays.

#[cfg(doc)]
use crate::expression::RequestPlan;
use crate::value::Value;

/// A truth value, a whole number, a float, or none of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// No value.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int8` to `int64`, or a `uint8` to `uint32`.
    Int(i64),
    /// A `float16` or `float32` (widened) or `float64`.
    Float(f64),
}

impl Scalar {
    /// The value as a scalar. Values of types that [`RequestPlan::scalar`] never reads are null.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::UInt(value) => i64::try_from(*value).map_or(Self::Null, Self::Int),
            Value::Float(value) => Self::Float(*value),
            _ => Self::Null,
        }
    }

    /// The scalar as a value.
    #[must_use]
    pub const fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
        }
    }

    /// The scalar as a model sees it: `bool` as 0 or 1, a null as NaN.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // models take float64
    pub fn model_input(self) -> f64 {
        match self {
            Self::Null => f64::NAN,
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}
