//! Columns of declared types: read a cell at a time, built a value at a time. Types are decided once a column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, BooleanArray, BooleanBuilder,
    Date32Array, Date32Builder, Decimal128Array, Decimal128Builder, FixedSizeBinaryArray,
    FixedSizeBinaryBuilder, Float16Array, Float16Builder, Float32Array, Float32Builder,
    Float64Array, Float64Builder, Int8Array, Int8Builder, Int16Array, Int16Builder, Int32Array,
    Int32Builder, Int64Array, Int64Builder, StringArray, StringBuilder, TimestampMicrosecondArray,
    TimestampMicrosecondBuilder, UInt8Array, UInt8Builder, UInt16Array, UInt16Builder, UInt32Array,
    UInt32Builder, UInt64Array, UInt64Builder,
};
use feature_defs::data_type::{DataType, UUID_BYTES};
use feature_defs::float16;
use feature_defs::time::Instant;
use feature_defs::value::Value;

use crate::error::{Error, Result};

/// One value of a column, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    Decimal {
        unscaled: i128,
        scale: u8,
    },
    String(&'a str),
    Bytes(&'a [u8]),
    Uuid(&'a [u8]),
    Date(i32),
    Timestamp(i64),
    /// A row of a column of lists, vectors or structs.
    Nested {
        column: &'a ArrayRef,
        row: usize,
    },
}

impl Cell<'_> {
    /// The same value, owned.
    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Float(value) => Value::Float(value),
            Self::Decimal { unscaled, scale } => Value::Decimal { unscaled, scale },
            Self::String(value) => Value::String(value.to_owned()),
            Self::Bytes(value) => Value::Bytes(value.to_owned()),
            Self::Uuid(value) => Value::Uuid(value.try_into().unwrap_or_default()),
            Self::Date(days) => Value::Date(days),
            Self::Timestamp(micros) => Value::Timestamp(Instant::from_micros(micros)),
            Self::Nested { column, row } => Value::from_array(column, row),
        }
    }
}

/// A column to read.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    Bool(BooleanArray),
    Int8(Int8Array),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    UInt8(UInt8Array),
    UInt16(UInt16Array),
    UInt32(UInt32Array),
    UInt64(UInt64Array),
    Float16(Float16Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Decimal(Decimal128Array, u8),
    String(StringArray),
    Bytes(BinaryArray),
    Uuid(FixedSizeBinaryArray),
    Date(Date32Array),
    Timestamp(TimestampMicrosecondArray),
    Nested(ArrayRef),
}

impl Column {
    /// # Errors
    /// When the array is not in the layout of a declared type ([`DataType::to_arrow`]).
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        let declared =
            DataType::from_arrow(array.data_type()).filter(|t| t.to_arrow() == *array.data_type());
        let Some(declared) = declared else {
            return Err(Error::Refused(format!(
                "a column of {} is none of a declared type",
                array.data_type()
            )));
        };
        Ok(match declared {
            DataType::Bool => Self::Bool(array.as_boolean().clone()),
            DataType::Int8 => Self::Int8(array.as_primitive().clone()),
            DataType::Int16 => Self::Int16(array.as_primitive().clone()),
            DataType::Int32 => Self::Int32(array.as_primitive().clone()),
            DataType::Int64 => Self::Int64(array.as_primitive().clone()),
            DataType::UInt8 => Self::UInt8(array.as_primitive().clone()),
            DataType::UInt16 => Self::UInt16(array.as_primitive().clone()),
            DataType::UInt32 => Self::UInt32(array.as_primitive().clone()),
            DataType::UInt64 => Self::UInt64(array.as_primitive().clone()),
            DataType::Float16 => Self::Float16(array.as_primitive().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive().clone()),
            DataType::Decimal { scale, .. } => Self::Decimal(array.as_primitive().clone(), scale),
            DataType::String => Self::String(array.as_string().clone()),
            DataType::Bytes => Self::Bytes(array.as_binary().clone()),
            DataType::Uuid => Self::Uuid(array.as_fixed_size_binary().clone()),
            DataType::Date => Self::Date(array.as_primitive().clone()),
            DataType::Timestamp => Self::Timestamp(array.as_primitive().clone()),
            DataType::List(_) | DataType::Vector { .. } | DataType::Struct(_) => {
                Self::Nested(Arc::clone(array))
            }
        })
    }

    /// The value in a row.
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Bool(a) if a.is_valid(row) => Cell::Bool(a.value(row)),
            Self::Int8(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::Int16(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::Int32(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::Int64(a) if a.is_valid(row) => Cell::Int(a.value(row)),
            Self::UInt8(a) if a.is_valid(row) => Cell::UInt(a.value(row).into()),
            Self::UInt16(a) if a.is_valid(row) => Cell::UInt(a.value(row).into()),
            Self::UInt32(a) if a.is_valid(row) => Cell::UInt(a.value(row).into()),
            Self::UInt64(a) if a.is_valid(row) => Cell::UInt(a.value(row)),
            Self::Float16(a) if a.is_valid(row) => Cell::Float(a.value(row).into()),
            Self::Float32(a) if a.is_valid(row) => Cell::Float(a.value(row).into()),
            Self::Float64(a) if a.is_valid(row) => Cell::Float(a.value(row)),
            Self::Decimal(a, scale) if a.is_valid(row) => Cell::Decimal {
                unscaled: a.value(row),
                scale: *scale,
            },
            Self::String(a) if a.is_valid(row) => Cell::String(a.value(row)),
            Self::Bytes(a) if a.is_valid(row) => Cell::Bytes(a.value(row)),
            Self::Uuid(a) if a.is_valid(row) => Cell::Uuid(a.value(row)),
            Self::Date(a) if a.is_valid(row) => Cell::Date(a.value(row)),
            Self::Timestamp(a) if a.is_valid(row) => Cell::Timestamp(a.value(row)),
            Self::Nested(column) if column.is_valid(row) => Cell::Nested { column, row },
            _ => Cell::Null,
        }
    }
}

