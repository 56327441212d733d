//! An online store in memory, for tests: the contract of [`OnlineStore`] in its plainest form, held to the same suite.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use super::{Checksum, OnlineStore, RowAddress, RowState, Rows, StagedRow, Staging};
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber, SnapshotId};

#[derive(Debug, Default)]
pub(crate) struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next_snapshot: u64,
    snapshots: BTreeMap<SnapshotId, Snapshot>,
    releases: BTreeMap<ReleaseNumber, Release>,
    served: Option<ReleaseNumber>,
    rolled_back: BTreeSet<ReleaseNumber>,
}

#[derive(Debug)]
struct Snapshot {
    view: Name,
    content: Fingerprint,
    complete: bool,
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl MemoryStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(kind: ErrorKind) -> Error {
    Error::new(kind, "refused")
}

#[async_trait]
impl OnlineStore for MemoryStore {
    async fn begin(&self, view: &Name, content: Fingerprint, _: u64) -> Result<Staging> {
        let mut state = self.state();
        let same = |snapshot: &Snapshot| snapshot.view == *view && snapshot.content == content;
        let complete = |snapshot: &Snapshot| same(snapshot) && snapshot.complete;
        if let Some((id, _)) = state.snapshots.iter().find(|(_, known)| complete(known)) {
            return Ok(Staging::Complete(*id));
        }
        state.snapshots.retain(|_, snapshot| !same(snapshot));
        state.next_snapshot += 1;
        let id = SnapshotId(state.next_snapshot);
        let snapshot = Snapshot {
            view: view.clone(),
            content,
            complete: false,
            rows: BTreeMap::new(),
        };
        state.snapshots.insert(id, snapshot);
        Ok(Staging::Open(id))
    }

    async fn write(&self, snapshot: SnapshotId, rows: &[StagedRow<'_>]) -> Result<()> {
        let mut state = self.state();
        let staged = state.snapshots.get_mut(&snapshot);
        let staged = staged.ok_or_else(|| refused(ErrorKind::Conflict))?;
        for row in rows {
            let last = staged.rows.last_key_value();
            if last.is_some_and(|(last, _)| last.as_slice() >= row.key) {
                return Err(refused(ErrorKind::Invalid));
            }
            staged.rows.insert(row.key.to_vec(), row.row.to_vec());
        }
        Ok(())
    }

    async fn complete(&self, snapshot: SnapshotId, expected: Checksum) -> Result<()> {
        let mut state = self.state();
        let staged = state.snapshots.get_mut(&snapshot);
        let staged = staged.ok_or_else(|| refused(ErrorKind::NotFound))?;
        let mut found = Checksum::default();
        for (key, row) in &staged.rows {
            found.add(StagedRow { key, row });
        }
        if found != expected {
            return Err(refused(ErrorKind::Corrupt));
        }
        staged.complete = true;
        Ok(())
    }

    async fn register(&self, release: &Release) -> Result<()> {
        let mut state = self.state();
        if let Some(known) = state.releases.get(&release.number) {
            return match known == release {
                true => Ok(()),
                false => Err(refused(ErrorKind::Conflict)),
            };
        }
        let there = release.views.iter().all(|view| {
            state.snapshots.get(&view.snapshot).is_some_and(|known| {
                known.complete && known.view == view.view && known.content == view.content
            })
        });
        if !there {
            return Err(refused(ErrorKind::Invalid));
        }
        state.releases.insert(release.number, release.clone());
        Ok(())
    }

    async fn flip(&self, from: Option<ReleaseNumber>, to: ReleaseNumber) -> Result<()> {
        let mut state = self.state();
        if state.served != from {
            return Err(refused(ErrorKind::Conflict));
        }
        if !state.releases.contains_key(&to) {
            return Err(refused(ErrorKind::NotFound));
        }
        let numbers: Vec<ReleaseNumber> = state.releases.keys().copied().collect();
        let behind = |number: &ReleaseNumber| *number > to && Some(*number) <= from;
        state.rolled_back.extend(numbers.into_iter().filter(behind));
        state.rolled_back.remove(&to);
        state.served = Some(to);
        Ok(())
    }

    async fn served(&self) -> Result<Option<ReleaseNumber>> {
        Ok(self.state().served)
    }

    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>> {
        Ok(self.state().rolled_back.iter().copied().collect())
    }

    async fn release(&self, number: ReleaseNumber) -> Result<Release> {
        let known = self.state().releases.get(&number).cloned();
        known.ok_or_else(|| refused(ErrorKind::NotFound))
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.state().releases.values().cloned().collect())
    }

    async fn drop_release(&self, number: ReleaseNumber) -> Result<()> {
        let mut state = self.state();
        if state.served == Some(number) {
            return Err(refused(ErrorKind::Conflict));
        }
        let dropped = state.releases.remove(&number);
        state.rolled_back.remove(&number);
        for view in dropped.iter().flat_map(|release| &release.views) {
            let mut kept = state.releases.values().flat_map(|release| &release.views);
            if !kept.any(|other| other.snapshot == view.snapshot) {
                state.snapshots.remove(&view.snapshot);
            }
        }
        Ok(())
    }

    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        rows.clear();
        let state = self.state();
        for address in addresses {
            let view = release.views.get(address.view);
            let view = view.ok_or_else(|| refused(ErrorKind::Invalid))?;
            let snapshot = state.snapshots.get(&view.snapshot);
            let snapshot = snapshot.ok_or_else(|| refused(ErrorKind::NotFound))?;
            let row = snapshot.rows.get(address.key);
            rows.push(row.map_or(RowState::Missing, |row| RowState::Found(row)));
        }
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn memory_store_conforms() {
    crate::conformance::online::all(async || MemoryStore::default()).await;
}
