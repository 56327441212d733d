//! Snapshots as Parquet files in any object store.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use feature_defs::name::Name;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::async_reader::ParquetRecordBatchStreamBuilder;

use super::object_reader::ObjectReader;
use super::parquet_fault::parquet_fault;
use super::snapshot_file::{SnapshotFile, content};
use super::{
    KeptSnapshots, OfflineStore, SnapshotIdentity, SnapshotManifest, clean_up, layout, manifest,
};
use crate::error::{Error, ErrorKind, Result};

/// Rows of a batch, on the way in and out.
pub(super) const ROWS_A_BATCH: usize = 8_192;

/// An [`OfflineStore`] over any object store.
#[derive(Debug, Clone)]
pub struct ParquetStore {
    objects: Arc<dyn ObjectStore>,
    /// Where it is on local disk, if it is: folders and unfinished uploads are no objects, and go with their view.
    folder: Option<Arc<FilePath>>,
}

impl ParquetStore {
    /// Keeps snapshots in `objects`.
    #[must_use]
    pub fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self {
            objects,
            folder: None,
        }
    }

    /// Keeps snapshots in a folder on local disk, which is made when it is not there.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be had.
    pub fn local(folder: &FilePath) -> Result<Self> {
        let refused = || {
            Error::new(
                ErrorKind::Unavailable,
                format!("folder `{}` cannot be used", folder.display()),
            )
        };
        std::fs::create_dir_all(folder).map_err(|error| refused().with_source(error))?;
        let files = LocalFileSystem::new_with_prefix(folder)
            .map_err(|error| refused().with_source(error))?;
        Ok(Self {
            objects: Arc::new(files),
            folder: Some(folder.into()),
        })
    }

    async fn verify(&self, manifest: &SnapshotManifest) -> Result<()> {
        let path = Path::from(manifest.file.as_str());
        let found = match self.objects.get(&path).await {
            Err(object_store::Error::NotFound { .. }) => return Err(other_file(manifest)),
            found => found.map_err(|error| failed(error, &manifest.file))?,
        };
        let mut hasher = blake3::Hasher::new();
        let mut bytes = 0;
        let mut chunks = found.into_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| failed(error, &manifest.file))?;
            bytes += chunk.len() as u64;
            hasher.update(&chunk);
        }
        if bytes == manifest.bytes && content(&hasher)? == manifest.content {
            Ok(())
        } else {
            Err(other_file(manifest))
        }
    }
}

#[async_trait]
impl OfflineStore for ParquetStore {
    async fn append(
        &self,
        identity: &SnapshotIdentity,
        schema: SchemaRef,
        mut batches: BoxStream<'_, Result<RecordBatch>>,
    ) -> Result<SnapshotManifest> {
        let mut file = SnapshotFile::start(&*self.objects, identity, &schema).await?;
        let written = async {
            while let Some(batch) = batches.next().await {
                file.push(batch?).await?;
            }
            file.finish().await
        }
        .await;
        let manifest = match written {
            Ok(manifest) => manifest,
            Err(error) => {
                file.abort().await;
                return Err(error);
            }
        };
        let known = manifest::find(&*self.objects, identity).await;
        if let Ok(Some(known)) = known
            && known == manifest
        {
            file.abort().await;
            return Ok(known);
        }
        manifest::remove(&*self.objects, identity).await?;
        file.complete().await?;
        manifest::save(&*self.objects, &manifest).await?;
        Ok(manifest)
    }

    async fn manifest(&self, identity: &SnapshotIdentity) -> Result<Option<SnapshotManifest>> {
        manifest::find(&*self.objects, identity).await
    }

    async fn manifests(&self, view: &Name) -> Result<Vec<SnapshotManifest>> {
        let folder = Path::from(view.as_str());
        let files: Vec<_> = self
            .objects
            .list(Some(&folder))
            .try_collect()
            .await
            .map_err(|error| failed(error, view.as_str()))?;
        let mut manifests = Vec::new();
        for file in files {
            if !file.location.as_ref().ends_with(layout::MANIFEST_END) {
                continue;
            }
            let Some(loaded) = manifest::load(&*self.objects, &file.location).await? else {
                continue;
            };
            manifests.extend(manifest::find(&*self.objects, &loaded.identity).await?);
        }
        manifests.sort_by(|one, other| {
            let key = |manifest: &SnapshotManifest| {
                (manifest.identity.as_of, manifest.identity.fingerprint)
            };
            key(one).cmp(&key(other))
        });
        Ok(manifests)
    }

    async fn read(
        &self,
        manifest: &SnapshotManifest,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        self.verify(manifest).await?;
        let reader = ObjectReader {
            objects: Arc::clone(&self.objects),
            path: Path::from(manifest.file.as_str()),
            size: manifest.bytes,
        };
        let file = manifest.file.clone();
        let broken = move |error: parquet::errors::ParquetError| {
            let why = parquet_fault(&error);
            Error::new(ErrorKind::Corrupt, format!("file `{file}` {why}"))
        };
        let stream = ParquetRecordBatchStreamBuilder::new(reader)
            .await
            .and_then(|builder| builder.with_batch_size(ROWS_A_BATCH).build())
            .map_err(&broken)?;
        Ok(stream.map_err(broken).boxed())
    }

    async fn views(&self) -> Result<Vec<Name>> {
        clean_up::views(&*self.objects).await
    }

    async fn kept(&self, view: &Name) -> Result<KeptSnapshots> {
        clean_up::kept(&*self.objects, view).await
    }

    async fn drop_view(&self, view: &Name) -> Result<KeptSnapshots> {
        let dropped = clean_up::drop_view(&*self.objects, view).await?;
        if let Some(folder) = &self.folder {
            remove_folder(folder.join(view.as_str())).await?;
        }
        Ok(dropped)
    }
}

/// Removes a folder on local disk, with whatever is left in it.
async fn remove_folder(folder: PathBuf) -> Result<()> {
    let refused = format!("folder `{}` cannot be removed", folder.display());
    let refused = || Error::new(ErrorKind::Unavailable, refused);
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(folder)).await;
    match removed {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) => Err(refused().with_source(error)),
        Err(error) => Err(refused().with_source(error)),
    }
}

/// An error of the object store.
pub(super) fn failed(error: object_store::Error, path: &str) -> Error {
    let (kind, what) = match &error {
        object_store::Error::NotFound { .. } => (ErrorKind::NotFound, "is not there"),
        object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. } => {
            (ErrorKind::Unsupported, "is not supported")
        }
        _ => (ErrorKind::Unavailable, "cannot be read or written"),
    };
    Error::new(kind, format!("`{path}` in the offline store {what}")).with_source(error)
}

fn other_file(manifest: &SnapshotManifest) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "file `{}` is not the one its manifest describes",
            manifest.file
        ),
    )
}
