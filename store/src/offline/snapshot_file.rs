//! One snapshot's Parquet file, written as its rows come, in memory that does not grow with it.
//!
//! The bytes depend on the rows alone: batches are cut anew into fixed sizes, the writer's settings are fixed, and the
//! file names no version of a library.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{Field, Schema, SchemaRef};
use feature_defs::fingerprint::Fingerprint;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::parquet::{ROWS_A_BATCH, failed};
use super::statistics::Statistics;
use super::{SnapshotIdentity, SnapshotManifest, layout};
use crate::error::{Error, ErrorKind, Result};

/// Rows of a row group: a multiple of [`ROWS_A_BATCH`].
const ROWS_A_GROUP: usize = 131_072;

/// Parts that are on their way to the store at once.
const PARTS_AT_ONCE: usize = 4;

/// A snapshot's file on its way into the store.
pub(super) struct SnapshotFile {
    identity: SnapshotIdentity,
    path: Path,
    schema: SchemaRef,
    coalescer: BatchCoalescer,
    writer: Option<ArrowWriter<Vec<u8>>>,
    upload: Option<WriteMultipart>,
    statistics: Option<Statistics>,
    hasher: blake3::Hasher,
    bytes: u64,
    rows: u64,
}

impl SnapshotFile {
    pub(super) async fn start(
        objects: &dyn ObjectStore,
        identity: &SnapshotIdentity,
        schema: &SchemaRef,
    ) -> Result<Self> {
        let path = layout::data_path(identity);
        let schema = bare(schema);
        let statistics = Statistics::new(&schema)?;
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties()?))
            .map_err(unwritable)?;
        let upload = objects
            .put_multipart(&path)
            .await
            .map_err(|error| failed(error, path.as_ref()))?;
        Ok(Self {
            identity: identity.clone(),
            coalescer: BatchCoalescer::new(Arc::clone(&schema), ROWS_A_BATCH),
            schema,
            path,
            writer: Some(writer),
            upload: Some(WriteMultipart::new(upload)),
            statistics: Some(statistics),
            hasher: blake3::Hasher::new(),
            bytes: 0,
            rows: 0,
        })
    }

    pub(super) async fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec())
            .map_err(|error| {
                Error::new(
                    ErrorKind::Invalid,
                    "a batch is not of its snapshot's schema",
                )
                .with_source(error)
            })?;
        self.coalescer.push_batch(batch).map_err(unwritable)?;
        self.write_completed().await
    }

    async fn write_completed(&mut self) -> Result<()> {
        while let Some(batch) = self.coalescer.next_completed_batch() {
            self.rows += batch.num_rows() as u64;
            if let Some(statistics) = &mut self.statistics {
                statistics.observe(&batch);
            }
            let Some(writer) = &mut self.writer else {
                return Err(finished());
            };
            writer.write(&batch).map_err(unwritable)?;
            let encoded = std::mem::take(writer.inner_mut());
            self.send(encoded).await?;
        }
        Ok(())
    }

    async fn send(&mut self, encoded: Vec<u8>) -> Result<()> {
        self.hasher.update(&encoded);
        self.bytes += encoded.len() as u64;
        let Some(upload) = &mut self.upload else {
            return Err(finished());
        };
        upload
            .wait_for_capacity(PARTS_AT_ONCE)
            .await
            .map_err(|error| failed(error, self.path.as_ref()))?;
        upload.put(encoded.into());
        Ok(())
    }

    /// Writes what is left and says what the manifest will be; nothing is visible yet.
    pub(super) async fn finish(&mut self) -> Result<SnapshotManifest> {
        self.coalescer.finish_buffered_batch().map_err(unwritable)?;
        self.write_completed().await?;
        let writer = self.writer.take().ok_or_else(finished)?;
        let footer = writer.into_inner().map_err(unwritable)?;
        self.send(footer).await?;
        let statistics = self.statistics.take().ok_or_else(finished)?;
        Ok(SnapshotManifest {
            identity: self.identity.clone(),
            file: self.path.to_string(),
            bytes: self.bytes,
            content: content(&self.hasher)?,
            rows: self.rows,
            columns: statistics.finish()?,
        })
    }

    /// Puts the file in its place, in one step.
    pub(super) async fn complete(mut self) -> Result<()> {
        let upload = self.upload.take().ok_or_else(finished)?;
        upload
            .finish()
            .await
            .map_err(|error| failed(error, self.path.as_ref()))?;
        Ok(())
    }

    /// Leaves nothing behind. A store that cannot even do that is left to its own clean-up of unfinished uploads.
    pub(super) async fn abort(mut self) {
        if let Some(upload) = self.upload.take()
            && let Err(error) = upload.abort().await
        {
            tracing::warn!(%error, path = %self.path, "an unfinished upload was not removed");
        }
    }
}

fn properties() -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(3).map_err(unwritable)?;
    Ok(WriterProperties::builder()
        .set_created_by("nightfill".to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(ROWS_A_GROUP))
        .build())
}

/// The schema without metadata, whose order is not fixed.
fn bare(schema: &Schema) -> SchemaRef {
    let fields = schema
        .fields()
        .iter()
        .map(|field| Field::new(field.name(), field.data_type().clone(), field.is_nullable()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

pub(super) fn content(hasher: &blake3::Hasher) -> Result<Fingerprint> {
    Fingerprint::parse(&hasher.finalize().to_hex())
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a hash has no digits"))
}

fn unwritable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(ErrorKind::Invalid, "rows do not write as Parquet").with_source(error)
}

fn finished() -> Error {
    Error::new(ErrorKind::Internal, "a snapshot's file is finished already")
}
