//! Takes away what nobody reads any more, from recorded keys: what dead publishers wrote, versions of dropped snapshots,
//! old lists. Each thing is forgotten only after it is done, so that a sweep that broke off goes on later.

use feature_defs::name::Name;

use super::backend::Backend;
use super::block::entries;
use super::records::{Change, view_field};
use super::run_reader::read_blocks;
use super::view_record::{Block, Run, RunKind, ViewRecord};
use super::view_rows::ViewRows;
use crate::error::Result;
use crate::release::SnapshotId;

/// Keys that are pruned, and blocks that are removed, at once.
const KEYS_AT_ONCE: usize = 4_096;
const BLOCKS_AT_ONCE: u64 = 256;

/// Blocks that are looked for after the last one that is there: more than may be on their way at once, in any order.
const BLOCKS_AHEAD: u64 = 16;

/// Does all that is left to be done for a view.
pub(super) async fn sweep(backend: &dyn Backend, view: &Name) -> Result<()> {
    let field = view_field(view);
    loop {
        let fields = backend.fields(&[&field]).await?;
        let Some(mut record) = fields.json::<ViewRecord>(&field)? else {
            return Ok(());
        };
        if let Some(abandoned) = record.abandoned.first().copied() {
            empty(backend, view, &record, abandoned).await?;
            record.abandoned.remove(0);
        } else if let Some(span) = record.prunable.first().copied() {
            for run in record.changed_within(span) {
                let rows = ViewRows::of(backend, view, &record, run.id, record.horizon());
                prune(backend, &rows, &run).await?;
            }
            record.prunable.remove(0);
            record.retire_runs();
        } else if !record.obsolete.is_empty() {
            for run in std::mem::take(&mut record.obsolete) {
                remove_blocks(backend, record.number, &run).await?;
            }
        } else {
            return Ok(());
        }
        let mut change = Change::from(&fields, &[&field]);
        change.set_json(&field, &record)?;
        // Whoever changed the record meanwhile left the same things to be done; doing them twice harms nobody.
        backend.apply(&change).await?;
    }
}

/// Removes what a snapshot wrote that was never completed. How many blocks it wrote nobody recorded.
async fn empty(
    backend: &dyn Backend,
    view: &Name,
    record: &ViewRecord,
    abandoned: SnapshotId,
) -> Result<()> {
    let rows = ViewRows::of(backend, view, record, abandoned, record.horizon());
    for kind in [RunKind::Changed, RunKind::All] {
        let mut run = Run {
            id: abandoned,
            kind,
            entries: 0,
            blocks: 0,
        };
        loop {
            let ahead = run.blocks..run.blocks + BLOCKS_AHEAD;
            let found = read_blocks(backend, record.number, &run, ahead).await?;
            let Some(last) = found.iter().rposition(Option::is_some) else {
                break;
            };
            run.blocks += last as u64 + 1;
        }
        if kind == RunKind::Changed {
            prune(backend, &rows, &run).await?;
        }
        remove_blocks(backend, record.number, &run).await?;
    }
    Ok(())
}

/// Takes out of the rows of a run's keys what none of the kept snapshots reads.
async fn prune(backend: &dyn Backend, rows: &ViewRows, run: &Run) -> Result<()> {
    for block in 0..run.blocks {
        let found = read_blocks(backend, rows.number, run, block..block + 1).await?;
        for block in found.into_iter().flatten() {
            let listed = entries(&block)?.into_iter();
            let keys: Vec<Vec<u8>> = listed.map(|entry| entry.key).collect();
            for keys in keys.chunks(KEYS_AT_ONCE) {
                backend.prune(rows, keys).await?;
            }
        }
    }
    Ok(())
}

async fn remove_blocks(backend: &dyn Backend, view: u64, run: &Run) -> Result<()> {
    let mut first = 0;
    while first < run.blocks {
        let end = (first + BLOCKS_AT_ONCE).min(run.blocks);
        let blocks: Vec<Block> = (first..end).map(|index| run.block(view, index)).collect();
        backend.remove_blocks(&blocks).await?;
        first = end;
    }
    Ok(())
}
