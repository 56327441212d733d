//! One value of a [`DataType`], and its JSON form. Used where single values matter: keys, defaults, requests, answers.

mod arrow;
pub mod json;
mod nested;
mod order;
#[cfg(test)]
mod tests;
pub mod uuid;

pub use json::ValueError;
pub use nested::StrictJson;

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
    /// A `float16` or `float32` (widened) or `float64`; NaN and infinities included.
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
    /// A `uuid`.
    Uuid([u8; 16]),
    /// A `date`: days since 1970-01-01.
    Date(i32),
    /// A `timestamp`.
    Timestamp(Instant),
    /// A `list<T>` or a `vector<F, n>`: its elements in order.
    List(Vec<Value>),
    /// A `struct<...>`: a value a field, in the order of its type.
    Struct(Vec<Value>),
}
