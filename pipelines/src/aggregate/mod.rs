//! What aggregates compute: exact, and the same whatever the order of rows.
//!
//! Integers and decimals are summed in integers wide enough for any number of rows, floats in an [`ExactSum`]; what
//! does not fit the result's type is an error (rule 9).

mod exact_sum;
mod fraction;
mod frequencies;
mod functions;
mod moments;
mod quantile;
mod wide_sum;

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

use arrow::datatypes::i256;
use feature_defs::aggregation::{AggregateFunction, ListLength, Portion};
use feature_defs::data_type::DataType;
use feature_defs::time::Instant;
use feature_defs::value::Value;

pub(crate) use exact_sum::ExactSum;
pub(crate) use functions::exact_functions;

use crate::column::Cell;
use frequencies::Frequencies;
use moments::{Moments, Spread};
use quantile::Numbers;

/// One aggregate over the rows that were added, newest first.
#[derive(Debug, Clone)]
pub(crate) enum Accumulator {
    CountRows(i64),
    CountValues(i64),
    Sum(Total),
    Mean {
        total: Total,
        count: u64,
    },
    Spread(Box<Moments>, Spread),
    Quantile(Numbers, Portion),
    Least(Value),
    Greatest(Value),
    First(Value),
    /// The oldest so far, the newest of them first.
    FirstValues(VecDeque<Value>, ListLength),
    Last(Option<Value>),
    LastValues(Vec<Value>, ListLength),
    TopK(Box<Frequencies>, ListLength),
    Distinct(HashSet<Distinct>),
}

/// An exact total, and whether anything was added to it.
#[derive(Debug, Clone)]
pub(crate) enum Total {
    Nothing,
    Signed(i128),
    Unsigned(u128),
    Decimal { unscaled: i256, scale: u8 },
    Float(ExactSum),
}

/// A value as `count distinct` compares it: by number, not by bits (0 equals -0, and NaN equals NaN).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Distinct {
    Number(i128),
    Float(u64),
    Bytes(Box<[u8]>),
}

/// A result that its type cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutOfRange(pub(crate) String);

impl Accumulator {
    /// An aggregate of nothing; `rows` when it has no argument and counts rows.
    pub(crate) fn new(function: AggregateFunction, rows: bool) -> Self {
        match function {
            AggregateFunction::Count if rows => Self::CountRows(0),
            AggregateFunction::Count => Self::CountValues(0),
            AggregateFunction::Sum => Self::Sum(Total::Nothing),
            AggregateFunction::Mean => Self::Mean {
                total: Total::Nothing,
                count: 0,
            },
            AggregateFunction::Variance => Self::spread(true, false),
            AggregateFunction::Stddev => Self::spread(true, true),
            AggregateFunction::VariancePop => Self::spread(false, false),
            AggregateFunction::StddevPop => Self::spread(false, true),
            AggregateFunction::Quantile(portion) => Self::Quantile(Numbers::default(), portion),
            AggregateFunction::Min => Self::Least(Value::Null),
            AggregateFunction::Max => Self::Greatest(Value::Null),
            AggregateFunction::First => Self::First(Value::Null),
            AggregateFunction::FirstValues(length) => Self::FirstValues(VecDeque::new(), length),
            AggregateFunction::Last => Self::Last(None),
            AggregateFunction::LastValues(length) => Self::LastValues(Vec::new(), length),
            AggregateFunction::TopK(length) => Self::TopK(Box::default(), length),
            AggregateFunction::DistinctCount => Self::Distinct(HashSet::new()),
        }
    }

    fn spread(sample: bool, root: bool) -> Self {
        Self::Spread(Box::default(), Spread { sample, root })
    }

