use feature_defs::entity::EntityKey;
use tempfile::TempDir;

use super::*;
use crate::conformance::online::{self, numbered, release, stage};
use crate::online::RowState;

fn open(folder: &TempDir) -> EmbeddedStore {
    EmbeddedStore::open(folder.path(), EmbeddedSettings::default()).expect("opens")
}

#[tokio::test]
async fn embedded_store_conforms() {
    let folder = TempDir::new().expect("folder");
    let count = std::sync::atomic::AtomicUsize::new(0);
    online::all(async || {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = folder.path().join(next.to_string());
        EmbeddedStore::open(&path, EmbeddedSettings::default()).expect("opens")
    })
    .await;
}

#[tokio::test]
async fn a_folder_opened_twice_and_again_is_one_store() {
    let folder = TempDir::new().expect("folder");
    let (one, two) = (open(&folder), open(&folder));
    let release = release(1, vec![stage(&one, "spend", &numbered(3, "row")).await]);
    one.register(&release).await.expect("register");
    two.flip(None, release.number).await.expect("flip");
    assert_eq!(one.served().await.expect("served"), Some(release.number));
    drop((one, two));
    let reopened = open(&folder);
    let address = RowAddress {
        view: 0,
        key: b"key 00002",
    };
    let mut rows = Rows::default();
    let read = reopened.read(&release, &[address], &mut rows).await;
    read.expect("reads");
    assert_eq!(rows.get(0), RowState::Found(b"row 2"));
}

#[tokio::test]
async fn a_full_map_fails_the_write_and_keeps_the_served_release() {
    let folder = TempDir::new().expect("folder");
    let settings = EmbeddedSettings {
        map_size: 1 << 20,
        ..EmbeddedSettings::default()
    };
    let store = EmbeddedStore::open(folder.path(), settings).expect("opens");
    let served = release(1, vec![stage(&store, "spend", &numbered(3, "row")).await]);
    store.register(&served).await.expect("register");
    store.flip(None, served.number).await.expect("flip");

    let view = served.views[0].view.clone();
    let begun = store.begin(&view, Fingerprint::of(["large"]), 1).await;
    let Ok(Staging::Open(snapshot)) = begun else {
        panic!("expected an open snapshot, found {begun:?}");
    };
    let large = vec![0; 2 << 20];
    let row = StagedRow {
        key: b"key",
        row: &large,
    };
    let error = store.write(snapshot, &[row]).await.expect_err("full");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let address = RowAddress {
        view: 0,
        key: b"key 00001",
    };
    let mut rows = Rows::default();
    store
        .read(&served, &[address], &mut rows)
        .await
        .expect("reads");
    assert_eq!(rows.get(0), RowState::Found(b"row 1"));
}

/// KEY-06: a key of zero, of an empty string, or with such a part, is a key like any other.
#[tokio::test]
async fn zero_and_empty_keys_are_keys() {
    let mut keys = Vec::new();
    for parts in [
        (Some(0), None),
        (None, Some("")),
        (None, Some("0")),
        (Some(0), Some("")),
        (Some(1), None),
    ] {
        let mut key = EntityKey::new();
        if let Some(number) = parts.0 {
            key.push_int(number);
        }
        if let Some(text) = parts.1 {
            key.push_str(text);
        }
        keys.push(key);
    }
    keys.sort();
    let content: online::Content = keys
        .iter()
        .enumerate()
        .map(|(index, key)| {
            (
                key.as_bytes().to_vec(),
                vec![u8::try_from(index).expect("small")],
            )
        })
        .collect();
    let folder = TempDir::new().expect("folder");
    let store = open(&folder);
    let release = release(1, vec![stage(&store, "spend", &content).await]);
    store.register(&release).await.expect("register");
    let addresses: Vec<RowAddress<'_>> = keys
        .iter()
        .map(|key| RowAddress {
            view: 0,
            key: key.as_bytes(),
        })
        .collect();
    let mut rows = Rows::default();
    store
        .read(&release, &addresses, &mut rows)
        .await
        .expect("reads");
    for (index, (_, row)) in content.iter().enumerate() {
        assert_eq!(rows.get(index), RowState::Found(row));
    }
}

/// Names the folder in which the other process of `another_process_publishes_while_this_one_reads` publishes.
const OTHER_PROCESS: &str = "NIGHTFILL_TEST_PUBLISH_INTO";

const RELEASES: u64 = 20;

/// The other process: publishes [`RELEASES`] releases. Without the variable it has nothing to do.
#[tokio::test]
async fn other_process_publishes() {
    let Some(folder) = std::env::var_os(OTHER_PROCESS) else {
        return;
    };
    let settings = EmbeddedSettings::default();
    let store = EmbeddedStore::open(Path::new(&folder), settings).expect("opens");
    let mut served = None;
    for number in 1..=RELEASES {
        let content = numbered(500, &format!("release {number}"));
        let release = release(number, vec![stage(&store, "spend", &content).await]);
        store.register(&release).await.expect("register");
        store.flip(served, release.number).await.expect("flip");
        served = Some(release.number);
    }
}

#[tokio::test]
async fn another_process_publishes_while_this_one_reads() {
    let folder = TempDir::new().expect("folder");
    let store = open(&folder);
    let mut other = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "online::embedded::tests::other_process_publishes",
        ])
        .env(OTHER_PROCESS, folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("another process");
    let keys = [0, 250, 499].map(|key| format!("key {key:05}").into_bytes());
    let addresses = keys.each_ref().map(|key| RowAddress { view: 0, key });
    let mut rows = Rows::default();
    let mut last = ReleaseNumber(0);
    while last != ReleaseNumber(RELEASES) {
        if other.try_wait().expect("another process").is_some() {
            let served = store.served().await.expect("served");
            assert_eq!(served, Some(ReleaseNumber(RELEASES)));
        }
        let Some(served) = store.served().await.expect("served") else {
            continue;
        };
        assert!(served >= last, "{served} after {last}");
        last = served;
        let release = store.release(served).await.expect("release");
        store
            .read(&release, &addresses, &mut rows)
            .await
            .expect("reads");
        for (index, key) in [0, 250, 499].into_iter().enumerate() {
            let expected = format!("release {served} {key}");
            assert_eq!(rows.get(index), RowState::Found(expected.as_bytes()));
        }
    }
    assert!(other.wait().expect("another process").success());
}
