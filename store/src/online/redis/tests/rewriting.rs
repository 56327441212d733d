//! The script that rewrites rows on the server, held equal to its reference.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use redis::Pipeline;

use super::*;
use crate::online::redis::rewrite::Rewriter;
use crate::online::versions::{Horizon, Version, push};

const CASES: usize = 1_000;

#[derive(Debug)]
struct Case {
    snapshot: SnapshotId,
    kept: Vec<SnapshotId>,
    void: Vec<SnapshotId>,
    value: Vec<u8>,
    version: Option<Option<Vec<u8>>>,
}

fn case() -> impl Strategy<Value = Case> {
    let ids = || proptest::collection::btree_set(1..12_u64, 0..6);
    let row = || proptest::option::weighted(0.7, proptest::collection::vec(any::<u8>(), 0..5));
    let slots = proptest::collection::vec((1..14_u64, row()), 0..8);
    (1..14_u64, ids(), ids(), slots, proptest::option::of(row())).prop_map(
        |(snapshot, kept, void, slots, version)| {
            let listed =
                |ids: std::collections::BTreeSet<u64>| ids.into_iter().map(SnapshotId).collect();
            let mut value = Vec::new();
            // Valid slots ascend; void ones stand anywhere.
            let mut newest = 0;
            for (id, row) in &slots {
                if void.contains(id) || *id > newest {
                    newest = newest.max(if void.contains(id) { 0 } else { *id });
                    push(&mut value, SnapshotId(*id), version_of(row.as_deref())).expect("small");
                }
            }
            Case {
                snapshot: SnapshotId(snapshot),
                kept: listed(kept),
                void: listed(void),
                value,
                version,
            }
        },
    )
}

fn version_of(row: Option<&[u8]>) -> Version<'_> {
    row.map_or(Version::Vanished, Version::Row)
}

#[tokio::test]
async fn the_script_rewrites_as_its_reference_does() {
    for url in redis_urls() {
        let mut connection = connect(&url).await;
        let namespace = redis_namespace();
        let mut runner = TestRunner::deterministic();
        for nth in 0..CASES {
            let case = case().new_tree(&mut runner).expect("a case").current();
            let horizon = Horizon::new(case.snapshot, case.void.clone());
            let version = case.version.as_ref().map(|row| version_of(row.as_deref()));
            let expected = horizon
                .rewrite(&case.value, version, &case.kept)
                .expect("reads");

            let name = keys::row_key(&Keys::new(&namespace).row_prefix(1), &nth.to_be_bytes());
            let mut commands = Pipeline::new();
            if !case.value.is_empty() {
                commands.cmd("SET").arg(&name).arg(&case.value).ignore();
            }
            let mut slots = Vec::new();
            if let Some(version) = version {
                let mut slot = Vec::new();
                push(&mut slot, case.snapshot, version).expect("small");
                slots.push(slot);
            }
            let rewriter = Rewriter::new(&horizon, &case.kept);
            rewriter.add_to(&mut commands, std::slice::from_ref(&name), &slots);
            commands.cmd("GET").arg(&name);
            let (rewritten,): (Option<Vec<u8>>,) = commands
                .query_async(&mut connection)
                .await
                .expect("answers");
            let expected = Some(expected).filter(|value| !value.is_empty());
            assert_eq!(rewritten, expected, "{case:?}");
        }
    }
}

#[tokio::test]
async fn each_of_many_keys_gets_its_own_slot() {
    for url in redis_urls() {
        let store = empty_store(&url);
        let one = publish(&store, None, 1, &numbered(1_000, "one")).await;
        let content = numbered(1_000, "two");
        let two = publish(&store, Some(1), 2, &content).await;
        let keys = keys_of(&content);
        let label = |label: &str| -> Vec<Option<Vec<u8>>> {
            let rows = numbered(1_000, label).into_iter();
            rows.map(|(_, row)| Some(row)).collect()
        };
        assert_eq!(read_rows(&store, &one, &keys).await, label("one"));
        assert_eq!(read_rows(&store, &two, &keys).await, label("two"));
    }
}
