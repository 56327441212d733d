//! From rows and computed features to the scorer's matrix, by positions that the plan resolved from names.

use arrow::array::{Array, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use store::online::row::decimal_to_f64;

use crate::predict::fetch::{StoredRow, StoredRows};
use crate::predict::plan::ModelPlan;
use crate::predict::request_features::{Computed, Values};

/// Fills `matrix` with one row of the model's inputs an entity, row-major; NaN is a missing value.
pub(crate) fn assemble(
    model: &ModelPlan,
    stored: &StoredRows<'_>,
    computed: &Computed,
    matrix: &mut Vec<f64>,
) {
    let width = model.scorer.width();
    matrix.clear();
    matrix.resize(width * stored.entities(), f64::NAN);
    for (view, inputs) in model.stored.iter().enumerate() {
        let rows = matrix.chunks_exact_mut(width);
        for (cells, row) in rows.zip(stored.of_view(view)) {
            match row {
                StoredRow::Usable(row) => {
                    for input in inputs {
                        cells[input.column] = row.model_input(input.position);
                    }
                }
                StoredRow::Missing | StoredRow::Expired { .. } => {
                    for input in inputs {
                        cells[input.column] = input.default;
                    }
                }
                StoredRow::Unavailable => {}
            }
        }
    }
    for input in &model.computed {
        let cells = matrix.iter_mut().skip(input.column).step_by(width);
        match computed.values(input.feature) {
            Values::Scalars(scalars) => {
                for (cell, scalar) in cells.zip(scalars) {
                    *cell = scalar.model_input();
                }
            }
            Values::Array(array) => fill(array, cells),
        }
    }
}

/// As [`store::online::row::RowView::model_input`] reads stored values. Writes an array's values into cells that hold NaN; nulls leave them.
fn fill<'m>(array: &dyn Array, cells: impl Iterator<Item = &'m mut f64>) {
    match array.data_type() {
        ArrowType::Float64 => fill_primitive::<Float64Type>(array, cells, |value| value),
        ArrowType::Float32 => fill_primitive::<Float32Type>(array, cells, f64::from),
        ArrowType::Int8 => fill_primitive::<Int8Type>(array, cells, f64::from),
        ArrowType::Int16 => fill_primitive::<Int16Type>(array, cells, f64::from),
        ArrowType::Int32 => fill_primitive::<Int32Type>(array, cells, f64::from),
        ArrowType::UInt8 => fill_primitive::<UInt8Type>(array, cells, f64::from),
        ArrowType::UInt16 => fill_primitive::<UInt16Type>(array, cells, f64::from),
        ArrowType::UInt32 => fill_primitive::<UInt32Type>(array, cells, f64::from),
        ArrowType::Int64 => fill_primitive::<Int64Type>(array, cells, |value| value as f64),
        ArrowType::UInt64 => fill_primitive::<UInt64Type>(array, cells, |value| value as f64),
        ArrowType::Date32 => fill_primitive::<Date32Type>(array, cells, f64::from),
        ArrowType::Timestamp(..) => {
            fill_primitive::<TimestampMicrosecondType>(array, cells, |value| value as f64);
        }
        ArrowType::Decimal128(_, scale) => {
            let scale = u8::try_from(*scale).unwrap_or(0);
            fill_primitive::<Decimal128Type>(array, cells, |value| decimal_to_f64(value, scale));
        }
        ArrowType::Boolean => {
            let values = array.as_boolean();
            for (row, cell) in cells.enumerate() {
                if values.is_valid(row) {
                    *cell = f64::from(u8::from(values.value(row)));
                }
            }
        }
        // Plans refuse inputs that are not numbers.
        _ => {}
    }
}

fn fill_primitive<'m, T: ArrowPrimitiveType>(
    array: &dyn Array,
    cells: impl Iterator<Item = &'m mut f64>,
    to_f64: impl Fn(T::Native) -> f64,
) {
    let values: &PrimitiveArray<T> = array.as_primitive();
    for (row, cell) in cells.enumerate() {
        if values.is_valid(row) {
            *cell = to_f64(values.value(row));
        }
    }
}
