//! What is written at once: rows, and before them the list of their keys, so that what a dead publisher wrote is known.

use redis::Pipeline;
use tokio::task::JoinSet;

use super::block::BlockWriter;
use super::connection::Connection;
use super::keys::{Keys, row_key};
use super::rewrite::Rewriter;
use super::staging::Staging;
use super::view_record::Run;
use crate::error::{Error, ErrorKind, Result};
use crate::online::versions::{Version, push};

/// Most bytes and rows of a batch.
const BYTES_A_BATCH: usize = 1 << 20;
const ROWS_A_BATCH: usize = 4_096;

/// Batches on their way: while the server works on one, the next is made.
const BATCHES_ON_THEIR_WAY: usize = 2;

/// Rows that are written at once, by ascending key.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// New keys and their slots.
    appended: Vec<(Vec<u8>, Vec<u8>)>,
    /// Keys that exist, and beside them their new slots.
    rewritten: Vec<Vec<u8>>,
    slots: Vec<Vec<u8>>,
    changed: BlockWriter,
    /// Blocks of the list of all keys, under their names.
    listed: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    /// Adds the first row of a key.
    pub(super) fn append(
        &mut self,
        staging: &Staging,
        key: &[u8],
        row: &[u8],
        hash: u64,
    ) -> Result<()> {
        let (name, slot) = self.slot(staging, key, Version::Row(row), Some(hash))?;
        self.appended.push((name, slot));
        Ok(())
    }

    /// Adds another version of a key that there is.
    pub(super) fn rewrite(
        &mut self,
        staging: &Staging,
        key: &[u8],
        version: Version<'_>,
        hash: Option<u64>,
    ) -> Result<()> {
        let (name, slot) = self.slot(staging, key, version, hash)?;
        self.rewritten.push(name);
        self.slots.push(slot);
        Ok(())
    }

    fn slot(
        &mut self,
        staging: &Staging,
        key: &[u8],
        version: Version<'_>,
        hash: Option<u64>,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut slot = Vec::new();
        push(&mut slot, staging.horizon().snapshot(), version)?;
        let name = row_key(staging.row_prefix(), key);
        self.changed.push(key, hash);
        self.bytes += name.len() + slot.len();
        Ok((name, slot))
    }

    /// Ends a block of the list of all keys.
    pub(super) fn end_list(
        &mut self,
        keys: &Keys,
        view: u64,
        list: &mut BlockWriter,
        run: &mut Run,
    ) {
        if list.is_empty() {
            return;
        }
        let name = keys.block(view, run.kind, run.id, run.blocks);
        let (block, entries) = list.take();
        run.blocks += 1;
        run.entries += entries;
        self.bytes += block.len();
        self.listed.push((name, block));
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes >= BYTES_A_BATCH || self.appended.len() + self.slots.len() >= ROWS_A_BATCH
    }

    /// The commands that write it, in this order; `None` when there is nothing.
    ///
    /// A new key is appended to, which makes it; where a dead publisher made it, its slot stays before, void.
    pub(super) fn commands(
        mut self,
        keys: &Keys,
        view: u64,
        changed: &mut Run,
        rewriter: &Rewriter,
    ) -> Option<Pipeline> {
        if self.changed.is_empty() && self.listed.is_empty() {
            return None;
        }
        let mut commands = Pipeline::with_capacity(self.appended.len() + 2);
        if !self.changed.is_empty() {
            let name = keys.block(view, changed.kind, changed.id, changed.blocks);
            let (block, entries) = self.changed.take();
            changed.blocks += 1;
            changed.entries += entries;
            commands.cmd("SET").arg(name).arg(block).ignore();
        }
        for (name, block) in self.listed {
            commands.cmd("SET").arg(name).arg(block).ignore();
        }
        for (name, slot) in self.appended {
            commands.cmd("APPEND").arg(name).arg(slot).ignore();
        }
        rewriter.add_to(&mut commands, &self.rewritten, &self.slots);
        Some(commands)
    }
}

/// Sends batches, a few at once.
#[derive(Debug)]
pub(super) struct Sender {
    connection: Connection,
    sent: JoinSet<Result<()>>,
}

impl Sender {
    pub(super) fn new(connection: &Connection) -> Self {
        Self {
            connection: connection.clone(),
            sent: JoinSet::new(),
        }
    }

    pub(super) async fn send(&mut self, commands: Pipeline) -> Result<()> {
        while self.sent.len() >= BATCHES_ON_THEIR_WAY {
            self.acknowledged().await?;
        }
        let connection = self.connection.clone();
        self.sent
            .spawn(async move { connection.send(&commands).await });
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
