//! What is known of one view: its snapshots, those that died, and the lists of keys.

use feature_defs::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::online::versions::Horizon;
use crate::release::SnapshotId;

/// Which keys of a view a run lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunKind {
    /// Those that a snapshot changed.
    Changed,
    /// All.
    All,
}

impl RunKind {
    /// What names of blocks call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::All => "all",
        }
    }
}

/// One block of a list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) view: u64,
    pub(crate) kind: RunKind,
    /// The snapshot that wrote it.
    pub(crate) run: SnapshotId,
    pub(crate) index: u64,
}

/// The record of a view.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ViewRecord {
    /// What its rows' keys call it.
    pub(crate) number: u64,
    /// The first complete snapshot, whose number may name the view's rows: they are then of no publisher that died before
    /// it. It never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<SnapshotId>,
    /// The complete snapshots that may be read, ascending.
    pub(crate) kept: Vec<Snapshot>,
    /// The snapshot that is being staged.
    pub(crate) staging: Option<Snapshot>,
    /// The newest complete snapshot, kept or not: what the next one is compared with.
    pub(crate) newest: Option<SnapshotId>,
    /// Snapshots that were never completed, ascending. What they wrote counts for nobody.
    pub(crate) void: Vec<SnapshotId>,
    /// The void ones whose rows are still to be removed.
    pub(crate) abandoned: Vec<SnapshotId>,
    /// All keys as of some snapshot.
    pub(crate) all: Option<Run>,
    /// The keys that each snapshot changed, ascending.
    pub(crate) changed: Vec<Run>,
    /// Spans of snapshots (after the first, up to the second) in whose changed keys there are versions that nobody
    /// reads any more.
    pub(crate) prunable: Vec<(SnapshotId, SnapshotId)>,
    /// Lists of keys that nobody needs any more.
    pub(crate) obsolete: Vec<Run>,
}

/// A snapshot of the view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) id: SnapshotId,
    pub(crate) content: Fingerprint,
    /// The void ones that were known when it began. It never changes.
    pub(crate) void: Vec<SnapshotId>,
    /// What was verified.
    pub(crate) rows: u64,
    pub(crate) sum: u64,
}

/// A list of keys, in blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The snapshot that wrote it.
    pub(crate) id: SnapshotId,
    pub(crate) kind: RunKind,
    pub(crate) entries: u64,
    pub(crate) blocks: u64,
}

impl Run {
    /// One of its blocks.
    pub(crate) const fn block(&self, view: u64, index: u64) -> Block {
        Block {
            view,
            kind: self.kind,
            run: self.id,
            index,
        }
    }
}

impl Snapshot {
    pub(crate) fn horizon(&self) -> Horizon {
        Horizon::new(self.id, self.void.clone())
    }
}

impl ViewRecord {
    /// The base of the rows that a snapshot wrote or will write: its own number, if none was complete when it began.
    pub(crate) fn base_of(&self, snapshot: SnapshotId) -> SnapshotId {
        self.base
            .filter(|base| *base < snapshot)
            .unwrap_or(snapshot)
    }

    /// The runs that say together what the newest snapshot holds, oldest first.
    pub(crate) fn newest_runs(&self) -> Vec<Run> {
        let all = self.all.iter();
        let since = self.changed.iter().filter(|run| self.is_newer(run));
        all.chain(since).cloned().collect()
    }

    fn is_newer(&self, run: &Run) -> bool {
        self.all.as_ref().is_none_or(|all| run.id > all.id)
    }

    /// Whether the next snapshot should list all keys anew, since more than half as many changed since that was done.
    pub(crate) fn is_due_for_a_list(&self) -> bool {
        let Some(all) = &self.all else {
            return false;
        };
        let since = self.changed.iter().filter(|run| self.is_newer(run));
        let (count, entries) = since.fold((0, 0), |(count, entries), run| {
            (count + 1, entries + run.entries)
        });
        entries > all.entries / 2 || count >= 32
    }

    pub(crate) fn kept_ids(&self) -> Vec<SnapshotId> {
        self.kept.iter().map(|snapshot| snapshot.id).collect()
    }

    /// What can be seen by now: all complete and all void snapshots.
    pub(crate) fn horizon(&self) -> Horizon {
        let newest = self.newest.max(self.void.last().copied());
        Horizon::new(newest.unwrap_or(SnapshotId(0)), self.void.clone())
    }

    /// Gives up the snapshot that is being staged: its publisher died, or is taken for dead.
    pub(crate) fn abandon(&mut self) {
        if let Some(staging) = self.staging.take() {
            self.void.push(staging.id);
            self.abandoned.push(staging.id);
        }
    }

