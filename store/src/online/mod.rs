//! The online store: rows of the served releases, for serving.
//!
//! ```text
//!   night:  begin(view, content, rows) -> write(rows)* -> complete(count, checksum)     for each view
//!           register(release) -> flip(from, to)                                   one small write
//!   back:   flip(from, an earlier one)                                            releases in between: rolled_back()
//!   day:    served() -> release(number)      once a release     read(release, addresses)    once a request
//! ```

pub mod embedded;
#[cfg(test)]
mod memory;
pub mod redis;
pub mod row;
mod versioned;
mod versions;

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use twox_hash::XxHash3_64;

pub use self::versioned::VersionedStore;
use crate::error::Result;
use crate::release::{Release, ReleaseNumber, SnapshotId};

/// Where releases are served from.
///
/// An implementation MUST
/// - show a snapshot's rows to no reader before a registered release that names it is served;
/// - keep every registered release readable, unchanged, until it is dropped;
/// - answer [`OnlineStore::read`] from exactly the release it is given, in the order of the addresses, repeats included;
/// - make [`OnlineStore::flip`] one atomic, durable change that other processes see at once;
/// - say [`RowState::Unavailable`] or fail, and never [`RowState::Missing`], when it could not look;
/// - leave nothing behind for the next call when a future of its own is dropped.
///
/// Methods have no default bodies, so that a wrapper cannot bypass one by leaving it out.
#[async_trait]
pub trait OnlineStore: Send + Sync + fmt::Debug {
    /// Starts staging the snapshot of `view` with this content, or finds it: a complete one is returned as it is, an
    /// abandoned one is emptied and started anew. MUST be idempotent by (view, content).
    /// `rows` is how many will come; a store that can tell by it that they do not fit MUST refuse before it takes any.
    async fn begin(&self, view: &Name, content: Fingerprint, rows: u64) -> Result<Staging>;

    /// Adds rows to a snapshot that is being staged. Keys MUST come in strictly ascending order over all calls.
    async fn write(&self, snapshot: SnapshotId, rows: &[StagedRow<'_>]) -> Result<()>;

    /// Verifies what was staged against `expected`, and marks it complete. It MUST read rows back: all of them, or, where
    /// each write was acknowledged, at least 1,000 from all over the snapshot. On a difference it MUST
    /// fail with [`crate::error::ErrorKind::Corrupt`] and leave the snapshot incomplete. Idempotent.
    async fn complete(&self, snapshot: SnapshotId, expected: Checksum) -> Result<()>;

    /// Makes a release known, not served. MUST refuse one that names an incomplete snapshot, and with `Conflict` a
    /// number that is taken by another release; registering the same release again changes nothing.
    async fn register(&self, release: &Release) -> Result<()>;

    /// Serves release `to` from now on if `from` is still the one served, else fails with `Conflict` and changes nothing.
    /// The same change keeps [`OnlineStore::rolled_back`]: a flip to an earlier release adds the releases after it, up
    /// to `from`; a flip to any release takes that one away.
    async fn flip(&self, from: Option<ReleaseNumber>, to: ReleaseNumber) -> Result<()>;

    /// The release that is served now.
    async fn served(&self) -> Result<Option<ReleaseNumber>>;

    /// The registered releases that a flip went back behind, and that were not served since, by ascending number.
    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>>;

    /// A registered release, or `NotFound`.
    async fn release(&self, number: ReleaseNumber) -> Result<Release>;

    /// All registered releases, by ascending number.
    async fn releases(&self) -> Result<Vec<Release>>;

    /// Forgets a release that is not served, and the rows that no other release names. Idempotent.
    async fn drop_release(&self, number: ReleaseNumber) -> Result<()>;

    /// Reads one row for each address from `release` into `rows`, which it empties first. One round trip.
    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()>;

    /// Whether the store answers at all.
    async fn ping(&self) -> Result<()>;
}

/// What [`OnlineStore::begin`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staging {
    /// The snapshot is there, verified: nothing to write.
    Complete(SnapshotId),
    /// The snapshot is empty and waits for rows.
    Open(SnapshotId),
}

/// A row on its way into a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct StagedRow<'a> {
    /// The entity's canonical key bytes.
    pub key: &'a [u8],
    /// The packed row.
    pub row: &'a [u8],
}

