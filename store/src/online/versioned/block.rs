//! Blocks of sorted keys, each with the hash of its row: what a snapshot is compared with, without reading rows.
//!
//! ```text
//! block    := entry*                                                       keys ascend
//! entry    := head (varint)  length (varint)  suffix (length bytes)  hash  the key is what it shares with the one
//! head     := shared << 1 | vanished                                       before, then the suffix
//! hash     := u64, little-endian: XXH3 of the row seeded with that of the key; none where the row vanished
//! ```

use super::error::damaged;
use crate::error::Result;

/// A key and the hash of its row, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: Vec<u8>,
    pub(super) hash: Option<u64>,
}

/// A block that is being written.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    last: Vec<u8>,
    entries: u64,
}

impl BlockWriter {
    /// Adds the next key, which is greater than the one before.
    pub(super) fn push(&mut self, key: &[u8], hash: Option<u64>) {
        let shared = if self.bytes.is_empty() {
            0
        } else {
            let pairs = key.iter().zip(&self.last);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let suffix = &key[shared..];
        push_varint(
            &mut self.bytes,
            (shared as u64) << 1 | u64::from(hash.is_none()),
        );
        push_varint(&mut self.bytes, suffix.len() as u64);
        self.bytes.extend_from_slice(suffix);
        if let Some(hash) = hash {
            self.bytes.extend_from_slice(&hash.to_le_bytes());
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(suffix);
        self.entries += 1;
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The block and its number of entries; the writer is empty again.
    pub(super) fn take(&mut self) -> (Vec<u8>, u64) {
        let entries = std::mem::take(&mut self.entries);
        (std::mem::take(&mut self.bytes), entries)
    }
}

/// The entries of a block.
///
/// # Errors
/// `Corrupt` when it is none.
pub(super) fn entries(block: &[u8]) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut rest = block;
    while !rest.is_empty() {
        let last = entries.last().map_or(&[][..], |entry| &entry.key);
        let entry = entry(&mut rest, last).ok_or_else(|| damaged("a list of keys"))?;
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(rest: &mut &[u8], last: &[u8]) -> Option<Entry> {
    let head = varint(rest)?;
    let length = usize::try_from(varint(rest)?).ok()?;
    let mut key = last.get(..usize::try_from(head >> 1).ok()?)?.to_vec();
    key.extend_from_slice(rest.split_off(..length)?);
    let hash = match head & 1 {
        1 => None,
        _ => {
            let (hash, after) = rest.split_first_chunk()?;
            *rest = after;
            Some(u64::from_le_bytes(*hash))
        }
    };
    Some(Entry { key, hash })
}

fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    fn block(rows: &[(&[u8], Option<u64>)]) -> Vec<u8> {
        let mut writer = BlockWriter::default();
        for (key, hash) in rows {
            writer.push(key, *hash);
        }
        writer.take().0
    }

    #[test]
    fn blocks_have_their_golden_bytes() {
        let block = block(&[(b"", Some(1)), (b"key 1", None), (b"key 22", Some(2))]);
        let golden = [
            &[0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..],
            &[1, 5, b'k', b'e', b'y', b' ', b'1'],
            &[8, 2, b'2', b'2', 2, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(block, golden.concat());
    }

    #[test]
    fn a_cut_block_is_corrupt() {
        let whole = block(&[(b"key 1", Some(7)), (b"key 2", Some(8))]);
        let (_, second) = whole.split_at(block(&[(b"key 1", Some(7))]).len());
        assert_eq!(
            entries(second).expect_err("no first key").kind(),
            ErrorKind::Corrupt
        );
        let cut = entries(&whole[..whole.len() - 1]).expect_err("cut");
        assert_eq!(cut.kind(), ErrorKind::Corrupt);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            rows in proptest::collection::btree_map(
                proptest::collection::vec(0..3_u8, 0..200),
                proptest::option::of(any::<u64>()),
                0..50,
            )
        ) {
            let rows: BTreeMap<Vec<u8>, Option<u64>> = rows;
            let listed: Vec<(&[u8], Option<u64>)> =
                rows.iter().map(|(key, hash)| (key.as_slice(), *hash)).collect();
            let read: BTreeMap<Vec<u8>, Option<u64>> = entries(&block(&listed))
                .expect("reads")
                .into_iter()
                .map(|entry| (entry.key, entry.hash))
                .collect();
            prop_assert_eq!(read, rows);
        }
    }
}
