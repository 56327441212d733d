//! A column of a batch, built from the binary forms that PostgreSQL sends.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int16Builder, Int32Builder,
    Int64Builder, ListArray, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, FieldRef};

use super::numeric::{NumericFault, decimal};

/// From 1970 to 2000, where PostgreSQL counts from.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// What is wrong with a value.
pub(super) type Refusal = String;

/// Values of a column so far.
pub(super) enum ColumnBuilder {
    Bool(BooleanBuilder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
    Date(Date32Builder),
    Micros(TimestampMicrosecondBuilder),
    Decimal(Decimal128Builder, u8, i8),
    List(Box<ListBuilder>),
}

/// Lists so far, and their elements.
pub(super) struct ListBuilder {
    item: FieldRef,
    elements: ColumnBuilder,
    lengths: Vec<usize>,
    is_there: Vec<bool>,
}

impl ColumnBuilder {
    /// For the types of [`super::ColumnType::to_arrow`]; `None` for any other.
    pub(super) fn new(data_type: &ArrowType) -> Option<Self> {
        Some(match data_type {
            ArrowType::Boolean => Self::Bool(BooleanBuilder::new()),
            ArrowType::Int16 => Self::Int16(Int16Builder::new()),
            ArrowType::Int32 => Self::Int32(Int32Builder::new()),
            ArrowType::Int64 => Self::Int64(Int64Builder::new()),
            ArrowType::Float32 => Self::Float32(Float32Builder::new()),
            ArrowType::Float64 => Self::Float64(Float64Builder::new()),
            ArrowType::Utf8 => Self::Text(StringBuilder::new()),
            ArrowType::Binary => Self::Bytes(BinaryBuilder::new()),
            ArrowType::FixedSizeBinary(16) => Self::Uuid(FixedSizeBinaryBuilder::new(16)),
            ArrowType::Date32 => Self::Date(Date32Builder::new()),
            ArrowType::Timestamp(_, zone) => {
                Self::Micros(TimestampMicrosecondBuilder::new().with_timezone_opt(zone.as_deref()))
            }
            ArrowType::Decimal128(precision, scale) => {
                let values = Decimal128Builder::new().with_data_type(data_type.clone());
                Self::Decimal(values, *precision, *scale)
            }
            ArrowType::List(item) => Self::List(Box::new(ListBuilder {
                elements: Self::new(item.data_type())?,
                item: Arc::clone(item),
                lengths: Vec::new(),
                is_there: Vec::new(),
            })),
            _ => return None,
        })
    }

    /// Appends a value in its binary form, or a null.
    pub(super) fn append(&mut self, bytes: Option<&[u8]>) -> Result<(), Refusal> {
        match self {
            Self::Bool(values) => {
                values.append_option(
                    bytes
                        .map(|b| number(b).map(|[byte]| byte != 0))
                        .transpose()?,
                );
            }
            Self::Int16(values) => {
                values.append_option(bytes.map(number).transpose()?.map(i16::from_be_bytes));
            }
            Self::Int32(values) => {
                values.append_option(bytes.map(number).transpose()?.map(i32::from_be_bytes));
            }
            Self::Int64(values) => {
                values.append_option(bytes.map(number).transpose()?.map(i64::from_be_bytes));
            }
            Self::Float32(values) => {
                values.append_option(bytes.map(number).transpose()?.map(f32::from_be_bytes));
            }
            Self::Float64(values) => {
                values.append_option(bytes.map(number).transpose()?.map(f64::from_be_bytes));
            }
            Self::Text(values) => {
                let text = bytes.map(std::str::from_utf8).transpose();
                values.append_option(text.map_err(|_| "is not UTF-8 text".to_owned())?);
            }
            Self::Bytes(values) => values.append_option(bytes),
            Self::Uuid(values) => match bytes {
                Some(bytes) => values.append_value(bytes).map_err(|_| damaged())?,
                None => values.append_null(),
            },
            Self::Date(values) => values.append_option(bytes.map(days).transpose()?),
            Self::Micros(values) => values.append_option(bytes.map(micros).transpose()?),
            Self::Decimal(values, precision, scale) => {
                let read = |bytes| decimal(bytes, *precision, *scale);
                let value = bytes.map(read).transpose();
                let value = value.map_err(|fault| not_decimal(fault, *precision, *scale))?;
                values.append_option(value);
            }
            Self::List(lists) => lists.append(bytes)?,
        }
        Ok(())
    }

