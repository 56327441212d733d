//! A cut source in the order in which keys are worked through: by canonical key bytes, then newest row first.
//!
//! The order of a key's rows is total (rule 3): event time, created time, then the declared columns in their order,
//! the greatest first and nulls last. Rows that are equal in all of these are equal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, RecordBatch};
use datafusion::common::ScalarValue;
use datafusion::error::Result as EngineResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::expr::Sort;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{DataFrame, Expr, SessionContext, cast, ident, lit};
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::source::Source;
use futures::TryStreamExt;

use super::Cut;
use super::filtered::CarriedFilter;
use super::mixed::mixed;
use super::table::{CREATED_TIME, CutSource, EVENT_TIME};
use crate::error::{Error, Result};
use crate::keys;
use crate::session::Session;
use crate::snapshot::Counts;

/// The column with each row's canonical key bytes.
pub(crate) const KEY: &str = "__key";

/// Rows of a source by key, newest first, with columns [`KEY`], the key parts by their entity's names behind
/// [`SortedRows::part`], event time, created time, and the columns that were asked for by their own names.
pub(crate) struct SortedRows {
    pub(crate) stream: SendableRecordBatchStream,
    counts: Counts,
}

impl SortedRows {
    /// The column that holds a part of the key.
    pub(crate) fn part(index: usize) -> String {
        format!("__part_{index}")
    }

    /// The column that holds event times.
    pub(crate) const EVENT_TIME: &'static str = EVENT_TIME;
    /// The column that says, of rows of several sources, which one a row is of: by its place.
    pub(crate) const SOURCE: &'static str = "__source";
    /// The column that holds created times.
    pub(crate) const CREATED_TIME: &'static str = CREATED_TIME;

    /// Grow with the rows of the source that are seen.
    pub(crate) fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

/// A source whose rows are sorted, alone or among others.
#[derive(Clone, Copy)]
pub(crate) struct SortedInput<'a> {
    pub(crate) source: &'a Source,
    pub(crate) key_columns: &'a [String],
    /// Columns that are carried along, in the source's declared order, each with its name on the way: that of no column of
    /// another source. The whole of them breaks ties.
    pub(crate) columns: &'a [(String, String)],
    /// Filters whose outcome is carried along.
    pub(crate) filters: &'a [CarriedFilter],
}

/// Sorts what `cut` sees of a source, or of several: then rows have the columns of all, null where they are of another
/// source, and [`SortedRows::SOURCE`]. Rows with a null in their key describe no entity and are passed over.
pub(crate) async fn sorted_by_key(
    session: &Session,
    definitions: &Definitions,
    entity: &Entity,
    inputs: &[SortedInput<'_>],
    cut: Cut,
) -> Result<SortedRows> {
    let names: Vec<String> = inputs
        .iter()
        .map(|input| format!("`{}`", input.source.name))
        .collect();
    let what = if inputs.len() == 1 {
        "source"
    } else {
        "sources"
    };
    let doing = |e| Error::engine(format!("reading {what} {}", names.join(", ")), &e);
    let context = session.context(session.threads());
    let mut read = Vec::new();
    let mut found = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        let table = CutSource::open(session, definitions, input.source, cut).await?;
        let table = table.with_times();
        read.push(table.rows_read());
        let rows = context
            .read_table(Arc::new(table))
            .and_then(|rows| rows.select(projection(entity, inputs, place)?));
        found.push(rows.map_err(doing)?);
    }
    let all = together(&context, found).await.map_err(doing)?;
    let stream = all.sort(order(inputs)).map_err(doing)?.execute_stream();
    let stream = stream.await.map_err(doing)?;
    let without_key = Arc::new(AtomicU64::new(0));
    let counts = Counts::new(read, Arc::clone(&without_key));
    let schema = stream.schema();
    let with_key = stream.map_ok(move |batch| strip(&batch, &without_key));
    Ok(SortedRows {
        stream: Box::pin(RecordBatchStreamAdapter::new(schema, with_key)),
        counts,
    })
}

/// Those of one source as they are; those of several mixed.
async fn together(context: &SessionContext, mut found: Vec<DataFrame>) -> EngineResult<DataFrame> {
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let mut plans = Vec::new();
    for rows in found {
        plans.push(rows.create_physical_plan().await?);
    }
    context.read_table(mixed(plans)?)
}

/// The columns of sorted rows, for those of one source.
fn projection(
    entity: &Entity,
    inputs: &[SortedInput<'_>],
    place: usize,
) -> EngineResult<Vec<Expr>> {
    let of = &inputs[place];
    let parts: Vec<Expr> = entity
        .keys
        .iter()
        .zip(of.key_columns)
        .map(|(part, column)| cast(ident(column.as_str()), part.data_type.to_arrow()))
        .collect();
    let mut projection = vec![keys::function(entity).call(parts.clone()).alias(KEY)];
    for (index, part) in parts.into_iter().enumerate() {
        projection.push(part.alias(SortedRows::part(index)));
    }
    projection.extend([ident(EVENT_TIME), ident(CREATED_TIME)]);
    for (other, input) in inputs.iter().enumerate() {
        for (column, carried) in input.columns {
            let value = if other == place {
                ident(column.as_str())
            } else {
                let data_type = input.source.columns[column].data_type.to_arrow();
                lit(ScalarValue::try_from(&data_type)?)
            };
            projection.push(value.alias(carried.as_str()));
        }
        for filter in input.filters {
            projection.push(match other == place {
                true => filter.column(),
                false => lit(ScalarValue::Boolean(None)).alias(filter.carried.as_str()),
            });
        }
    }
    if inputs.len() > 1 {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        projection.push(lit(place).alias(SortedRows::SOURCE));
    }
    Ok(projection)
}

/// By key, then newest first, then by source and all that is carried along.
fn order(inputs: &[SortedInput<'_>]) -> Vec<Sort> {
    let mut order = vec![
        Sort::new(ident(KEY), true, false),
        Sort::new(ident(EVENT_TIME), false, false),
        Sort::new(ident(CREATED_TIME), false, false),
    ];
    if inputs.len() > 1 {
        order.push(Sort::new(ident(SortedRows::SOURCE), true, false));
    }
    let carried = inputs.iter().flat_map(|input| input.columns);
    order.extend(carried.map(|(_, name)| Sort::new(ident(name.as_str()), false, false)));
    order
}

/// The rows with a key; those without come last, and are counted.
fn strip(batch: &RecordBatch, without_key: &AtomicU64) -> RecordBatch {
    let without = batch.column(0).null_count();
    without_key.fetch_add(without as u64, Ordering::Relaxed);
    batch.slice(0, batch.num_rows() - without)
}
