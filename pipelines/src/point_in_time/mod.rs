//! The point-in-time join: for each row of an entity frame, the feature values that were known at its own as-of.
//!
//! ```text
//!   latest    the frame's instants by key, and the newest row that each of them sees, whatever order rows come in
//!   windows   the source's rows of each key, newest first, looked at once for each of the key's frame rows
//!   sql       the query as of each distinct as-of of the frame: its cost grows with their number
//! ```
//!
//! Windows and queries run the code of the night, which is not written twice. The newest row is found in another way
//! than by night; tests hold it equal to a slow reference.

mod answers;
mod latest;
mod newest;
#[cfg(test)]
mod newest_tests;
#[cfg(test)]
mod reference;
mod slots;
#[cfg(test)]
mod tests;
mod ties;
mod workers;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{Array, BinaryArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::common::runtime::SpawnedTask;
use feature_defs::as_of;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::{Computation, FeatureView, SqlSnapshot, Windows};
use feature_defs::time::Instant;
use feature_defs::value::Value;
use futures::{StreamExt, TryStreamExt, stream};

use crate::column::{Cell, Column};
use crate::error::{Error, Result};
use crate::keyed::{KeyedBatch, SnapshotRows, key_values};
use crate::progress::{Event, Progress};
use crate::scan::{Cut, RowKind, SortedRows};
use crate::session::Session;
use crate::windows::{KeyWindows, WindowPlan};
use crate::{keys, snapshot, sql, windows};

pub(crate) use answers::Answers;

/// For whom and as of when: one entry a row of an entity frame.
#[derive(Debug)]
pub(crate) struct Questions<'a> {
    /// Canonical key bytes of the view's entity; null for a row with a null in its key, which nothing answers.
    pub(crate) keys: &'a BinaryArray,
    pub(crate) as_ofs: &'a [Instant],
}

/// Answers each question for the `wanted` features of a view (their places in it, ascending).
pub(crate) async fn answer(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    questions: &Questions<'_>,
    wanted: &[usize],
    progress: &dyn Progress,
) -> Result<Answers> {
    if let Computation::Latest(declared) = &view.computation {
        return latest::answer(session, definitions, view, declared, questions, wanted).await;
    }
    let mut found = Found::new(definitions, view, questions);
    let Some(newest) = questions.as_ofs.iter().max().copied() else {
        return found.finish();
    };
    match &view.computation {
        Computation::Windows(windows) => {
            from_windows(session, definitions, view, windows, newest, &mut found).await?;
        }
        Computation::Latest(_) => {}
        Computation::Sql(sql) => {
            from_sql(session, definitions, view, sql, &mut found, progress).await?;
        }
    }
    found.finish()
}

/// Questions by key, and the rows that answer them so far.
struct Found<'a> {
    view: &'a FeatureView,
    questions: &'a Questions<'a>,
    by_key: HashMap<&'a [u8], Vec<usize>>,
    output: SnapshotRows,
    rows: Vec<Option<usize>>,
}

impl<'a> Found<'a> {
    fn new(definitions: &Definitions, view: &'a FeatureView, questions: &'a Questions<'a>) -> Self {
        let mut by_key: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for question in 0..questions.keys.len() {
            if questions.keys.is_valid(question) {
                by_key
                    .entry(questions.keys.value(question))
                    .or_default()
                    .push(question);
            }
        }
        Self {
            view,
            questions,
            by_key,
            output: SnapshotRows::new(definitions, view, snapshot::schema(definitions, view)),
            rows: vec![None; questions.keys.len()],
        }
    }

