//! The embedded online store: one LMDB folder, memory-mapped by every process that uses it. The server reads while
//! the night writes in another process.
//!
//! ```text
//! rows       snapshot (u64, big-endian) + key               -> packed row                            510 bytes at most
//!            snapshot + first 471 key bytes + BLAKE3 of key -> key length (u32), key, packed row     511 bytes: longer keys
//! snapshots  snapshot                                       -> state (1 byte), JSON: view, content, ...
//! releases   number (u64, big-endian)                       -> JSON of the release
//! pointers   "served", "next_snapshot"                      -> number (u64, big-endian)
//!            "rolled_back"                                  -> numbers of releases (u64, big-endian), ascending
//!
//! state      1 staging --complete--> 2 complete --drop--> 3 dropped (being emptied, then forgotten)
//! ```
//!
//! - A release is visible by the one small write of `served`; LMDB makes that write atomic and durable. The same
//!   write keeps `rolled_back`, so that no crash parts the two. A store without it has seen no rollback.
//! - Snapshot numbers only grow and are never used twice, so loading appends, and a reader that holds an old release
//!   can tell a row that was never there from one that was deleted: the snapshot's state says so.
//! - Deletion goes in small transactions, after the state that announces it is durable.
//! - A full map or disk fails the write and leaves everything that was served as it is.

mod environment;
mod error;
mod read;
mod record;
mod row_key;
mod stage;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use self::environment::Environment;
use super::{Checksum, OnlineStore, RowAddress, Rows, StagedRow, Staging};
use crate::config::EmbeddedSettings;
use crate::error::{Error, ErrorKind, Result};
use crate::release::{Release, ReleaseNumber, SnapshotId};

/// An [`OnlineStore`] in a folder on local disk. Reads run inline (they take microseconds); writes run on Tokio's
/// blocking threads. Opening one folder several times in a process shares one map of it.
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    environment: Arc<Environment>,
}

impl EmbeddedStore {
    /// Opens the store in `folder`, which is made when it is not there. Not for network file systems.
    ///
    /// # Errors
    /// `Unavailable` when the folder or the map cannot be had, `Corrupt` when it holds something else.
    pub fn open(folder: &Path, settings: EmbeddedSettings) -> Result<Self> {
        let environment = Environment::shared(folder, settings)?;
        Ok(Self { environment })
    }

    /// Runs a write on a blocking thread: it waits for the disk and for other processes' writes.
    async fn write_with<T, F>(&self, write: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Environment) -> Result<T> + Send + 'static,
    {
        let environment = Arc::clone(&self.environment);
        tokio::task::spawn_blocking(move || write(&environment))
            .await
            .map_err(|error| {
                Error::new(ErrorKind::Internal, "a write to the online store broke off")
                    .with_source(error)
            })?
    }
}

#[async_trait]
impl OnlineStore for EmbeddedStore {
    async fn begin(&self, view: &Name, content: Fingerprint, _: u64) -> Result<Staging> {
        let view = view.clone();
        self.write_with(move |environment| stage::begin(environment, &view, content))
            .await
    }

    async fn write(&self, snapshot: SnapshotId, rows: &[StagedRow<'_>]) -> Result<()> {
        let rows = stage::OwnedRows::copy(rows)?;
        self.write_with(move |environment| stage::write(environment, snapshot, &rows))
            .await
    }

    async fn complete(&self, snapshot: SnapshotId, expected: Checksum) -> Result<()> {
        self.write_with(move |environment| stage::complete(environment, snapshot, expected))
            .await
    }

    async fn register(&self, release: &Release) -> Result<()> {
        let release = release.clone();
        self.write_with(move |environment| record::register(environment, &release))
            .await
    }

    async fn flip(&self, from: Option<ReleaseNumber>, to: ReleaseNumber) -> Result<()> {
        self.write_with(move |environment| record::flip(environment, from, to))
            .await
    }

    async fn served(&self) -> Result<Option<ReleaseNumber>> {
        record::served(&self.environment)
    }

    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>> {
        record::rolled_back(&self.environment)
    }

    async fn release(&self, number: ReleaseNumber) -> Result<Release> {
        record::release(&self.environment, number)
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        record::releases(&self.environment)
    }

    async fn drop_release(&self, number: ReleaseNumber) -> Result<()> {
        self.write_with(move |environment| {
            record::drop_release(environment, number)?;
            stage::empty_dropped(environment)
        })
        .await
    }

    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        read::read(&self.environment, release, addresses, rows)
    }

    async fn ping(&self) -> Result<()> {
        record::served(&self.environment).map(|_| ())
    }
}
