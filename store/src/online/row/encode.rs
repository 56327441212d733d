//! From the columns of a snapshot to packed rows.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::TimestampMicrosecondType;
use feature_defs::data_type::DataType;
use feature_defs::value::Value;

use super::layout::{RowLayout, Slot, slot_width};
use super::nested;
use crate::error::{Error, ErrorKind, Result};

#[cfg(target_endian = "big")]
compile_error!("rows are copied from Arrow buffers, which are little-endian on the wire only");

/// Packs the rows of one batch. The columns are looked at once; a row is then copied from their buffers.
#[derive(Debug)]
pub struct RowEncoder<'a> {
    layout: &'a RowLayout,
    event_times: arrow::buffer::ScalarBuffer<i64>,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    nulls: Option<NullBuffer>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Bool(BooleanBuffer),
    Fixed {
        bytes: Buffer,
        width: usize,
    },
    Variable {
        ends: OffsetBuffer<i32>,
        bytes: Buffer,
    },
    /// Lists and structs.
    Nested {
        array: ArrayRef,
        data_type: DataType,
    },
}

impl<'a> RowEncoder<'a> {
    /// Prepares a batch: `columns` are the features in the layout's order, `event_time` is `timestamp(us, UTC)`.
    ///
    /// # Errors
    /// `Invalid` for a column of another type or length, and for nulls where the layout has none.
    pub fn new(layout: &'a RowLayout, columns: &[ArrayRef], event_time: &ArrayRef) -> Result<Self> {
        if columns.len() != layout.len() {
            return Err(invalid(format!(
                "{} columns for {} features",
                columns.len(),
                layout.len()
            )));
        }
        if DataType::from_arrow(event_time.data_type()) != Some(DataType::Timestamp)
            || event_time.null_count() > 0
        {
            return Err(invalid("`event_time` is not a timestamp without nulls"));
        }
        let mut prepared = Vec::with_capacity(columns.len());
        for (slot, column) in layout.slots.iter().zip(columns) {
            if column.len() != event_time.len() {
                return Err(invalid(format!(
                    "column `{}` has another length",
                    slot.name
                )));
            }
            prepared.push(Column::new(slot, column)?);
        }
        let event_times = event_time.as_primitive::<TimestampMicrosecondType>();
        Ok(Self {
            layout,
            event_times: event_times.values().clone(),
            columns: prepared,
        })
    }

    /// Number of rows in the batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.event_times.len()
    }

    /// Whether the batch has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.event_times.is_empty()
    }

    /// Appends the packed row at `row` to `out`.
    ///
    /// # Errors
    /// `Invalid` when the strings and bytes of the row take 4 GiB or more; `out` holds part of the row then.
    ///
    /// # Panics
    /// When `row` is not below [`RowEncoder::len`].
    pub fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.extend_from_slice(&self.layout.prefix);
        out.extend_from_slice(&self.event_times[row].to_le_bytes());
        out.resize(start + self.layout.fixed_end, 0);
        for (slot, column) in self.layout.slots.iter().zip(&self.columns) {
            let place = start + slot.offset;
            let is_null = column
                .nulls
                .as_ref()
                .is_some_and(|nulls| nulls.is_null(row));
            if let (true, Some(bit)) = (is_null, slot.null_bit) {
                out[start + bit.byte] |= bit.mask;
            }
            match &column.values {
                Values::Bool(bits) if !is_null => out[place] = u8::from(bits.value(row)),
                Values::Fixed { bytes, width } if !is_null => {
                    let value = &bytes[row * width..(row + 1) * width];
                    out[place..place + width].copy_from_slice(value);
                }
                Values::Bool(_) | Values::Fixed { .. } => {}
                Values::Variable { ends, bytes } => {
                    if !is_null {
                        out.extend_from_slice(&bytes[offset(ends[row])..offset(ends[row + 1])]);
                    }
                    self.end_variable(start, place, out)?;
                }
                Values::Nested { array, data_type } => {
                    if !is_null {
                        nested::write(&Value::from_array(array, row), *data_type, out)?;
                    }
                    self.end_variable(start, place, out)?;
                }
            }
        }
        Ok(())
    }

    /// Notes at `place` where the row that starts at `start` ends so far.
    fn end_variable(&self, start: usize, place: usize, out: &mut [u8]) -> Result<()> {
        let end = u32::try_from(out.len() - start - self.layout.fixed_end);
        let end = end.map_err(|_| invalid("a row's strings and bytes take 4 GiB or more"))?;
        out[place..place + 4].copy_from_slice(&end.to_le_bytes());
        Ok(())
    }
}

impl Column {
    fn new(slot: &Slot, column: &ArrayRef) -> Result<Self> {
        let wanted = slot.data_type.to_arrow();
        if DataType::from_arrow(column.data_type()) != Some(slot.data_type) {
            return Err(invalid(format!(
                "column `{}` is {} and not {}",
                slot.name,
                column.data_type(),
                slot.data_type
            )));
        }
        let same_layout = column.data_type() == &wanted || slot.data_type == DataType::Timestamp;
        let array = if same_layout {
            column.clone()
        } else {
            cast(column, &wanted).map_err(|error| {
                invalid(format!("column `{}` does not convert", slot.name)).with_source(error)
            })?
        };
        if slot.null_bit.is_none() && array.null_count() > 0 {
            return Err(invalid(format!(
                "column `{}` has nulls and its feature is not nullable",
                slot.name
            )));
        }
        Ok(Self {
            nulls: array
                .nulls()
                .filter(|nulls| nulls.null_count() > 0)
                .cloned(),
            values: Values::new(slot.data_type, &array),
        })
    }
}

impl Values {
    fn new(data_type: DataType, array: &ArrayRef) -> Self {
        match data_type {
            DataType::Bool => Self::Bool(array.as_boolean().values().clone()),
            DataType::String => Self::Variable {
                ends: array.as_string::<i32>().offsets().clone(),
                bytes: array.as_string::<i32>().values().clone(),
            },
            DataType::Bytes => Self::Variable {
                ends: array.as_binary::<i32>().offsets().clone(),
                bytes: array.as_binary::<i32>().values().clone(),
            },
            DataType::List(_) | DataType::Struct(_) => Self::Nested {
                array: array.clone(),
                data_type,
            },
            DataType::Vector { element, .. } => {
                let vectors = array.as_fixed_size_list();
                let first = usize::try_from(vectors.value_offset(0)).unwrap_or(0);
                let elements = vectors
                    .values()
                    .slice(first, vectors.values().len() - first);
                match Self::new(*element, &elements) {
                    Self::Fixed { bytes, .. } => Self::Fixed {
                        bytes,
                        width: slot_width(data_type),
                    },
                    other => other,
                }
            }
            _ => {
                let width = slot_width(data_type);
                let data = array.to_data();
                let bytes = data.buffers()[0].slice(data.offset() * width);
                Self::Fixed { bytes, width }
            }
        }
    }
}

/// Arrow's offsets are never negative.
fn offset(end: i32) -> usize {
    usize::try_from(end).unwrap_or(0)
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}
