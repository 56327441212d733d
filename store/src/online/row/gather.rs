//! One feature of many rows as an Arrow array, for request-time expressions.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use feature_defs::data_type::DataType;
use feature_defs::value::Value;
use half::f16;

use super::layout::{RowLayout, Slot};
use super::view::RowView;

/// The feature at `index` of `rows`, each read with `layout`, as an array of its type; no row gives a null.
///
/// # Panics
/// When `index` is outside the layout.
#[must_use]
pub fn gather(layout: &RowLayout, index: usize, rows: &[Option<RowView<'_>>]) -> ArrayRef {
    let slot = &layout.slots[index];
    match slot.data_type {
        DataType::Bool => Arc::new(BooleanArray::from_iter(
            values(slot, rows).map(|row| row.map(|row| row.fixed::<1>(slot.offset) != [0])),
        )),
        DataType::Int8 => Arc::new(numbers::<Int8Type, 1>(slot, rows, i8::from_le_bytes)),
        DataType::Int16 => Arc::new(numbers::<Int16Type, 2>(slot, rows, i16::from_le_bytes)),
        DataType::Int32 => Arc::new(numbers::<Int32Type, 4>(slot, rows, i32::from_le_bytes)),
        DataType::Int64 => Arc::new(numbers::<Int64Type, 8>(slot, rows, i64::from_le_bytes)),
        DataType::UInt8 => Arc::new(numbers::<UInt8Type, 1>(slot, rows, u8::from_le_bytes)),
        DataType::UInt16 => Arc::new(numbers::<UInt16Type, 2>(slot, rows, u16::from_le_bytes)),
        DataType::UInt32 => Arc::new(numbers::<UInt32Type, 4>(slot, rows, u32::from_le_bytes)),
        DataType::UInt64 => Arc::new(numbers::<UInt64Type, 8>(slot, rows, u64::from_le_bytes)),
        DataType::Float16 => Arc::new(numbers::<Float16Type, 2>(slot, rows, f16::from_le_bytes)),
        DataType::Float32 => Arc::new(numbers::<Float32Type, 4>(slot, rows, f32::from_le_bytes)),
        DataType::Float64 => Arc::new(numbers::<Float64Type, 8>(slot, rows, f64::from_le_bytes)),
        DataType::Decimal { .. } => Arc::new(
            numbers::<Decimal128Type, 16>(slot, rows, i128::from_le_bytes)
                .with_data_type(slot.data_type.to_arrow()),
        ),
        DataType::String => Arc::new(StringArray::from_iter(
            values(slot, rows).map(|row| row.map(|row| row.text(slot))),
        )),
        DataType::Bytes => Arc::new(BinaryArray::from_iter(
            values(slot, rows).map(|row| row.and_then(|row| row.variable(slot))),
        )),
        DataType::Date => Arc::new(numbers::<Date32Type, 4>(slot, rows, i32::from_le_bytes)),
        DataType::Timestamp => Arc::new(
            numbers::<TimestampMicrosecondType, 8>(slot, rows, i64::from_le_bytes)
                .with_data_type(slot.data_type.to_arrow()),
        ),
        DataType::Uuid | DataType::List(_) | DataType::Vector { .. } | DataType::Struct(_) => {
            let value = |row: &Option<RowView<'_>>| {
                row.as_ref().map_or(Value::Null, |row| row.value(index))
            };
            Value::array(&rows.iter().map(value).collect::<Vec<_>>(), slot.data_type)
        }
    }
}

/// The rows that hold a value for `slot`.
fn values<'a>(
    slot: &'a Slot,
    rows: &'a [Option<RowView<'a>>],
) -> impl Iterator<Item = Option<&'a RowView<'a>>> {
    rows.iter()
        .map(move |row| row.as_ref().filter(|row| !row.slot_is_null(slot)))
}

fn numbers<T: ArrowPrimitiveType, const N: usize>(
    slot: &Slot,
    rows: &[Option<RowView<'_>>],
    from_bytes: fn([u8; N]) -> T::Native,
) -> PrimitiveArray<T> {
    PrimitiveArray::from_iter(
        values(slot, rows).map(|row| row.map(|row| from_bytes(row.fixed(slot.offset)))),
    )
}
