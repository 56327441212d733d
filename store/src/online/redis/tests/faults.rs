//! Servers that die, hang, are full or remove rows; callers that give up.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use feature_defs::time::Stopwatch;
use tempfile::TempDir;

use super::*;
use crate::conformance::servers::OwnRedis;
use crate::error::ErrorKind;

#[tokio::test]
async fn a_killed_server_is_unavailable_and_comes_back_by_itself() {
    let folder = TempDir::new().expect("a folder");
    for mut server in OwnRedis::start_all(
        folder.path(),
        &["--appendonly", "yes", "--appendfsync", "always"],
    ) {
        let store = store_in(&server.url(), "shop");
        let content = numbered(1_000, "row");
        let release = publish(&store, None, 1, &content).await;
        let keys = keys_of(&content);
        let expected: Vec<Option<Vec<u8>>> =
            content.iter().map(|(_, row)| Some(row.clone())).collect();
        for _ in 0..3 {
            assert_eq!(read_rows(&store, &release, &keys).await, expected);
            server.kill();
            let address = RowAddress {
                view: 0,
                key: &keys[0],
            };
            let mut rows = Rows::default();
            let error = store
                .read(&release, &[address], &mut rows)
                .await
                .expect_err("dead");
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(rows.is_empty());

            server.restart();
            let watch = Stopwatch::start();
            while let Err(error) = store.served().await {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                assert!(watch.elapsed() < Duration::from_secs(10), "{error}");
            }
            assert_eq!(store.served().await.expect("served"), Some(release.number));
        }
        let two = publish(&store, Some(1), 2, &numbered(900, "two")).await;
        assert_eq!(read_rows(&store, &two, &keys[950..]).await, vec![None; 50]);
    }
}

/// SRV-09: a connection that the server closed, as it does with idle ones, costs nobody an answer.
#[tokio::test]
async fn a_connection_that_the_server_closed_fails_no_call() {
    let folder = TempDir::new().expect("a folder");
    for server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let store = store_in(&server.url(), "shop");
        let mut connection = connect(&server.url()).await;
        let mut from = None;
        for number in 1..=20 {
            let content = numbered(10, &number.to_string());
            let closed: u64 = cmd("CLIENT")
                .arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"])
                .query_async(&mut connection)
                .await
                .expect("closed");
            assert!(number == 1 || closed >= 2, "{closed} closed");
            let release = publish(&store, from, number, &content).await;
            let row = read_rows(&store, &release, &[b"key 00003".to_vec()]).await;
            assert_eq!(row, [Some(format!("{number} 3").into_bytes())]);
            from = Some(number);
        }
    }
}

#[tokio::test]
async fn a_server_that_lost_its_data_never_says_missing_and_takes_a_release_again() {
    let folder = TempDir::new().expect("a folder");
    for mut server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let store = store_in(&server.url(), "shop");
        let content = numbered(100, "row");
        let release = publish(&store, None, 1, &content).await;
        let keys = keys_of(&content);
        read_rows(&store, &release, &keys).await;
        server.kill();
        server.restart();
        let address = RowAddress {
            view: 0,
            key: &keys[0],
        };
        let mut rows = Rows::default();
        let watch = Stopwatch::start();
        loop {
            let error = store
                .read(&release, &[address], &mut rows)
                .await
                .expect_err("no data");
            assert!(rows.is_empty());
            if error.kind() == ErrorKind::NotFound {
                break;
            }
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(watch.elapsed() < Duration::from_secs(10), "{error}");
        }
        let two = publish(&store, None, 2, &content).await;
        let expected: Vec<Option<Vec<u8>>> =
            content.iter().map(|(_, row)| Some(row.clone())).collect();
        assert_eq!(read_rows(&store, &two, &keys).await, expected);
    }
}

