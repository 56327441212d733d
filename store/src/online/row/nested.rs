//! Lists, structs and vectors in a row's bytes, as the [module](super) draws them.

use feature_defs::data_type::{DataType, StructType};
use feature_defs::time::Instant;
use feature_defs::value::Value;
use half::f16;

use super::layout::slot_width;
use crate::error::{Error, ErrorKind, Result};

/// Appends a value that is not null.
///
/// # Errors
/// `Invalid` when a part of it is of another type, or takes 4 GiB or more.
pub(super) fn write(value: &Value, data_type: DataType, out: &mut Vec<u8>) -> Result<()> {
    match (value, data_type) {
        (Value::List(elements), DataType::List(element)) => {
            out.extend_from_slice(&length(elements.len())?);
            write_values(elements.iter().map(|value| (value, *element)), out)
        }
        (Value::Struct(values), DataType::Struct(of)) => {
            let types = of.fields.iter().map(|field| field.data_type);
            write_values(values.iter().zip(types), out)
        }
        (Value::List(elements), DataType::Vector { element, .. }) => {
            let mut elements = elements.iter();
            elements.try_for_each(|value| write(value, *element, out))
        }
        (Value::String(text), DataType::String) => write_sized(text.as_bytes(), out),
        (Value::Bytes(bytes), DataType::Bytes) => write_sized(bytes, out),
        (value, plain) => write_plain(value, plain, out),
    }
}

/// One bit a value, and the values that are not null.
fn write_values<'a>(
    values: impl ExactSizeIterator<Item = (&'a Value, DataType)>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let nulls = out.len();
    out.resize(nulls + values.len().div_ceil(8), 0);
    for (place, (value, data_type)) in values.enumerate() {
        match value {
            Value::Null => out[nulls + place / 8] |= 1 << (place % 8),
            value => write(value, data_type, out)?,
        }
    }
    Ok(())
}

fn write_sized(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&length(bytes.len())?);
    out.extend_from_slice(bytes);
    Ok(())
}

fn length(length: usize) -> Result<[u8; 4]> {
    let fits = u32::try_from(length).map(u32::to_le_bytes);
    fits.map_err(|_| Error::new(ErrorKind::Invalid, "a value takes 4 GiB or more"))
}

