//! Releases after each other: what changed is written, what vanished is missing, and dead publishers count for nobody.

use std::collections::BTreeMap;

use redis::AsyncCommands;

use super::*;
use crate::error::ErrorKind;
use crate::online::versioned::view_record::RunKind;
use crate::online::versions::{Version, push};

/// All keys of a namespace, and what they hold. For tests: the store never searches.
async fn stored(url: &str, namespace: &str) -> BTreeMap<String, Vec<u8>> {
    let mut connection = connect(url).await;
    let prefix = format!("nf:{namespace}:");
    let names: Vec<Vec<u8>> = connection.keys(format!("{prefix}*")).await.expect("keys");
    let mut found = BTreeMap::new();
    for name in names {
        let shown = String::from_utf8_lossy(&name).into_owned();
        if !shown.ends_with(":state") {
            let value = connection.get(&name).await.expect("a value");
            found.insert(shown.replacen(&prefix, "", 1), value);
        }
    }
    found
}

fn without(content: &Content, gone: &[usize]) -> Content {
    let kept = content.iter().enumerate();
    kept.filter(|(index, _)| !gone.contains(index))
        .map(|(_, row)| row.clone())
        .collect()
}

fn changed(content: &Content, indexes: &[usize], label: &str) -> Content {
    let mut content = content.clone();
    for index in indexes {
        content[*index].1 = format!("{label} {index}").into_bytes();
    }
    content
}

fn rows_of(content: &Content, keys: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let rows: BTreeMap<&Vec<u8>, &Vec<u8>> = content.iter().map(|(key, row)| (key, row)).collect();
    keys.iter()
        .map(|key| rows.get(key).map(|row| (*row).clone()))
        .collect()
}

#[tokio::test]
async fn every_release_reads_as_it_was_published_whatever_came_before_and_after() {
    for url in redis_urls() {
        let store = empty_store(&url);
        let all = numbered(300, "first");
        let keys = keys_of(&all);
        let contents = [
            without(&all, &[299]),
            without(&changed(&all, &[0, 7, 150], "second"), &[3, 4, 299]),
            changed(&all, &[7, 299], "third"),
            Vec::new(),
            all.clone(),
            changed(&all, &(0..300).collect::<Vec<_>>(), "sixth"),
            without(&all, &(10..290).collect::<Vec<_>>()),
        ];
        let mut releases = Vec::new();
        for (index, content) in contents.iter().enumerate() {
            let number = index as u64 + 1;
            let from = (number > 1).then_some(number - 1);
            releases.push(publish(&store, from, number, content).await);
            for (release, content) in releases.iter().zip(&contents) {
                let rows = read_rows(&store, release, &keys).await;
                assert_eq!(
                    rows,
                    rows_of(content, &keys),
                    "release {} after {number}",
                    release.number
                );
            }
        }
        // Dropped in any order, the others stay as they are.
        for dropped in [3, 1, 6, 2, 4] {
            let number = ReleaseNumber(dropped);
            store.drop_release(number).await.expect("drop");
            releases.retain(|release| release.number != number);
            for release in &releases {
                let content = &contents[usize::try_from(release.number.0).expect("small") - 1];
                let rows = read_rows(&store, release, &keys).await;
                assert_eq!(
                    rows,
                    rows_of(content, &keys),
                    "release {} without {dropped}",
                    release.number
                );
            }
        }
    }
}

#[tokio::test]
async fn an_unchanged_row_is_stored_once_and_dropped_versions_leave_no_trace() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let all = numbered(100, "row");
        let first = publish(&store, None, 1, &all).await;
        let key = |index: usize| format!("1:{{key {index:05}}}");
        let before = stored(&url, &namespace).await;
        publish(
            &store,
            Some(1),
            2,
            &without(&changed(&all, &[5], "new"), &[6]),
        )
        .await;
        let after = stored(&url, &namespace).await;
        let differ: Vec<&String> = (0..100)
            .map(key)
            .filter(|key| before[key] != after[key])
            .map(|key| after.get_key_value(&key).expect("stored").0)
            .collect();
        assert_eq!(differ, [&key(5), &key(6)]);

        store.drop_release(first.number).await.expect("drop");
        let left = stored(&url, &namespace).await;
        let mut slot = Vec::new();
        push(&mut slot, SnapshotId(2), Version::Row(b"new 5")).expect("small");
        assert_eq!(left[&key(5)], slot);
        assert_eq!(left.get(&key(6)), None);
        assert_eq!(left[&key(7)], before[&key(7)]);
        let rows = left.keys().filter(|name| name.starts_with("1:{")).count();
        assert_eq!(rows, 99);
    }
}

