//! A scan in an order that only its rows decide.
//!
//! The engine leaves a sort out that no operator above asks for, so this one is hidden in a partition stream of its own.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::error::Result as EngineResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::col;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;

/// The rows of `found`, sorted by all their columns. Rows that are equal in them cannot be told apart.
pub(crate) fn in_total_order(
    found: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let one = Arc::new(CoalescePartitionsExec::new(found));
    let columns = schema.fields().iter();
    let columns =
        columns.map(|field| Ok(PhysicalSortExpr::new_default(col(field.name(), &schema)?)));
    let columns = columns.collect::<EngineResult<Vec<_>>>()?;
    let sorted: Arc<dyn ExecutionPlan> = match LexOrdering::new(columns) {
        Some(order) => Arc::new(SortExec::new(order, one)),
        // No columns: only the number of rows is asked for.
        None => one,
    };
    let streams: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(Sorted {
        sorted,
        schema: Arc::clone(&schema),
    })];
    let exec = StreamingTableExec::try_new(schema, streams, None, [], false, None)?;
    Ok(Arc::new(exec))
}

#[derive(Debug)]
struct Sorted {
    sorted: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for Sorted {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        match self.sorted.execute(0, context) {
            Ok(rows) => rows,
            Err(error) => {
                let failed = stream::once(async { Err(error) });
                Box::pin(RecordBatchStreamAdapter::new(
                    Arc::clone(&self.schema),
                    failed,
                ))
            }
        }
    }
}
