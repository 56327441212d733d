//! Values in and out of Arrow arrays, for the places where single values matter. Bulk paths read the arrays themselves.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Decimal128Array,
    FixedSizeBinaryBuilder, FixedSizeListArray, ListArray, PrimitiveArray, StringArray,
    StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Field, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

use super::Value;
use crate::data_type::{DataType, StructField, StructType, UUID_BYTES};
use crate::float16;
use crate::time::Instant;

impl Value {
    /// The value at `row` of an array whose type is `data_type`'s Arrow type, or the same in another layout
    /// ([`DataType::from_arrow`]).
    ///
    /// # Panics
    /// When `row` is outside the array or the array is of another type.
    #[must_use]
    pub fn from_array(array: &dyn Array, row: usize) -> Self {
        if array.is_null(row) {
            return Self::Null;
        }
        match array.data_type() {
            ArrowType::Boolean => Self::Bool(array.as_boolean().value(row)),
            ArrowType::Int8 => Self::Int(array.as_primitive::<Int8Type>().value(row).into()),
            ArrowType::Int16 => Self::Int(array.as_primitive::<Int16Type>().value(row).into()),
            ArrowType::Int32 => Self::Int(array.as_primitive::<Int32Type>().value(row).into()),
            ArrowType::Int64 => Self::Int(array.as_primitive::<Int64Type>().value(row)),
            ArrowType::UInt8 => Self::UInt(array.as_primitive::<UInt8Type>().value(row).into()),
            ArrowType::UInt16 => Self::UInt(array.as_primitive::<UInt16Type>().value(row).into()),
            ArrowType::UInt32 => Self::UInt(array.as_primitive::<UInt32Type>().value(row).into()),
            ArrowType::UInt64 => Self::UInt(array.as_primitive::<UInt64Type>().value(row)),
            ArrowType::Float16 => {
                Self::Float(array.as_primitive::<Float16Type>().value(row).into())
            }
            ArrowType::Float32 => {
                Self::Float(array.as_primitive::<Float32Type>().value(row).into())
            }
            ArrowType::Float64 => Self::Float(array.as_primitive::<Float64Type>().value(row)),
            ArrowType::Decimal128(_, scale) => Self::Decimal {
                unscaled: array.as_primitive::<Decimal128Type>().value(row),
                scale: u8::try_from(*scale).unwrap_or(0),
            },
            ArrowType::Utf8 => Self::String(array.as_string::<i32>().value(row).to_owned()),
            ArrowType::LargeUtf8 => Self::String(array.as_string::<i64>().value(row).to_owned()),
            ArrowType::Utf8View => Self::String(array.as_string_view().value(row).to_owned()),
            ArrowType::Binary => Self::Bytes(array.as_binary::<i32>().value(row).to_vec()),
            ArrowType::LargeBinary => Self::Bytes(array.as_binary::<i64>().value(row).to_vec()),
            ArrowType::BinaryView => Self::Bytes(array.as_binary_view().value(row).to_vec()),
            ArrowType::FixedSizeBinary(_) => Self::Uuid(uuid_at(array, row)),
            ArrowType::List(_) => Self::List(Self::all_from(&array.as_list::<i32>().value(row))),
            ArrowType::LargeList(_) => {
                Self::List(Self::all_from(&array.as_list::<i64>().value(row)))
            }
            ArrowType::FixedSizeList(..) => {
                Self::List(Self::all_from(&array.as_fixed_size_list().value(row)))
            }
            ArrowType::Struct(_) => {
                let fields = array.as_struct().columns().iter();
                Self::Struct(fields.map(|field| Self::from_array(field, row)).collect())
            }
            ArrowType::Date32 => Self::Date(array.as_primitive::<Date32Type>().value(row)),
            _ => Self::Timestamp(Instant::from_micros(
                array.as_primitive::<TimestampMicrosecondType>().value(row),
            )),
        }
    }

    fn all_from(array: &ArrayRef) -> Vec<Self> {
        let rows = 0..array.len();
        rows.map(|row| Self::from_array(array, row)).collect()
    }