#[tokio::test]
async fn what_a_dead_publisher_wrote_goes_and_counts_for_nobody() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let all = numbered(200, "row");
        let keys = keys_of(&all);
        let half = without(&all, &(100..200).collect::<Vec<_>>());
        let one = publish(&store, None, 1, &half).await;

        // Another process begins, writes some, and dies.
        let dead = store_in(&url, &namespace);
        let view = one.views[0].view.clone();
        let begun = dead.begin(&view, Fingerprint::of(["dead"]), 200).await;
        let Ok(Staging::Open(id)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let lost = changed(&all, &(0..200).collect::<Vec<_>>(), "lost");
        let rows: Vec<StagedRow<'_>> = lost
            .iter()
            .map(|(key, row)| StagedRow { key, row })
            .collect();
        dead.write(id, &rows[..150]).await.expect("write");
        assert_eq!(read_rows(&store, &one, &keys).await, rows_of(&half, &keys));

        let content = changed(&half, &[1, 2], "two");
        let two = publish(&store, Some(1), 2, &content).await;
        assert_eq!(read_rows(&store, &one, &keys).await, rows_of(&half, &keys));
        assert_eq!(
            read_rows(&store, &two, &keys).await,
            rows_of(&content, &keys)
        );
        let left = stored(&url, &namespace).await;
        let stray: Vec<&String> = left
            .keys()
            .filter(|name| name.contains("key 001"))
            .collect();
        assert!(stray.is_empty(), "keys of the dead one are left: {stray:?}");

        // It was not dead, and goes on.
        let late = dead.write(id, &rows[150..]).await.expect_err("void");
        assert_eq!(late.kind(), ErrorKind::Conflict);
        let late = dead
            .complete(id, Checksum::default())
            .await
            .expect_err("void");
        assert_eq!(late.kind(), ErrorKind::Conflict);
        assert_eq!(
            read_rows(&store, &two, &keys).await,
            rows_of(&content, &keys)
        );
    }
}

/// Blocks of keys are sent a few at once: the first one may be what never came.
#[tokio::test]
async fn what_a_dead_publisher_listed_after_a_gap_goes_too() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let view = Name::parse("spend").expect("a name");
        let begun = store.begin(&view, Fingerprint::of(["dead"]), 200).await;
        let Ok(Staging::Open(dead)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let all = numbered(200, "lost");
        let (first, second) = all.split_at(100);
        for some in [first, second] {
            let rows: Vec<StagedRow<'_>> = some
                .iter()
                .map(|(key, row)| StagedRow { key, row })
                .collect();
            store.write(dead, &rows).await.expect("write");
        }
        let block = Keys::new(&namespace).block(&Block {
            view: 1,
            kind: RunKind::Changed,
            run: dead,
            index: 0,
        });
        let mut connection = connect(&url).await;
        let () = connection.del(block).await.expect("removed");
        publish(&store, None, 1, &Vec::new()).await;
        let left = stored(&url, &namespace).await;
        let gone = |from: &str| left.keys().filter(|name| name.contains(from)).count();
        assert_eq!((gone("key 000"), gone("key 001")), (100, 0));
        let lists = left.keys().filter(|name| name.contains(":changed:"));
        assert_eq!(lists.count(), 0, "no list is left");
    }
}

/// The worst moment: it was about to write when it was taken for dead, and does so after the next release is served.
#[tokio::test]
async fn writes_of_a_void_snapshot_that_come_late_are_read_by_nobody() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let all = numbered(20, "row");
        let keys = keys_of(&all);
        let one = publish(&store, None, 1, &without(&all, &[19])).await;
        let begun = store
            .begin(&one.views[0].view, Fingerprint::of(["dead"]), 20)
            .await;
        let Ok(Staging::Open(dead)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let content = changed(&without(&all, &[19]), &[3], "two");
        let two = publish(&store, Some(1), 2, &content).await;
        let mut connection = connect(&url).await;
        for key in &keys {
            let mut slot = Vec::new();
            push(&mut slot, dead, Version::Row(b"late")).expect("small");
            let name = keys::row_key(&Keys::new(&namespace).row_prefix(1), key);
            let () = connection.append(name, slot).await.expect("append");
        }
        let three = changed(&all, &[4, 19], "three");
        let third = publish(&store, Some(2), 3, &three).await;
        for (release, content) in [
            (&one, &without(&all, &[19])),
            (&two, &content),
            (&third, &three),
        ] {
            let rows = read_rows(&store, release, &keys).await;
            assert_eq!(rows, rows_of(content, &keys), "release {}", release.number);
        }
    }
}

#[tokio::test]
async fn after_a_rollback_the_next_release_is_still_what_was_published() {
    for url in redis_urls() {
        let store = empty_store(&url);
        let all = numbered(50, "row");
        let keys = keys_of(&all);
        publish(&store, None, 1, &all).await;
        publish(&store, Some(1), 2, &changed(&all, &[1, 2, 3], "bad")).await;
        store
            .flip(Some(ReleaseNumber(2)), ReleaseNumber(1))
            .await
            .expect("back");
        store.drop_release(ReleaseNumber(2)).await.expect("drop");
        let content = changed(&all, &[3], "good");
        let three = publish(&store, Some(1), 3, &content).await;
        assert_eq!(
            read_rows(&store, &three, &keys).await,
            rows_of(&content, &keys)
        );
    }
}

#[tokio::test]
async fn a_row_that_does_not_read_back_leaves_the_snapshot_incomplete() {
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let content = numbered(500, "row");
        let view = Name::parse("spend").expect("a name");
        let begun = store.begin(&view, Fingerprint::of(["x"]), 500).await;
        let Ok(Staging::Open(id)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let rows: Vec<StagedRow<'_>> = content
            .iter()
            .map(|(key, row)| StagedRow { key, row })
            .collect();
        store.write(id, &rows).await.expect("write");
        let mut checksum = Checksum::default();
        for row in &rows {
            checksum.add(*row);
        }
        let name = keys::row_key(&Keys::new(&namespace).row_prefix(1), b"key 00333");
        let mut connection = connect(&url).await;
        let () = connection.del(name).await.expect("removed");
        let error = store.complete(id, checksum).await.expect_err("a lost row");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}
