//! The rows of a view as a table that the SQL of another view reads: as of the same instant, and no older than its TTL.
//!
//! ```text
//!   by night        the snapshot that this night kept offline --\
//!   training sets   the view, computed as of the instant --------+--> TTL --> values as SQL sees them --> table
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session as EngineSession, TableProvider};
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use feature_defs::as_of;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::FeatureView;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use store::offline::{OfflineStore, SnapshotManifest};

use crate::error::{Error, Result};
use crate::keyed::snapshot_times;
use crate::scan::{RowCount, for_sql, in_total_order};
use crate::session::Session;
use crate::snapshot;

/// Snapshots that a night has kept so far, for the views that it computes after them.
#[derive(Debug, Clone)]
pub(crate) struct KeptViews {
    offline: Arc<dyn OfflineStore>,
    manifests: BTreeMap<Name, SnapshotManifest>,
}

impl KeptViews {
    pub(crate) fn new(offline: Arc<dyn OfflineStore>) -> Self {
        Self {
            offline,
            manifests: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, manifest: SnapshotManifest) {
        self.manifests
            .insert(manifest.identity.view.clone(), manifest);
    }

    /// The snapshot of a view as it is defined, as of this very instant.
    fn find(&self, view: &FeatureView, as_of: Instant) -> Option<&SnapshotManifest> {
        let kept = self.manifests.get(&view.name)?;
        let identity = &kept.identity;
        (identity.as_of == as_of && identity.fingerprint == view.fingerprint).then_some(kept)
    }
}

/// The rows of a view that are seen as of an instant.
#[derive(Debug, Clone)]
pub(crate) struct ViewTable {
    rows: Arc<Rows>,
    schema: SchemaRef,
    rows_read: Arc<RowCount>,
    ordered: bool,
}

/// Where they come from. Every scan reads them anew.
struct Rows {
    session: Session,
    definitions: Arc<Definitions>,
    view: FeatureView,
    as_of: Instant,
    kept: Option<(Arc<dyn OfflineStore>, SnapshotManifest)>,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = (&self.view.name, self.as_of);
        f.debug_tuple("Rows").field(&of).finish()
    }
}

impl ViewTable {
    /// The rows of `view`: those that a night has kept as of this instant, else computed when they are read.
    pub(crate) fn new(
        session: &Session,
        definitions: &Arc<Definitions>,
        view: &FeatureView,
        as_of: Instant,
        kept: Option<&KeptViews>,
    ) -> Self {
        let manifest = kept.and_then(|kept| Some((kept, kept.find(view, as_of)?)));
        let rows = Rows {
            session: session.clone(),
            definitions: Arc::clone(definitions),
            view: view.clone(),
            as_of,
            kept: manifest.map(|(kept, found)| (Arc::clone(&kept.offline), found.clone())),
        };
        let columns = rows.columns();
        let fields = columns
            .iter()
            .map(|(name, data_type)| Field::new(name, data_type.in_sql().to_arrow(), true));
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            rows: Arc::new(rows),
            rows_read: Arc::default(),
            ordered: false,
        }
    }

    /// The same in an order that only the rows decide.
    pub(crate) fn in_total_order(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// Grows with the rows that are seen.
    pub(crate) fn rows_read(&self) -> Arc<RowCount> {
        Arc::clone(&self.rows_read)
    }
}

impl Rows {
    /// The columns of the view's snapshots.
    fn columns(&self) -> Vec<(String, DataType)> {
        let keys = self.definitions.entity_of(&self.view).keys.iter();
        let keys = keys.map(|part| (part.name.to_string(), part.data_type));
        let features = self.view.features.iter();
        let features = features.map(|feature| (feature.name.to_string(), feature.data_type));
        let stamp = (snapshot::EVENT_TIME.to_owned(), DataType::Timestamp);
        keys.chain([stamp]).chain(features).collect()
    }

    async fn batches(&self) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        if let Some((offline, manifest)) = &self.kept {
            let batches = offline.read(manifest).await?;
            return Ok(batches.map_err(Error::from).boxed());
        }
        let (session, definitions) = (&self.session, self.definitions.as_ref());
        let computed = snapshot::compute(session, definitions, &self.view, self.as_of).await;
        let computed = computed.map_err(|e| e.in_view(&self.view.name, session))?;
        Ok(computed.batches)
    }

    /// The rows that have not expired (rule 5), with these columns as SQL sees them.
    fn seen(
        &self,
        batch: &RecordBatch,
        columns: &[usize],
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let times = snapshot_times(batch)?;
        let usable = times.values().iter().map(|time| {
            let event_time = Instant::from_micros(*time);
            Some(as_of::within_ttl(event_time, self.view.ttl, self.as_of))
        });
        let usable: BooleanArray = usable.collect();
        let types = self.columns();
        let mut seen = Vec::with_capacity(columns.len());
        for place in columns {
            let (name, data_type) = &types[*place];
            let column = for_sql(batch.column(*place), *data_type).map_err(|failure| {
                let message = format!("column `{name}{}`: {}", failure.path, failure.message);
                Error::view(&self.view.name, message)
            })?;
            seen.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(schema), seen, &options)
            .and_then(|batch| filter_record_batch(&batch, &usable))
            .map_err(|e| Error::view(&self.view.name, e.to_string()))
    }
}

#[async_trait]
impl TableProvider for ViewTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn EngineSession,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let scan: Arc<dyn PartitionStream> = Arc::new(Scan {
            rows: Arc::clone(&self.rows),
            columns: columns.into(),
            schema: Arc::clone(&schema),
            rows_read: self.rows_read.scan(),
        });
        let found =
            StreamingTableExec::try_new(Arc::clone(&schema), vec![scan], None, [], false, None)?;
        match self.ordered {
            false => Ok(Arc::new(found)),
            true => in_total_order(Arc::new(found), schema),
        }
    }
}

/// One scan of a view.
#[derive(Debug)]
struct Scan {
    rows: Arc<Rows>,
    columns: Arc<[usize]>,
    schema: SchemaRef,
    rows_read: Arc<AtomicU64>,
}

impl PartitionStream for Scan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = Arc::clone(&self.rows);
        let (columns, schema) = (Arc::clone(&self.columns), Arc::clone(&self.schema));
        let rows_read = Arc::clone(&self.rows_read);
        let opened = async move {
            let batches = rows.batches().await?;
            Ok::<_, Error>(batches.and_then(move |batch| {
                let seen = rows.seen(&batch, &columns, &schema);
                if let Ok(seen) = &seen {
                    rows_read.fetch_add(seen.num_rows() as u64, Ordering::Relaxed);
                }
                std::future::ready(seen)
            }))
        };
        let batches = stream::once(opened).try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            batches.map_err(DataFusionError::from),
        ))
    }
}

#[cfg(test)]
mod tests;