    /// The values, and none are left.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, Refusal> {
        Ok(match self {
            Self::Bool(values) => Arc::new(values.finish()),
            Self::Int16(values) => Arc::new(values.finish()),
            Self::Int32(values) => Arc::new(values.finish()),
            Self::Int64(values) => Arc::new(values.finish()),
            Self::Float32(values) => Arc::new(values.finish()),
            Self::Float64(values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
            Self::Bytes(values) => Arc::new(values.finish()),
            Self::Uuid(values) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
            Self::Micros(values) => Arc::new(values.finish()),
            Self::Decimal(values, ..) => Arc::new(values.finish()),
            Self::List(lists) => lists.finish()?,
        })
    }
}

impl ListBuilder {
    /// Dimensions, flags and the elements' type; a length and a first index for each dimension; then each element after
    /// its length, which is -1 for a null.
    fn append(&mut self, bytes: Option<&[u8]>) -> Result<(), Refusal> {
        self.is_there.push(bytes.is_some());
        let Some(mut bytes) = bytes else {
            self.lengths.push(0);
            return Ok(());
        };
        let dimensions = word(&mut bytes)?;
        word(&mut bytes)?;
        word(&mut bytes)?;
        let length = match dimensions {
            0 => 0,
            1 => {
                let length = word(&mut bytes)?;
                word(&mut bytes)?;
                usize::try_from(length).map_err(|_| damaged())?
            }
            more => return Err(format!("has {more} dimensions, and lists have one")),
        };
        for _ in 0..length {
            let Ok(size) = usize::try_from(word(&mut bytes)?) else {
                self.elements.append(None)?;
                continue;
            };
            let (element, rest) = bytes.split_at_checked(size).ok_or_else(damaged)?;
            self.elements.append(Some(element))?;
            bytes = rest;
        }
        self.lengths.push(length);
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, Refusal> {
        let offsets = OffsetBuffer::from_lengths(self.lengths.drain(..));
        let nulls = NullBuffer::from(std::mem::take(&mut self.is_there));
        let elements = self.elements.finish()?;
        let lists = ListArray::try_new(Arc::clone(&self.item), offsets, elements, Some(nulls));
        Ok(Arc::new(lists.map_err(|e| e.to_string())?))
    }
}

fn number<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Refusal> {
    bytes.try_into().map_err(|_| damaged())
}

fn word(bytes: &mut &[u8]) -> Result<i32, Refusal> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    *bytes = rest;
    Ok(i32::from_be_bytes(*first))
}

fn days(bytes: &[u8]) -> Result<i32, Refusal> {
    match i32::from_be_bytes(number(bytes)?) {
        i32::MAX => Err("is infinity, which is no date".to_owned()),
        i32::MIN => Err("is -infinity, which is no date".to_owned()),
        days => days.checked_add(EPOCH_DAYS).ok_or_else(too_far),
    }
}

fn micros(bytes: &[u8]) -> Result<i64, Refusal> {
    match i64::from_be_bytes(number(bytes)?) {
        i64::MAX => Err("is infinity, which is no instant".to_owned()),
        i64::MIN => Err("is -infinity, which is no instant".to_owned()),
        micros => micros.checked_add(EPOCH_MICROS).ok_or_else(too_far),
    }
}

fn not_decimal(fault: NumericFault, precision: u8, scale: i8) -> Refusal {
    match fault {
        NumericFault::NoNumber(name) => format!("is {name}, which no decimal is"),
        NumericFault::Digits => format!("does not fit decimal({precision},{scale})"),
        NumericFault::Damaged => damaged(),
    }
}

fn too_far() -> Refusal {
    "is too far from 1970 for 64-bit microseconds".to_owned()
}

fn damaged() -> Refusal {
    "is not in the form in which PostgreSQL sends its type".to_owned()
}
