//! Which views anything is kept of, and taking it away.

use std::collections::BTreeSet;

use feature_defs::name::Name;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use super::parquet::failed;
use super::{KeptSnapshots, layout};
use crate::error::Result;

/// The views with a file of ours, whole snapshots or not.
pub(super) async fn views(objects: &dyn ObjectStore) -> Result<Vec<Name>> {
    let top = objects.list_with_delimiter(None).await;
    let folders = top.map_err(|error| failed(error, "/"))?.common_prefixes;
    let mut views = BTreeSet::new();
    for folder in folders {
        // Other folders are none of ours.
        let Ok(view) = Name::parse(folder.as_ref()) else {
            continue;
        };
        let mut files = objects.list(Some(&folder));
        let first = files.try_next().await;
        if first
            .map_err(|error| failed(error, view.as_str()))?
            .is_some()
        {
            views.insert(view);
        }
    }
    Ok(views.into_iter().collect())
}

/// What is kept of a view.
pub(super) async fn kept(objects: &dyn ObjectStore, view: &Name) -> Result<KeptSnapshots> {
    Ok(summed(&files(objects, view).await?))
}

/// Deletes all files of a view: first what makes its snapshots known, so that no reader finds one in parts.
pub(super) async fn drop_view(objects: &dyn ObjectStore, view: &Name) -> Result<KeptSnapshots> {
    let found = files(objects, view).await?;
    let (manifests, rows): (Vec<&ObjectMeta>, Vec<&ObjectMeta>) =
        found.iter().partition(|file| is_manifest(file));
    delete(objects, &manifests).await?;
    delete(objects, &rows).await?;
    Ok(summed(&found))
}

async fn files(objects: &dyn ObjectStore, view: &Name) -> Result<Vec<ObjectMeta>> {
    let folder = Path::from(view.as_str());
    let files = objects.list(Some(&folder)).try_collect().await;
    files.map_err(|error| failed(error, view.as_str()))
}

fn is_manifest(file: &ObjectMeta) -> bool {
    file.location.as_ref().ends_with(layout::MANIFEST_END)
}

fn summed(files: &[ObjectMeta]) -> KeptSnapshots {
    KeptSnapshots {
        snapshots: files.iter().filter(|file| is_manifest(file)).count() as u64,
        bytes: files.iter().map(|file| file.size).sum(),
    }
}

async fn delete(objects: &dyn ObjectStore, files: &[&ObjectMeta]) -> Result<()> {
    let locations: Vec<_> = files.iter().map(|file| Ok(file.location.clone())).collect();
    let mut deleted = objects.delete_stream(stream::iter(locations).boxed());
    while let Some(result) = deleted.next().await {
        match result {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(failed(error, "a file of a dropped view")),
        }
    }
    Ok(())
}
