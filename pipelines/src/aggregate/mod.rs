//! What aggregates compute: exact, and the same whatever the order of rows.
//!
//! Integers and decimals are summed in integers wide enough for any number of rows, floats in an [`ExactSum`]; what
//! does not fit the result's type is an error (rule 9).

mod buckets;
mod distinct;
mod exact_sum;
mod fraction;
mod frequencies;
mod functions;
mod moments;
mod quantile;
mod total;
mod wide_sum;

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

use feature_defs::aggregation::{AggregateFunction, ListLength, Portion};
use feature_defs::value::Value;

pub(crate) use exact_sum::ExactSum;
pub(crate) use functions::exact_functions;

use crate::column::Cell;
use buckets::Buckets;
use distinct::Distinct;
use frequencies::Frequencies;
use moments::{Moments, Spread};
use quantile::Numbers;
use total::Total;

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
    Buckets(Box<Buckets>),
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

    /// An aggregate of nothing, to be computed apart for each value of a column.
    pub(crate) fn apart(function: AggregateFunction, rows: bool) -> Self {
        Self::Buckets(Box::new(Buckets::new(function, rows)))
    }

    /// Adds a row of a category.
    pub(crate) fn add_apart(&mut self, category: Cell<'_>, cell: Cell<'_>) {
        if let Self::Buckets(buckets) = self {
            buckets.add(category, cell);
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
            Self::Buckets(buckets) => buckets.add(Cell::Null, cell),
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
            Self::Buckets(buckets) => buckets.value(),
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
