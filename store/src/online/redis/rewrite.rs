//! Rows that exist are changed on the server, each at one moment, by a script; never read, changed and set.

use redis::{Cmd, Pipeline, Script, cmd};

use crate::online::versions::Horizon;
use crate::release::SnapshotId;

const REWRITE: &str = include_str!("rewrite.lua");

/// Keys that one call of the script changes: it holds up everybody else on the server for as long.
const KEYS_A_CALL: usize = 64;

/// Rewrites of rows by one snapshot, or for none of them, to prune.
#[derive(Debug)]
pub(super) struct Rewriter {
    hash: String,
    snapshot: String,
    kept: String,
    void: String,
}

impl Rewriter {
    pub(super) fn new(horizon: &Horizon, kept: &[SnapshotId]) -> Self {
        Self {
            hash: Script::new(REWRITE).get_hash().to_owned(),
            snapshot: horizon.snapshot().0.to_string(),
            kept: listed(kept),
            void: listed(horizon.void()),
        }
    }

    /// Adds the calls for these rows to `commands`, with a slot for each, or with none to prune. The first call brings
    /// the script along, so that the server has it for the others whatever happened to it before.
    pub(super) fn add_to(&self, commands: &mut Pipeline, rows: &[Vec<u8>], slots: &[Vec<u8>]) {
        for (nth, keys) in rows.chunks(KEYS_A_CALL).enumerate() {
            let mut call = match nth {
                0 => script(REWRITE),
                _ => by_hash(&self.hash),
            };
            call.arg(keys.len()).arg(keys);
            call.arg(&self.snapshot).arg(&self.kept).arg(&self.void);
            let first = nth * KEYS_A_CALL;
            let slots = slots.get(first..).unwrap_or_default();
            call.arg(&slots[..slots.len().min(keys.len())]);
            commands.add_command(call).ignore();
        }
    }
}

fn script(text: &str) -> Cmd {
    let mut call = cmd("EVAL");
    call.arg(text);
    call
}

fn by_hash(hash: &str) -> Cmd {
    let mut call = cmd("EVALSHA");
    call.arg(hash);
    call
}

fn listed(snapshots: &[SnapshotId]) -> String {
    let numbers: Vec<String> = snapshots.iter().map(|id| id.0.to_string()).collect();
    numbers.join(",")
}
