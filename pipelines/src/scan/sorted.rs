//! A cut source in the order in which keys are worked through: by canonical key bytes, then newest row first.
//!
//! The order of a key's rows is total (rule 3): event time, created time, then the declared columns in their order,
//! the greatest first and nulls last. Rows that are equal in all of these are equal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, RecordBatch};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::expr::Sort;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{Expr, cast, ident};
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::source::Source;
use futures::TryStreamExt;

use super::Cut;
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
    /// The column that holds created times.
    pub(crate) const CREATED_TIME: &'static str = CREATED_TIME;

    /// Grow with the rows of the source that are seen.
    pub(crate) fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

/// Sorts what `cut` sees of a source. Rows with a null in their key describe no entity and are passed over.
///
/// `columns` are carried along in the source's declared order; the whole of them breaks ties.
pub(crate) async fn sorted_by_key(
    session: &Session,
    definitions: &Definitions,
    entity: &Entity,
    source: &Source,
    key_columns: &[String],
    columns: &[String],
    cut: Cut,
) -> Result<SortedRows> {
    let table = CutSource::open(definitions, source, cut)
        .await?
        .with_times();
    let without_key = Arc::new(AtomicU64::new(0));
    let counts = Counts::new(vec![table.rows_read()], Arc::clone(&without_key));
    let doing = |e| Error::engine(format!("reading source `{}`", source.name), &e);
    let parts: Vec<Expr> = entity
        .keys
        .iter()
        .zip(key_columns)
        .map(|(part, column)| cast(ident(column.as_str()), part.data_type.to_arrow()))
        .collect();
    let mut projection = vec![keys::function(entity).call(parts.clone()).alias(KEY)];
    for (index, part) in parts.into_iter().enumerate() {
        projection.push(part.alias(SortedRows::part(index)));
    }
    projection.extend([ident(EVENT_TIME), ident(CREATED_TIME)]);
    projection.extend(columns.iter().map(|column| ident(column.as_str())));
    let mut order = vec![
        Sort::new(ident(KEY), true, false),
        Sort::new(ident(EVENT_TIME), false, false),
        Sort::new(ident(CREATED_TIME), false, false),
    ];
    order.extend(
        columns
            .iter()
            .map(|c| Sort::new(ident(c.as_str()), false, false)),
    );
    let stream = session
        .context(session.threads())
        .read_table(Arc::new(table))
        .and_then(|rows| rows.select(projection))
        .and_then(|rows| rows.sort(order))
        .map_err(doing)?
        .execute_stream()
        .await
        .map_err(doing)?;
    let schema = stream.schema();
    let with_key = stream.map_ok(move |batch| strip(&batch, &without_key));
    Ok(SortedRows {
        stream: Box::pin(RecordBatchStreamAdapter::new(schema, with_key)),
        counts,
    })
}

/// The rows with a key; those without come last, and are counted.
fn strip(batch: &RecordBatch, without_key: &AtomicU64) -> RecordBatch {
    let without = batch.column(0).null_count();
    without_key.fetch_add(without as u64, Ordering::Relaxed);
    batch.slice(0, batch.num_rows() - without)
}
