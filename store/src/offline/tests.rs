use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, stream};
use tempfile::TempDir;

use super::parquet::ParquetStore;
use super::*;
use crate::conformance::offline::{self, sample};
use crate::error::ErrorKind;

#[tokio::test]
async fn local_parquet_store_conforms() {
    let folder = TempDir::new().expect("folder");
    let count = AtomicUsize::new(0);
    offline::all(async || {
        let next = count.fetch_add(1, Ordering::Relaxed);
        ParquetStore::local(&folder.path().join(next.to_string())).expect("opens")
    })
    .await;
}

#[tokio::test]
async fn a_damaged_or_lost_file_is_no_snapshot() {
    let folder = TempDir::new().expect("folder");
    let store = ParquetStore::local(folder.path()).expect("opens");
    let identity = SnapshotIdentity {
        view: Name::parse("spend").expect("a name"),
        fingerprint: Fingerprint::of(["definition"]),
        as_of: Instant::from_micros(0),
    };
    let batch = sample(100);
    let rows = stream::iter([Ok(batch.clone())]).boxed();
    let manifest = store.append(&identity, batch.schema(), rows).await;
    let manifest = manifest.expect("append");
    let file = folder.path().join(&manifest.file);
    let mut bytes = std::fs::read(&file).expect("the file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).expect("the file");
    let refused = store
        .read(&manifest)
        .await
        .map(|_| ())
        .expect_err("damaged");
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert_eq!(
        refused.to_string(),
        format!(
            "file `{}` is not the one its manifest describes",
            manifest.file
        )
    );
    std::fs::remove_file(&file).expect("the file");
    assert_eq!(store.manifest(&identity).await.expect("manifest"), None);
    let left: Vec<_> = std::fs::read_dir(file.parent().expect("a folder"))
        .expect("the folder")
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
