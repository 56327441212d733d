//! The small records: snapshots, releases and the pointer to the served one.

use std::collections::BTreeSet;

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use heed::RoTxn;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::environment::{Environment, Table};
use super::error::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber, SnapshotId};

const SERVED: &[u8] = b"served";
const ROLLED_BACK: &[u8] = b"rolled_back";
const NEXT_SNAPSHOT: &[u8] = b"next_snapshot";

/// Where a snapshot is in its life; the first byte of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum SnapshotState {
    Staging = 1,
    Complete = 2,
    Dropped = 3,
}

/// What is known of a snapshot besides its state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Snapshot {
    pub(super) view: Name,
    pub(super) content: Fingerprint,
    /// Calls of `write` so far: tells whether rows were added while others were being verified.
    pub(super) writes: u64,
    /// What was verified.
    pub(super) rows: u64,
    pub(super) sum: u64,
}

pub(super) fn snapshot(
    environment: &Environment,
    txn: &RoTxn<'_>,
    id: SnapshotId,
) -> Result<(SnapshotState, Snapshot)> {
    let bytes = environment.snapshots.get(txn, &id.0.to_be_bytes());
    match bytes.map_err(failed)? {
        Some(bytes) => parse_snapshot(bytes),
        None => Err(Error::new(
            ErrorKind::NotFound,
            format!("snapshot `{}` is not in the online store", id.0),
        )),
    }
}

/// All snapshots, by ascending id.
pub(super) fn snapshots(
    environment: &Environment,
    txn: &RoTxn<'_>,
) -> Result<Vec<(SnapshotId, SnapshotState, Snapshot)>> {
    let mut found = Vec::new();
    for entry in environment.snapshots.iter(txn).map_err(failed)? {
        let (id, bytes) = entry.map_err(failed)?;
        let (state, snapshot) = parse_snapshot(bytes)?;
        found.push((SnapshotId(number(id)?), state, snapshot));
    }
    Ok(found)
}

pub(super) fn put_snapshot(
    environment: &Environment,
    txn: &mut heed::RwTxn<'_>,
    id: SnapshotId,
    state: SnapshotState,
    snapshot: &Snapshot,
) -> Result<()> {
    let mut bytes = vec![state as u8];
    bytes.extend(to_json(snapshot)?);
    environment
        .snapshots
        .put(txn, &id.0.to_be_bytes(), &bytes)
        .map_err(failed)
}

/// Whether a snapshot's rows are all there to be read.
pub(super) fn is_complete(
    environment: &Environment,
    txn: &RoTxn<'_>,
    id: SnapshotId,
) -> Result<bool> {
    let bytes = environment.snapshots.get(txn, &id.0.to_be_bytes());
    let state = bytes.map_err(failed)?.and_then(|bytes| bytes.first());
    Ok(state == Some(&(SnapshotState::Complete as u8)))
}

/// Takes the next snapshot number. Numbers grow and are never given twice.
pub(super) fn take_snapshot_id(
    environment: &Environment,
    txn: &mut heed::RwTxn<'_>,
) -> Result<SnapshotId> {
    let next = pointer(environment, txn, NEXT_SNAPSHOT)?.unwrap_or(1);
    environment
        .pointers
        .put(txn, NEXT_SNAPSHOT, &(next + 1).to_be_bytes())
        .map_err(failed)?;
    Ok(SnapshotId(next))
}

pub(super) fn register(environment: &Environment, release: &Release) -> Result<()> {
    let mut txn = environment.write()?;
    let key = release.number.0.to_be_bytes();
    if let Some(known) = get::<Release>(environment.releases, &txn, &key)? {
        return if known == *release {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Conflict,
                format!("release `{}` is another one already", release.number),
            ))
        };
    }
    for view in &release.views {
        let refused = |what: &str| {
            Error::new(
                ErrorKind::Invalid,
                format!(
                    "release `{}` names snapshot `{}` of view `{}`, which {what}",
                    release.number, view.snapshot.0, view.view
                ),
            )
        };
        let (state, snapshot) =
            snapshot(environment, &txn, view.snapshot).map_err(|error| match error.kind() {
                ErrorKind::NotFound => refused("is not in the online store"),
                _ => error,
            })?;
        if state != SnapshotState::Complete {
            return Err(refused("is not complete"));
        }
        if snapshot.view != view.view || snapshot.content != view.content {
            return Err(refused("holds another view or content"));
        }
    }
    let json = to_json(release)?;
    environment
        .releases
        .put(&mut txn, &key, &json)
        .map_err(failed)?;
    txn.commit().map_err(failed)
}

pub(super) fn flip(
    environment: &Environment,
    from: Option<ReleaseNumber>,
    to: ReleaseNumber,
) -> Result<()> {
    let mut txn = environment.write()?;
    let served = pointer(environment, &txn, SERVED)?.map(ReleaseNumber);
    if served != from {
        let shown = |number: Option<ReleaseNumber>| {
            number.map_or("none".to_owned(), |number| format!("`{number}`"))
        };
        return Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "the served release is {} and not {}",
                shown(served),
                shown(from)
            ),
        ));
    }
    get::<Release>(environment.releases, &txn, &to.0.to_be_bytes())?.ok_or_else(|| unknown(to))?;
    let mut marked = marked_as_rolled_back(environment, &txn)?;
    if from.is_some_and(|from| to < from) {
        let releases = all_releases(environment, &txn)?.into_iter();
        let behind = releases.map(|release| release.number);
        marked.extend(behind.filter(|number| *number > to && Some(*number) <= from));
    }
    marked.remove(&to);
    mark_as_rolled_back(environment, &mut txn, &marked)?;
    environment
        .pointers
        .put(&mut txn, SERVED, &to.0.to_be_bytes())
        .map_err(failed)?;
    txn.commit().map_err(failed)
}

