//! What a night writes: lists of keys and rows, in pipelines.

use redis::{Pipeline, cmd};

use super::keys::{Keys, row_key};
use super::rewrite::Rewriter;
use super::state::State;
use crate::error::Result;
use crate::online::versioned::batch::Batch;
use crate::online::versioned::view_record::Block;
use crate::online::versioned::view_rows::ViewRows;
use crate::online::versions::{Version, push};

/// The commands that write a batch, in this order.
///
/// A new key is appended to, which makes it; where a dead publisher made it, its slot stays before, void.
pub(super) fn commands(keys: &Keys, view: &ViewRows, batch: Batch) -> Result<Pipeline> {
    let mut commands = Pipeline::with_capacity(batch.rows.len() + 2);
    for (block, bytes) in batch.blocks {
        commands
            .cmd("SET")
            .arg(keys.block(&block))
            .arg(bytes)
            .ignore();
    }
    let (mut rewritten, mut slots) = (Vec::new(), Vec::new());
    for version in batch.rows {
        let name = row_key(&view.prefix, &version.key);
        let row = version
            .row
            .as_deref()
            .map_or(Version::Vanished, Version::Row);
        let mut slot = Vec::new();
        push(&mut slot, view.horizon.snapshot(), row)?;
        if version.is_new {
            commands.cmd("APPEND").arg(name).arg(slot).ignore();
        } else {
            rewritten.push(name);
            slots.push(slot);
        }
    }
    Rewriter::new(&view.horizon, &view.kept).add_to(&mut commands, &rewritten, &slots);
    Ok(commands)
}

pub(super) async fn prune(state: &State, view: &ViewRows, keys: &[Vec<u8>]) -> Result<()> {
    let rows: Vec<Vec<u8>> = keys.iter().map(|key| row_key(&view.prefix, key)).collect();
    let mut commands = Pipeline::new();
    Rewriter::new(&view.horizon, &view.kept).add_to(&mut commands, &rows, &[]);
    state.connection.send(&commands).await
}

pub(super) async fn versions(
    state: &State,
    view: &ViewRows,
    keys: &[&[u8]],
) -> Result<Vec<Vec<u8>>> {
    let mut command = cmd("MGET");
    for key in keys {
        command.arg(row_key(&view.prefix, key));
    }
    let values: Vec<Option<Vec<u8>>> = state.connection.read_as(&command).await?;
    Ok(values.into_iter().map(Option::unwrap_or_default).collect())
}

pub(super) async fn blocks(state: &State, blocks: &[Block]) -> Result<Vec<Option<Vec<u8>>>> {
    let mut command = cmd("MGET");
    for block in blocks {
        command.arg(state.keys.block(block));
    }
    state.connection.read_as(&command).await
}

pub(super) async fn remove_blocks(state: &State, blocks: &[Block]) -> Result<()> {
    let mut command = cmd("DEL");
    for block in blocks {
        command.arg(state.keys.block(block));
    }
    state.connection.ask::<u64>(&command).await.map(|_| ())
}
