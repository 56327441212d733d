use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, TryStreamExt, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use tempfile::TempDir;

use super::parquet::ParquetStore;
use super::*;
use crate::conformance::offline::{self, sample};
use crate::conformance::servers::s3_bucket;
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
async fn parquet_store_in_object_storage_conforms() {
    if s3_bucket().is_none() {
        return;
    }
    offline::all(async || {
        let bucket = s3_bucket().expect("a server");
        ParquetStore::new(bucket.objects().store())
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

#[tokio::test]
async fn a_drop_that_was_cut_off_shows_no_part_and_is_finished_by_the_next() {
    let view = Name::parse("spend").expect("a name");
    let batch = sample(100);
    // After how many deletions it is cut off: two snapshots are four files.
    for after in 0..=4 {
        let folder = TempDir::new().expect("folder");
        let store = ParquetStore::local(folder.path()).expect("opens");
        for as_of in [1, 2] {
            let identity = SnapshotIdentity {
                view: view.clone(),
                fingerprint: Fingerprint::of(["definition"]),
                as_of: Instant::from_micros(as_of),
            };
            let rows = stream::iter([Ok(batch.clone())]).boxed();
            let written = store.append(&identity, batch.schema(), rows).await;
            written.expect("append");
        }
        // What a write that was killed leaves is no object, and goes too.
        let litter = folder.path().join("spend/as_of=litter");
        std::fs::create_dir_all(&litter).expect("a folder");
        std::fs::write(litter.join("0a.parquet#1"), "part").expect("a file");

        let cut_off = ParquetStore::new(Arc::new(CutOff {
            objects: Arc::new(LocalFileSystem::new_with_prefix(folder.path()).expect("opens")),
            left: Arc::new(AtomicUsize::new(after)),
        }));
        assert_eq!(
            cut_off.drop_view(&view).await.is_ok(),
            after >= 4,
            "{after}"
        );
        for manifest in store.manifests(&view).await.expect("manifests") {
            let rows = store.read(&manifest).await;
            let rows: Result<Vec<RecordBatch>> = rows.expect("whole").try_collect().await;
            assert_eq!(rows.expect("rows").len(), 1);
        }
        let files = store.kept(&view).await.expect("kept");
        assert_eq!(files.snapshots, 2_u64.saturating_sub(after as u64));
        let views = store.views().await.expect("views");
        assert_eq!(views.is_empty(), after >= 4, "{after}");
        store.drop_view(&view).await.expect("drop");
        assert_eq!(store.views().await.expect("views"), []);
        assert!(!folder.path().join("spend").exists());
    }
}

/// Deletes one file after the other, as many as are `left`, and then fails as a process that is killed ends.
#[derive(Debug)]
struct CutOff {
    objects: Arc<LocalFileSystem>,
    left: Arc<AtomicUsize>,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects.fmt(f)
    }
}

type Stored<T> = object_store::Result<T>;

#[async_trait]
impl ObjectStore for CutOff {
    async fn put_opts(&self, at: &Path, bytes: PutPayload, o: PutOptions) -> Stored<PutResult> {
        self.objects.put_opts(at, bytes, o).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Stored<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Stored<GetResult> {
        self.objects.get_opts(at, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Stored<Path>>,
    ) -> BoxStream<'static, Stored<Path>> {
        let (objects, left) = (Arc::clone(&self.objects), Arc::clone(&self.left));
        let one = move |location: Stored<Path>| {
            let (objects, left) = (Arc::clone(&objects), Arc::clone(&left));
            async move {
                let location = location?;
                let taken =
                    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
                taken.map_err(|_| object_store::Error::NotImplemented {
                    operation: "deleting".to_owned(),
                    implementer: "a killed process".to_owned(),
                })?;
                objects.delete(&location).await?;
                Ok(location)
            }
        };
        locations.then(one).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Stored<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Stored<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Stored<()> {
        self.objects.copy_opts(from, to, options).await
    }
}
