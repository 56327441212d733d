//! What is written at once: rows, and before them the list of their keys, so that what a dead publisher wrote is known.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::backend::Backend;
use super::block::BlockWriter;
use super::view_record::{Block, Run};
use super::view_rows::ViewRows;
use crate::error::{Error, ErrorKind, Result};

/// Most rows of a batch.
const ROWS_A_BATCH: usize = 4_096;

/// What a version takes beside its key and its row.
const OVERHEAD_A_ROW: usize = 40;

/// Batches on their way: while the server works on one, the next is made.
const BATCHES_ON_THEIR_WAY: usize = 2;

/// Rows that are written at once, by ascending key.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<NewVersion>,
    /// Lists of keys, which are written before the rows.
    pub(crate) blocks: Vec<(Block, Vec<u8>)>,
    changed: BlockWriter,
    bytes: usize,
}

/// A version that a row gets.
#[derive(Debug)]
pub(crate) struct NewVersion {
    pub(crate) key: Vec<u8>,
    /// `None` where there is no row from now on.
    pub(crate) row: Option<Vec<u8>>,
    /// Whether the newest state has no such key. A dead publisher may have written it all the same.
    pub(crate) is_new: bool,
}

impl Batch {
    /// Adds a version, and its key to the list of those that changed.
    pub(super) fn push(&mut self, version: NewVersion, hash: Option<u64>) {
        self.changed.push(&version.key, hash);
        self.bytes += version.key.len() + version.row.as_ref().map_or(0, Vec::len) + OVERHEAD_A_ROW;
        self.rows.push(version);
    }

    /// Ends a block of the list of all keys.
    pub(super) fn end_list(&mut self, view: u64, list: &mut BlockWriter, run: &mut Run) {
        if let Some((block, bytes)) = end_block(view, list, run) {
            self.bytes += bytes.len();
            self.blocks.push((block, bytes));
        }
    }

    /// Ends the list of the keys that it changes. It is the first to be written.
    pub(super) fn end_changed(&mut self, view: u64, run: &mut Run) {
        if let Some(ended) = end_block(view, &mut self.changed, run) {
            self.blocks.insert(0, ended);
        }
    }

    pub(super) const fn is_full(&self, bytes: usize) -> bool {
        self.bytes >= bytes || self.rows.len() >= ROWS_A_BATCH
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.blocks.is_empty()
    }
}

fn end_block(view: u64, list: &mut BlockWriter, run: &mut Run) -> Option<(Block, Vec<u8>)> {
    if list.is_empty() {
        return None;
    }
    let block = run.block(view, run.blocks);
    let (bytes, entries) = list.take();
    run.blocks += 1;
    run.entries += entries;
    Some((block, bytes))
}

/// Sends batches, a few at once.
#[derive(Debug)]
pub(super) struct Sender {
    backend: Arc<dyn Backend>,
    sent: JoinSet<Result<()>>,
}

impl Sender {
    pub(super) fn new(backend: &Arc<dyn Backend>) -> Self {
        Self {
            backend: Arc::clone(backend),
            sent: JoinSet::new(),
        }
    }

    pub(super) async fn send(&mut self, view: &Arc<ViewRows>, batch: Batch) -> Result<()> {
        while self.sent.len() >= BATCHES_ON_THEIR_WAY {
            self.acknowledged().await?;
        }
        let (backend, view) = (Arc::clone(&self.backend), Arc::clone(view));
        self.sent
            .spawn(async move { backend.write(&view, batch).await });
        Ok(())
    }

    /// Waits until all are acknowledged.
    pub(super) async fn finish(mut self) -> Result<()> {
        while !self.sent.is_empty() {
            self.acknowledged().await?;
        }
        Ok(())
    }

    async fn acknowledged(&mut self) -> Result<()> {
        match self.sent.join_next().await {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => Err(Error::new(
                ErrorKind::Internal,
                "a write to the online store broke off",
            )
            .with_source(error)),
            None => Ok(()),
        }
    }
}
