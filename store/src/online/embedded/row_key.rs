//! Keys of the `rows` table. LMDB limits a key to 511 bytes; longer ones end in their hash and are kept whole beside
//! the row.

use crate::release::SnapshotId;

/// Longest key of LMDB. Only hashed keys have this length, so that none meets a plain one.
const LONGEST: usize = 511;

const ID_LENGTH: usize = 8;
const HASH_LENGTH: usize = 32;

/// A key of the `rows` table on the stack.
pub(super) struct RowKey {
    bytes: [u8; LONGEST],
    length: usize,
}

impl RowKey {
    pub(super) fn new(snapshot: SnapshotId, key: &[u8]) -> Self {
        let mut bytes = [0; LONGEST];
        bytes[..ID_LENGTH].copy_from_slice(&snapshot.0.to_be_bytes());
        let length = ID_LENGTH + key.len();
        if length < LONGEST {
            bytes[ID_LENGTH..length].copy_from_slice(key);
            return Self { bytes, length };
        }
        let hash_start = LONGEST - HASH_LENGTH;
        bytes[ID_LENGTH..hash_start].copy_from_slice(&key[..hash_start - ID_LENGTH]);
        bytes[hash_start..].copy_from_slice(blake3::hash(key).as_bytes());
        Self {
            bytes,
            length: LONGEST,
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn is_hashed(&self) -> bool {
        self.length == LONGEST
    }

    /// What is stored for `key` and `row`, built in `buffer` when it is not the row alone.
    pub(super) fn stored_value<'a>(
        &self,
        key: &[u8],
        row: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        if !self.is_hashed() {
            return row;
        }
        buffer.clear();
        let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
        buffer.extend_from_slice(&length.to_le_bytes());
        buffer.extend_from_slice(key);
        buffer.extend_from_slice(row);
        buffer
    }

    /// The row in what is stored for `key`; `None` when that belongs to another key with the same hash.
    pub(super) fn row<'a>(&self, key: &[u8], stored: &'a [u8]) -> Option<&'a [u8]> {
        if !self.is_hashed() {
            return Some(stored);
        }
        let (stored_key, row) = split_hashed(stored)?;
        (stored_key == key).then_some(row)
    }
}

/// The key and the row of one entry of the `rows` table; `None` when it is damaged.
pub(super) fn split<'a>(table_key: &'a [u8], stored: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    if table_key.len() == LONGEST {
        return split_hashed(stored);
    }
    Some((table_key.get(ID_LENGTH..)?, stored))
}

fn split_hashed(stored: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = stored.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_around_the_limit_stay_apart_and_come_back() {
        let keys = [500, 502, 503, 504, 1024].map(|length| vec![b'k'; length]);
        let mut stored_keys = std::collections::BTreeSet::new();
        for key in &keys {
            let row_key = RowKey::new(SnapshotId(7), key);
            assert!(row_key.as_bytes().len() <= LONGEST);
            assert!(stored_keys.insert(row_key.as_bytes().to_vec()));
            let mut buffer = Vec::new();
            let stored = row_key.stored_value(key, b"row", &mut buffer);
            assert_eq!(row_key.row(key, stored), Some(b"row".as_slice()));
            let parts = split(row_key.as_bytes(), stored);
            assert_eq!(parts, Some((key.as_slice(), b"row".as_slice())));
        }
    }

    #[test]
    fn a_plain_key_never_meets_a_hashed_one() {
        let long = vec![b'k'; 1024];
        let hashed = RowKey::new(SnapshotId(7), &long);
        let forged = &hashed.as_bytes()[ID_LENGTH..];
        let plain = RowKey::new(SnapshotId(7), forged);
        assert_ne!(plain.as_bytes(), hashed.as_bytes());
        assert_eq!(hashed.row(b"another", b"\x04\0\0\0keysrow"), None);
    }
}
