//! What every [`OnlineStore`] must do. Each function takes an empty store.

mod flips;

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;

use crate::error::ErrorKind;
use crate::online::{Checksum, OnlineStore, RowAddress, RowState, Rows, StagedRow, Staging};
use crate::release::{Release, ReleaseNumber, ReleaseView, SnapshotId};

/// Keys and rows of a snapshot, by ascending key.
pub type Content = Vec<(Vec<u8>, Vec<u8>)>;

/// Runs the whole suite, each part on a store of its own from `empty_store`.
pub async fn all<S: OnlineStore, F: AsyncFn() -> S>(empty_store: F) {
    answers_have_the_order_and_length_of_their_request(&empty_store().await).await;
    every_single_missing_key_is_missing(&empty_store().await).await;
    keys_of_any_bytes_and_length_are_told_apart(&empty_store().await).await;
    keys_out_of_order_are_refused(&empty_store().await).await;
    a_complete_snapshot_is_found_again(&empty_store().await).await;
    an_abandoned_snapshot_starts_anew(&empty_store().await).await;
    a_wrong_checksum_leaves_the_snapshot_incomplete(&empty_store().await).await;
    incomplete_releases_are_refused(&empty_store().await).await;
    flips::compare_and_swap(&empty_store().await).await;
    flips::readers_keep_their_release(&empty_store().await).await;
    flips::back_are_remembered(&empty_store().await).await;
    flips::back_and_dropped_releases_are_forgotten(&empty_store().await).await;
    dropped_releases_take_only_their_own_rows(&empty_store().await).await;
}

/// A content of `count` keys (`key 00000`, ...) whose rows name `label`.
#[must_use]
pub fn numbered(count: usize, label: &str) -> Content {
    (0..count)
        .map(|index| {
            let key = format!("key {index:05}").into_bytes();
            let row = format!("{label} {index}").into_bytes();
            (key, row)
        })
        .collect()
}

/// Stages `content` for `view`, in calls of at most 1,000 rows, and completes it.
///
/// # Panics
/// When the store refuses.
pub async fn stage(store: &dyn OnlineStore, view: &str, content: &Content) -> ReleaseView {
    let view = name(view);
    let hash = hash_of(content);
    let snapshot = match store
        .begin(&view, hash, content.len() as u64)
        .await
        .expect("begin")
    {
        Staging::Complete(snapshot) => snapshot,
        Staging::Open(snapshot) => {
            write(store, snapshot, content).await;
            let expected = checksum_of(content);
            store.complete(snapshot, expected).await.expect("complete");
            snapshot
        }
    };
    ReleaseView {
        view,
        fingerprint: Fingerprint::of(["definition"]),
        as_of: Instant::from_micros(0),
        content: hash,
        rows: content.len() as u64,
        snapshot,
    }
}

/// Release `number` of `views`.
#[must_use]
pub fn release(number: u64, views: Vec<ReleaseView>) -> Release {
    Release {
        number: ReleaseNumber(number),
        as_of: Instant::from_micros(0),
        created_at: Instant::from_micros(1),
        definitions_version: 1,
        definitions: Fingerprint::of(["definitions"]),
        views,
        models: Vec::new(),
    }
}

async fn answers_have_the_order_and_length_of_their_request(store: &dyn OnlineStore) {
    let spend = numbered(2_500, "spend");
    let visits = numbered(10, "visits");
    let views = vec![
        stage(store, "spend", &spend).await,
        stage(store, "visits", &visits).await,
    ];
    let release = publish(store, None, release(1, views)).await;
    let asked: Vec<(usize, &[u8])> = vec![
        (1, b"key 00003"),
        (0, b"key 02499"),
        (0, b"key 00000"),
        (1, b"key 00003"),
        (1, b"key 00010"),
        (0, b""),
        (0, b"key 00000"),
    ];
    let answers = read(store, &release, &asked).await;
    let expected = [
        Some("visits 3"),
        Some("spend 2499"),
        Some("spend 0"),
        Some("visits 3"),
        None,
        None,
        Some("spend 0"),
    ];
    assert_eq!(
        answers,
        expected.map(|row| row.map(|row| row.as_bytes().to_vec()))
    );
    assert_eq!(
        read(store, &release, &[]).await,
        Vec::<Option<Vec<u8>>>::new()
    );
    for (index, (key, row)) in spend.iter().enumerate() {
        let answer = read(store, &release, &[(0, key.as_slice())]).await;
        assert_eq!(answer, [Some(row.clone())], "row {index}");
    }
}

/// SRV-02: a missing key at any place of a request of any length shifts nothing.
async fn every_single_missing_key_is_missing(store: &dyn OnlineStore) {
    let content = numbered(250, "row");
    let views = vec![stage(store, "spend", &content).await];
    let release = publish(store, None, release(1, views)).await;
    for length in [1, 99, 100, 101, 200, 201, 250] {
        for missing in 0..length {
            let asked: Vec<(usize, &[u8])> = (0..length)
                .map(|index| match index == missing {
                    true => (0, b"not there".as_slice()),
                    false => (0, content[index].0.as_slice()),
                })
                .collect();
            let expected: Vec<Option<Vec<u8>>> = (0..length)
                .map(|index| (index != missing).then(|| content[index].1.clone()))
                .collect();
            assert_eq!(read(store, &release, &asked).await, expected);
        }
    }
    let asked = vec![(0, b"not there".as_slice()); 250];
    assert_eq!(read(store, &release, &asked).await, vec![None; 250]);
}

