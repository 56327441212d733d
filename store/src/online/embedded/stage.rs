//! Loading a snapshot: begin, write, complete; and emptying what was dropped.

use std::ops::{Bound, Range};

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use heed::{MdbError, PutFlags, RwTxn};

use super::environment::Environment;
use super::error::failed;
use super::record::{self, Snapshot, SnapshotState};
use super::row_key::{RowKey, split};
use crate::error::{Error, ErrorKind, Result};
use crate::online::{Checksum, StagedRow, Staging};
use crate::release::SnapshotId;

/// Most rows that one transaction deletes.
const ROWS_A_DELETION: usize = 50_000;

/// Most bytes of keys and rows that one transaction writes.
const BYTES_A_WRITE: usize = 32 << 20;

pub(super) fn begin(
    environment: &Environment,
    view: &Name,
    content: Fingerprint,
) -> Result<Staging> {
    environment.clear_stale_readers()?;
    let mut txn = environment.write()?;
    for (id, state, snapshot) in record::snapshots(environment, &txn)? {
        if snapshot.view != *view || snapshot.content != content {
            continue;
        }
        match state {
            SnapshotState::Complete => return Ok(Staging::Complete(id)),
            SnapshotState::Staging => {
                let dropped = SnapshotState::Dropped;
                record::put_snapshot(environment, &mut txn, id, dropped, &snapshot)?;
            }
            SnapshotState::Dropped => {}
        }
    }
    txn.commit().map_err(failed)?;
    empty_dropped(environment)?;

    let mut txn = environment.write()?;
    let id = record::take_snapshot_id(environment, &mut txn)?;
    let snapshot = Snapshot {
        view: view.clone(),
        content,
        writes: 0,
        rows: 0,
        sum: 0,
    };
    let staging = SnapshotState::Staging;
    record::put_snapshot(environment, &mut txn, id, staging, &snapshot)?;
    txn.commit().map_err(failed)?;
    Ok(Staging::Open(id))
}

/// Rows on their way to a blocking thread, in one piece of memory.
#[derive(Debug)]
pub(super) struct OwnedRows {
    bytes: Vec<u8>,
    rows: Vec<(Range<usize>, Range<usize>)>,
}

impl OwnedRows {
    /// Copies rows whose keys must ascend.
    pub(super) fn copy(rows: &[StagedRow<'_>]) -> Result<Self> {
        if !rows.is_sorted_by(|one, next| one.key < next.key) {
            return Err(out_of_order());
        }
        let length = rows.iter().map(|row| row.key.len() + row.row.len()).sum();
        let mut owned = Self {
            bytes: Vec::with_capacity(length),
            rows: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let start = owned.bytes.len();
            owned.bytes.extend_from_slice(row.key);
            let middle = owned.bytes.len();
            owned.bytes.extend_from_slice(row.row);
            owned.rows.push((start..middle, middle..owned.bytes.len()));
        }
        Ok(owned)
    }
}

pub(super) fn write(environment: &Environment, id: SnapshotId, rows: &OwnedRows) -> Result<()> {
    let mut buffer = Vec::new();
    let mut remaining = rows.rows.as_slice();
    while !remaining.is_empty() {
        let mut txn = environment.write()?;
        let mut snapshot = staging(environment, &txn, id)?;
        let mut written = 0;
        let mut taken = 0;
        for (key, row) in remaining {
            let (key, row) = (&rows.bytes[key.clone()], &rows.bytes[row.clone()]);
            put(
                environment,
                &mut txn,
                id,
                StagedRow { key, row },
                &mut buffer,
            )?;
            taken += 1;
            written += key.len() + row.len();
            if written >= BYTES_A_WRITE {
                break;
            }
        }
        remaining = &remaining[taken..];
        snapshot.writes += 1;
        record::put_snapshot(environment, &mut txn, id, SnapshotState::Staging, &snapshot)?;
        txn.commit().map_err(failed)?;
    }
    Ok(())
}

/// Appends when the key is the greatest of the table, which it is unless long keys or another snapshot came between.
fn put(
    environment: &Environment,
    txn: &mut RwTxn<'_>,
    id: SnapshotId,
    row: StagedRow<'_>,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let key = RowKey::new(id, row.key);
    let value = key.stored_value(row.key, row.row, buffer);
    let rows = environment.rows;
    let appended = rows.put_with_flags(txn, PutFlags::APPEND, key.as_bytes(), value);
    let Err(heed::Error::Mdb(MdbError::KeyExist)) = appended else {
        return appended.map_err(failed);
    };
    let inserted = rows.put_with_flags(txn, PutFlags::NO_OVERWRITE, key.as_bytes(), value);
    inserted.map_err(|error| match error {
        heed::Error::Mdb(MdbError::KeyExist) => out_of_order(),
        error => failed(error),
    })
}

pub(super) fn complete(
    environment: &Environment,
    id: SnapshotId,
    expected: Checksum,
) -> Result<()> {
    let read = environment.read()?;
    let (state, verified) = record::snapshot(environment, &read, id)?;
    let found = match state {
        SnapshotState::Complete => Checksum {
            rows: verified.rows,
            sum: verified.sum,
        },
        SnapshotState::Staging => read_back(environment, &read, id)?,
        SnapshotState::Dropped => return Err(no_longer_staging(id)),
    };
    drop(read);
    if found != expected {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "snapshot `{}` of view `{}` reads back as {} rows with checksum {:016x}, expected {} with {:016x}",
                id.0, verified.view, found.rows, found.sum, expected.rows, expected.sum
            ),
        ));
    }
    if state == SnapshotState::Complete {
        return Ok(());
    }
    let mut txn = environment.write()?;
    let mut snapshot = staging(environment, &txn, id)?;
    if snapshot.writes != verified.writes {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("snapshot `{}` was written to while it was verified", id.0),
        ));
    }
    snapshot.rows = found.rows;
    snapshot.sum = found.sum;
    record::put_snapshot(
        environment,
        &mut txn,
        id,
        SnapshotState::Complete,
        &snapshot,
    )?;
    txn.commit().map_err(failed)
}

