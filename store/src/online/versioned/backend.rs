//! What a server does for rows that carry their versions.

use std::fmt;

use async_trait::async_trait;

use super::batch::Batch;
use super::records::{Change, Fields};
use super::release_reader::ReleaseReader;
use super::view_record::Block;
use super::view_rows::ViewRows;
use crate::error::Result;
use crate::online::{RowAddress, Rows};
use crate::release::SnapshotId;

/// A server. An implementation MUST
/// - make [`Backend::apply`] one atomic, durable change that every reader sees at once;
/// - merge a version into a row whatever else is written there at that moment, so that a publisher that was taken for
///   dead takes away nothing;
/// - say that a block or a row is not there only when it looked;
/// - end every call within a deadline of its own.
#[async_trait]
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Reads some records at one moment.
    async fn fields(&self, names: &[&str]) -> Result<Fields>;

    /// Reads all records at one moment.
    async fn all(&self) -> Result<Fields>;

    /// Whether the change was made: not if something that it depends on is another now.
    async fn apply(&self, change: &Change) -> Result<bool>;

    /// Gets ready for a snapshot, or fails where its rows would not be kept.
    async fn prepare(&self) -> Result<()>;

    /// Fails when that many new rows of that many bytes, all told, do not fit.
    async fn check_room(&self, rows: u64, bytes: u64) -> Result<()>;

    /// What the names of a view's rows start with: by the view's number, or by the first snapshot of its rows.
    fn row_prefix(&self, view: u64, base: SnapshotId) -> Vec<u8>;

    /// Most bytes of a batch.
    fn bytes_a_batch(&self) -> usize;

    /// Writes the blocks of a batch, then its rows, and waits until all is acknowledged.
    async fn write(&self, view: &ViewRows, batch: Batch) -> Result<()>;

    /// Takes out of rows what none of the kept snapshots reads.
    async fn prune(&self, view: &ViewRows, keys: &[Vec<u8>]) -> Result<()>;

    /// All versions of some rows, in the form of [`crate::online::versions`]; empty where there is no row.
    async fn versions(&self, view: &ViewRows, keys: &[&[u8]]) -> Result<Vec<Vec<u8>>>;

    /// Some blocks; those that are not there are `None`.
    async fn blocks(&self, blocks: &[Block]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Removes blocks, those that are there.
    async fn remove_blocks(&self, blocks: &[Block]) -> Result<()>;

    /// Reads the mark of a release and rows, at one moment: versions go as soon as the mark is gone.
    async fn read(
        &self,
        reader: &ReleaseReader,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()>;

    /// Whether the server answers at all.
    async fn ping(&self) -> Result<()>;
}
