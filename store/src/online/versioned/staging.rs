//! The rows of a snapshot on their way: compared with the newest state by their hashes, written where they changed.

use std::sync::Arc;

use feature_defs::name::Name;

use super::backend::Backend;
use super::batch::{Batch, NewVersion, Sender};
use super::block::{BlockWriter, Entry};
use super::read_back::Sample;
use super::run_reader::NewestState;
use super::view_record::{Run, RunKind, Snapshot, ViewRecord};
use super::view_rows::ViewRows;
use crate::error::Result;
use crate::online::versions::SLOT_HEADER;
use crate::online::{Checksum, StagedRow};

/// Bytes of a block of the list of all keys.
const BYTES_A_BLOCK: usize = 64 << 10;

/// Bytes of a key in the lists of keys, and of a row's name beside the key.
const LISTED: u64 = 32;

/// Vanished keys that are looked at at once.
const VANISHED_AT_ONCE: usize = 4_096;

/// A snapshot that is being staged.
#[derive(Debug)]
pub(super) struct Staging {
    view: Arc<ViewRows>,
    bytes_a_batch: usize,
    /// How many rows will come.
    rows: u64,
    /// Keys that the store may have already.
    known: u64,
    newest: NewestState,
    last_key: Option<Vec<u8>>,
    found: Checksum,
    sample: Sample,
    changed: Run,
    /// The list of all keys, when this snapshot writes one.
    all: Option<(BlockWriter, Run)>,
}

impl Staging {
    pub(super) fn new(
        backend: &dyn Backend,
        view: &Name,
        record: &ViewRecord,
        snapshot: Snapshot,
        rows: u64,
    ) -> Self {
        let view = ViewRows::of(backend, view, record, snapshot.id, snapshot.horizon());
        let runs = record.newest_runs();
        let run = |kind| Run {
            id: snapshot.id,
            kind,
            entries: 0,
            blocks: 0,
        };
        let all = record.is_due_for_a_list();
        Self {
            view: Arc::new(view),
            bytes_a_batch: backend.bytes_a_batch(),
            rows,
            known: runs.iter().map(|run| run.entries).sum(),
            newest: NewestState::new(record.number, runs),
            last_key: None,
            found: Checksum::default(),
            sample: Sample::default(),
            changed: run(RunKind::Changed),
            all: all.then(|| (BlockWriter::default(), run(RunKind::All))),
        }
    }

    pub(super) fn view(&self) -> &Name {
        &self.view.view
    }

    /// What was written and compared so far.
    pub(super) const fn found(&self) -> Checksum {
        self.found
    }

    /// The lists of keys that it wrote.
    pub(super) fn runs(&self) -> (Run, Option<Run>) {
        let all = self.all.as_ref().map(|(_, run)| run.clone());
        (self.changed.clone(), all)
    }

    /// Whether the keys of these rows ascend, and follow those of all before.
    pub(super) fn follow(&self, rows: &[StagedRow<'_>]) -> bool {
        let last = self.last_key.as_deref();
        let follows = rows
            .first()
            .is_none_or(|row| last.is_none_or(|last| last < row.key));
        follows && rows.is_sorted_by(|one, next| one.key < next.key)
    }

    pub(super) async fn write(
        &mut self,
        backend: &Arc<dyn Backend>,
        rows: &[StagedRow<'_>],
    ) -> Result<()> {
        if self.last_key.is_none() {
            self.check_room(&**backend, rows).await?;
        }
        let mut sender = Sender::new(backend);
        let mut batch = Batch::default();
        for row in rows {
            let hash = row.hash();
            self.vanish(backend, Some(row.key), &mut batch, &mut sender)
                .await?;
            let known = self.newest.take_at(&**backend, row.key).await?;
            if !matches!(known, Some(Entry { hash: known, .. }) if known == Some(hash)) {
                let version = NewVersion {
                    key: row.key.to_vec(),
                    row: Some(row.row.to_vec()),
                    is_new: known.is_none(),
                };
                batch.push(version, Some(hash));
            }
            if let Some((list, _)) = &mut self.all {
                list.push(row.key, Some(hash));
            }
            self.found.add_hash(hash);
            self.sample.offer(row.key, Some(hash));
            self.send_if_full(&mut batch, &mut sender).await?;
        }
        if let Some(last) = rows.last() {
            self.last_key = Some(last.key.to_vec());
        }
        self.send(&mut batch, &mut sender).await?;
        sender.finish().await
    }

    /// Writes that the keys after the last row vanished, and the end of the list of all keys.
    pub(super) async fn finish(&mut self, backend: &Arc<dyn Backend>) -> Result<()> {
        let mut sender = Sender::new(backend);
        let mut batch = Batch::default();
        self.vanish(backend, None, &mut batch, &mut sender).await?;
        if let Some((list, run)) = &mut self.all {
            batch.end_list(self.view.number, list, run);
        }
        self.send(&mut batch, &mut sender).await?;
        sender.finish().await
    }

    /// Reads some of the rows back, from all over the snapshot.
    pub(super) async fn read_back(&self, backend: &dyn Backend) -> Result<()> {
        self.sample.read_back(backend, &self.view).await
    }

    /// Writes that the known keys below `end` that did not come have no row any more.
    async fn vanish(
        &mut self,
        backend: &Arc<dyn Backend>,
        end: Option<&[u8]>,
        batch: &mut Batch,
        sender: &mut Sender,
    ) -> Result<()> {
        loop {
            let gone = self
                .newest
                .take_below(&**backend, end, VANISHED_AT_ONCE)
                .await?;
            let count = gone.len();
            for entry in gone.into_iter().filter(|entry| entry.hash.is_some()) {
                self.sample.offer(&entry.key, None);
                let version = NewVersion {
                    key: entry.key,
                    row: None,
                    is_new: false,
                };
                batch.push(version, None);
                self.send_if_full(batch, sender).await?;
            }
            if count < VANISHED_AT_ONCE {
                return Ok(());
            }
        }
    }

    async fn send_if_full(&mut self, batch: &mut Batch, sender: &mut Sender) -> Result<()> {
        if let Some((list, run)) = &mut self.all
            && list.len() >= BYTES_A_BLOCK
        {
            batch.end_list(self.view.number, list, run);
        }
        match batch.is_full(self.bytes_a_batch) {
            true => self.send(batch, sender).await,
            false => Ok(()),
        }
    }

    async fn send(&mut self, batch: &mut Batch, sender: &mut Sender) -> Result<()> {
        let mut batch = std::mem::take(batch);
        batch.end_changed(self.view.number, &mut self.changed);
        match batch.is_empty() {
            true => Ok(()),
            false => sender.send(&self.view, batch).await,
        }
    }

    /// Fails when the rows that are certainly new do not fit the server, judged by the first ones.
    async fn check_room(&self, backend: &dyn Backend, rows: &[StagedRow<'_>]) -> Result<()> {
        let new = self.rows.max(rows.len() as u64).saturating_sub(self.known);
        let bytes: usize = rows
            .iter()
            .map(|row| 2 * row.key.len() + row.row.len())
            .sum();
        let a_row = bytes as u64 / (rows.len() as u64).max(1) + SLOT_HEADER as u64 + LISTED;
        backend.check_room(new, new.saturating_mul(a_row)).await
    }
}