fn read_back(environment: &Environment, txn: &heed::RoTxn<'_>, id: SnapshotId) -> Result<Checksum> {
    let mut checksum = Checksum::default();
    let prefix = id.0.to_be_bytes();
    for entry in environment.rows.prefix_iter(txn, &prefix).map_err(failed)? {
        let (table_key, stored) = entry.map_err(failed)?;
        let (key, row) = split(table_key, stored).ok_or_else(|| {
            Error::new(
                ErrorKind::Corrupt,
                format!("a row of snapshot `{}` is damaged", id.0),
            )
        })?;
        checksum.add(StagedRow { key, row });
    }
    Ok(checksum)
}

/// Deletes the rows of dropped snapshots in small transactions, then the snapshots' records.
pub(super) fn empty_dropped(environment: &Environment) -> Result<()> {
    let dropped: Vec<SnapshotId> = {
        let txn = environment.read()?;
        record::snapshots(environment, &txn)?
            .into_iter()
            .filter(|(_, state, _)| *state == SnapshotState::Dropped)
            .map(|(id, _, _)| id)
            .collect()
    };
    for id in dropped {
        while delete_some(environment, id)? {}
        let mut txn = environment.write()?;
        environment
            .snapshots
            .delete(&mut txn, &id.0.to_be_bytes())
            .map_err(failed)?;
        txn.commit().map_err(failed)?;
    }
    Ok(())
}

/// Deletes at most [`ROWS_A_DELETION`] rows; whether there may be more.
fn delete_some(environment: &Environment, id: SnapshotId) -> Result<bool> {
    let mut txn = environment.write()?;
    let first = id.0.to_be_bytes();
    let mut last = None;
    let mut count = 0;
    for entry in environment.rows.prefix_iter(&txn, &first).map_err(failed)? {
        let (key, _) = entry.map_err(failed)?;
        count += 1;
        if count == ROWS_A_DELETION {
            last = Some(key.to_vec());
            break;
        }
    }
    let after = id.0.saturating_add(1).to_be_bytes();
    let end = match &last {
        Some(last) => Bound::Included(last.as_slice()),
        None => Bound::Excluded(after.as_slice()),
    };
    let range = (Bound::Included(first.as_slice()), end);
    let deleted = environment.rows.delete_range(&mut txn, &range);
    deleted.map_err(failed)?;
    txn.commit().map_err(failed)?;
    Ok(last.is_some())
}

/// The record of a snapshot that takes rows.
fn staging(environment: &Environment, txn: &heed::RoTxn<'_>, id: SnapshotId) -> Result<Snapshot> {
    match record::snapshot(environment, txn, id)? {
        (SnapshotState::Staging, snapshot) => Ok(snapshot),
        _ => Err(no_longer_staging(id)),
    }
}

fn no_longer_staging(id: SnapshotId) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("snapshot `{}` is no longer being staged", id.0),
    )
}

fn out_of_order() -> Error {
    Error::new(
        ErrorKind::Invalid,
        "staged keys do not ascend, or one comes twice",
    )
}
