//! From computed rows to staged, verified snapshots: offline first, then online from what was kept offline.

use arrow::array::{Array, ArrayRef, RecordBatch};
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::FeatureView;
use feature_defs::time::Instant;
use futures::{StreamExt, TryStreamExt};
use store::offline::{OfflineStore, SnapshotIdentity, SnapshotManifest};
use store::online::row::{RowEncoder, RowLayout};
use store::online::{Checksum, OnlineStore, StagedRow, Staging};
use store::release::{ReleaseView, SnapshotId};

use crate::error::{Error, Result};
use crate::keyed::snapshot_times;
use crate::keys;
use crate::lease::HeldLease;
use crate::progress::{Event, Progress};
use crate::session::Session;
use crate::snapshot;
use crate::view_rows::KeptViews;

/// A view's snapshot, computed and kept offline.
pub(crate) struct Kept {
    pub(crate) manifest: SnapshotManifest,
    /// Rows of sources that it was computed from.
    pub(crate) rows_read: u64,
    /// Rows that were passed over because their key has a null.
    pub(crate) without_key: u64,
}

/// Computes a view as of an instant and keeps its snapshot offline; `kept` are those of the views that it reads.
pub(crate) async fn keep(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    as_of: Instant,
    offline: &dyn OfflineStore,
    kept: &KeptViews,
    progress: &dyn Progress,
) -> Result<Kept> {
    let snapshot = snapshot::compute_beside(session, definitions, view, as_of, Some(kept)).await?;
    let identity = SnapshotIdentity {
        view: view.name.clone(),
        fingerprint: view.fingerprint,
        as_of,
    };
    let mut computed = 0;
    let batches = snapshot.batches.map_ok(|batch| {
        computed += batch.num_rows() as u64;
        let (view, rows) = (&view.name, computed);
        progress.event(Event::Computed { view, rows });
        batch
    });
    let batches = batches.map_err(store::error::Error::from).boxed();
    let manifest = offline.append(&identity, snapshot.schema, batches).await?;
    Ok(Kept {
        manifest,
        rows_read: snapshot.counts.read(),
        without_key: snapshot.counts.without_key(),
    })
}

/// A view's snapshot in the online store, complete and verified.
pub(crate) struct Staged {
    pub(crate) release_view: ReleaseView,
    /// Whether rows had to be written; not when the store had this content already.
    pub(crate) written: bool,
}

/// Stages a snapshot that is kept offline.
pub(crate) async fn stage(
    definitions: &Definitions,
    view: &FeatureView,
    manifest: &SnapshotManifest,
    offline: &dyn OfflineStore,
    online: &dyn OnlineStore,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<Staged> {
    lease.check()?;
    let (snapshot, written) = match online
        .begin(&view.name, manifest.content, manifest.rows)
        .await?
    {
        Staging::Complete(snapshot) => (snapshot, false),
        Staging::Open(snapshot) => {
            write(
                definitions,
                view,
                manifest,
                snapshot,
                offline,
                online,
                lease,
                progress,
            )
            .await?;
            (snapshot, true)
        }
    };
    let release_view = ReleaseView {
        view: view.name.clone(),
        fingerprint: view.fingerprint,
        as_of: manifest.identity.as_of,
        content: manifest.content,
        rows: manifest.rows,
        snapshot,
    };
    Ok(Staged {
        release_view,
        written,
    })
}

#[expect(clippy::too_many_arguments)] // the two stores, what goes from one to the other, and who watches
async fn write(
    definitions: &Definitions,
    view: &FeatureView,
    manifest: &SnapshotManifest,
    snapshot: SnapshotId,
    offline: &dyn OfflineStore,
    online: &dyn OnlineStore,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<()> {
    let layout = RowLayout::new(&view.features);
    let mut checksum = Checksum::default();
    let mut batches = offline.read(manifest).await?;
    while let Some(batch) = batches.try_next().await? {
        let packed = Packed::new(definitions, view, &layout, &batch)?;
        let rows = packed.rows();
        for row in &rows {
            checksum.add(*row);
        }
        lease.check()?;
        online.write(snapshot, &rows).await?;
        progress.event(Event::Staged {
            view: &view.name,
            rows: checksum.rows,
            of: manifest.rows,
        });
    }
    lease.check()?;
    online.complete(snapshot, checksum).await?;
    Ok(())
}

/// A snapshot's batch as the online store keeps it.
struct Packed {
    keys: arrow::array::BinaryArray,
    bytes: Vec<u8>,
    /// Where each row ends in `bytes`.
    ends: Vec<usize>,
}

impl Packed {
    fn new(
        definitions: &Definitions,
        view: &FeatureView,
        layout: &RowLayout,
        batch: &RecordBatch,
    ) -> Result<Self> {
        let entity = definitions.entity_of(view);
        let parts = keys::part_columns(batch, entity)?;
        let event_times: ArrayRef = std::sync::Arc::new(snapshot_times(batch)?);
        let features = &batch.columns()[entity.keys.len() + 1..];
        let encoder = RowEncoder::new(layout, features, &event_times)
            .map_err(|e| e.while_doing(format!("packing rows of `{}`", view.name)))?;
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            encoder.encode(row, &mut bytes)?;
            ends.push(bytes.len());
        }
        let keys = keys::of_columns(&parts, batch.num_rows())?;
        if keys.null_count() > 0 {
            return Err(Error::view(&view.name, "a kept row has a null in its key"));
        }
        Ok(Self { keys, bytes, ends })
    }

    fn rows(&self) -> Vec<StagedRow<'_>> {
        let mut start = 0;
        let mut rows = Vec::with_capacity(self.ends.len());
        for (row, end) in self.ends.iter().enumerate() {
            rows.push(StagedRow {
                key: self.keys.value(row),
                row: &self.bytes[start..*end],
            });
            start = *end;
        }
        rows
    }
}
