//! One value of a [`DataType`], and its JSON form. Used where single values matter: keys, defaults, requests, answers.

mod arrow;
pub mod json;
#[cfg(test)]
mod tests;

pub use json::ValueError;

#[cfg(doc)]
use crate::data_type::DataType;
use crate::time::Instant;

/// One value. Its [`DataType`] is known from the declaration that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value: an observation in its own right.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int8` to `int64`.
    Int(i64),
    /// A `uint8` to `uint64`.
    UInt(u64),
    /// A `float32` (widened) or `float64`; NaN and infinities included.
    Float(f64),
    /// A decimal: `unscaled / 10^scale`.
    Decimal {
        /// The digits as one integer.
        unscaled: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// A `string`.
    String(String),
    /// A `bytes`.
    Bytes(Vec<u8>),
    /// A `date`: days since 1970-01-01.
    Date(i32),
    /// A `timestamp`.
    Timestamp(Instant),
}
