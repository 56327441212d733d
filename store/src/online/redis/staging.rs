//! The rows of a snapshot on their way: compared with the newest state by their hashes, written where they changed.

use feature_defs::name::Name;

use super::batch::{Batch, Sender};
use super::block::{BlockWriter, Entry};
use super::keys::RunKind;
use super::memory::Memory;
use super::read_back::Sample;
use super::rewrite::Rewriter;
use super::run_reader::NewestState;
use super::state::State;
use super::view_record::{Run, Snapshot, ViewRecord};
use crate::error::Result;
use crate::online::versions::{Horizon, SLOT_HEADER, Version};
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
    view: Name,
    number: u64,
    horizon: Horizon,
    rewriter: Rewriter,
    row_prefix: Vec<u8>,
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
        state: &State,
        view: &Name,
        record: &ViewRecord,
        snapshot: Snapshot,
        rows: u64,
    ) -> Self {
        let horizon = snapshot.horizon();
        let runs = record.newest_runs();
        let run = |kind| Run {
            id: snapshot.id,
            kind,
            entries: 0,
            blocks: 0,
        };
        let all = record.is_due_for_a_list();
        Self {
            view: view.clone(),
            number: record.number,
            rewriter: Rewriter::new(&horizon, &record.kept_ids()),
            horizon,
            row_prefix: state.keys.row_prefix(record.number),
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

    pub(super) const fn view(&self) -> &Name {
        &self.view
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

    pub(super) async fn write(&mut self, state: &State, rows: &[StagedRow<'_>]) -> Result<()> {
        if self.last_key.is_none() {
            self.check_room(state, rows).await?;
        }
        let mut sender = Sender::new(&state.connection);
        let mut batch = Batch::default();
        for row in rows {
            let hash = row.hash();
            self.vanish(state, Some(row.key), &mut batch, &mut sender)
                .await?;
            let known = self
                .newest
                .take_at(&state.connection, &state.keys, row.key)
                .await?;
            match known {
                Some(Entry { hash: known, .. }) if known == Some(hash) => {}
                Some(_) => batch.rewrite(self, row.key, Version::Row(row.row), Some(hash))?,
                None => batch.append(self, row.key, row.row, hash)?,
            }
            if let Some((list, _)) = &mut self.all {
                list.push(row.key, Some(hash));
            }
            self.found.add_hash(hash);
            self.sample.offer(row.key, Some(hash));
            self.send_if_full(state, &mut batch, &mut sender).await?;
        }
        if let Some(last) = rows.last() {
            self.last_key = Some(last.key.to_vec());
        }
        self.send(state, &mut batch, &mut sender).await?;
        sender.finish().await
    }

    /// Writes that the keys after the last row vanished, and the end of the list of all keys.
    pub(super) async fn finish(&mut self, state: &State) -> Result<()> {
        let mut sender = Sender::new(&state.connection);
        let mut batch = Batch::default();
        self.vanish(state, None, &mut batch, &mut sender).await?;
        if let Some((list, run)) = &mut self.all {
            batch.end_list(&state.keys, self.number, list, run);
        }
        self.send(state, &mut batch, &mut sender).await?;
        sender.finish().await
    }

    /// Reads some of the rows back, from all over the snapshot.
    pub(super) async fn read_back(&self, state: &State) -> Result<()> {
        self.sample
            .read_back(state, &self.row_prefix, &self.horizon)
            .await
    }

    /// Writes that the known keys below `end` that did not come have no row any more.
    async fn vanish(
        &mut self,
        state: &State,
        end: Option<&[u8]>,
        batch: &mut Batch,
        sender: &mut Sender,
    ) -> Result<()> {
        loop {
            let (connection, keys) = (&state.connection, &state.keys);
            let gone = self
                .newest
                .take_below(connection, keys, end, VANISHED_AT_ONCE)
                .await?;
            for entry in gone.iter().filter(|entry| entry.hash.is_some()) {
                batch.rewrite(self, &entry.key, Version::Vanished, None)?;
                self.sample.offer(&entry.key, None);
                self.send_if_full(state, batch, sender).await?;
            }
            if gone.len() < VANISHED_AT_ONCE {
                return Ok(());
            }
        }
    }

    async fn send_if_full(
        &mut self,
        state: &State,
        batch: &mut Batch,
        sender: &mut Sender,
    ) -> Result<()> {
        if let Some((list, run)) = &mut self.all
            && list.len() >= BYTES_A_BLOCK
        {
            batch.end_list(&state.keys, self.number, list, run);
        }
        match batch.is_full() {
            true => self.send(state, batch, sender).await,
            false => Ok(()),
        }
    }

    async fn send(&mut self, state: &State, batch: &mut Batch, sender: &mut Sender) -> Result<()> {
        let batch = std::mem::take(batch);
        let commands = batch.commands(&state.keys, self.number, &mut self.changed, &self.rewriter);
        match commands {
            Some(commands) => sender.send(commands).await,
            None => Ok(()),
        }
    }

    /// Fails when the rows that are certainly new do not fit the server, judged by the first ones.
    async fn check_room(&self, state: &State, rows: &[StagedRow<'_>]) -> Result<()> {
        let new = self.rows.max(rows.len() as u64).saturating_sub(self.known);
        let bytes: usize = rows
            .iter()
            .map(|row| 2 * row.key.len() + row.row.len())
            .sum();
        let a_row = bytes as u64 / (rows.len() as u64).max(1) + SLOT_HEADER as u64 + LISTED;
        let memory = Memory::of(&state.connection).await?;
        memory.check_room(new, new.saturating_mul(a_row))
    }

    pub(super) const fn horizon(&self) -> &Horizon {
        &self.horizon
    }

    pub(super) fn row_prefix(&self) -> &[u8] {
        &self.row_prefix
    }
}
