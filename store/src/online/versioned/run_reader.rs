//! Reads lists of keys: one by one, or several as the newest state that they make together.

use std::collections::VecDeque;

use super::backend::Backend;
use super::block::{Entry, entries};
use super::error::damaged;
use super::view_record::{Block, Run};
use crate::error::Result;

/// Blocks that are read at once.
const BLOCKS_A_READ: u64 = 8;

/// The entries of one run, in order.
#[derive(Debug)]
struct RunReader {
    view: u64,
    run: Run,
    next_block: u64,
    entries: VecDeque<Entry>,
}

impl RunReader {
    const fn new(view: u64, run: Run) -> Self {
        Self {
            view,
            run,
            next_block: 0,
            entries: VecDeque::new(),
        }
    }

    async fn first(&mut self, backend: &dyn Backend) -> Result<Option<&Entry>> {
        while self.entries.is_empty() && self.next_block < self.run.blocks {
            let end = (self.next_block + BLOCKS_A_READ).min(self.run.blocks);
            for block in read_blocks(backend, self.view, &self.run, self.next_block..end).await? {
                let block = block.ok_or_else(|| damaged("a list of keys"))?;
                self.entries.extend(entries(&block)?);
            }
            self.next_block = end;
        }
        Ok(self.entries.front())
    }
}

/// Some blocks of a run; those that are not there are `None`.
pub(super) async fn read_blocks(
    backend: &dyn Backend,
    view: u64,
    run: &Run,
    blocks: std::ops::Range<u64>,
) -> Result<Vec<Option<Vec<u8>>>> {
    let blocks: Vec<Block> = blocks.map(|index| run.block(view, index)).collect();
    backend.blocks(&blocks).await
}

/// The state that runs make together, oldest first: of a key that several hold, the newest counts.
#[derive(Debug)]
pub(super) struct NewestState {
    readers: Vec<RunReader>,
}

impl NewestState {
    pub(super) fn new(view: u64, runs: Vec<Run>) -> Self {
        let readers = runs.into_iter().map(|run| RunReader::new(view, run));
        Self {
            readers: readers.collect(),
        }
    }

    /// Takes the entries of keys below `end`, all without one, at most `most` of them; the rest comes in the next call.
    pub(super) async fn take_below(
        &mut self,
        backend: &dyn Backend,
        end: Option<&[u8]>,
        most: usize,
    ) -> Result<Vec<Entry>> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(key) = self.first_key_below(backend, end).await? else {
                break;
            };
            taken.extend(self.take(&key));
        }
        Ok(taken)
    }

    /// Takes the entry of `key`, once all before it were taken.
    pub(super) async fn take_at(
        &mut self,
        backend: &dyn Backend,
        key: &[u8],
    ) -> Result<Option<Entry>> {
        for reader in &mut self.readers {
            reader.first(backend).await?;
        }
        Ok(self.take(key))
    }

    async fn first_key_below(
        &mut self,
        backend: &dyn Backend,
        end: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let mut least: Option<&Vec<u8>> = None;
        for reader in &mut self.readers {
            if let Some(entry) = reader.first(backend).await? {
                least = Some(least.map_or(&entry.key, |least| least.min(&entry.key)));
            }
        }
        let is_below = |key: &&Vec<u8>| end.is_none_or(|end| key.as_slice() < end);
        Ok(least.filter(is_below).cloned())
    }

    fn take(&mut self, key: &[u8]) -> Option<Entry> {
        let mut newest = None;
        for reader in &mut self.readers {
            if reader.entries.front().is_some_and(|entry| entry.key == key) {
                newest = reader.entries.pop_front();
            }
        }
        newest
    }
}