    /// Takes a row as the answer to a question, unless the row has expired by then (rule 5).
    fn push(
        &mut self,
        question: usize,
        key: &[Value],
        event_time: Instant,
        values: &[Value],
    ) -> Result<()> {
        if as_of::within_ttl(event_time, self.view.ttl, self.questions.as_ofs[question]) {
            self.rows[question] = Some(self.output.len());
            self.output.push(key, event_time, values)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Answers> {
        let batch = self.output.take_batch()?;
        let first = batch.num_columns() - self.view.features.len();
        let columns = batch.columns()[first..].iter();
        let columns = columns.map(|column| vec![Arc::clone(column)]).collect();
        let rows = self.rows.into_iter();
        let rows = rows.map(|row| row.and_then(|row| u32::try_from(row).ok()));
        let rows = rows.map(|row| row.map(|row| (0, row))).collect();
        let all: Vec<usize> = (0..self.view.features.len()).collect();
        Answers::new(self.view, &all, columns, rows, None)
    }
}

/// Rows of one key, newest first, in the batches that hold them.
#[derive(Default)]
struct KeyRows {
    batches: Vec<(Arc<KeyedBatch>, std::ops::Range<usize>)>,
}

impl KeyRows {
    /// The rows that are seen as of an instant, newest first.
    fn seen(&self, cut: Cut) -> impl Iterator<Item = (&KeyedBatch, usize)> {
        let rows = self
            .batches
            .iter()
            .flat_map(|(batch, range)| range.clone().map(move |row| (batch.as_ref(), row)));
        rows.filter(move |(batch, row)| cut.sees(batch.event_time(*row), batch.created_time(*row)))
    }

    fn key(&self) -> Result<Option<(&[u8], Vec<Value>)>> {
        let Some((batch, range)) = self.batches.first() else {
            return Ok(None);
        };
        Ok(Some((
            batch.keys.value(range.start),
            key_values(batch, range.start)?,
        )))
    }
}

/// Goes through sorted rows key by key; only keys that somebody asks for are kept in memory, one at a time.
async fn by_key(
    mut rows: SortedRows,
    entity: &feature_defs::entity::Entity,
    columns: &[String],
    found: &mut Found<'_>,
    mut answer: impl FnMut(&KeyRows, &[Value], usize, &mut Found<'_>) -> Result<()>,
) -> Result<()> {
    let mut finish = |key_rows: KeyRows, found: &mut Found<'_>| -> Result<()> {
        let Some((bytes, key)) = key_rows.key()? else {
            return Ok(());
        };
        let questions = found.by_key.get(bytes).cloned().unwrap_or_default();
        for question in questions {
            answer(&key_rows, &key, question, found)?;
        }
        Ok(())
    };
    let mut current = KeyRows::default();
    while let Some(batch) = rows
        .stream
        .try_next()
        .await
        .map_err(|e| Error::engine("sorting rows", &e))?
    {
        let batch = Arc::new(KeyedBatch::new(&batch, entity, columns)?);
        let mut start = 0;
        while start < batch.rows() {
            let key = batch.keys.value(start);
            let length = (start..batch.rows())
                .take_while(|row| batch.keys.value(*row) == key)
                .count();
            let same = current.key_bytes().is_some_and(|bytes| bytes == key);
            if !same {
                finish(std::mem::take(&mut current), found)?;
            }
            if found.by_key.contains_key(key) {
                current
                    .batches
                    .push((Arc::clone(&batch), start..start + length));
            }
            start += length;
        }
    }
    finish(current, found)
}

impl KeyRows {
    fn key_bytes(&self) -> Option<&[u8]> {
        let (batch, range) = self.batches.first()?;
        Some(batch.keys.value(range.start))
    }
}

async fn from_windows(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    declared: &Windows,
    newest: Instant,
    found: &mut Found<'_>,
) -> Result<()> {
    let plan = Arc::new(WindowPlan::new(declared, definitions)?);
    let events = windows::events(session, definitions, view, declared, &plan, newest).await?;
    let entity = definitions.entity_of(view);
    by_key(
        events,
        entity,
        plan.columns(),
        found,
        |rows, key, question, found| {
            let as_of = found.questions.as_ofs[question];
            let cut = Cut {
                as_of,
                rows: RowKind::Events,
            };
            let mut windows = KeyWindows::new(&plan, as_of);
            let mut added = Ok(());
            for (batch, row) in rows.seen(cut) {
                added =
                    added.and_then(|()| windows.add(batch.event_time(row), &batch.columns, row));
            }
            let values = added.and_then(|()| windows.finish());
            match values {
                Ok(Some(values)) => found.push(question, key, as_of, values),
                Ok(None) => Ok(()),
                Err(out) => Err(found.output.out_of_range(key, out.feature, out.message)),
            }
        },
    )
    .await
}

/// The query as of each instant, several at a time; the rows of each are taken in the order of instants.
async fn from_sql(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    declared: &SqlSnapshot,
    found: &mut Found<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let mut by_instant: BTreeMap<Instant, HashMap<&[u8], Vec<usize>>> = BTreeMap::new();
    for (key, questions) in &found.by_key {
        for question in questions {
            let as_of = found.questions.as_ofs[*question];
            let of_key = by_instant.entry(as_of).or_default().entry(key);
            of_key.or_default().push(*question);
        }
    }
    let of = by_instant.len();
    let told = |done| {
        let view = &view.name;
        progress.event(Event::Instants { view, done, of });
    };
    told(0);
    let mut done = 0;
    let at_a_time = session.threads().min(by_instant.len()).max(1);
    let query = Arc::new(Query {
        session: match at_a_time {
            1 => session.clone(),
            _ => session.one_partition(),
        },
        definitions: definitions.clone(),
        view: view.clone(),
        sql: declared.clone(),
    });
    let running = by_instant.into_iter().map(|(as_of, wanted)| {
        let keys: HashSet<Vec<u8>> = wanted.keys().map(|key| key.to_vec()).collect();
        let query = Arc::clone(&query);
        let rows = SpawnedTask::spawn(async move { query.rows(as_of, &keys).await });
        async move { (as_of, wanted, rows.join().await) }
    });
    let mut running = stream::iter(running).buffered(at_a_time);
    while let Some((as_of, wanted, rows)) = running.next().await {
        let rows = rows.map_err(|e| Error::view(&view.name, e.to_string()))?;
        for batch in rows? {
            answer_from_snapshot(definitions, &batch, as_of, &wanted, found)?;
        }
        done += 1;
        told(done);
    }
    Ok(())
}

/// A SQL view, to be computed as of several instants.
struct Query {
    session: Session,
    definitions: Definitions,
    view: FeatureView,
    sql: SqlSnapshot,
}

impl Query {
    /// The snapshot's rows of these keys.
    async fn rows(&self, as_of: Instant, keys: &HashSet<Vec<u8>>) -> Result<Vec<RecordBatch>> {
        let snapshot = sql::compute(
            &self.session,
            &self.definitions,
            &self.view,
            &self.sql,
            as_of,
            None,
        );
        let mut batches = snapshot.await?.batches;
        let mut kept = Vec::new();
        while let Some(batch) = batches.try_next().await? {
            let parts = keys::part_columns(&batch, self.definitions.entity_of(&self.view))?;
            let held = keys::of_columns(&parts, batch.num_rows())?;
            let wanted = held.iter().map(|key| key.map(|key| keys.contains(key)));
            let batch = filter_record_batch(&batch, &wanted.collect::<BooleanArray>())
                .map_err(|e| Error::view(&self.view.name, e.to_string()))?;
            if batch.num_rows() > 0 {
                kept.push(batch);
            }
        }
        Ok(kept)
    }
}

fn answer_from_snapshot(
    definitions: &Definitions,
    batch: &RecordBatch,
    as_of: Instant,
    wanted: &HashMap<&[u8], Vec<usize>>,
    found: &mut Found<'_>,
) -> Result<()> {
    let parts = keys::part_columns(batch, definitions.entity_of(found.view))?;
    let keys = keys::of_columns(&parts, batch.num_rows())?;
    let parts = parts.iter().map(Column::new).collect::<Result<Vec<_>>>()?;
    let features = batch.columns()[parts.len() + 1..].iter().map(Column::new);
    let features = features.collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        let Some(questions) = wanted.get(keys.value(row)) else {
            continue;
        };
        let values = |columns: &[Column]| -> Vec<Value> {
            columns
                .iter()
                .map(|column| Cell::to_value(column.cell(row)))
                .collect()
        };
        let (key, features) = (values(&parts), values(&features));
        for question in questions {
            found.push(*question, &key, as_of, &features)?;
        }
    }
    Ok(())
}
