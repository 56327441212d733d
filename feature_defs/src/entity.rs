//! Entities, and the canonical bytes of their keys.
//!
//! A key's bytes hold its parts in the order of the entity's definition, each with its type and length, so that two
//! different keys never share bytes and no column or field order can matter:
//!
//! ```text
//! part   := tag (1 byte)  payload
//! tag 1  integer    8 bytes, big-endian, sign bit flipped (bytes sort as numbers); int32 and int64 alike
//! tag 2  string     length (4 bytes, big-endian), UTF-8
//! tag 3  bytes      length (4 bytes, big-endian), bytes
//! tag 4  date       4 bytes, big-endian days, sign bit flipped
//! tag 5  timestamp  8 bytes, big-endian microseconds, sign bit flipped
//! tag 6  uuid       16 bytes
//! ```

use crate::about::About;
use crate::article::with_article;
use crate::data_type::DataType;
use crate::name::Name;
use crate::value::Value;

/// The thing described, found by an ordered list of typed join-key values.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// The entity's name.
    pub name: Name,
    /// What it says of itself.
    pub about: About,
    /// Its key parts; the order is part of the key.
    pub keys: Vec<KeyPart>,
}

/// One part of an entity's key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The join key's name, in requests and (unless a view says otherwise) in sources.
    pub name: Name,
    /// One of [`KEY_TYPES`].
    pub data_type: DataType,
}

/// The types that may be key parts. Booleans and floats make bad keys and are refused when definitions are checked.
pub const KEY_TYPES: [DataType; 7] = [
    DataType::Int32,
    DataType::Int64,
    DataType::String,
    DataType::Bytes,
    DataType::Uuid,
    DataType::Date,
    DataType::Timestamp,
];

/// The canonical bytes of one entity's key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityKey(Vec<u8>);

impl EntityKey {
    /// A key without parts; push them in the order of the entity's definition.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an `int32` or `int64` part.
    pub fn push_int(&mut self, value: i64) {
        self.0.push(1);
        self.0.extend_from_slice(&flip_i64(value));
    }

    /// Appends a `string` part.
    ///
    /// # Panics
    /// Never for strings that fit memory limits of requests and Arrow columns (under 4 GiB).
    pub fn push_str(&mut self, value: &str) {
        self.push_sized(2, value.as_bytes());
    }

    /// Appends a `bytes` part.
    pub fn push_bytes(&mut self, value: &[u8]) {
        self.push_sized(3, value);
    }

    /// Appends a `date` part, in days since 1970-01-01.
    pub fn push_date(&mut self, days: i32) {
        self.0.push(4);
        self.0
            .extend_from_slice(&(days.cast_unsigned() ^ (1 << 31)).to_be_bytes());
    }

    /// Appends a `timestamp` part, in microseconds since the Unix epoch.
    pub fn push_timestamp(&mut self, micros: i64) {
        self.0.push(5);
        self.0.extend_from_slice(&flip_i64(micros));
    }

    /// Appends a `uuid` part.
    pub fn push_uuid(&mut self, value: &[u8; 16]) {
        self.0.push(6);
        self.0.extend_from_slice(value);
    }

    /// Appends a part of `data_type`, one of [`KEY_TYPES`].
    ///
    /// # Errors
    /// [`KeyPartError`] for a null and for a value that is not of the type; the key is unchanged then.
    pub fn push_value(&mut self, value: &Value, data_type: DataType) -> Result<(), KeyPartError> {
        match (value, data_type) {
            (Value::Int(value), DataType::Int32 | DataType::Int64) => self.push_int(*value),
            (Value::String(text), DataType::String) => self.push_str(text),
            (Value::Bytes(bytes), DataType::Bytes) => self.push_bytes(bytes),
            (Value::Uuid(bytes), DataType::Uuid) => self.push_uuid(bytes),
            (Value::Date(days), DataType::Date) => self.push_date(*days),
            (Value::Timestamp(instant), DataType::Timestamp) => {
                self.push_timestamp(instant.micros());
            }
            (Value::Null, _) => return Err(KeyPartError::Null),
            _ => return Err(KeyPartError::Type(data_type)),
        }
        Ok(())
    }

    fn push_sized(&mut self, tag: u8, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.0.push(tag);
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(payload);
    }

    /// The key's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Empties the key, keeping its memory, so that one buffer serves many keys.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Why a value is not a key part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyPartError {
    /// A key has no nulls.
    #[error("a key part is null")]
    Null,
    /// The value is of another type, or the type cannot be a key part.
    #[error("a key part is not {}", with_article(.0))]
    Type(DataType),
}

const fn flip_i64(value: i64) -> [u8; 8] {
    (value.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_bytes_are_pinned() {
        let mut key = EntityKey::new();
        key.push_int(0);
        key.push_str("a|b");
        key.push_date(-1);
        key.push_uuid(&[7; 16]);
        assert_eq!(
            key.as_bytes(),
            [
                1, 0x80, 0, 0, 0, 0, 0, 0, 0, // 0
                2, 0, 0, 0, 3, b'a', b'|', b'b', // "a|b"
                4, 0x7f, 0xff, 0xff, 0xff, // the day before 1970-01-01
                6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
            ]
        );
    }

    #[test]
    fn values_make_the_same_bytes_and_nulls_are_refused() {
        let mut plain = EntityKey::new();
        plain.push_int(7);
        plain.push_str("x");
        plain.push_timestamp(-1);
        plain.push_uuid(&[9; 16]);
        let mut key = EntityKey::new();
        let parts = [
            (Value::Int(7), DataType::Int32),
            (Value::String("x".to_owned()), DataType::String),
            (
                Value::Timestamp(crate::time::Instant::from_micros(-1)),
                DataType::Timestamp,
            ),
            (Value::Uuid([9; 16]), DataType::Uuid),
        ];
        for (value, data_type) in &parts {
            key.push_value(value, *data_type).expect("a key part");
        }
        assert_eq!(key, plain);
        assert_eq!(
            key.push_value(&Value::Null, DataType::Int64),
            Err(KeyPartError::Null)
        );
        assert_eq!(
            key.push_value(&Value::Bool(true), DataType::Bool),
            Err(KeyPartError::Type(DataType::Bool))
        );
        assert_eq!(key, plain);
    }

    #[test]
    fn part_boundaries_are_part_of_the_key() {
        let pair = |p: &str, q: &str| {
            let mut key = EntityKey::new();
            key.push_str(p);
            key.push_str(q);
            key
        };
        let pairs = [
            ("ab", "c"),
            ("a", "bc"),
            ("a|b", "c"),
            ("a", "b|c"),
            ("", "abc"),
            ("abc", ""),
        ];
        let distinct: std::collections::BTreeSet<_> =
            pairs.iter().map(|(p, q)| pair(p, q)).collect();
        assert_eq!(distinct.len(), pairs.len());
    }

    #[test]
    fn uuid_keys_sort_as_bytes_and_are_no_other_key() {
        let key = |bytes| {
            let mut key = EntityKey::new();
            key.push_uuid(&bytes);
            key
        };
        let keys = [[0; 16], [1; 16], [0x7f; 16], [0x80; 16], [0xff; 16]].map(key);
        assert!(keys.is_sorted());
        let mut bytes = EntityKey::new();
        bytes.push_bytes(&[1; 16]);
        assert_ne!(bytes, keys[1]);
    }

    #[test]
    fn integer_keys_sort_as_numbers() {
        let key = |value| {
            let mut key = EntityKey::new();
            key.push_int(value);
            key
        };
        let numbers = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(numbers.map(key).is_sorted());
    }
}
