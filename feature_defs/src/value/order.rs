//! The order of values of one type.

use std::cmp::Ordering;

use super::Value;

impl Value {
    /// The order of two values of one type with an order. Values without one are equal: nulls, lists, structs, values of
    /// two types. NaN stands where its bits put it, before or after all numbers.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => one.cmp(other),
            (Self::Int(one), Self::Int(other)) => one.cmp(other),
            (Self::UInt(one), Self::UInt(other)) => one.cmp(other),
            (Self::Float(one), Self::Float(other)) => (one + 0.0).total_cmp(&(other + 0.0)),
            (
                Self::Decimal { unscaled: one, .. },
                Self::Decimal {
                    unscaled: other, ..
                },
            ) => one.cmp(other),
            (Self::String(one), Self::String(other)) => one.cmp(other),
            (Self::Bytes(one), Self::Bytes(other)) => one.cmp(other),
            (Self::Uuid(one), Self::Uuid(other)) => one.cmp(other),
            (Self::Date(one), Self::Date(other)) => one.cmp(other),
            (Self::Timestamp(one), Self::Timestamp(other)) => one.cmp(other),
            _ => Ordering::Equal,
        }
    }
}
