//! A plan in which rows of several partitions come one partition after the other.
//!
//! Over sources in one partition, the sides of a `UNION` are partitions all the same, and the engine takes their rows as
//! they come: first those of the side that happened to be sooner. A query that can show the order of its rows would
//! differ from run to run.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result as EngineResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, execute_stream};
use datafusion::prelude::DataFrame;
use futures::{StreamExt, TryStreamExt, stream};

/// The rows of a query, each of whose steps has one partition.
pub(super) async fn execute(rows: DataFrame) -> EngineResult<SendableRecordBatchStream> {
    let context = Arc::new(rows.task_ctx());
    let plan = rows.create_physical_plan().await?;
    let plan = plan.transform_up(|step| match step.output_partitioning().partition_count() {
        0 | 1 => Ok(Transformed::no(step)),
        _ => Ok(Transformed::yes(in_turn(step)?)),
    })?;
    execute_stream(plan.data, context)
}

fn in_turn(step: Arc<dyn ExecutionPlan>) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let schema = step.schema();
    let streams: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(InTurn {
        step,
        schema: Arc::clone(&schema),
    })];
    let exec = StreamingTableExec::try_new(schema, streams, None, [], false, None)?;
    Ok(Arc::new(exec))
}

#[derive(Debug)]
struct InTurn {
    step: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for InTurn {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let step = Arc::clone(&self.step);
        let partitions = 0..step.output_partitioning().partition_count();
        // A partition is not started before the one before it has ended.
        let rows = stream::iter(partitions)
            .map(move |partition| step.execute(partition, Arc::clone(&context)))
            .try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            rows,
        ))
    }
}
