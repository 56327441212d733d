//! Rows of several plans as one table, of which the engine knows nothing but its columns.
//!
//! A union would do, but for what the engine then knows of it: columns that are the same in all rows of one input (nulls of
//! the others, the place of its source) are left out of that input's sort, and the merge above no longer fits.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::{TryStreamExt, stream};

/// The rows of all plans, which have columns of the same names and types; at least one.
pub(super) fn mixed(plans: Vec<Arc<dyn ExecutionPlan>>) -> EngineResult<Arc<dyn TableProvider>> {
    let fields = plans.first().map(|plan| plan.schema().fields().clone());
    let fields = fields.unwrap_or_default();
    let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let schema = Arc::new(Schema::new(fields.iter().map(nullable).collect::<Vec<_>>()));
    let mut streams: Vec<Arc<dyn PartitionStream>> = Vec::new();
    for plan in plans {
        for partition in 0..plan.output_partitioning().partition_count() {
            streams.push(Arc::new(Part {
                plan: Arc::clone(&plan),
                partition,
                schema: Arc::clone(&schema),
            }));
        }
    }
    Ok(Arc::new(StreamingTable::try_new(schema, streams)?))
}

/// One partition of one plan.
#[derive(Debug)]
struct Part {
    plan: Arc<dyn ExecutionPlan>,
    partition: usize,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let rows: SendableRecordBatchStream = match self.plan.execute(self.partition, context) {
            Ok(rows) => Box::pin(RecordBatchStreamAdapter::new(
                Arc::clone(&schema),
                rows.and_then(move |batch| {
                    let batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec());
                    std::future::ready(batch.map_err(DataFusionError::from))
                }),
            )),
            Err(error) => Box::pin(RecordBatchStreamAdapter::new(
                schema,
                stream::once(std::future::ready(Err(error))),
            )),
        };
        rows
    }
}
