//! Takes away what nobody reads any more, from recorded keys: what dead publishers wrote, versions of dropped snapshots,
//! old lists. Each thing is forgotten only after it is done, so that a sweep that broke off goes on later.

use feature_defs::name::Name;
use redis::{Pipeline, cmd};

use super::block::entries;
use super::keys::{RunKind, row_key};
use super::rewrite::Rewriter;
use super::run_reader::read_blocks;
use super::state::{Change, State, view_field};
use super::view_record::{Run, ViewRecord};
use crate::error::Result;
use crate::release::SnapshotId;

/// Keys that are pruned, and blocks that are removed, at once.
const KEYS_A_PIPELINE: usize = 4_096;
const BLOCKS_A_COMMAND: u64 = 256;

/// Blocks that are looked for after the last one that is there: more than may be on their way at once, in any order.
const BLOCKS_AHEAD: u64 = 16;

/// Does all that is left to be done for a view.
pub(super) async fn sweep(state: &State, view: &Name) -> Result<()> {
    let field = view_field(view);
    loop {
        let fields = state.fields(&[&field]).await?;
        let Some(mut record) = fields.json::<ViewRecord>(&field)? else {
            return Ok(());
        };
        if let Some(abandoned) = record.abandoned.first().copied() {
            empty(state, &record, abandoned).await?;
            record.abandoned.remove(0);
        } else if let Some(span) = record.prunable.first().copied() {
            for run in record.changed_within(span) {
                prune(state, &record, &run).await?;
            }
            record.prunable.remove(0);
            record.retire_runs();
        } else if !record.obsolete.is_empty() {
            for run in std::mem::take(&mut record.obsolete) {
                remove_blocks(state, record.number, &run).await?;
            }
        } else {
            return Ok(());
        }
        let mut change = Change::from(&fields, &[&field]);
        change.set_json(&field, &record)?;
        // Whoever changed the record meanwhile left the same things to be done; doing them twice harms nobody.
        state.apply(&change).await?;
    }
}

/// Removes what a snapshot wrote that was never completed. How many blocks it wrote nobody recorded.
async fn empty(state: &State, record: &ViewRecord, abandoned: SnapshotId) -> Result<()> {
    for kind in [RunKind::Changed, RunKind::All] {
        let mut run = Run {
            id: abandoned,
            kind,
            entries: 0,
            blocks: 0,
        };
        loop {
            let ahead = run.blocks..run.blocks + BLOCKS_AHEAD;
            let (connection, keys) = (&state.connection, &state.keys);
            let found = read_blocks(connection, keys, record.number, &run, ahead).await?;
            let Some(last) = found.iter().rposition(Option::is_some) else {
                break;
            };
            run.blocks += last as u64 + 1;
        }
        if kind == RunKind::Changed {
            prune(state, record, &run).await?;
        }
        remove_blocks(state, record.number, &run).await?;
    }
    Ok(())
}

/// Takes out of the rows of a run's keys what none of the kept snapshots reads.
async fn prune(state: &State, record: &ViewRecord, run: &Run) -> Result<()> {
    let rewriter = Rewriter::new(&record.horizon(), &record.kept_ids());
    let prefix = state.keys.row_prefix(record.number);
    for block in 0..run.blocks {
        let blocks = block..block + 1;
        let found = read_blocks(&state.connection, &state.keys, record.number, run, blocks).await?;
        for block in found.into_iter().flatten() {
            let rows: Vec<Vec<u8>> = entries(&block)?
                .iter()
                .map(|entry| row_key(&prefix, &entry.key))
                .collect();
            for rows in rows.chunks(KEYS_A_PIPELINE) {
                let mut commands = Pipeline::new();
                rewriter.add_to(&mut commands, rows, &[]);
                state.connection.send(&commands).await?;
            }
        }
    }
    Ok(())
}

async fn remove_blocks(state: &State, view: u64, run: &Run) -> Result<()> {
    let mut first = 0;
    while first < run.blocks {
        let end = (first + BLOCKS_A_COMMAND).min(run.blocks);
        let mut command = cmd("DEL");
        for block in first..end {
            command.arg(state.keys.block(view, run.kind, run.id, block));
        }
        state.connection.ask::<u64>(&command).await?;
        first = end;
    }
    Ok(())
}