    /// Adds a row; rows come newest first. Nulls are passed over, except by `count()`, and by `first` and `last`, also of
    /// several values.
    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        match self {
            Self::CountRows(count) => *count += 1,
            Self::First(first) => replace(first, cell),
            Self::Last(last) => {
                last.get_or_insert_with(|| cell.to_value());
            }
            Self::FirstValues(values, length) => {
                if values.len() == length.get() {
                    values.pop_front();
                }
                values.push_back(cell.to_value());
            }
            Self::LastValues(values, length) => {
                if values.len() < length.get() {
                    values.push(cell.to_value());
                }
            }
            _ if cell == Cell::Null => {}
            Self::CountValues(count) => *count += 1,
            Self::Sum(total) => total.add(cell),
            Self::Mean { total, count } => {
                total.add(cell);
                *count += 1;
            }
            Self::Spread(moments, _) => moments.add(cell),
            Self::Quantile(numbers, _) => numbers.add(cell),
            Self::Least(least) => keep_first(least, cell, Ordering::Less),
            Self::Greatest(greatest) => keep_first(greatest, cell, Ordering::Greater),
            Self::TopK(frequencies, _) => frequencies.add(cell),
            Self::Distinct(values) => {
                values.insert(Distinct::of(cell));
            }
        }
    }

    /// The aggregate of the rows so far, in the type that [`AggregateFunction`] documents.
    pub(crate) fn value(&mut self) -> Result<Value, OutOfRange> {
        match self {
            Self::CountRows(count) | Self::CountValues(count) => Ok(Value::Int(*count)),
            Self::Sum(total) => total.value(),
            Self::Mean { total, count } => total.mean(*count),
            Self::Spread(moments, spread) => {
                let what = if spread.root {
                    "standard deviation"
                } else {
                    "variance"
                };
                let out = |_| OutOfRange(format!("the {what} does not fit `float64`"));
                let value = moments.spread(*spread).map_err(out)?;
                Ok(value.map_or(Value::Null, Value::Float))
            }
            Self::Quantile(numbers, portion) => {
                let value = numbers.quantile(*portion);
                Ok(value.map_or(Value::Null, Value::Float))
            }
            Self::Least(value) | Self::Greatest(value) | Self::First(value) => Ok(value.clone()),
            Self::FirstValues(values, _) => Ok(Value::List(values.iter().rev().cloned().collect())),
            Self::Last(value) => Ok(value.clone().unwrap_or(Value::Null)),
            Self::LastValues(values, _) => Ok(Value::List(values.clone())),
            Self::TopK(frequencies, length) => {
                Ok(Value::List(frequencies.most_frequent(length.get())))
            }
            Self::Distinct(values) => {
                Ok(Value::Int(i64::try_from(values.len()).unwrap_or(i64::MAX)))
            }
        }
    }
}

impl Distinct {
    fn of(cell: Cell<'_>) -> Self {
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
    fn like(&self, other: &Value) -> Value {
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

/// Holds the cell instead, in the memory of what was held where that is text.
fn replace(held: &mut Value, cell: Cell<'_>) {
    match (held, cell) {
        (Value::String(held), Cell::String(text)) => text.clone_into(held),
        (held, cell) => *held = cell.to_value(),
    }
}

/// Keeps the cell if it comes before (or after, as `order` says) what is held.
fn keep_first(held: &mut Value, cell: Cell<'_>, order: Ordering) {
    if *held == Value::Null || compare(cell, held) == order {
        *held = match cell {
            Cell::Float(value) if value.is_nan() => Value::Float(f64::NAN),
            other => other.to_value(),
        };
    }
}

/// The order of floats; NaN, whatever its sign, is greater than every number.
fn in_order(a: f64, b: f64) -> Ordering {
    a.is_nan().cmp(&b.is_nan()).then_with(|| {
        if a.is_nan() {
            Ordering::Equal
        } else {
            a.total_cmp(&b)
        }
    })
}

/// The order of a column's values.
fn compare(cell: Cell<'_>, value: &Value) -> Ordering {
    match (cell, value) {
        (Cell::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Cell::Int(a), Value::Int(b)) => a.cmp(b),
        (Cell::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Cell::Float(a), Value::Float(b)) => in_order(a, *b),
        (Cell::Decimal { unscaled: a, .. }, Value::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Cell::String(a), Value::String(b)) => a.cmp(b.as_str()),
        (Cell::Bytes(a), Value::Bytes(b)) => a.cmp(b.as_slice()),
        (Cell::Uuid(a), Value::Uuid(b)) => a.cmp(b.as_slice()),
        (Cell::Date(a), Value::Date(b)) => a.cmp(b),
        (Cell::Timestamp(a), Value::Timestamp(b)) => a.cmp(&b.micros()),
        _ => Ordering::Equal,
    }
}

impl Total {
    fn add(&mut self, cell: Cell<'_>) {
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

    fn value(&self) -> Result<Value, OutOfRange> {
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
    fn mean(&self, count: u64) -> Result<Value, OutOfRange> {
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
pub(crate) fn wide_to_float(wide: i256) -> f64 {
    match wide.to_i128() {
        Some(value) => value as f64,
        None => {
            let (low, high) = wide.to_parts();
            high as f64 * 2_f64.powi(128) + low as f64
        }
    }
}