async fn keys_of_any_bytes_and_length_are_told_apart(store: &dyn OnlineStore) {
    let mut keys: Vec<Vec<u8>> = vec![
        vec![],
        vec![0],
        vec![0, 0],
        vec![255; 8],
        "ключ — 鍵 🔑".as_bytes().to_vec(),
        "e\u{301}".as_bytes().to_vec(),
        "é".as_bytes().to_vec(),
    ];
    for length in (480..520).chain([1_023, 1_024, 4_096]) {
        keys.push(vec![b'k'; length]);
    }
    for last in 0..50 {
        let mut key = vec![b'k'; 1_024];
        key.push(last);
        keys.push(key);
    }
    keys.sort();
    let content: Content = keys
        .into_iter()
        .enumerate()
        .map(|(index, key)| (key, index.to_string().into_bytes()))
        .collect();
    let views = vec![
        stage(store, "long", &content).await,
        stage(store, "other", &numbered(1, "other")).await,
    ];
    let release = publish(store, None, release(1, views)).await;
    let asked: Vec<(usize, &[u8])> = content.iter().map(|(key, _)| (0, key.as_slice())).collect();
    let expected: Vec<Option<Vec<u8>>> = content.iter().map(|(_, row)| Some(row.clone())).collect();
    assert_eq!(read(store, &release, &asked).await, expected);
    let absent = vec![b'k'; 1_030];
    assert_eq!(
        read(store, &release, &[(0, &absent), (1, b"")]).await,
        [None, None]
    );
}

async fn keys_out_of_order_are_refused(store: &dyn OnlineStore) {
    let staging = store.begin(&name("spend"), Fingerprint::of(["x"]), 4).await;
    let Ok(Staging::Open(snapshot)) = staging else {
        panic!("expected an open snapshot, found {staging:?}");
    };
    let row = |key| StagedRow { key, row: b"row" };
    for rows in [[row(b"b"), row(b"a")], [row(b"a"), row(b"a")]] {
        let refused = store.write(snapshot, &rows).await.expect_err("order");
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    }
    store.write(snapshot, &[row(b"c")]).await.expect("write");
    let twice = store
        .write(snapshot, &[row(b"c")])
        .await
        .expect_err("again");
    assert_eq!(twice.kind(), ErrorKind::Invalid);
}

async fn a_complete_snapshot_is_found_again(store: &dyn OnlineStore) {
    let content = numbered(3, "row");
    let staged = stage(store, "spend", &content).await;
    let again = store.begin(&staged.view, staged.content, 3).await;
    assert_eq!(again.expect("begin"), Staging::Complete(staged.snapshot));
    let expected = checksum_of(&content);
    store
        .complete(staged.snapshot, expected)
        .await
        .expect("idempotent");
    let other_view = store.begin(&name("visits"), staged.content, 3).await;
    assert_ne!(
        other_view.expect("begin"),
        Staging::Complete(staged.snapshot)
    );
    let empty = stage(store, "empty", &Vec::new()).await;
    let release = publish(store, None, release(1, vec![empty])).await;
    assert_eq!(read(store, &release, &[(0, b"key 00000")]).await, [None]);
}

async fn an_abandoned_snapshot_starts_anew(store: &dyn OnlineStore) {
    let content = numbered(2_000, "row");
    let abandoned = numbered(3_000, "abandoned");
    let first = store
        .begin(&name("spend"), hash_of(&content), content.len() as u64)
        .await;
    let Ok(Staging::Open(first)) = first else {
        panic!("expected an open snapshot, found {first:?}");
    };
    write(store, first, &abandoned).await;
    let views = vec![stage(store, "spend", &content).await];
    let late = StagedRow {
        key: b"zzz",
        row: b"late",
    };
    if views[0].snapshot != first {
        store.write(first, &[late]).await.expect_err("abandoned");
    }
    let release = publish(store, None, release(1, views)).await;
    let asked: Vec<(usize, &[u8])> = abandoned
        .iter()
        .map(|(key, _)| (0, key.as_slice()))
        .collect();
    let answers = read(store, &release, &asked).await;
    for (index, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, content.get(index).map(|(_, row)| row.clone()));
    }
}

async fn a_wrong_checksum_leaves_the_snapshot_incomplete(store: &dyn OnlineStore) {
    let content = numbered(100, "row");
    let staging = store
        .begin(&name("spend"), hash_of(&content), content.len() as u64)
        .await;
    let Ok(Staging::Open(snapshot)) = staging else {
        panic!("expected an open snapshot, found {staging:?}");
    };
    write(store, snapshot, &content).await;
    let right = checksum_of(&content);
    for wrong in [
        Checksum::default(),
        Checksum { rows: 99, ..right },
        Checksum {
            sum: right.sum ^ 1,
            ..right
        },
    ] {
        let refused = store.complete(snapshot, wrong).await.expect_err("wrong");
        assert_eq!(refused.kind(), ErrorKind::Corrupt);
    }
    let view = view_of("spend", &content, snapshot);
    let refused = store.register(&release(1, vec![view])).await;
    assert_eq!(refused.expect_err("incomplete").kind(), ErrorKind::Invalid);
    store.complete(snapshot, right).await.expect("right");
}

