//! Rows that carry their versions: all that one entity's row was, in one value, each version under the snapshot that
//! brought it. An unchanged row is stored once however many snapshots hold it, and a release is read without copying.
//!
//! ```text
//! value    := slot*                                                 valid slots stand by ascending snapshot
//! slot     := snapshot (u32, little-endian)  length (u32, little-endian)  row (length bytes)
//! vanished := snapshot (u32, little-endian)  ff ff ff ff                  from this snapshot on there is no row
//! ```
//!
//! Snapshots of a view are numbered by ascending time, and each is staged against the newest one that is valid. A
//! publisher that dies leaves a snapshot that is *void*: its slots may stand anywhere, also after newer ones, and count
//! for nobody. Which snapshots below another are void is settled when that one begins, and never changes. So:
//!
//! - the row of snapshot `s` is the slot with the greatest snapshot that is at most `s` and not void; none, or a vanished
//!   one, means that it has no row;
//! - a slot above `s` is never looked at, whatever becomes of it;
//! - a slot may go when no kept snapshot reads it and a newer valid one stands before the snapshot that is being written.

use crate::error::{Error, ErrorKind, Result};
use crate::release::SnapshotId;

/// Bytes of a slot before its row.
pub(crate) const SLOT_HEADER: usize = 8;

/// The length that says that there is no row.
const VANISHED: u32 = u32::MAX;

/// What a snapshot says of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version<'a> {
    /// It has this row.
    Row(&'a [u8]),
    /// It has no row where the one before had one.
    Vanished,
}

/// One slot of a value.
#[derive(Debug, Clone, Copy)]
struct Slot<'a> {
    snapshot: SnapshotId,
    version: Version<'a>,
    /// The slot as it stands in the value.
    bytes: &'a [u8],
}

/// What a snapshot of a view can see: itself, and which of those before it count for nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Horizon {
    snapshot: SnapshotId,
    /// Ascending.
    void: Vec<SnapshotId>,
}

impl Horizon {
    /// The horizon of a snapshot, from the void ones that were known when it began.
    pub(crate) fn new(snapshot: SnapshotId, mut void: Vec<SnapshotId>) -> Self {
        void.sort_unstable();
        Self { snapshot, void }
    }

    pub(crate) const fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// The void snapshots, ascending.
    pub(crate) fn void(&self) -> &[SnapshotId] {
        &self.void
    }

    fn is_void(&self, snapshot: SnapshotId) -> bool {
        self.void.binary_search(&snapshot).is_ok()
    }

    fn sees(&self, snapshot: SnapshotId) -> bool {
        snapshot <= self.snapshot && !self.is_void(snapshot)
    }

    /// The row that the snapshot has in `value`, if any.
    ///
    /// # Errors
    /// `Corrupt` when the value is no list of slots.
    pub(crate) fn row<'a>(&self, value: &'a [u8]) -> Result<Option<&'a [u8]>> {
        let mut newest: Option<Slot<'a>> = None;
        for slot in Slots(value) {
            let slot = slot?;
            let newer = newest.is_none_or(|newest| newest.snapshot <= slot.snapshot);
            if newer && self.sees(slot.snapshot) {
                newest = Some(slot);
            }
        }
        Ok(newest.and_then(|slot| match slot.version {
            Version::Row(row) => Some(row),
            Version::Vanished => None,
        }))
    }

    /// What `redis/rewrite.lua` does on a server, in Rust: a test holds the two equal.
    ///
    /// The value once this snapshot has written `version` into it (again, if it did before), less the slots that none of
    /// the `kept` snapshots, by ascending id, reads. `None` is no new version: only what nobody reads goes. An empty
    /// value means that the key may go.
    ///
    /// Slots above this snapshot stay as they are, so a publisher that wakes up late harms nobody.
    ///
    /// # Errors
    /// `Corrupt` when the value is no list of slots.
    #[cfg(test)]
    pub(crate) fn rewrite(
        &self,
        value: &[u8],
        version: Option<Version<'_>>,
        kept: &[SnapshotId],
    ) -> Result<Vec<u8>> {
        let mut below = Vec::new();
        let mut above = Vec::new();
        for slot in Slots(value) {
            let slot = slot?;
            if slot.snapshot > self.snapshot {
                above.push(slot);
            } else if slot.snapshot == self.snapshot && version.is_some() {
                continue;
            } else if !self.is_void(slot.snapshot) {
                below.push(slot);
            }
        }
        let mut rewritten = Vec::with_capacity(value.len());
        for (index, slot) in below.iter().enumerate() {
            let next = below.get(index + 1).map(|slot| slot.snapshot);
            let read = next.is_none_or(|next| {
                let first = kept.partition_point(|kept| *kept < slot.snapshot);
                kept.get(first).is_some_and(|kept| *kept < next)
            });
            let says_nothing = rewritten.is_empty() && slot.version == Version::Vanished;
            if read && !says_nothing {
                rewritten.extend_from_slice(slot.bytes);
            }
        }
        if let Some(version) = version
            && !(rewritten.is_empty() && version == Version::Vanished)
        {
            push(&mut rewritten, self.snapshot, version)?;
        }
        for slot in above {
            rewritten.extend_from_slice(slot.bytes);
        }
        Ok(rewritten)
    }
}

/// Appends a slot.
///
/// # Errors
/// `Unsupported` for a row of 4 GiB and a snapshot above 2^32.
pub(crate) fn push(value: &mut Vec<u8>, snapshot: SnapshotId, version: Version<'_>) -> Result<()> {
    let id = u32::try_from(snapshot.0).map_err(|_| too_large("a snapshot's number"))?;
    let (length, row) = match version {
        Version::Row(row) => (u32::try_from(row.len()).unwrap_or(VANISHED), row),
        Version::Vanished => (VANISHED, [].as_slice()),
    };
    if length == VANISHED && version != Version::Vanished {
        return Err(too_large("a row"));
    }
    value.extend_from_slice(&id.to_le_bytes());
    value.extend_from_slice(&length.to_le_bytes());
    value.extend_from_slice(row);
    Ok(())
}

/// The slots of a value, in the order in which they stand.
struct Slots<'a>(&'a [u8]);

impl<'a> Iterator for Slots<'a> {
    type Item = Result<Slot<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let slot = first_slot(self.0);
        match slot {
            Some(slot) => {
                self.0 = &self.0[slot.bytes.len()..];
                Some(Ok(slot))
            }
            None => {
                self.0 = &[];
                Some(Err(Error::new(
                    ErrorKind::Corrupt,
                    "a stored row is damaged: its versions do not read",
                )))
            }
        }
    }
}

fn first_slot(value: &[u8]) -> Option<Slot<'_>> {
    let (id, rest) = value.split_first_chunk::<4>()?;
    let (length, rows) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    let (version, size) = match length {
        VANISHED => (Version::Vanished, 0),
        length => {
            let size = usize::try_from(length).ok()?;
            (Version::Row(rows.get(..size)?), size)
        }
    };
    Some(Slot {
        snapshot: SnapshotId(u64::from(u32::from_le_bytes(*id))),
        version,
        bytes: &value[..SLOT_HEADER + size],
    })
}

fn too_large(what: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("{what} does not fit the 32 bits that stored rows have for it"),
    )
}

#[cfg(test)]
mod tests;
