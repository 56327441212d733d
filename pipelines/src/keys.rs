//! Canonical key bytes of whole columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder};
use arrow::datatypes::DataType as ArrowType;
use arrow::util::display::array_value_to_string;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use feature_defs::entity::{Entity, EntityKey};
use feature_defs::value::uuid;

use crate::column::{Cell, Column};
use crate::error::{Error, Result};

/// The keys of rows, from one column a key part in the entity's order and types; null where a part is null.
pub(crate) fn of_columns(parts: &[ArrayRef], rows: usize) -> Result<BinaryArray> {
    let mut keys = BinaryBuilder::with_capacity(rows, rows * 9 * parts.len());
    for_each(parts, rows, |_, key| keys.append_option(key))?;
    Ok(keys.finish())
}

/// Hands over the key of each row, from the same columns; `None` where a part is null.
pub(crate) fn for_each(
    parts: &[ArrayRef],
    rows: usize,
    mut take: impl FnMut(usize, Option<&[u8]>),
) -> Result<()> {
    let columns = parts.iter().map(Column::new).collect::<Result<Vec<_>>>()?;
    let mut key = EntityKey::new();
    for row in 0..rows {
        key.clear();
        let mut whole = true;
        for column in &columns {
            whole &= push(&mut key, column.cell(row));
        }
        take(row, whole.then_some(key.as_bytes()));
    }
    Ok(())
}

/// Appends a part; false when it is null.
fn push(key: &mut EntityKey, part: Cell<'_>) -> bool {
    match part {
        Cell::Int(value) => key.push_int(value),
        Cell::String(value) => key.push_str(value),
        Cell::Bytes(value) => key.push_bytes(value),
        Cell::Uuid(value) => match value.try_into() {
            Ok(bytes) => key.push_uuid(bytes),
            Err(_) => return false,
        },
        Cell::Date(days) => key.push_date(days),
        Cell::Timestamp(micros) => key.push_timestamp(micros),
        _ => return false,
    }
    true
}

/// [`of_columns`] as a function of the engine.
pub(crate) fn function(entity: &Entity) -> ScalarUDF {
    let types: Vec<ArrowType> = entity.keys.iter().map(|k| k.data_type.to_arrow()).collect();
    create_udf(
        "entity_key",
        types,
        ArrowType::Binary,
        Volatility::Immutable,
        Arc::new(|arguments: &[ColumnarValue]| {
            let parts = ColumnarValue::values_to_arrays(arguments)?;
            let rows = parts.first().map_or(0, |part| part.len());
            let keys = of_columns(&parts, rows)?;
            Ok(ColumnarValue::Array(Arc::new(keys)))
        }),
    )
}

/// A row's key for messages: `customer_id 7`, `shop 3, day 1997-10-01`.
pub(crate) fn shown(entity: &Entity, parts: &[ArrayRef], row: usize) -> String {
    let mut text = String::new();
    for (part, column) in entity.keys.iter().zip(parts) {
        let value = match column.as_fixed_size_binary_opt() {
            Some(uuids) => uuid::text(uuids.value(row).try_into().unwrap_or(&[0; 16])),
            None => array_value_to_string(column, row).unwrap_or_default(),
        };
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&format!("`{} {value}`", part.name));
    }
    text
}

/// The columns of an entity's key in a batch, by name.
pub(crate) fn part_columns(
    batch: &arrow::array::RecordBatch,
    entity: &Entity,
) -> Result<Vec<ArrayRef>> {
    entity
        .keys
        .iter()
        .map(|part| {
            batch
                .column_by_name(part.name.as_str())
                .cloned()
                .ok_or_else(|| Error::Refused(format!("key column `{}` is missing", part.name)))
        })
        .collect()
}
