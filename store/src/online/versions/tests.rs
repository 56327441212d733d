use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn horizon(snapshot: u64, void: &[u64]) -> Horizon {
    let void = void.iter().map(|id| SnapshotId(*id)).collect();
    Horizon::new(SnapshotId(snapshot), void)
}

fn value(slots: &[(u64, Version<'_>)]) -> Vec<u8> {
    let mut value = Vec::new();
    for (snapshot, version) in slots {
        push(&mut value, SnapshotId(*snapshot), *version).expect("small");
    }
    value
}

#[test]
fn slots_have_their_golden_bytes() {
    let value = value(&[
        (1, Version::Row(b"row")),
        (258, Version::Vanished),
        (0x0102_0304, Version::Row(b"")),
    ]);
    let golden = [
        &[1, 0, 0, 0, 3, 0, 0, 0, b'r', b'o', b'w'][..],
        &[2, 1, 0, 0, 255, 255, 255, 255],
        &[4, 3, 2, 1, 0, 0, 0, 0],
    ];
    assert_eq!(value, golden.concat());
}

#[test]
fn each_snapshot_reads_the_newest_slot_at_or_below_it() {
    let value = value(&[
        (2, Version::Row(b"two")),
        (5, Version::Vanished),
        (7, Version::Row(b"")),
    ]);
    let read = |snapshot| horizon(snapshot, &[]).row(&value).expect("reads");
    let answers: Vec<Option<&[u8]>> = (1..=8).map(read).collect();
    let two = Some(b"two".as_slice());
    let empty = Some(b"".as_slice());
    assert_eq!(answers, [None, two, two, two, None, None, empty, empty]);
}

#[test]
fn a_void_slot_counts_for_nobody_wherever_it_stands() {
    let late = value(&[
        (2, Version::Row(b"two")),
        (4, Version::Row(b"four")),
        (3, Version::Row(b"void")),
    ]);
    for snapshot in [3, 4, 5] {
        let row = horizon(snapshot, &[3]).row(&late).expect("reads");
        let expected: &[u8] = if snapshot == 3 { b"two" } else { b"four" };
        assert_eq!(row, Some(expected));
    }
}

#[test]
fn a_damaged_value_is_corrupt_and_never_missing() {
    let whole = value(&[(1, Version::Row(b"row"))]);
    for end in 1..whole.len() {
        let error = horizon(1, &[]).row(&whole[..end]).expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let error = horizon(2, &[]).rewrite(&whole[..end], None, &[]);
        assert_eq!(error.expect_err("damaged").kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_late_publisher_takes_nothing_from_newer_snapshots() {
    let newer = value(&[(1, Version::Row(b"one")), (4, Version::Row(b"four"))]);
    let late = horizon(3, &[]);
    let kept = [SnapshotId(1)];
    let rewritten = late
        .rewrite(&newer, Some(Version::Row(b"late")), &kept)
        .expect("reads");
    let row = |horizon: &Horizon| horizon.row(&rewritten).expect("reads").map(<[u8]>::to_vec);
    assert_eq!(row(&horizon(1, &[])), Some(b"one".to_vec()));
    assert_eq!(row(&horizon(4, &[3])), Some(b"four".to_vec()));
    assert_eq!(row(&horizon(5, &[3])), Some(b"four".to_vec()));
}

#[test]
fn writing_the_same_version_again_changes_nothing() {
    let before = value(&[(1, Version::Row(b"one"))]);
    let two = horizon(2, &[]);
    let write = |value: &[u8]| {
        let version = Some(Version::Row(b"two"));
        two.rewrite(value, version, &[SnapshotId(1)])
            .expect("reads")
    };
    let once = write(&before);
    assert_eq!(write(&once), once);
}

#[test]
fn a_key_that_vanished_goes_with_the_last_snapshot_that_had_it() {
    let before = value(&[(1, Version::Row(b"one"))]);
    let two = horizon(2, &[]);
    let kept = [SnapshotId(1)];
    let vanished = two
        .rewrite(&before, Some(Version::Vanished), &kept)
        .expect("reads");
    assert_eq!(
        horizon(1, &[]).row(&vanished).expect("reads"),
        Some(b"one".as_slice())
    );
    assert_eq!(two.row(&vanished).expect("reads"), None);
    let pruned = two.rewrite(&vanished, None, &[SnapshotId(2)]);
    assert_eq!(pruned.expect("reads"), b"");
}

/// What happens to one view.
#[derive(Debug, Clone)]
enum Step {
    /// A whole snapshot of these rows, by key.
    Publish(BTreeMap<u8, u8>),
    /// A publisher that dies: what it wrote for these keys stays, some of it written late, after `late` more steps.
    Abandon { rows: BTreeMap<u8, u8>, late: bool },
    /// The nth of the kept snapshots is dropped, and what nobody reads is pruned.
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = || proptest::collection::btree_map(0..5_u8, 0..3_u8, 0..5);
    let step = prop_oneof![
        4 => rows().prop_map(Step::Publish),
        2 => (rows(), any::<bool>()).prop_map(|(rows, late)| Step::Abandon { rows, late }),
        2 => (0..4_usize).prop_map(Step::Drop),
    ];
    proptest::collection::vec(step, 1..24)
}

/// The store of one view, and the plain model beside it: each kept snapshot's rows as a map of their own.
#[derive(Default)]
struct View {
    values: BTreeMap<u8, Vec<u8>>,
    next: u64,
    void: Vec<SnapshotId>,
    newest: BTreeMap<u8, u8>,
    kept: BTreeMap<SnapshotId, (Horizon, BTreeMap<u8, u8>)>,
    late: Vec<(Horizon, Vec<SnapshotId>, BTreeMap<u8, u8>)>,
}

impl View {
    fn begin(&mut self) -> Horizon {
        self.next += 1;
        Horizon::new(SnapshotId(self.next), self.void.clone())
    }

    fn kept_ids(&self) -> Vec<SnapshotId> {
        self.kept.keys().copied().collect()
    }

    fn write(&mut self, by: &Horizon, kept: &[SnapshotId], key: u8, version: Option<Version<'_>>) {
        let value = self.values.remove(&key).unwrap_or_default();
        let value = by.rewrite(&value, version, kept).expect("reads");
        if !value.is_empty() {
            self.values.insert(key, value);
        }
    }

    fn stage(&mut self, by: &Horizon, kept: &[SnapshotId], rows: &BTreeMap<u8, u8>) {
        let newest = self.newest.clone();
        for (key, row) in rows {
            if newest.get(key) != Some(row) {
                self.write(by, kept, *key, Some(Version::Row(&[*row])));
            }
        }
        for key in newest.keys().filter(|key| !rows.contains_key(key)) {
            self.write(by, kept, *key, Some(Version::Vanished));
        }
    }

    fn step(&mut self, step: &Step) {
        let kept = self.kept_ids();
        match step {
            Step::Publish(rows) => {
                let horizon = self.begin();
                self.stage(&horizon, &kept, rows);
                self.newest.clone_from(rows);
                self.kept
                    .insert(horizon.snapshot(), (horizon, rows.clone()));
            }
            Step::Abandon { rows, late } => {
                let horizon = self.begin();
                self.void.push(horizon.snapshot());
                if *late {
                    self.late.push((horizon, kept, rows.clone()));
                } else {
                    self.stage(&horizon, &kept, rows);
                }
            }
            Step::Drop(nth) => {
                // Publishers that were taken for dead write now, by what they knew when they began.
                for (horizon, kept, rows) in std::mem::take(&mut self.late) {
                    for (key, row) in &rows {
                        self.write(&horizon, &kept, *key, Some(Version::Row(&[*row])));
                    }
                }
                let Some(dropped) = kept.get(*nth).copied() else {
                    return;
                };
                self.kept.remove(&dropped);
                let kept = self.kept_ids();
                let newest = Horizon::new(SnapshotId(self.next), self.void.clone());
                for key in self.values.keys().copied().collect::<BTreeSet<u8>>() {
                    self.write(&newest, &kept, key, None);
                }
            }
        }
    }

    fn check(&self) {
        for (horizon, rows) in self.kept.values() {
            for key in 0..5 {
                let value = self.values.get(&key).map_or(&[][..], Vec::as_slice);
                let row = horizon.row(value).expect("reads");
                let expected = rows.get(&key).map(std::slice::from_ref);
                assert_eq!(row, expected, "key {key} of {horizon:?}: {value:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn every_kept_snapshot_reads_as_a_map_of_its_own(steps in steps()) {
        let mut view = View::default();
        for step in &steps {
            view.step(step);
            view.check();
        }
    }
}
