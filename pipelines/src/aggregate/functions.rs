//! `sum` and `avg` of SQL views, exact: with the same names, argument and result types as the engine's own.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Field, FieldRef, Float64Type, Int64Type, UInt64Type, i256,
};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature};

use super::ExactSum;

/// The functions that take the place of the engine's.
pub(crate) fn exact_functions() -> Vec<AggregateUDF> {
    [sum_udaf(), avg_udaf()]
        .into_iter()
        .map(|engine| AggregateUDF::new_from_impl(ExactFunction { engine }))
        .collect()
}

/// An aggregate function of the engine, with exact accumulators where it sums numbers.
#[derive(Clone)]
struct ExactFunction {
    engine: Arc<AggregateUDF>,
}

impl fmt::Debug for ExactFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exact {}", self.engine.name())
    }
}

impl PartialEq for ExactFunction {
    fn eq(&self, other: &Self) -> bool {
        self.engine.name() == other.engine.name()
    }
}

impl Eq for ExactFunction {}

impl Hash for ExactFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.engine.name().hash(state);
    }
}

impl AggregateUDFImpl for ExactFunction {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn signature(&self) -> &Signature {
        self.engine.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.engine.return_type(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.engine.coerce_types(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let input = arguments.expr_fields[0].data_type().clone();
        if !is_exact(&input) {
            return self.engine.accumulator(arguments);
        }
        Ok(Box::new(ExactAccumulator {
            expression: arguments.name.to_owned(),
            result: arguments.return_type().clone(),
            mean: self.name() == "avg",
            total: Total::new(&input),
            count: 0,
            distinct: arguments.is_distinct.then(HashSet::new),
        }))
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if !is_exact(arguments.input_fields[0].data_type()) {
            return self.engine.state_fields(arguments);
        }
        let name = format_state_name(arguments.name, "exact");
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, false))])
    }
}

/// Whether sums of this type are ours; durations and intervals stay the engine's.
const fn is_exact(input: &DataType) -> bool {
    matches!(
        input,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Decimal128(_, _)
    )
}

/// Sums one group.
#[derive(Debug)]
struct ExactAccumulator {
    expression: String,
    result: DataType,
    mean: bool,
    total: Total,
    count: i64,
    /// The values that were counted, for `DISTINCT`.
    distinct: Option<HashSet<i128>>,
}

#[derive(Debug)]
enum Total {
    Float(ExactSum),
    /// Integers, and decimals' digits with their scale.
    Whole {
        sum: i256,
        scale: i8,
    },
}

impl Total {
    fn new(input: &DataType) -> Self {
        match input {
            DataType::Float64 => Self::Float(ExactSum::default()),
            DataType::Decimal128(_, scale) => Self::Whole {
                sum: i256::ZERO,
                scale: *scale,
            },
            _ => Self::Whole {
                sum: i256::ZERO,
                scale: 0,
            },
        }
    }

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
            Self::Whole { sum, .. } => {
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
        other => {
            return Err(DataFusionError::Internal(format!(
                "no exact sum of {other}"
            )));
        }
    })
}

impl ExactAccumulator {
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

    fn refused(&self, what: impl fmt::Display) -> DataFusionError {
        DataFusionError::Execution(format!(
            "`{}` is {what}, which does not fit its type {}",
            self.expression, self.result
        ))
    }

    fn whole_result(&self, value: i256) -> Result<ScalarValue> {
        let refused = || self.refused(value);
        Ok(match &self.result {
            DataType::Int64 => {
                let value = value.to_i128().and_then(|v| i64::try_from(v).ok());
                ScalarValue::Int64(Some(value.ok_or_else(refused)?))
            }
            DataType::UInt64 => {
                let value = value.to_i128().and_then(|v| u64::try_from(v).ok());
                ScalarValue::UInt64(Some(value.ok_or_else(refused)?))
            }
            DataType::Decimal128(precision, scale) => {
                let limit = 10_u128.pow(u32::from(*precision));
                let digits = value.to_i128().filter(|v| v.unsigned_abs() < limit);
                ScalarValue::Decimal128(Some(digits.ok_or_else(refused)?), *precision, *scale)
            }
            other => {
                return Err(DataFusionError::Internal(format!(
                    "no exact result of {other}"
                )));
            }
        })
    }

