//! The online store on a Redis or Valkey server.
//!
//! ```text
//! nf:shop:{shop}:state      the small records: what is served, releases, views and their snapshots (state.rs)
//! nf:shop:{shop}:release:7  there as long as release 7 may be read
//! nf:shop:2:{key}           all versions of an entity's row in view 2, in one string (versions.rs)
//! nf:shop:2:changed:9:0     the keys that snapshot 9 changed, with the hashes of their rows
//! ```
//!
//! - A row and the mark of its release are read at one moment, by one `MGET`.
//! - A row that exists is changed by a script, at one moment (rewrite.lua).

mod connection;
mod error;
mod keys;
mod memory;
mod read;
mod rewrite;
mod state;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use self::connection::Connection;
use self::keys::Keys;
use self::memory::Memory;
use self::state::State;
use super::versioned::VersionedStore;
use super::versioned::backend::Backend;
use super::versioned::batch::Batch;
use super::versioned::records::{Change, Fields};
use super::versioned::release_reader::ReleaseReader;
use super::versioned::view_record::Block;
use super::versioned::view_rows::ViewRows;
use super::{RowAddress, Rows};
use crate::config::RedisSettings;
use crate::error::Result;
use crate::release::SnapshotId;

/// Most bytes of a batch.
const BYTES_A_BATCH: usize = 1 << 20;

/// The store of these settings. Connections are made when they are first used, and again after they break.
///
/// # Errors
/// `Invalid` when the settings are none that can be connected by.
pub fn open(settings: &RedisSettings) -> Result<VersionedStore> {
    let keys = Keys::new(&settings.namespace);
    let state = |deadline| -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(State {
            connection: Connection::new(settings, deadline)?,
            keys: keys.clone(),
        }))
    };
    Ok(VersionedStore::new(
        state(settings.read_deadline)?,
        state(settings.write_deadline)?,
    ))
}

#[async_trait]
impl Backend for State {
    async fn fields(&self, names: &[&str]) -> Result<Fields> {
        self.read_fields(names).await
    }

    async fn all(&self) -> Result<Fields> {
        self.read_all_fields().await
    }

    async fn apply(&self, change: &Change) -> Result<bool> {
        self.compare_and_set(change).await
    }

    async fn prepare(&self) -> Result<()> {
        Memory::of(&self.connection).await?.check_policy()
    }

    async fn check_room(&self, rows: u64, bytes: u64) -> Result<()> {
        Memory::of(&self.connection).await?.check_room(rows, bytes)
    }

    fn row_prefix(&self, view: u64, _: SnapshotId) -> Vec<u8> {
        self.keys.row_prefix(view)
    }

    fn bytes_a_batch(&self) -> usize {
        BYTES_A_BATCH
    }

    async fn write(&self, view: &ViewRows, batch: Batch) -> Result<()> {
        let commands = write::commands(&self.keys, view, batch)?;
        self.connection.send(&commands).await
    }

    async fn prune(&self, view: &ViewRows, keys: &[Vec<u8>]) -> Result<()> {
        write::prune(self, view, keys).await
    }

    async fn versions(&self, view: &ViewRows, keys: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        write::versions(self, view, keys).await
    }

    async fn blocks(&self, blocks: &[Block]) -> Result<Vec<Option<Vec<u8>>>> {
        write::blocks(self, blocks).await
    }

    async fn remove_blocks(&self, blocks: &[Block]) -> Result<()> {
        write::remove_blocks(self, blocks).await
    }

    async fn read(
        &self,
        reader: &ReleaseReader,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        read::read(self, reader, addresses, rows).await
    }

    async fn ping(&self) -> Result<()> {
        self.connection.read(&cmd("PING")).await.map(|_| ())
    }
}
