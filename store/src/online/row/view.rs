//! Reading a packed row in place.

use feature_defs::data_type::DataType;
use feature_defs::expression::Scalar;
use feature_defs::time::Instant;
use feature_defs::value::Value;
use half::f16;

use super::decimal::decimal_to_f64;
use super::layout::{RowLayout, Slot, is_variable};
use super::nested;
use crate::error::{Error, ErrorKind, Result};

/// A packed row, checked once: every later read is in bounds and its strings are UTF-8.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
}

impl<'a> RowView<'a> {
    /// Takes `bytes` for a row of `layout`.
    ///
    /// # Errors
    /// `Corrupt` when they are not one: other format, other layout, wrong length, or text that is not UTF-8.
    pub fn new(layout: &'a RowLayout, bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() < layout.fixed_end {
            return Err(corrupt("a row is shorter than its layout"));
        }
        if !bytes.starts_with(&layout.prefix) {
            return Err(corrupt("a row is of another format or layout"));
        }
        let view = Self { layout, bytes };
        view.check_variable_part()?;
        Ok(view)
    }

    fn check_variable_part(&self) -> Result<()> {
        let Some(last) = self.layout.last_variable else {
            return if self.bytes.len() == self.layout.fixed_end {
                Ok(())
            } else {
                Err(corrupt("a row is longer than its layout"))
            };
        };
        for slot in &self.layout.slots[..=last] {
            if !is_variable(slot.data_type) {
                continue;
            }
            let value = self
                .variable(slot)
                .ok_or_else(|| corrupt("a row's strings or bytes lie outside it"))?;
            if slot.data_type == DataType::String && std::str::from_utf8(value).is_err() {
                return Err(corrupt("a row's string is not UTF-8"));
            }
            let is_nested = slot.data_type.is_nested() && !self.slot_is_null(slot);
            if is_nested && !nested::is_whole(slot.data_type, value) {
                return Err(corrupt(
                    "a row's list or struct does not end where it should",
                ));
            }
        }
        let end = self.u32_at(self.layout.slots[last].offset);
        if self.layout.fixed_end.saturating_add(end) == self.bytes.len() {
            Ok(())
        } else {
            Err(corrupt("a row is longer than its strings and bytes"))
        }
    }

    /// The layout it was read with.
    #[must_use]
    pub const fn layout(&self) -> &'a RowLayout {
        self.layout
    }

    /// When the row's values were true.
    #[must_use]
    pub fn event_time(&self) -> Instant {
        Instant::from_micros(i64::from_le_bytes(self.fixed(8)))
    }

    /// Whether the feature at `index` is null.
    ///
    /// # Panics
    /// When `index` is outside the layout; so do the other methods.
    #[must_use]
    pub fn is_null(&self, index: usize) -> bool {
        self.slot_is_null(&self.layout.slots[index])
    }

    /// The feature at `index` as a model sees it: numbers, `bool` as 0 or 1, `date` in days, `timestamp` in
    /// microseconds, decimals as [`decimal_to_f64`]; NaN for a null and for types that are no
    /// numbers.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // models take float64
    pub fn model_input(&self, index: usize) -> f64 {
        let slot = &self.layout.slots[index];
        if self.slot_is_null(slot) {
            return f64::NAN;
        }
        let at = slot.offset;
        match slot.data_type {
            DataType::Bool => f64::from(self.bytes[at] != 0),
            DataType::Int8 => i8::from_le_bytes(self.fixed(at)).into(),
            DataType::Int16 => i16::from_le_bytes(self.fixed(at)).into(),
            DataType::Int32 | DataType::Date => i32::from_le_bytes(self.fixed(at)).into(),
            DataType::Int64 | DataType::Timestamp => i64::from_le_bytes(self.fixed(at)) as f64,
            DataType::UInt8 => self.bytes[at].into(),
            DataType::UInt16 => u16::from_le_bytes(self.fixed(at)).into(),
            DataType::UInt32 => u32::from_le_bytes(self.fixed(at)).into(),
            DataType::UInt64 => u64::from_le_bytes(self.fixed(at)) as f64,
            DataType::Float16 => f16::from_le_bytes(self.fixed(at)).into(),
            DataType::Float32 => f32::from_le_bytes(self.fixed(at)).into(),
            DataType::Float64 => f64::from_le_bytes(self.fixed(at)),
            DataType::Decimal { scale, .. } => {
                decimal_to_f64(i128::from_le_bytes(self.fixed(at)), scale)
            }
            DataType::String
            | DataType::Bytes
            | DataType::Uuid
            | DataType::List(_)
            | DataType::Vector { .. }
            | DataType::Struct(_) => f64::NAN,
        }
    }

    /// The feature at `index`.
    #[must_use]
    pub fn value(&self, index: usize) -> Value {
        let slot = &self.layout.slots[index];
        if self.slot_is_null(slot) {
            return Value::Null;
        }
        let at = slot.offset;
        match slot.data_type {
            DataType::Bool => Value::Bool(self.bytes[at] != 0),
            DataType::Int8 => Value::Int(i8::from_le_bytes(self.fixed(at)).into()),
            DataType::Int16 => Value::Int(i16::from_le_bytes(self.fixed(at)).into()),
            DataType::Int32 => Value::Int(i32::from_le_bytes(self.fixed(at)).into()),
            DataType::Int64 => Value::Int(i64::from_le_bytes(self.fixed(at))),
            DataType::UInt8 => Value::UInt(self.bytes[at].into()),
            DataType::UInt16 => Value::UInt(u16::from_le_bytes(self.fixed(at)).into()),
            DataType::UInt32 => Value::UInt(u32::from_le_bytes(self.fixed(at)).into()),
            DataType::UInt64 => Value::UInt(u64::from_le_bytes(self.fixed(at))),
            DataType::Float16 => Value::Float(f16::from_le_bytes(self.fixed(at)).into()),
            DataType::Float32 => Value::Float(f32::from_le_bytes(self.fixed(at)).into()),
            DataType::Float64 => Value::Float(f64::from_le_bytes(self.fixed(at))),
            DataType::Decimal { scale, .. } => Value::Decimal {
                unscaled: i128::from_le_bytes(self.fixed(at)),
                scale,
            },
            DataType::String => Value::String(self.text(slot).to_owned()),
            DataType::Bytes => Value::Bytes(self.variable(slot).unwrap_or_default().to_vec()),
            DataType::Uuid => Value::Uuid(self.fixed(at)),
            DataType::Date => Value::Date(i32::from_le_bytes(self.fixed(at))),
            DataType::Timestamp => {
                Value::Timestamp(Instant::from_micros(i64::from_le_bytes(self.fixed(at))))
            }
            DataType::Vector { .. } => nested::read(slot.data_type, &self.bytes[at..]),
            DataType::List(_) | DataType::Struct(_) => {
                nested::read(slot.data_type, self.variable(slot).unwrap_or_default())
            }
        }
    }

    /// The feature at `index` as a scalar; null for types that are none.
    #[must_use]
    pub fn scalar(&self, index: usize) -> Scalar {
        match self.layout.slots[index].data_type {
            DataType::String | DataType::Bytes | DataType::Uuid => Scalar::Null,
            nested if nested.is_nested() => Scalar::Null,
            _ => Scalar::of(&self.value(index)),
        }
    }

    /// Appends the feature at `index` in its JSON form ([`feature_defs::value::json`]).
    pub fn write_json(&self, index: usize, out: &mut Vec<u8>) {
        let data_type = self.layout.slots[index].data_type;
        self.value(index).write_json(data_type, out);
    }

    pub(super) fn slot_is_null(&self, slot: &Slot) -> bool {
        slot.null_bit
            .is_some_and(|bit| self.bytes[bit.byte] & bit.mask != 0)
    }

    /// The `N` bytes at `at`, which the layout puts inside the fixed part.
    pub(super) fn fixed<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes[at..]
            .first_chunk::<N>()
            .copied()
            .unwrap_or([0; N])
    }

    pub(super) fn text(&self, slot: &Slot) -> &'a str {
        let bytes = self.variable(slot).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The bytes of a slot in the variable part, if they lie inside the row.
    pub(super) fn variable(&self, slot: &Slot) -> Option<&'a [u8]> {
        let start = slot.variable_before.map_or(0, |at| self.u32_at(at));
        let end = self.u32_at(slot.offset);
        self.bytes[self.layout.fixed_end..].get(start..end)
    }

    fn u32_at(&self, at: usize) -> usize {
        usize::try_from(u32::from_le_bytes(self.fixed(at))).unwrap_or(usize::MAX)
    }
}

fn corrupt(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}