    /// A decimal mean: the exact total with the result's digits, cut off after the last of them.
    fn decimal_mean(&self, sum: i256, scale: i8) -> Result<ScalarValue> {
        let DataType::Decimal128(_, result_scale) = &self.result else {
            return Err(DataFusionError::Internal(
                "a decimal's mean is a decimal".to_owned(),
            ));
        };
        let more_digits = u32::try_from(result_scale - scale).unwrap_or(0);
        let scaled = sum.checked_mul(i256::from_i128(10_i128.pow(more_digits)));
        let count = i256::from_i128(i128::from(self.count));
        let mean = scaled.and_then(|sum| sum.checked_div(count));
        self.whole_result(mean.ok_or_else(|| self.refused("too great"))?)
    }

    #[expect(clippy::cast_precision_loss)] // counts below 2^53
    fn float_mean(&self, sum: &ExactSum) -> Result<f64> {
        let count = self.count as f64;
        if let Some(sum) = sum.value() {
            return Ok(sum / count);
        }
        let scaled = sum
            .scaled_down()
            .value()
            .ok_or_else(|| self.refused("too great"))?;
        Ok(scaled / count * ExactSum::SCALE_DOWN)
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
        if self.count == 0 {
            return ScalarValue::try_from(&self.result);
        }
        match &self.total {
            Total::Float(sum) if self.mean => Ok(ScalarValue::Float64(Some(self.float_mean(sum)?))),
            Total::Float(sum) => {
                let sum = sum
                    .value()
                    .ok_or_else(|| self.refused("greater than any float"))?;
                Ok(ScalarValue::Float64(Some(sum)))
            }
            Total::Whole { sum, scale } if self.mean => self.decimal_mean(*sum, *scale),
            Total::Whole { sum, .. } => self.whole_result(*sum),
        }
    }

    fn size(&self) -> usize {
        let heap = match &self.total {
            Total::Float(sum) => sum.heap_size(),
            Total::Whole { .. } => 0,
        };
        let distinct = self
            .distinct
            .as_ref()
            .map_or(0, |set| set.capacity() * size_of::<i128>());
        size_of::<Self>() + self.expression.capacity() + heap + distinct
    }

    /// The count and the total; for `DISTINCT`, the values themselves.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes = if let Some(distinct) = &self.distinct {
            let mut values: Vec<i128> = distinct.iter().copied().collect();
            values.sort_unstable();
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        } else {
            let mut bytes = self.count.to_le_bytes().to_vec();
            match &self.total {
                Total::Float(sum) => bytes.extend(sum.to_bytes()),
                Total::Whole { sum, .. } => bytes.extend(sum.to_le_bytes()),
            }
            bytes
        };
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let broken = || DataFusionError::Internal("a partial sum is broken".to_owned());
        for state in states[0].as_binary::<i32>().iter().flatten() {
            if self.distinct.is_some() {
                for value in state.as_chunks::<16>().0 {
                    self.add(i128::from_le_bytes(*value));
                }
                continue;
            }
            let (count, total) = state.split_first_chunk::<8>().ok_or_else(broken)?;
            self.count += i64::from_le_bytes(*count);
            match &mut self.total {
                Total::Float(sum) => sum.merge(&ExactSum::from_bytes(total).ok_or_else(broken)?),
                Total::Whole { sum, .. } => {
                    let other = i256::from_le_bytes(total.try_into().map_err(|_| broken())?);
                    *sum = sum.wrapping_add(other);
                }
            }
        }
        Ok(())
    }
}