/// A column being built.
#[derive(Debug)]
pub(crate) enum Builder {
    Bool(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt8(UInt8Builder),
    UInt16(UInt16Builder),
    UInt32(UInt32Builder),
    UInt64(UInt64Builder),
    Float16(Float16Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Decimal(Decimal128Builder, u8),
    String(StringBuilder),
    Bytes(BinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Nested(DataType, Vec<Value>),
}

/// A value that its column cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DoesNotFit;

impl Builder {
    pub(crate) fn new(data_type: DataType) -> Self {
        match data_type {
            DataType::Bool => Self::Bool(BooleanBuilder::new()),
            DataType::Int8 => Self::Int8(Int8Builder::new()),
            DataType::Int16 => Self::Int16(Int16Builder::new()),
            DataType::Int32 => Self::Int32(Int32Builder::new()),
            DataType::Int64 => Self::Int64(Int64Builder::new()),
            DataType::UInt8 => Self::UInt8(UInt8Builder::new()),
            DataType::UInt16 => Self::UInt16(UInt16Builder::new()),
            DataType::UInt32 => Self::UInt32(UInt32Builder::new()),
            DataType::UInt64 => Self::UInt64(UInt64Builder::new()),
            DataType::Float16 => Self::Float16(Float16Builder::new()),
            DataType::Float32 => Self::Float32(Float32Builder::new()),
            DataType::Float64 => Self::Float64(Float64Builder::new()),
            DataType::Decimal { scale, .. } => Self::Decimal(
                Decimal128Builder::new().with_data_type(data_type.to_arrow()),
                scale,
            ),
            DataType::String => Self::String(StringBuilder::new()),
            DataType::Bytes => Self::Bytes(BinaryBuilder::new()),
            DataType::Uuid => Self::Uuid(FixedSizeBinaryBuilder::new(UUID_BYTES)),
            DataType::Date => Self::Date(Date32Builder::new()),
            DataType::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            DataType::List(_) | DataType::Vector { .. } | DataType::Struct(_) => {
                Self::Nested(data_type, Vec::new())
            }
        }
    }

    /// Appends a value, or says that its type cannot hold it.
    #[rustfmt::skip] // a table
    pub(crate) fn append(&mut self, value: &Value) -> std::result::Result<(), DoesNotFit> {
        match (self, value) {
            (Self::Bool(b), Value::Bool(v)) => b.append_value(*v),
            (Self::Int8(b), Value::Int(v)) => b.append_value(fit(*v)?),
            (Self::Int16(b), Value::Int(v)) => b.append_value(fit(*v)?),
            (Self::Int32(b), Value::Int(v)) => b.append_value(fit(*v)?),
            (Self::Int64(b), Value::Int(v)) => b.append_value(*v),
            (Self::UInt8(b), Value::UInt(v)) => b.append_value(fit(*v)?),
            (Self::UInt16(b), Value::UInt(v)) => b.append_value(fit(*v)?),
            (Self::UInt32(b), Value::UInt(v)) => b.append_value(fit(*v)?),
            (Self::UInt64(b), Value::UInt(v)) => b.append_value(*v),
            (Self::Float16(b), Value::Float(v)) if float16::fits(*v) => b.append_value(float16::nearest(*v)),
            #[expect(clippy::cast_possible_truncation)] // was widened from this type
            (Self::Float32(b), Value::Float(v)) => b.append_value(*v as f32),
            (Self::Float64(b), Value::Float(v)) => b.append_value(*v),
            (Self::Decimal(b, s), Value::Decimal { unscaled, scale }) if s == scale => b.append_value(*unscaled),
            (Self::String(b), Value::String(v)) => b.append_value(v),
            (Self::Bytes(b), Value::Bytes(v)) => b.append_value(v),
            (Self::Uuid(b), Value::Uuid(v)) => b.append_value(v).map_err(|_| DoesNotFit)?,
            (Self::Date(b), Value::Date(v)) => b.append_value(*v),
            (Self::Timestamp(b), Value::Timestamp(v)) => b.append_value(v.micros()),
            (Self::Nested(DataType::Struct(_), b), Value::Struct(_)) => b.push(value.clone()),
            (Self::Nested(DataType::List(_) | DataType::Vector { .. }, b), Value::List(_)) => b.push(value.clone()),
            (builder, Value::Null) => builder.append_null(),
            _ => return Err(DoesNotFit),
        }
        Ok(())
    }

    fn append_null(&mut self) {
        match self {
            Self::Bool(b) => b.append_null(),
            Self::Int8(b) => b.append_null(),
            Self::Int16(b) => b.append_null(),
            Self::Int32(b) => b.append_null(),
            Self::Int64(b) => b.append_null(),
            Self::UInt8(b) => b.append_null(),
            Self::UInt16(b) => b.append_null(),
            Self::UInt32(b) => b.append_null(),
            Self::UInt64(b) => b.append_null(),
            Self::Float16(b) => b.append_null(),
            Self::Float32(b) => b.append_null(),
            Self::Float64(b) => b.append_null(),
            Self::Decimal(b, _) => b.append_null(),
            Self::String(b) => b.append_null(),
            Self::Bytes(b) => b.append_null(),
            Self::Uuid(b) => b.append_null(),
            Self::Date(b) => b.append_null(),
            Self::Timestamp(b) => b.append_null(),
            Self::Nested(_, b) => b.push(Value::Null),
        }
    }

    /// The column so far; the builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(b) => Arc::new(b.finish()),
            Self::Int8(b) => Arc::new(b.finish()),
            Self::Int16(b) => Arc::new(b.finish()),
            Self::Int32(b) => Arc::new(b.finish()),
            Self::Int64(b) => Arc::new(b.finish()),
            Self::UInt8(b) => Arc::new(b.finish()),
            Self::UInt16(b) => Arc::new(b.finish()),
            Self::UInt32(b) => Arc::new(b.finish()),
            Self::UInt64(b) => Arc::new(b.finish()),
            Self::Float16(b) => Arc::new(b.finish()),
            Self::Float32(b) => Arc::new(b.finish()),
            Self::Float64(b) => Arc::new(b.finish()),
            Self::Decimal(b, _) => Arc::new(b.finish()),
            Self::String(b) => Arc::new(b.finish()),
            Self::Bytes(b) => Arc::new(b.finish()),
            Self::Uuid(b) => Arc::new(b.finish()),
            Self::Date(b) => Arc::new(b.finish()),
            Self::Timestamp(b) => Arc::new(b.finish()),
            Self::Nested(data_type, b) => Value::array(&std::mem::take(b), *data_type),
        }
    }
}

fn fit<W, N: TryFrom<W>>(value: W) -> std::result::Result<N, DoesNotFit> {
    N::try_from(value).map_err(|_| DoesNotFit)
}
