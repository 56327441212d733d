//! The newest visible row of each key (rule 3).

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::{FeatureView, Latest};
use feature_defs::time::Instant;
use futures::{StreamExt, TryStreamExt, stream};

use crate::error::{Error, Result};
use crate::keyed::{KeyedBatch, batch_of};
use crate::scan::{Cut, RowKind, SortedInput, SortedRows, sorted_by_key};
use crate::session::Session;
use crate::snapshot::{self, Snapshot};

/// Rows of a view's source in the order of keys, newest first, with all declared columns: they break ties.
pub(crate) async fn rows(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    latest: &Latest,
    as_of: Instant,
) -> Result<SortedRows> {
    let source = &definitions.sources[&latest.source];
    let cut = Cut {
        as_of,
        rows: RowKind::FeatureRows,
    };
    let columns = carried(definitions, latest).into_iter();
    let columns: Vec<(String, String)> = columns.map(|name| (name.clone(), name)).collect();
    let input = SortedInput {
        source,
        key_columns: &latest.key_columns,
        columns: &columns,
        filters: &[],
    };
    sorted_by_key(
        session,
        definitions,
        definitions.entity_of(view),
        &[input],
        cut,
    )
    .await
}

/// The columns that rows carry along: all that the source declares.
pub(crate) fn carried(definitions: &Definitions, latest: &Latest) -> Vec<String> {
    definitions.sources[&latest.source]
        .columns
        .keys()
        .cloned()
        .collect()
}

/// Places among [`carried`] of the columns that become features.
pub(crate) fn feature_columns(definitions: &Definitions, latest: &Latest) -> Vec<usize> {
    let columns = &definitions.sources[&latest.source].columns;
    let place = |name: &String| columns.get_index_of(name.as_str()).unwrap_or_default();
    latest.columns.iter().map(place).collect()
}

/// The snapshot of a view of newest rows.
pub(crate) async fn compute(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    latest: &Latest,
    as_of: Instant,
) -> Result<Snapshot> {
    let rows = rows(session, definitions, view, latest, as_of).await?;
    let schema = snapshot::schema(definitions, view);
    let counts = rows.counts();
    let columns = carried(definitions, latest);
    let features = feature_columns(definitions, latest);
    let entity = definitions.entity_of(view).clone();
    let (view, batch_schema) = (view.clone(), Arc::clone(&schema));
    let newest = move |last_key: &mut Vec<u8>, batch: &RecordBatch| -> Result<RecordBatch> {
        let batch = KeyedBatch::new(batch, &entity, &columns)?;
        let mut first_of_key = Vec::with_capacity(batch.rows());
        for row in 0..batch.rows() {
            let key = batch.keys.value(row);
            first_of_key.push(key != last_key.as_slice());
            if key != last_key.as_slice() {
                last_key.clear();
                last_key.extend_from_slice(key);
            }
        }
        let first_of_key = BooleanArray::from(first_of_key);
        let mut output: Vec<ArrayRef> = batch.parts.clone();
        output.push(batch.event_times());
        output.extend(
            features
                .iter()
                .map(|column| Arc::clone(&batch.arrays[*column])),
        );
        let output = output
            .iter()
            .map(|column| filter(column, &first_of_key))
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| Error::view(&view.name, e.to_string()))?;
        batch_of(&view, &batch_schema, output)
    };
    let batches = stream::try_unfold(
        (rows, Vec::new(), newest),
        |(mut rows, mut last_key, newest)| async move {
            while let Some(batch) = rows
                .stream
                .try_next()
                .await
                .map_err(|e| Error::engine("sorting rows", &e))?
            {
                let batch = newest(&mut last_key, &batch)?;
                if batch.num_rows() > 0 {
                    return Ok(Some((batch, (rows, last_key, newest))));
                }
            }
            Ok(None)
        },
    );
    Ok(Snapshot {
        schema,
        batches: batches.boxed(),
        counts,
    })
}
