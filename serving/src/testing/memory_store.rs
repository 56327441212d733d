//! An online store in memory, for tests: whole releases, and keys that it refuses to look up.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use store::error::{Error, ErrorKind, Result};
use store::online::{Checksum, OnlineStore, RowAddress, RowState, Rows, StagedRow, Staging};
use store::release::{Release, ReleaseNumber, SnapshotId};

/// See the module. Only what serving calls is there; the rest refuses.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    served: Option<ReleaseNumber>,
    releases: BTreeMap<ReleaseNumber, Release>,
    /// By snapshot and key.
    rows: BTreeMap<(SnapshotId, Vec<u8>), Vec<u8>>,
    refused: Vec<Vec<u8>>,
    down: bool,
    reads: usize,
}

impl MemoryStore {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("not poisoned")
    }

    pub(crate) fn put(&self, snapshot: SnapshotId, key: &[u8], row: Vec<u8>) {
        self.inner().rows.insert((snapshot, key.to_vec()), row);
    }

    /// Answers `Unavailable` for this key from now on.
    pub(crate) fn refuse(&self, key: &[u8]) {
        self.inner().refused.push(key.to_vec());
    }

    /// Whether every call fails.
    pub(crate) fn set_down(&self, down: bool) {
        self.inner().down = down;
    }

    /// How often [`OnlineStore::read`] was called.
    pub(crate) fn reads(&self) -> usize {
        self.inner().reads
    }
}

fn unsupported<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, "not in tests"))
}

#[async_trait]
impl OnlineStore for MemoryStore {
    async fn begin(&self, _: &Name, _: Fingerprint, _: u64) -> Result<Staging> {
        unsupported()
    }

    async fn write(&self, _: SnapshotId, _: &[StagedRow<'_>]) -> Result<()> {
        unsupported()
    }

    async fn complete(&self, _: SnapshotId, _: Checksum) -> Result<()> {
        unsupported()
    }

    async fn register(&self, _: &Release) -> Result<()> {
        unsupported()
    }

    async fn flip(&self, _: Option<ReleaseNumber>, _: ReleaseNumber) -> Result<()> {
        unsupported()
    }

    async fn served(&self) -> Result<Option<ReleaseNumber>> {
        let inner = self.inner();
        if inner.down {
            return Err(Error::new(ErrorKind::Unavailable, "told to be down"));
        }
        Ok(inner.served)
    }

    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>> {
        unsupported()
    }

    async fn release(&self, number: ReleaseNumber) -> Result<Release> {
        let release = self.inner().releases.get(&number).cloned();
        release.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("no release {number}")))
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.inner().releases.values().cloned().collect())
    }

    async fn drop_release(&self, _: ReleaseNumber) -> Result<()> {
        unsupported()
    }

    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        let mut inner = self.inner();
        inner.reads += 1;
        rows.clear();
        if inner.down {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "told to be down, password `hunter2`",
            ));
        }
        for address in addresses {
            let snapshot = release.views[address.view].snapshot;
            let row = inner.rows.get(&(snapshot, address.key.to_vec()));
            let refused = inner.refused.iter().any(|key| key == address.key);
            rows.push(match row {
                _ if refused => RowState::Unavailable,
                Some(bytes) => RowState::Found(bytes),
                None => RowState::Missing,
            });
        }
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}