fn signal(server: &OwnRedis, name: &str) {
    let sent = Command::new("kill")
        .args([name, &server.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

#[tokio::test]
async fn a_read_of_a_server_that_hangs_ends_at_its_deadline() {
    let folder = TempDir::new().expect("a folder");
    for server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let mut quick = settings(&server.url(), "shop");
        quick.read_deadline = Duration::from_millis(100);
        let store = open(&quick).expect("settings");
        let content = numbered(100, "row");
        let release = publish(&store, None, 1, &content).await;
        let keys = keys_of(&content);
        read_rows(&store, &release, &keys).await;
        signal(&server, "-STOP");
        let address = RowAddress {
            view: 0,
            key: &keys[0],
        };
        let mut rows = Rows::default();
        for _ in 0..5 {
            let watch = Stopwatch::start();
            let error = store
                .read(&release, &[address], &mut rows)
                .await
                .expect_err("hangs");
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert_eq!(
                error.to_string(),
                "the online store's server did not answer within 100 ms"
            );
            assert!(
                watch.elapsed() < Duration::from_secs(2),
                "{:?}",
                watch.elapsed()
            );
        }
        signal(&server, "-CONT");
        // The answers to those reads come now, and are nobody's.
        for (key, row) in &content {
            let answer = loop {
                let address = RowAddress { view: 0, key };
                if store.read(&release, &[address], &mut rows).await.is_ok() {
                    break rows.get(0);
                }
            };
            assert_eq!(answer, RowState::Found(row));
        }
    }
}

/// SRV-05: the row of key i says i; half of the callers give up at some moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_was_given_up_leaves_its_answer_to_nobody() {
    const READERS: usize = 50;
    const READS: usize = 100;
    for url in redis_urls() {
        let store = Arc::new(empty_store(&url));
        let content = Arc::new(numbered(1_000, "row"));
        let release = Arc::new(publish(&store, None, 1, &content).await);
        let mut readers = tokio::task::JoinSet::new();
        for reader in 0..READERS {
            let (store, content, release) = (
                Arc::clone(&store),
                Arc::clone(&content),
                Arc::clone(&release),
            );
            readers.spawn(async move {
                let mut rows = Rows::default();
                let mut answered = 0;
                for read in 0..READS {
                    let (key, row) = &content[(reader * 37 + read * 101) % content.len()];
                    let address = [RowAddress { view: 0, key }];
                    let reading = store.read(&release, &address, &mut rows);
                    let patience = match read % 2 {
                        0 => Duration::from_micros((reader as u64 * 7 + read as u64 * 13) % 600),
                        _ => Duration::from_secs(60),
                    };
                    if let Ok(read) = tokio::time::timeout(patience, reading).await {
                        read.expect("reads");
                        assert_eq!(rows.len(), 1);
                        assert_eq!(rows.get(0), RowState::Found(row));
                        answered += 1;
                    }
                }
                answered
            });
        }
        let mut answered = 0;
        while let Some(reader) = readers.join_next().await {
            answered += reader.expect("no reader saw another's row");
        }
        assert!(answered >= READERS * READS / 2, "{answered}");
        assert!(answered < READERS * READS, "none gave up");
    }
}

#[tokio::test]
async fn a_server_that_removes_rows_or_has_no_room_is_refused_before_a_row_is_written() {
    let folder = TempDir::new().expect("a folder");
    for server in OwnRedis::start_all(folder.path(), &["--appendonly", "no"]) {
        let mut connection = connect(&server.url()).await;
        let mut set = async |name: &str, value: &str| {
            let mut command = cmd("CONFIG");
            command.arg("SET").arg(name).arg(value);
            let () = command.query_async(&mut connection).await.expect("set");
        };
        let store = store_in(&server.url(), "shop");
        publish(&store, None, 1, &numbered(10, "row")).await;
        set("maxmemory", "20mb").await;
        set("maxmemory-policy", "allkeys-lru").await;
        let view = Name::parse("spend").expect("a name");
        let error = store
            .begin(&view, Fingerprint::of(["x"]), 1)
            .await
            .expect_err("removes rows");
        assert_eq!(error.kind(), ErrorKind::Invalid);

        set("maxmemory-policy", "noeviction").await;
        let begun = store.begin(&view, Fingerprint::of(["x"]), 1_000_000).await;
        let Ok(Staging::Open(id)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let row = StagedRow {
            key: b"key",
            row: &[7; 200],
        };
        let error = store.write(id, &[row]).await.expect_err("no room");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(
            error.to_string().starts_with("999990 new rows need about "),
            "{error}"
        );

        // Told that fewer rows will come, the server itself ends it; what is served stays served.
        let begun = store.begin(&view, Fingerprint::of(["y"]), 1).await;
        let Ok(Staging::Open(id)) = begun else {
            panic!("expected an open snapshot, found {begun:?}");
        };
        let large = vec![7; 1 << 20];
        let keys: Vec<[u8; 2]> = (0..40_u16).map(u16::to_be_bytes).collect();
        let rows = keys.iter().map(|key| StagedRow { key, row: &large });
        let mut failed = None;
        for row in rows {
            if let Err(error) = store.write(id, &[row]).await {
                failed = Some(error);
                break;
            }
        }
        let error = failed.expect("out of memory");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("maxmemory"), "{error}");
        assert_eq!(
            store.served().await.expect("served"),
            Some(ReleaseNumber(1))
        );
        set("maxmemory", "0").await;
        let content = numbered(10, "two");
        let two = publish(&store, Some(1), 2, &content).await;
        let row = read_rows(&store, &two, &[b"key 00003".to_vec()]).await;
        assert_eq!(row, [Some(b"two 3".to_vec())]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_never_mix_releases_while_they_flip_and_roll_back() {
    const FLIPS: u64 = 60;
    for url in redis_urls() {
        let namespace = redis_namespace();
        let store = store_in(&url, &namespace);
        let mut releases = Vec::new();
        for number in 1..=4 {
            let views = ["profile", "spend", "visits"]
                .map(|view| (view, numbered(20, &format!("{number}"))));
            let mut staged = Vec::new();
            for (view, content) in &views {
                staged.push(stage(&store, view, content).await);
            }
            let release = release(number, staged);
            store.register(&release).await.expect("register");
            releases.push(release.number);
        }
        store.flip(None, releases[0]).await.expect("flip");
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..2 {
            let reader = store_in(&url, &namespace);
            let done = Arc::clone(&done);
            readers.spawn(async move {
                let keys: Vec<Vec<u8>> = keys_of(&numbered(20, ""));
                let addresses: Vec<RowAddress<'_>> = (0..3)
                    .flat_map(|view| keys.iter().map(move |key| RowAddress { view, key }))
                    .collect();
                let mut rows = Rows::default();
                let mut seen = std::collections::BTreeSet::new();
                let mut reads = 0_u64;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let served = reader.served().await.expect("served").expect("a release");
                    let release = reader.release(served).await.expect("release");
                    reader
                        .read(&release, &addresses, &mut rows)
                        .await
                        .expect("reads");
                    assert_eq!(rows.len(), 60);
                    for index in 0..60 {
                        let expected = format!("{served} {}", index % 20);
                        assert_eq!(rows.get(index), RowState::Found(expected.as_bytes()));
                    }
                    seen.insert(served);
                    reads += 1;
                }
                (reads, seen.len())
            });
        }
        let mut served = releases[0];
        for nth in 0..FLIPS {
            let to = releases[usize::try_from(nth * 7 % 4).expect("small")];
            store.flip(Some(served), to).await.expect("flip");
            served = to;
            if nth % 10 == 9 {
                let number = 100 + nth;
                let content = numbered(20, &format!("{number}"));
                let mut staged = Vec::new();
                for view in ["profile", "spend", "visits"] {
                    staged.push(stage(&store, view, &content).await);
                }
                let release = release(number, staged);
                store.register(&release).await.expect("register");
                store
                    .flip(Some(served), release.number)
                    .await
                    .expect("flip");
                served = release.number;
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        while let Some(reader) = readers.join_next().await {
            let (reads, seen) = reader.expect("no reader saw a mixture");
            assert!(reads > 10 && seen > 1, "{reads} reads of {seen} releases");
        }
    }
}
