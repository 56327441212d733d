//! Exact totals of numbers of any type.

use arrow::datatypes::i256;
use feature_defs::data_type::DataType;
use feature_defs::value::Value;

use super::{ExactSum, OutOfRange};
use crate::column::Cell;

/// An exact total, and whether anything was added to it.
#[derive(Debug, Clone)]
pub(crate) enum Total {
    Nothing,
    Signed(i128),
    Unsigned(u128),
    Decimal { unscaled: i256, scale: u8 },
    Float(ExactSum),
}

impl Total {
    /// Adds a number; what is none is passed over.
    pub(super) fn add(&mut self, cell: Cell<'_>) {
        if matches!(self, Self::Nothing) {
            *self = match cell {
                Cell::UInt(_) => Self::Unsigned(0),
                Cell::Float(_) => Self::Float(ExactSum::default()),
                Cell::Decimal { scale, .. } => Self::Decimal {
                    unscaled: i256::ZERO,
                    scale,
                },
                _ => Self::Signed(0),
            };
        }
        match (self, cell) {
            (Self::Signed(sum), Cell::Int(value)) => *sum += i128::from(value),
            (Self::Unsigned(sum), Cell::UInt(value)) => *sum += u128::from(value),
            (Self::Float(sum), Cell::Float(value)) => sum.add(value),
            (
                Self::Decimal { unscaled, .. },
                Cell::Decimal {
                    unscaled: value, ..
                },
            ) => {
                *unscaled = unscaled.wrapping_add(i256::from_i128(value));
            }
            _ => {}
        }
    }

    /// The total, in the type that a sum has.
    pub(super) fn value(&self) -> Result<Value, OutOfRange> {
        let too_great = |sum: &dyn std::fmt::Display, data_type: DataType| {
            OutOfRange(format!("the sum {sum} does not fit `{data_type}`"))
        };
        match self {
            Self::Nothing => Ok(Value::Null),
            Self::Signed(sum) => i64::try_from(*sum)
                .map(Value::Int)
                .map_err(|_| too_great(sum, DataType::Int64)),
            Self::Unsigned(sum) => u64::try_from(*sum)
                .map(Value::UInt)
                .map_err(|_| too_great(sum, DataType::UInt64)),
            Self::Decimal { unscaled, scale } => {
                let scale = *scale;
                let data_type = DataType::Decimal {
                    precision: feature_defs::data_type::MAX_DECIMAL_PRECISION,
                    scale,
                };
                unscaled
                    .to_i128()
                    .filter(|sum| sum.unsigned_abs() < 10_u128.pow(38))
                    .map(|unscaled| Value::Decimal { unscaled, scale })
                    .ok_or_else(|| too_great(&format!("{unscaled}e-{scale}"), data_type))
            }
            Self::Float(sum) => sum
                .value()
                .map(Value::Float)
                .ok_or_else(|| OutOfRange("the sum does not fit `float64`".to_owned())),
        }
    }

    /// The exact total divided by the count, as the nearest float.
    #[expect(clippy::cast_precision_loss)] // counts below 2^53
    pub(super) fn mean(&self, count: u64) -> Result<Value, OutOfRange> {
        let count = count as f64;
        let mean = match self {
            Self::Nothing => return Ok(Value::Null),
            Self::Signed(sum) => integer_mean(*sum, count),
            Self::Unsigned(sum) => match i128::try_from(*sum) {
                Ok(sum) => integer_mean(sum, count),
                Err(_) => *sum as f64 / count,
            },
            Self::Decimal { unscaled, scale } => {
                let parts = 10_f64.powi(i32::from(*scale)) * count;
                match unscaled.to_i128() {
                    Some(sum) if parts <= SURELY_WHOLE => integer_mean(sum, parts),
                    _ => wide_to_float(*unscaled) / parts,
                }
            }
            Self::Float(sum) => {
                let out = || OutOfRange("the mean does not fit `float64`".to_owned());
                sum.divided_by(count).ok_or_else(out)?
            }
        };
        Ok(Value::Float(mean))
    }
}

/// Every whole number up to here is an `f64` of its own.
const SURELY_WHOLE: f64 = 9_007_199_254_740_992.0;

/// An integer divided by a whole number, as the nearest float.
#[expect(clippy::cast_precision_loss)] // exact where it is taken
fn integer_mean(sum: i128, count: f64) -> f64 {
    let float = sum as f64;
    if float.abs() <= SURELY_WHOLE {
        return float / count;
    }
    let exact = ExactSum::of_integer(sum).divided_by(count);
    exact.unwrap_or(float / count)
}

#[expect(clippy::cast_precision_loss)] // rounded once, to the nearest
fn wide_to_float(wide: i256) -> f64 {
    match wide.to_i128() {
        Some(value) => value as f64,
        None => {
            let (low, high) = wide.to_parts();
            high as f64 * 2_f64.powi(128) + low as f64
        }
    }
}
