//! The offline store: all snapshots in Parquet, for training and for publishing.

mod clean_up;
mod layout;
mod manifest;
mod object_reader;
pub mod parquet;
mod parquet_fault;
mod snapshot_file;
mod statistics;
#[cfg(test)]
mod tests;

use std::fmt;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use futures::stream::BoxStream;

use crate::error::Result;

pub use parquet_fault::parquet_fault;

/// Where snapshots are kept.
///
/// An implementation MUST show a snapshot to readers only when it is whole, and MUST give the same bytes for the same
/// batches, however they are cut. Methods have no default bodies.
#[async_trait]
pub trait OfflineStore: Send + Sync + fmt::Debug {
    /// Writes a snapshot: rows sorted by key, each key once. The manifest is written last. Writing the same snapshot
    /// again replaces it with equal bytes. A failing stream leaves no snapshot.
    async fn append(
        &self,
        identity: &SnapshotIdentity,
        schema: SchemaRef,
        batches: BoxStream<'_, Result<RecordBatch>>,
    ) -> Result<SnapshotManifest>;

    /// The manifest of a snapshot, if it is there and whole.
    async fn manifest(&self, identity: &SnapshotIdentity) -> Result<Option<SnapshotManifest>>;

    /// Manifests of all whole snapshots of a view, by ascending as-of.
    async fn manifests(&self, view: &Name) -> Result<Vec<SnapshotManifest>>;

    /// The rows of a snapshot, in the order they were written. MUST fail with `Corrupt` when the file is not the one
    /// that its manifest describes.
    async fn read(
        &self,
        manifest: &SnapshotManifest,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>>;

    /// The views of which anything is kept, sorted: whole snapshots, and also what a write or a clean-up that was cut off
    /// left behind.
    async fn views(&self) -> Result<Vec<Name>>;

    /// How much is kept of a view: nothing, of one that was never written or was dropped.
    async fn kept(&self, view: &Name) -> Result<KeptSnapshots>;

    /// Takes away all that is kept of a view, and says what it was. MUST make a snapshot unknown before any of its rows
    /// go, and MUST leave other views as they are. Idempotent: after a call that was cut off, the next one takes away the
    /// rest; a view of which nothing is kept is no failure. The view may be written again afterwards.
    async fn drop_view(&self, view: &Name) -> Result<KeptSnapshots>;
}

/// How much is kept of a view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct KeptSnapshots {
    /// Number of snapshots.
    pub snapshots: u64,
    /// Size of all its files, those of no whole snapshot too.
    pub bytes: u64,
}

/// Which snapshot: the same identity over the same source rows has the same content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SnapshotIdentity {
    /// The view.
    pub view: Name,
    /// The view's fingerprint.
    pub fingerprint: Fingerprint,
    /// The instant from which the view looked.
    pub as_of: Instant,
}

/// What is known of a whole snapshot.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SnapshotManifest {
    /// Which snapshot.
    #[serde(flatten)]
    pub identity: SnapshotIdentity,
    /// Path of the Parquet file within the store.
    pub file: String,
    /// Size of the file.
    pub bytes: u64,
    /// Hash of the file.
    pub content: Fingerprint,
    /// Number of rows.
    pub rows: u64,
    /// One entry a column, keys included, in schema order.
    pub columns: Vec<ColumnStatistics>,
}

/// Statistics of one column of a snapshot.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ColumnStatistics {
    /// The column.
    pub name: String,
    /// How many values are null.
    pub nulls: u64,
    /// How many values are NaN.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nans: u64,
    /// Least value in its JSON form, if the type has an order and a value is there. NaN is not counted.
    pub min: Option<serde_json::Value>,
    /// Greatest value, likewise.
    pub max: Option<serde_json::Value>,
    /// Mean of a numeric column's values, NaN left out.
    pub mean: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &u64) -> bool {
    *count == 0
}
