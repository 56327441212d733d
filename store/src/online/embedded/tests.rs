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
    let begun = store.begin(&view, Fingerprint::of(["large"])).await;
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