    /// Completes the snapshot that is being staged.
    pub(crate) fn complete(&mut self, snapshot: Snapshot, changed: Run, all: Option<Run>) {
        let id = snapshot.id;
        self.staging = None;
        if self.newest.is_none() {
            self.base = Some(id);
        }
        if let Some(before) = self.newest.replace(id)
            && self.kept.last().is_none_or(|kept| kept.id != before)
        {
            // What the dropped one held was the ground that this one stood on, and goes now.
            let last_kept = self.kept.last().map_or(SnapshotId(0), |kept| kept.id);
            self.prunable.push((last_kept, id));
        }
        self.kept.push(snapshot);
        if self.all.is_none() {
            self.all = Some(changed);
        } else {
            self.changed.push(changed);
        }
        if let Some(all) = all {
            self.obsolete.extend(self.all.replace(all));
        }
        self.retire_runs();
    }

    /// Lets nobody read a snapshot any more.
    pub(crate) fn drop_snapshot(&mut self, id: SnapshotId) {
        let Some(index) = self.kept.iter().position(|kept| kept.id == id) else {
            return;
        };
        self.kept.remove(index);
        if let Some(next) = self.kept.get(index) {
            self.prunable.push((id, next.id));
        }
        self.retire_runs();
    }

    /// Takes away the lists of changed keys that tell no more: the list of all keys holds them, and no kept snapshot is
    /// older, so that nothing is left to prune by them.
    pub(crate) fn retire_runs(&mut self) {
        let Some(all) = self.all.as_ref().map(|all| all.id) else {
            return;
        };
        let oldest = self.kept.first().map(|kept| kept.id).or(self.newest);
        let prunable = &self.prunable;
        let done = |run: &Run| {
            run.id <= all
                && Some(run.id) <= oldest
                && !prunable
                    .iter()
                    .any(|(after, to)| run.id > *after && run.id <= *to)
        };
        let (obsolete, left) = std::mem::take(&mut self.changed)
            .into_iter()
            .partition(done);
        self.changed = left;
        self.obsolete.extend::<Vec<Run>>(obsolete);
    }

    /// The lists of the keys that changed in a span of snapshots.
    pub(crate) fn changed_within(&self, span: (SnapshotId, SnapshotId)) -> Vec<Run> {
        let within = |run: &&Run| run.id > span.0 && run.id <= span.1;
        self.changed.iter().filter(within).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: u64, kind: RunKind) -> Run {
        Run {
            id: SnapshotId(id),
            kind,
            entries: 10,
            blocks: 1,
        }
    }

    fn complete(record: &mut ViewRecord, id: u64, all: bool) {
        let snapshot = Snapshot {
            id: SnapshotId(id),
            content: Fingerprint::of([id.to_le_bytes()]),
            void: record.void.clone(),
            rows: 10,
            sum: 0,
        };
        let all = all.then(|| run(id, RunKind::All));
        record.complete(snapshot, run(id, RunKind::Changed), all);
    }

    fn ids(runs: &[Run]) -> Vec<u64> {
        runs.iter().map(|run| run.id.0).collect()
    }

    #[test]
    fn the_newest_state_is_the_list_of_all_keys_and_what_changed_since() {
        let mut record = ViewRecord::default();
        for id in 1..=3 {
            complete(&mut record, id, false);
        }
        assert_eq!(ids(&record.newest_runs()), [1, 2, 3]);
        assert!(record.is_due_for_a_list());
        complete(&mut record, 4, true);
        assert_eq!(ids(&record.newest_runs()), [4]);
        assert_eq!(ids(&record.obsolete), [1]);
        assert_eq!(ids(&record.changed), [2, 3, 4], "older ones are kept");
    }

    #[test]
    fn rows_are_named_by_the_first_complete_snapshot_and_those_of_dead_ones_before_by_their_own() {
        let mut record = ViewRecord::default();
        assert_eq!(record.base_of(SnapshotId(1)), SnapshotId(1));
        complete(&mut record, 2, false);
        complete(&mut record, 4, false);
        for (snapshot, base) in [(1, 1), (2, 2), (3, 2), (4, 2), (9, 2)] {
            assert_eq!(record.base_of(SnapshotId(snapshot)), SnapshotId(base));
        }
    }

    #[test]
    fn changed_keys_are_listed_until_their_older_versions_are_pruned() {
        let mut record = ViewRecord::default();
        for id in 1..=3 {
            complete(&mut record, id, false);
        }
        complete(&mut record, 4, true);
        record.obsolete.clear();
        record.drop_snapshot(SnapshotId(1));
        assert_eq!(record.prunable, [(SnapshotId(1), SnapshotId(2))]);
        assert_eq!(
            ids(&record.changed),
            [2, 3, 4],
            "2 is still to be pruned by"
        );
        record.prunable.clear();
        record.retire_runs();
        assert_eq!(ids(&record.changed), [3, 4]);
        assert_eq!(ids(&record.obsolete), [2]);
    }

    #[test]
    fn a_dropped_newest_snapshot_is_pruned_once_another_one_stands() {
        let mut record = ViewRecord::default();
        complete(&mut record, 1, false);
        complete(&mut record, 2, false);
        record.drop_snapshot(SnapshotId(2));
        assert_eq!(record.prunable, []);
        complete(&mut record, 3, false);
        assert_eq!(record.prunable, [(SnapshotId(1), SnapshotId(3))]);
        assert_eq!(ids(&record.changed_within(record.prunable[0])), [2, 3]);
    }
}
