//! Manifests: read and written as JSON; a snapshot is there when its manifest is.

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::parquet::failed;
use super::{SnapshotIdentity, SnapshotManifest, layout};
use crate::error::{Error, ErrorKind, Result};

/// The manifest of a snapshot whose file is there in its full size.
pub(super) async fn find(
    store: &dyn ObjectStore,
    identity: &SnapshotIdentity,
) -> Result<Option<SnapshotManifest>> {
    let Some(manifest) = load(store, &layout::manifest_path(identity)).await? else {
        return Ok(None);
    };
    if manifest.identity != *identity {
        return Ok(None);
    }
    match store.head(&layout::data_path(identity)).await {
        Ok(file) => Ok((file.size == manifest.bytes).then_some(manifest)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(error, &manifest.file)),
    }
}

/// The manifest at `path`, if there is one.
pub(super) async fn load(store: &dyn ObjectStore, path: &Path) -> Result<Option<SnapshotManifest>> {
    let found = match store.get(path).await {
        Ok(found) => found,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(failed(error, path.as_ref())),
    };
    let json = found
        .bytes()
        .await
        .map_err(|error| failed(error, path.as_ref()))?;
    serde_json::from_slice(&json).map(Some).map_err(|error| {
        let message = format!("manifest `{path}` is damaged");
        Error::new(ErrorKind::Corrupt, message).with_source(error)
    })
}

/// Makes a snapshot known; the store does it in one step.
pub(super) async fn save(store: &dyn ObjectStore, manifest: &SnapshotManifest) -> Result<()> {
    let path = layout::manifest_path(&manifest.identity);
    let json = serde_json::to_vec_pretty(manifest).map_err(|error| {
        Error::new(ErrorKind::Internal, "a manifest does not print as JSON").with_source(error)
    })?;
    store
        .put(&path, json.into())
        .await
        .map_err(|error| failed(error, path.as_ref()))?;
    Ok(())
}

/// Makes a snapshot unknown, before its file is replaced.
pub(super) async fn remove(store: &dyn ObjectStore, identity: &SnapshotIdentity) -> Result<()> {
    let path = layout::manifest_path(identity);
    match store.delete(&path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(failed(error, path.as_ref())),
    }
}