async fn incomplete_releases_are_refused(store: &dyn OnlineStore) {
    let content = numbered(3, "row");
    let unknown = view_of("spend", &content, SnapshotId(999));
    let refused = store.register(&release(1, vec![unknown])).await;
    assert_eq!(refused.expect_err("unknown").kind(), ErrorKind::Invalid);
    let staged = stage(store, "spend", &content).await;
    let mut renamed = staged.clone();
    renamed.view = name("visits");
    let refused = store.register(&release(1, vec![renamed])).await;
    assert_eq!(
        refused.expect_err("another view").kind(),
        ErrorKind::Invalid
    );

    let one = release(1, vec![staged]);
    store.register(&one).await.expect("complete");
    store.register(&one).await.expect("idempotent");
    let taken = store.register(&release(1, Vec::new())).await;
    assert_eq!(taken.expect_err("taken").kind(), ErrorKind::Conflict);
    assert_eq!(store.release(ReleaseNumber(1)).await.expect("kept"), one);
    assert_eq!(store.served().await.expect("served"), None);
    let absent = store.release(ReleaseNumber(2)).await.expect_err("absent");
    assert_eq!(absent.kind(), ErrorKind::NotFound);
}

async fn dropped_releases_take_only_their_own_rows(store: &dyn OnlineStore) {
    let shared = stage(store, "shared", &numbered(100, "shared")).await;
    let old = stage(store, "spend", &numbered(100, "old")).await;
    let new = stage(store, "spend", &numbered(100, "new")).await;
    let one = publish(store, None, release(1, vec![shared.clone(), old.clone()])).await;
    let two = release(2, vec![shared, new]);
    let two = publish(store, Some(one.number), two).await;
    store.drop_release(one.number).await.expect("drop");
    store.drop_release(one.number).await.expect("idempotent");
    let left = store.releases().await.expect("releases");
    assert_eq!(left, std::slice::from_ref(&two));
    let answers = read(store, &two, &[(0, b"key 00007"), (1, b"key 00007")]).await;
    assert_eq!(
        answers,
        [Some(b"shared 7".to_vec()), Some(b"new 7".to_vec())]
    );
    let mut rows = Rows::default();
    let address = RowAddress {
        view: 1,
        key: b"key 00007",
    };
    // A row that was deleted is not a row that was never there.
    if store.read(&one, &[address], &mut rows).await.is_ok() {
        assert_ne!(rows.get(0), RowState::Missing);
    }
    let again = store
        .begin(&old.view, old.content, 100)
        .await
        .expect("begin");
    assert!(matches!(again, Staging::Open(_)), "{again:?}");
}

async fn publish(
    store: &dyn OnlineStore,
    from: Option<ReleaseNumber>,
    release: Release,
) -> Release {
    store.register(&release).await.expect("register");
    store.flip(from, release.number).await.expect("flip");
    assert_eq!(store.served().await.expect("served"), Some(release.number));
    store.ping().await.expect("ping");
    release
}

async fn write(store: &dyn OnlineStore, snapshot: SnapshotId, content: &Content) {
    for some in content.chunks(1_000) {
        let rows: Vec<StagedRow<'_>> = some
            .iter()
            .map(|(key, row)| StagedRow { key, row })
            .collect();
        store.write(snapshot, &rows).await.expect("write");
    }
}

async fn read(
    store: &dyn OnlineStore,
    release: &Release,
    asked: &[(usize, &[u8])],
) -> Vec<Option<Vec<u8>>> {
    let addresses: Vec<RowAddress<'_>> = asked
        .iter()
        .map(|(view, key)| RowAddress { view: *view, key })
        .collect();
    let mut rows = Rows::default();
    rows.push(RowState::Found(b"of another read"));
    store
        .read(release, &addresses, &mut rows)
        .await
        .expect("read");
    (0..rows.len())
        .map(|index| match rows.get(index) {
            RowState::Found(row) => Some(row.to_vec()),
            RowState::Missing => None,
            RowState::Unavailable => panic!("address {index} was not answered"),
        })
        .collect()
}

fn view_of(view: &str, content: &Content, snapshot: SnapshotId) -> ReleaseView {
    ReleaseView {
        view: name(view),
        fingerprint: Fingerprint::of(["definition"]),
        as_of: Instant::from_micros(0),
        content: hash_of(content),
        rows: content.len() as u64,
        snapshot,
    }
}

fn checksum_of(content: &Content) -> Checksum {
    let mut checksum = Checksum::default();
    for (key, row) in content {
        checksum.add(StagedRow { key, row });
    }
    checksum
}

fn hash_of(content: &Content) -> Fingerprint {
    Fingerprint::of(content.iter().flat_map(|(key, row)| [key, row]))
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}
