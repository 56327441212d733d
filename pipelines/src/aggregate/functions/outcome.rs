//! From an exact total to the sum or the mean in its result type.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, UInt64Array};
use arrow::datatypes::{DataType, i256};
use datafusion::error::{DataFusionError, Result};

use super::super::ExactSum;

/// What an expression's totals come out as.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    expression: String,
    result: DataType,
    mean: bool,
    /// Digits after the point of the totals, for decimals.
    scale: i8,
}

impl Outcome {
    /// Of values of type `input`, as type `result`; `expression` is for messages.
    pub(super) fn new(expression: &str, input: &DataType, result: &DataType, mean: bool) -> Self {
        let scale = match input {
            DataType::Decimal128(_, scale) => *scale,
            _ => 0,
        };
        Self {
            expression: expression.to_owned(),
            result: result.clone(),
            mean,
            scale,
        }
    }

    /// The result of a total of floats; null for a total of nothing.
    pub(super) fn float(&self, sum: &ExactSum, count: i64) -> Result<Option<f64>> {
        if count == 0 {
            return Ok(None);
        }
        if self.mean {
            return self.float_mean(sum, count).map(Some);
        }
        match sum.value() {
            Some(value) => Ok(Some(value)),
            None => Err(self.refused("greater than any float")),
        }
    }

    /// The result of a total of integers or of decimals' digits; null for a total of nothing.
    pub(super) fn whole(&self, sum: i256, count: i64) -> Result<Option<i128>> {
        if count == 0 {
            return Ok(None);
        }
        let value = if self.mean {
            self.decimal_mean(sum, count)?
        } else {
            sum
        };
        let (least, greatest) = self.range()?;
        let fits = |digits: &i128| (least..=greatest).contains(digits);
        match value.to_i128().filter(fits) {
            Some(digits) => Ok(Some(digits)),
            None => Err(self.refused(value)),
        }
    }

    /// A column of results of [`Outcome::float`].
    pub(super) fn floats(results: Vec<Option<f64>>) -> ArrayRef {
        Arc::new(Float64Array::from(results))
    }

    /// A column of results of [`Outcome::whole`].
    pub(super) fn wholes(&self, results: Vec<Option<i128>>) -> Result<ArrayRef> {
        let results = results.into_iter();
        Ok(match &self.result {
            DataType::Int64 => {
                let narrow = |digits| i64::try_from(digits).unwrap_or_default();
                Arc::new(results.map(|d| d.map(narrow)).collect::<Int64Array>())
            }
            DataType::UInt64 => {
                let narrow = |digits| u64::try_from(digits).unwrap_or_default();
                Arc::new(results.map(|d| d.map(narrow)).collect::<UInt64Array>())
            }
            DataType::Decimal128(precision, scale) => {
                let digits: Decimal128Array = results.collect();
                Arc::new(digits.with_precision_and_scale(*precision, *scale)?)
            }
            other => return Err(no_exact(other)),
        })
    }

    /// The least and the greatest value that the result's type holds.
    fn range(&self) -> Result<(i128, i128)> {
        Ok(match &self.result {
            DataType::Int64 => (i64::MIN.into(), i64::MAX.into()),
            DataType::UInt64 => (0, u64::MAX.into()),
            DataType::Decimal128(precision, _) => {
                let greatest = 10_i128.pow(u32::from(*precision)) - 1;
                (-greatest, greatest)
            }
            other => return Err(no_exact(other)),
        })
    }

    /// A decimal mean: the exact total with the result's digits, cut off after the last of them.
    fn decimal_mean(&self, sum: i256, count: i64) -> Result<i256> {
        let DataType::Decimal128(_, result_scale) = &self.result else {
            return Err(no_exact(&self.result));
        };
        let more_digits = u32::try_from(result_scale - self.scale).unwrap_or(0);
        let scaled = sum.checked_mul(i256::from_i128(10_i128.pow(more_digits)));
        let mean = scaled.and_then(|sum| sum.checked_div(i256::from_i128(count.into())));
        mean.ok_or_else(|| self.refused("too great"))
    }

    #[expect(clippy::cast_precision_loss)] // counts below 2^53
    fn float_mean(&self, sum: &ExactSum, count: i64) -> Result<f64> {
        let mean = sum.divided_by(count as f64);
        mean.ok_or_else(|| self.refused("too great"))
    }

    fn refused(&self, what: impl fmt::Display) -> DataFusionError {
        DataFusionError::Execution(format!(
            "`{}` is {what}, which does not fit its type {}",
            self.expression, self.result
        ))
    }

    /// Bytes of memory behind it.
    pub(super) const fn heap_size(&self) -> usize {
        self.expression.capacity()
    }
}

pub(super) fn no_exact(data_type: &DataType) -> DataFusionError {
    DataFusionError::Internal(format!("no exact sum of {data_type}"))
}