    /// An array of `data_type` with these values. A value of another type becomes a null: declarations are checked
    /// before values are read, so there is none.
    #[must_use]
    pub fn array<'a>(values: impl IntoIterator<Item = &'a Self>, data_type: DataType) -> ArrayRef {
        let values = values.into_iter();
        match data_type {
            DataType::Bool => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
                Self::Bool(value) => Some(*value),
                _ => None,
            }))),
            DataType::Int8 => integers::<Int8Type>(values),
            DataType::Int16 => integers::<Int16Type>(values),
            DataType::Int32 => integers::<Int32Type>(values),
            DataType::Int64 => integers::<Int64Type>(values),
            DataType::UInt8 => integers::<UInt8Type>(values),
            DataType::UInt16 => integers::<UInt16Type>(values),
            DataType::UInt32 => integers::<UInt32Type>(values),
            DataType::UInt64 => integers::<UInt64Type>(values),
            DataType::Float16 => Arc::new(PrimitiveArray::<Float16Type>::from_iter(values.map(
                |value| match value {
                    Self::Float(value) => Some(float16::nearest(*value)),
                    _ => None,
                },
            ))),
            DataType::Float32 => Arc::new(PrimitiveArray::<Float32Type>::from_iter(values.map(
                #[allow(clippy::cast_possible_truncation)] // a widened float32 narrows to itself
                |value| match value {
                    Self::Float(value) => Some(*value as f32),
                    _ => None,
                },
            ))),
            DataType::Float64 => Arc::new(PrimitiveArray::<Float64Type>::from_iter(values.map(
                |value| match value {
                    Self::Float(value) => Some(*value),
                    _ => None,
                },
            ))),
            DataType::Decimal { .. } => Arc::new(
                Decimal128Array::from_iter(values.map(|value| match value {
                    Self::Decimal { unscaled, .. } => Some(*unscaled),
                    _ => None,
                }))
                .with_data_type(data_type.to_arrow()),
            ),
            DataType::String => Arc::new(StringArray::from_iter(values.map(|value| match value {
                Self::String(text) => Some(text.as_str()),
                _ => None,
            }))),
            DataType::Bytes => Arc::new(BinaryArray::from_iter(values.map(|value| match value {
                Self::Bytes(bytes) => Some(bytes.as_slice()),
                _ => None,
            }))),
            DataType::Uuid => uuids(values),
            DataType::Date => Arc::new(PrimitiveArray::<Date32Type>::from_iter(values.map(
                |value| match value {
                    Self::Date(days) => Some(*days),
                    _ => None,
                },
            ))),
            DataType::Timestamp => Arc::new(
                TimestampMicrosecondArray::from_iter(values.map(|value| match value {
                    Self::Timestamp(instant) => Some(instant.micros()),
                    _ => None,
                }))
                .with_data_type(data_type.to_arrow()),
            ),
            DataType::List(element) => lists(values, *element),
            DataType::Vector { element, length } => vectors(values, *element, length),
            DataType::Struct(of) => structs(values, of),
        }
    }

    /// An array of `rows` nulls of `data_type`.
    #[must_use]
    pub fn null_array(data_type: DataType, rows: usize) -> ArrayRef {
        new_null_array(&data_type.to_arrow(), rows)
    }
}

fn uuid_at(array: &dyn Array, row: usize) -> [u8; 16] {
    let bytes = array.as_fixed_size_binary().value(row);
    bytes.try_into().unwrap_or_default()
}

fn uuids<'a>(values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    let mut builder = FixedSizeBinaryBuilder::with_capacity(values.size_hint().0, UUID_BYTES);
    for value in values {
        match value {
            Value::Uuid(bytes) => {
                let appended = builder.append_value(bytes);
                debug_assert!(appended.is_ok());
            }
            _ => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

fn lists<'a>(values: impl Iterator<Item = &'a Value>, element: DataType) -> ArrayRef {
    let mut elements = Vec::new();
    let mut lengths = Vec::new();
    let mut there = Vec::new();
    for value in values {
        let own: &[Value] = match value {
            Value::List(own) => own,
            _ => &[],
        };
        elements.extend(own);
        lengths.push(own.len());
        there.push(matches!(value, Value::List(_)));
    }
    let field = Arc::new(Field::new_list_field(element.to_arrow(), true));
    let elements = Value::array(elements, element);
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(field, offsets, elements, Some(there.into())))
}

fn vectors<'a>(
    values: impl Iterator<Item = &'a Value>,
    element: DataType,
    length: u32,
) -> ArrayRef {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut elements = Vec::new();
    let mut there = Vec::new();
    for value in values {
        match value {
            Value::List(own) if own.len() == length => elements.extend(own),
            _ => elements.extend(std::iter::repeat_n(&Value::Null, length)),
        }
        there.push(matches!(value, Value::List(own) if own.len() == length));
    }
    let field = Arc::new(Field::new_list_field(element.to_arrow(), true));
    let size = i32::try_from(length).unwrap_or(i32::MAX);
    let elements = Value::array(elements, element);
    Arc::new(FixedSizeListArray::new(
        field,
        size,
        elements,
        Some(there.into()),
    ))
}

fn structs<'a>(values: impl Iterator<Item = &'a Value>, of: &StructType) -> ArrayRef {
    let rows: Vec<Option<&[Value]>> = values
        .map(|value| match value {
            Value::Struct(fields) => Some(fields.as_slice()),
            _ => None,
        })
        .collect();
    let columns = of.fields.iter().enumerate().map(|(place, field)| {
        let values = rows.iter().map(|row| row.and_then(|row| row.get(place)));
        let values: Vec<&Value> = values.map(|value| value.unwrap_or(&Value::Null)).collect();
        Value::array(values, field.data_type)
    });
    let columns = columns.collect();
    let fields = of.fields.iter().map(StructField::to_arrow).collect();
    let there: Vec<bool> = rows.iter().map(Option::is_some).collect();
    Arc::new(StructArray::new(fields, columns, Some(there.into())))
}

fn integers<'a, T>(values: impl Iterator<Item = &'a Value>) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64> + TryFrom<u64>,
{
    Arc::new(PrimitiveArray::<T>::from_iter(values.map(
        |value| match value {
            Value::Int(value) => T::Native::try_from(*value).ok(),
            Value::UInt(value) => T::Native::try_from(*value).ok(),
            _ => None,
        },
    )))
}
