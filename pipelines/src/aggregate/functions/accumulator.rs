//! The exact sum or mean of one group: with `DISTINCT`, over sliding windows, and of all rows at once.

use std::collections::HashSet;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, UInt64Type, i256};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;

use super::super::ExactSum;
use super::outcome::{Outcome, no_exact};
use super::partial;

/// Sums one group.
#[derive(Debug)]
pub(super) struct ExactAccumulator {
    outcome: Outcome,
    total: Total,
    count: i64,
    /// The values that were counted, for `DISTINCT`.
    distinct: Option<HashSet<i128>>,
}

#[derive(Debug)]
enum Total {
    Float(ExactSum),
    /// Integers, and decimals' digits.
    Whole(i256),
}

impl Total {
    /// Adds one value (its bits, for a float), `sign` times.
    fn add(&mut self, word: i128, sign: i64) {
        match self {
            Self::Float(sum) => {
                let value = f64::from_bits(u64::try_from(word).unwrap_or(0));
                if sign > 0 {
                    sum.add(value);
                } else {
                    sum.subtract(value);
                }
            }
            Self::Whole(sum) => {
                let value = i256::from_i128(word);
                *sum = if sign > 0 {
                    sum.wrapping_add(value)
                } else {
                    sum.wrapping_sub(value)
                };
            }
        }
    }
}

/// A column's values as [`Total::add`] takes them.
fn words(column: &ArrayRef) -> Result<Box<dyn Iterator<Item = i128> + '_>> {
    Ok(match column.data_type() {
        DataType::Int64 => Box::new(
            column
                .as_primitive::<Int64Type>()
                .iter()
                .flatten()
                .map(i128::from),
        ),
        DataType::UInt64 => Box::new(
            column
                .as_primitive::<UInt64Type>()
                .iter()
                .flatten()
                .map(i128::from),
        ),
        DataType::Float64 => Box::new(
            column
                .as_primitive::<Float64Type>()
                .iter()
                .flatten()
                .map(|value| i128::from(value.to_bits())),
        ),
        DataType::Decimal128(_, _) => {
            Box::new(column.as_primitive::<Decimal128Type>().iter().flatten())
        }
        other => return Err(no_exact(other)),
    })
}

impl ExactAccumulator {
    pub(super) fn new(outcome: Outcome, input: &DataType, distinct: bool) -> Self {
        let total = match input {
            DataType::Float64 => Total::Float(ExactSum::default()),
            _ => Total::Whole(i256::ZERO),
        };
        Self {
            outcome,
            total,
            count: 0,
            distinct: distinct.then(HashSet::new),
        }
    }

    fn add(&mut self, word: i128) {
        if let Some(distinct) = &mut self.distinct {
            // 0.0 and -0.0 are one value; their bits differ.
            let negative_zero = i128::from((-0.0_f64).to_bits());
            let is_float = matches!(self.total, Total::Float(_));
            let value = if is_float && word == negative_zero {
                0
            } else {
                word
            };
            if !distinct.insert(value) {
                return;
            }
        }
        self.total.add(word, 1);
        self.count += 1;
    }
}

impl Accumulator for ExactAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for word in words(&values[0])? {
            self.add(word);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for word in words(&values[0])? {
            self.total.add(word, -1);
            self.count -= 1;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        self.distinct.is_none()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let column = match &self.total {
            Total::Float(sum) => Outcome::floats(vec![self.outcome.float(sum, self.count)?]),
            Total::Whole(sum) => {
                let result = self.outcome.whole(*sum, self.count)?;
                self.outcome.wholes(vec![result])?
            }
        };
        ScalarValue::try_from_array(&column, 0)
    }

    fn size(&self) -> usize {
        let heap = match &self.total {
            Total::Float(sum) => sum.heap_size(),
            Total::Whole(_) => 0,
        };
        let distinct = self
            .distinct
            .as_ref()
            .map_or(0, |set| set.capacity() * size_of::<i128>());
        size_of::<Self>() + self.outcome.heap_size() + heap + distinct
    }

    /// A partial sum; for `DISTINCT`, the values themselves.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        match (&self.distinct, &self.total) {
            (Some(distinct), _) => {
                let mut values: Vec<i128> = distinct.iter().copied().collect();
                values.sort_unstable();
                bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            (None, Total::Float(sum)) => partial::append_float(&mut bytes, self.count, sum.clone()),
            (None, Total::Whole(sum)) => partial::append_whole(&mut bytes, self.count, *sum),
        }
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary::<i32>().iter().flatten() {
            if self.distinct.is_some() {
                for value in state.as_chunks::<16>().0 {
                    self.add(i128::from_le_bytes(*value));
                }
                continue;
            }
            match &mut self.total {
                Total::Float(sum) => {
                    let (count, other) = partial::read_float(state)?;
                    self.count += count;
                    sum.merge(other);
                }
                Total::Whole(sum) => {
                    let (count, other) = partial::read_whole(state)?;
                    self.count += count;
                    *sum = sum.wrapping_add(other);
                }
            }
        }
        Ok(())
    }
}
