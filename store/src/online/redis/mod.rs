//! The online store on a Redis or Valkey server: rows carry their versions, so a release costs what changed.
//!
//! ```text
//! nf:shop:{shop}:state      the small records: what is served, releases, views and their snapshots (state.rs)
//! nf:shop:{shop}:release:7  there as long as release 7 may be read
//! nf:shop:2:{key}           all versions of an entity's row in view 2 (versions.rs)
//! nf:shop:2:changed:9:0     the keys that snapshot 9 changed, with the hashes of their rows (block.rs)
//!
//! night   begin: the snapshot before is void if it was never completed, and what it wrote goes
//!         write: each row is compared by hash with the newest state; what changed is listed, then written
//!         complete: keys that did not come vanish; counts, checksum and a sample are verified; one small write
//!         register, flip: one small write each, if nothing that they depend on has changed
//! day     read: one MGET of the release's mark and of all rows; of each, the newest version that the release sees
//! drop    the mark goes first; then versions that no kept release sees, by the lists of changed keys
//! ```
//!
//! - Nothing is copied: a night writes the rows that changed, and a flip or rollback one number.
//! - History is one line. A snapshot is compared with the newest complete one, served or not, and a publisher that was
//!   taken for dead and wakes up writes versions that count for nobody.
//! - A row and the mark of its release are read at one moment, and the mark goes before any version does. So a server
//!   that lost its data, or a release that was dropped, is an error, and never a missing row.
//! - Nothing is ever searched for: all keys are listed, before they are written.

mod batch;
mod block;
mod connection;
mod error;
mod keys;
mod memory;
mod read;
mod read_back;
mod releases;
mod rewrite;
mod run_reader;
mod stage;
mod staging;
mod state;
mod sweep;
#[cfg(test)]
mod tests;
mod view_record;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use self::connection::Connection;
use self::keys::Keys;
use self::read::ReleaseReaders;
use self::stage::Stagings;
use self::state::State;
use super::{Checksum, OnlineStore, RowAddress, Rows, StagedRow, Staging};
use crate::config::RedisSettings;
use crate::error::Result;
use crate::release::{Release, ReleaseNumber, SnapshotId};

/// An [`OnlineStore`] on a server. Reads and writes go over two connections, so that no read waits for a night's writes.
#[derive(Debug)]
pub struct RedisStore {
    day: State,
    night: State,
    readers: ReleaseReaders,
    stagings: Stagings,
}

impl RedisStore {
    /// The store of these settings. Connections are made when they are first used, and again after they break.
    ///
    /// # Errors
    /// `Invalid` when the settings are none that can be connected by.
    pub fn new(settings: &RedisSettings) -> Result<Self> {
        let keys = Keys::new(&settings.namespace);
        let state = |connection| State {
            connection,
            keys: keys.clone(),
        };
        Ok(Self {
            day: state(Connection::new(settings, settings.read_deadline)?),
            night: state(Connection::new(settings, settings.write_deadline)?),
            readers: ReleaseReaders::default(),
            stagings: Stagings::default(),
        })
    }
}

#[async_trait]
impl OnlineStore for RedisStore {
    async fn begin(&self, view: &Name, content: Fingerprint, rows: u64) -> Result<Staging> {
        stage::begin(&self.night, &self.stagings, view, content, rows).await
    }

    async fn write(&self, snapshot: SnapshotId, rows: &[StagedRow<'_>]) -> Result<()> {
        stage::write(&self.night, &self.stagings, snapshot, rows).await
    }

    async fn complete(&self, snapshot: SnapshotId, expected: Checksum) -> Result<()> {
        stage::complete(&self.night, &self.stagings, snapshot, expected).await
    }

    async fn register(&self, release: &Release) -> Result<()> {
        releases::register(&self.night, release).await
    }

    async fn flip(&self, from: Option<ReleaseNumber>, to: ReleaseNumber) -> Result<()> {
        releases::flip(&self.night, from, to).await
    }

    async fn served(&self) -> Result<Option<ReleaseNumber>> {
        releases::served(&self.day).await
    }

    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>> {
        releases::rolled_back(&self.day).await
    }

    async fn release(&self, number: ReleaseNumber) -> Result<Release> {
        let release = releases::release(&self.day, number).await?;
        self.readers.prepare(&self.day, &release).await?;
        Ok(release)
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        self.night.all().await?.releases()
    }

    async fn drop_release(&self, number: ReleaseNumber) -> Result<()> {
        releases::drop_release(&self.night, number).await
    }

    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        read::read(&self.day, &self.readers, release, addresses, rows).await
    }

    async fn ping(&self) -> Result<()> {
        self.day
            .connection
            .read(&redis::cmd("PING"))
            .await
            .map(|_| ())
    }
}