impl StagedRow<'_> {
    /// The 64-bit XXH3 of the row, seeded with that of the key.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let key = XxHash3_64::oneshot(self.key);
        XxHash3_64::oneshot_with_seed(key, self.row)
    }
}

/// What a snapshot's rows sum up to, whatever wrote them and in whatever order. It finds rows that were lost, doubled or
/// damaged on their way; it is no protection against forgery, and so XXH3 does (20 times faster here than BLAKE3 on rows
/// of 60 to 1,000 bytes, where hashing would otherwise take longer than storing).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum {
    /// Number of rows.
    pub rows: u64,
    /// Sum, wrapping, of the rows' hashes ([`StagedRow::hash`]).
    pub sum: u64,
}

impl Checksum {
    /// Adds one row.
    pub fn add(&mut self, row: StagedRow<'_>) {
        self.add_hash(row.hash());
    }

    /// Adds one row by its hash.
    pub fn add_hash(&mut self, hash: u64) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash);
    }
}

/// Which row to read.
#[derive(Debug, Clone, Copy)]
pub struct RowAddress<'a> {
    /// Index into [`Release::views`].
    pub view: usize,
    /// The entity's canonical key bytes.
    pub key: &'a [u8],
}

/// Rows that were read, in the order of their addresses, in one piece of memory that is reused from read to read.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

#[derive(Debug, Clone)]
enum Place {
    Found(Range<usize>),
    Missing,
    Unavailable,
}

/// What one address was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState<'a> {
    /// The packed row.
    Found(&'a [u8]),
    /// The release has no row for the key.
    Missing,
    /// The store did not answer for this key.
    Unavailable,
}

impl Rows {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Adds the answer to the next address.
    pub fn push(&mut self, row: RowState<'_>) {
        self.places.push(match row {
            RowState::Found(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Place::Found(start..self.bytes.len())
            }
            RowState::Missing => Place::Missing,
            RowState::Unavailable => Place::Unavailable,
        });
    }

    /// The answer to the address at `index`.
    ///
    /// # Panics
    /// When `index` is not below [`Rows::len`].
    #[must_use]
    pub fn get(&self, index: usize) -> RowState<'_> {
        match &self.places[index] {
            Place::Found(range) => RowState::Found(&self.bytes[range.clone()]),
            Place::Missing => RowState::Missing,
            Place::Unavailable => RowState::Unavailable,
        }
    }

    /// How many addresses were answered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checksum(rows: &[(&[u8], &[u8])]) -> Checksum {
        let mut checksum = Checksum::default();
        for (key, row) in rows {
            checksum.add(StagedRow { key, row });
        }
        checksum
    }

    #[test]
    fn checksums_are_pinned_and_tell_keys_from_rows() {
        let one = checksum(&[(b"key", b"row")]);
        assert_eq!((one.rows, one.sum), (1, 16_371_127_200_311_780_216));
        assert_ne!(one, checksum(&[(b"ke", b"yrow")]));
        assert_ne!(one, checksum(&[(b"", b"keyrow")]));
        assert_ne!(one, checksum(&[(b"key", b"rov")]));
    }

    #[test]
    fn order_does_not_matter_and_repeats_do() {
        let [a, b]: [(&[u8], &[u8]); 2] = [(b"a", b"1"), (b"b", b"2")];
        assert_eq!(checksum(&[a, b]), checksum(&[b, a]));
        assert_ne!(checksum(&[a, b]), checksum(&[a, b, b]));
        assert_ne!(checksum(&[a, b]), checksum(&[(b"a", b"2"), (b"b", b"1")]));
    }
}
