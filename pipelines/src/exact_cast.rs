//! From a query's types to declared ones, exactly: what a declared type cannot hold is an error, never a null or a wrap.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, Float16Type, Float32Type, Float64Type};
use feature_defs::data_type::DataType;
use feature_defs::float16;

use crate::nested::{self, Failure};

/// Casts a column. Numbers become floats by rounding to the nearest; every other cast keeps the value.
pub(crate) fn exact_cast(column: &ArrayRef, declared: DataType) -> Result<ArrayRef, Failure> {
    let to = declared.to_arrow();
    if column.data_type() == &to {
        return Ok(Arc::clone(column));
    }
    if declared.is_nested() {
        return nested::convert(column, declared, &exact_cast);
    }
    let no_cast = |e: &dyn std::fmt::Display| {
        Failure::new(
            0,
            format!("{} does not become `{declared}`: {e}", column.data_type()),
        )
    };
    let safe = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    let cast = match declared {
        DataType::Float16 => halves(column),
        _ => cast_with_options(column, &to, &safe),
    };
    let cast = cast.map_err(|e| no_cast(&e))?;
    let kept = if declared.is_float() {
        finite_where_finite(column, &cast).map_err(|e| no_cast(&e))?
    } else {
        let back = cast_with_options(&cast, column.data_type(), &safe).map_err(|e| no_cast(&e))?;
        not_distinct(column, &back).map_err(|e| no_cast(&e))?
    };
    match kept.iter().position(|kept| kept != Some(true)) {
        None => Ok(cast),
        Some(row) => {
            let value = arrow::util::display::array_value_to_string(column, row);
            let value = value.unwrap_or_default();
            Err(Failure::new(
                row,
                format!("{value} does not fit `{declared}`"),
            ))
        }
    }
}

/// Half-precision floats, rounded once.
fn halves(column: &ArrayRef) -> Result<ArrayRef, arrow::error::ArrowError> {
    let wide = cast_with_options(column, &ArrowType::Float64, &CastOptions::default())?;
    let wide = wide.as_primitive::<Float64Type>();
    Ok(Arc::new(wide.unary::<_, Float16Type>(float16::nearest)))
}

/// Whether each value is still there after rounding: nothing became null, nothing finite became infinite.
fn finite_where_finite(
    column: &ArrayRef,
    cast: &ArrayRef,
) -> Result<BooleanArray, arrow::error::ArrowError> {
    let safe = CastOptions::default();
    let before = cast_with_options(column, &ArrowType::Float64, &safe)?;
    let before = before.as_primitive::<Float64Type>();
    let infinite_after = |row: usize| match cast.data_type() {
        ArrowType::Float16 => cast.as_primitive::<Float16Type>().value(row).is_infinite(),
        ArrowType::Float32 => cast.as_primitive::<Float32Type>().value(row).is_infinite(),
        _ => cast.as_primitive::<Float64Type>().value(row).is_infinite(),
    };
    Ok((0..column.len())
        .map(|row| {
            let kept = match (column.is_null(row), cast.is_null(row)) {
                (true, _) => true,
                (false, true) => false,
                (false, false) => before.value(row).is_infinite() || !infinite_after(row),
            };
            Some(kept)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use arrow::array::{Decimal128Array, Float32Array, Float64Array, Int64Array, StringViewArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    fn cast(column: impl Array + 'static, declared: DataType) -> Result<ArrayRef, Failure> {
        exact_cast(&(Arc::new(column) as ArrayRef), declared)
    }

    #[test]
    fn values_that_fit_are_kept_and_others_name_their_row() {
        let ints = cast(Int64Array::from(vec![Some(7), None]), DataType::Int32).expect("fits");
        assert_eq!(
            ints.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(),
            [Some(7), None]
        );
        let failure = cast(Int64Array::from(vec![1, 3_000_000_000]), DataType::Int32);
        let failure = failure.expect_err("too great");
        assert_eq!(
            (failure.row, failure.message.as_str()),
            (1, "3000000000 does not fit `int32`")
        );
        let fraction = cast(Float64Array::from(vec![2.0, 1.5]), DataType::Int64);
        assert_eq!(fraction.expect_err("fraction").row, 1);
        let great = cast(Float64Array::from(vec![0.1, 1e300]), DataType::Float32);
        assert_eq!(great.expect_err("infinite").row, 1);
        let great = cast(
            Float32Array::from(vec![65_519.0, 65_520.0]),
            DataType::Float16,
        );
        let great = great.expect_err("infinite");
        assert_eq!(
            (great.row, great.message.as_str()),
            (1, "65520.0 does not fit `float16`")
        );
        let digits = Decimal128Array::from(vec![1_500, 1_501]).with_precision_and_scale(10, 3);
        let digits = cast(
            digits.expect("decimal"),
            DataType::Decimal {
                precision: 10,
                scale: 2,
            },
        );
        assert_eq!(digits.expect_err("a digit too many").row, 1);
        let text = cast(StringViewArray::from(vec!["a"]), DataType::String).expect("text");
        assert_eq!(text.as_string::<i32>().value(0), "a");
    }
}