#[allow(clippy::cast_possible_truncation)] // a widened float32 narrows to itself
fn write_plain(value: &Value, data_type: DataType, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let width = slot_width(data_type);
    match (value, data_type) {
        (Value::Bool(value), DataType::Bool) => out.push(u8::from(*value)),
        // Fewer bytes of a number hold it too: it was read from a column of its type.
        (Value::Int(value), _) => out.extend_from_slice(&value.to_le_bytes()[..width.min(8)]),
        (Value::UInt(value), _) => out.extend_from_slice(&value.to_le_bytes()[..width.min(8)]),
        (Value::Float(value), DataType::Float16) => {
            out.extend_from_slice(&feature_defs::float16::nearest(*value).to_le_bytes());
        }
        (Value::Float(value), DataType::Float32) => {
            out.extend_from_slice(&(*value as f32).to_le_bytes());
        }
        (Value::Float(value), _) => out.extend_from_slice(&value.to_le_bytes()),
        (Value::Decimal { unscaled, .. }, _) => out.extend_from_slice(&unscaled.to_le_bytes()),
        (Value::Uuid(bytes), _) => out.extend_from_slice(bytes),
        (Value::Date(days), _) => out.extend_from_slice(&days.to_le_bytes()),
        (Value::Timestamp(instant), _) => out.extend_from_slice(&instant.micros().to_le_bytes()),
        _ => {}
    }
    if out.len() == start + width {
        return Ok(());
    }
    let message = format!("a value inside a list or struct is no {data_type}");
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Whether these bytes are one value of a type, and no more.
pub(super) fn is_whole(data_type: DataType, bytes: &[u8]) -> bool {
    let mut bytes = Bytes(bytes);
    bytes.skip(data_type).is_some() && bytes.0.is_empty()
}

/// The value at the start of these bytes, which are whole.
pub(super) fn read(data_type: DataType, bytes: &[u8]) -> Value {
    Bytes(bytes).value(data_type).unwrap_or(Value::Null)
}

/// Bytes that are read from the front; `None` where there are too few.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Goes past a value, looking at all that reading it would look at.
    fn skip(&mut self, data_type: DataType) -> Option<()> {
        match data_type {
            DataType::List(element) => {
                let (length, nulls) = self.list()?;
                let mut there = (0..length).filter(|place| !is_null(nulls, *place));
                there.try_for_each(|_| self.skip(*element))
            }
            DataType::Struct(of) => {
                let nulls = self.take(of.fields.len().div_ceil(8))?;
                let mut fields = of.fields.iter().enumerate();
                fields.try_for_each(|(place, field)| match is_null(nulls, place) {
                    true => Some(()),
                    false => self.skip(field.data_type),
                })
            }
            DataType::String => std::str::from_utf8(self.sized()?).ok().map(|_| ()),
            DataType::Bytes => self.sized().map(|_| ()),
            plain => self.take(slot_width(plain)).map(|_| ()),
        }
    }

    fn value(&mut self, data_type: DataType) -> Option<Value> {
        Some(match data_type {
            DataType::Bool => Value::Bool(self.fixed::<1>()? != [0]),
            DataType::Int8 => Value::Int(i8::from_le_bytes(self.fixed()?).into()),
            DataType::Int16 => Value::Int(i16::from_le_bytes(self.fixed()?).into()),
            DataType::Int32 => Value::Int(i32::from_le_bytes(self.fixed()?).into()),
            DataType::Int64 => Value::Int(i64::from_le_bytes(self.fixed()?)),
            DataType::UInt8 => Value::UInt(u8::from_le_bytes(self.fixed()?).into()),
            DataType::UInt16 => Value::UInt(u16::from_le_bytes(self.fixed()?).into()),
            DataType::UInt32 => Value::UInt(u32::from_le_bytes(self.fixed()?).into()),
            DataType::UInt64 => Value::UInt(u64::from_le_bytes(self.fixed()?)),
            DataType::Float16 => Value::Float(f16::from_le_bytes(self.fixed()?).into()),
            DataType::Float32 => Value::Float(f32::from_le_bytes(self.fixed()?).into()),
            DataType::Float64 => Value::Float(f64::from_le_bytes(self.fixed()?)),
            DataType::Decimal { scale, .. } => Value::Decimal {
                unscaled: i128::from_le_bytes(self.fixed()?),
                scale,
            },
            DataType::String => Value::String(std::str::from_utf8(self.sized()?).ok()?.to_owned()),
            DataType::Bytes => Value::Bytes(self.sized()?.to_vec()),
            DataType::Uuid => Value::Uuid(self.fixed()?),
            DataType::Date => Value::Date(i32::from_le_bytes(self.fixed()?)),
            DataType::Timestamp => {
                Value::Timestamp(Instant::from_micros(i64::from_le_bytes(self.fixed()?)))
            }
            DataType::List(element) => {
                let (length, nulls) = self.list()?;
                let element = |place| self.value_unless(is_null(nulls, place), *element);
                Value::List((0..length).map(element).collect::<Option<_>>()?)
            }
            DataType::Vector { element, length } => {
                let elements = (0..length).map(|_| self.value(*element));
                Value::List(elements.collect::<Option<_>>()?)
            }
            DataType::Struct(of) => Value::Struct(self.fields(of)?),
        })
    }

    fn fields(&mut self, of: &StructType) -> Option<Vec<Value>> {
        let nulls = self.take(of.fields.len().div_ceil(8))?;
        let fields = of.fields.iter().enumerate();
        let fields =
            fields.map(|(place, field)| self.value_unless(is_null(nulls, place), field.data_type));
        fields.collect()
    }

    fn value_unless(&mut self, is_null: bool, data_type: DataType) -> Option<Value> {
        if is_null {
            return Some(Value::Null);
        }
        self.value(data_type)
    }

    /// The length of a list, and its nulls.
    fn list(&mut self) -> Option<(usize, &'a [u8])> {
        let length = usize::try_from(u32::from_le_bytes(self.fixed()?)).ok()?;
        Some((length, self.take(length.div_ceil(8))?))
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u32::from_le_bytes(self.fixed()?)).ok()?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}

fn is_null(nulls: &[u8], place: usize) -> bool {
    nulls[place / 8] & (1 << (place % 8)) != 0
}