pub(super) fn rolled_back(environment: &Environment) -> Result<Vec<ReleaseNumber>> {
    let txn = environment.read()?;
    let marked = marked_as_rolled_back(environment, &txn)?;
    Ok(marked.into_iter().collect())
}

fn marked_as_rolled_back(
    environment: &Environment,
    txn: &RoTxn<'_>,
) -> Result<BTreeSet<ReleaseNumber>> {
    let bytes = environment.pointers.get(txn, ROLLED_BACK).map_err(failed)?;
    let numbers = bytes.unwrap_or_default().chunks(size_of::<u64>());
    numbers
        .map(|bytes| number(bytes).map(ReleaseNumber))
        .collect()
}

fn mark_as_rolled_back(
    environment: &Environment,
    txn: &mut heed::RwTxn<'_>,
    marked: &BTreeSet<ReleaseNumber>,
) -> Result<()> {
    let bytes: Vec<u8> = marked
        .iter()
        .flat_map(|number| number.0.to_be_bytes())
        .collect();
    environment
        .pointers
        .put(txn, ROLLED_BACK, &bytes)
        .map_err(failed)
}

pub(super) fn served(environment: &Environment) -> Result<Option<ReleaseNumber>> {
    let txn = environment.read()?;
    Ok(pointer(environment, &txn, SERVED)?.map(ReleaseNumber))
}

pub(super) fn release(environment: &Environment, number: ReleaseNumber) -> Result<Release> {
    let txn = environment.read()?;
    get(environment.releases, &txn, &number.0.to_be_bytes())?.ok_or_else(|| unknown(number))
}

pub(super) fn releases(environment: &Environment) -> Result<Vec<Release>> {
    let txn = environment.read()?;
    all_releases(environment, &txn)
}

/// Forgets a release and marks the snapshots that only it named as dropped, in one transaction.
pub(super) fn drop_release(environment: &Environment, number: ReleaseNumber) -> Result<()> {
    let mut txn = environment.write()?;
    if pointer(environment, &txn, SERVED)? == Some(number.0) {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("release `{number}` is served"),
        ));
    }
    let (dropped, kept): (Vec<Release>, Vec<Release>) = all_releases(environment, &txn)?
        .into_iter()
        .partition(|release| release.number == number);
    let still_named = |id| {
        kept.iter()
            .flat_map(|release| &release.views)
            .any(|view| view.snapshot == id)
    };
    for view in dropped.iter().flat_map(|release| &release.views) {
        if still_named(view.snapshot) {
            continue;
        }
        let (_, record) = snapshot(environment, &txn, view.snapshot)?;
        let state = SnapshotState::Dropped;
        put_snapshot(environment, &mut txn, view.snapshot, state, &record)?;
    }
    let mut marked = marked_as_rolled_back(environment, &txn)?;
    marked.remove(&number);
    mark_as_rolled_back(environment, &mut txn, &marked)?;
    environment
        .releases
        .delete(&mut txn, &number.0.to_be_bytes())
        .map_err(failed)?;
    txn.commit().map_err(failed)
}

fn all_releases(environment: &Environment, txn: &RoTxn<'_>) -> Result<Vec<Release>> {
    let mut releases = Vec::new();
    for entry in environment.releases.iter(txn).map_err(failed)? {
        let (_, json) = entry.map_err(failed)?;
        releases.push(from_json(json)?);
    }
    Ok(releases)
}

fn unknown(number: ReleaseNumber) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "release `{number}` is not in the online store: `nightfill release list` shows those that are"
        ),
    )
}

fn pointer(environment: &Environment, txn: &RoTxn<'_>, name: &[u8]) -> Result<Option<u64>> {
    let bytes = environment.pointers.get(txn, name).map_err(failed)?;
    bytes.map(number).transpose()
}

fn number(bytes: &[u8]) -> Result<u64> {
    let bytes = bytes.try_into().map_err(|_| damaged())?;
    Ok(u64::from_be_bytes(bytes))
}

fn parse_snapshot(bytes: &[u8]) -> Result<(SnapshotState, Snapshot)> {
    let (state, json) = bytes.split_first().ok_or_else(damaged)?;
    let state = match state {
        1 => SnapshotState::Staging,
        2 => SnapshotState::Complete,
        3 => SnapshotState::Dropped,
        _ => return Err(damaged()),
    };
    Ok((state, from_json(json)?))
}

fn get<T: DeserializeOwned>(table: Table, txn: &RoTxn<'_>, key: &[u8]) -> Result<Option<T>> {
    let json = table.get(txn, key).map_err(failed)?;
    json.map(from_json).transpose()
}

fn from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| damaged().with_source(error))
}

fn to_json<T: Serialize>(record: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(record).map_err(|error| {
        Error::new(ErrorKind::Internal, "a record does not print as JSON").with_source(error)
    })
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Corrupt,
        "a record of the online store is damaged",
    )
}
