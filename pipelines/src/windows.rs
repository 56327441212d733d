//! Windowed aggregations of one key as of one instant: the same code by night, in training sets and for a single look.
//!
//! Events come newest first. One set of accumulators runs along; each time an event lies before a window's lower edge,
//! that window's values are what the accumulators hold then:
//!
//! ```text
//!   as_of <---- events, newest first ---- | ------------- | ------- lifetime
//!                                  7d closes here   30d closes here
//! ```
//!
//! Of several sources, events come mixed, each with the place of its source: an aggregate passes over those of others.

use std::sync::Arc;

use arrow::array::RecordBatch;
use feature_defs::aggregation::{Aggregate, AggregateFunction, Window};
use feature_defs::as_of;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::expression::FilterPlan;
use feature_defs::feature_view::{FeatureView, Windows};
use feature_defs::source::Source;
use feature_defs::time::{Instant, TimeSpan};
use feature_defs::value::Value;
use futures::{StreamExt, TryStreamExt, stream};

use crate::aggregate::Accumulator;
use crate::column::{Cell, Column};
use crate::error::{Error, Result};
use crate::keyed::{KeyedBatch, SnapshotRows, key_values};
use crate::scan::{CarriedFilter, Cut, RowKind, SortedInput, SortedRows, sorted_by_key};
use crate::session::{BATCH_ROWS, Session};
use crate::snapshot::{self, Snapshot};

/// What a view's windows compute, with windows in the order in which they close.
#[derive(Debug)]
pub(crate) struct WindowPlan {
    aggregates: Vec<PlannedAggregate>,
    /// Length, and place among the declared windows; the shortest first, the lifetime last.
    windows: Vec<(Option<TimeSpan>, usize)>,
    /// What events of each source carry along, in the order of the view's sources.
    inputs: Vec<Carried>,
    /// What all of them carry, under the names that they have then.
    columns: Vec<String>,
    /// Place among [`WindowPlan::columns`] of which source an event is of, where there are several.
    source: Option<usize>,
}

/// Columns that events of one source carry along: arguments, and what breaks ties for `first` and `last`.
#[derive(Debug)]
struct Carried {
    /// A column of the source, and its name on the way.
    columns: Vec<(String, String)>,
    filters: Vec<CarriedFilter>,
}

#[derive(Debug)]
struct PlannedAggregate {
    function: AggregateFunction,
    /// Place of the source whose events it is computed from; `None` for those of all.
    source: Option<usize>,
    /// Place of the argument among [`WindowPlan::columns`].
    column: Option<usize>,
    /// Place of the column for whose values it is computed apart.
    by: Option<usize>,
    /// Place of what its filter says of an event.
    filter: Option<usize>,
}

/// The feature (by its place in the view) whose value does not fit.
#[derive(Debug)]
pub(crate) struct FeatureOutOfRange {
    pub(crate) feature: usize,
    pub(crate) message: String,
}

impl WindowPlan {
    pub(crate) fn new(windows: &Windows, definitions: &Definitions) -> Result<Self> {
        let several = windows.sources.len() > 1;
        let sources = windows
            .sources
            .iter()
            .map(|name| &definitions.sources[name]);
        let inputs: Vec<Carried> = sources
            .enumerate()
            .map(|(place, source)| Carried::new(windows, source, several.then_some(place)))
            .collect::<Result<_>>()?;
        let mut columns: Vec<String> = inputs.iter().flat_map(Carried::names).cloned().collect();
        if several {
            columns.push(SortedRows::SOURCE.to_owned());
        }
        let planned = |aggregate: &Aggregate| {
            let of = aggregate.source.as_ref();
            let source = of.and_then(|of| windows.sources.iter().position(|name| name == of));
            let carried = |column: &Option<String>| {
                let column = column.as_ref()?;
                let mut carried = inputs[source?].columns.iter();
                carried.find_map(|(name, carried)| (name == column).then_some(carried))
            };
            let filter = aggregate.filter.as_ref().and_then(|filter| {
                let mut filters = inputs[source?].filters.iter();
                filters.find(|carried| carried.plan.filter().canonical == filter.canonical)
            });
            let place = |name: &String| columns.iter().position(|column| column == name);
            PlannedAggregate {
                function: aggregate.function,
                source: source.filter(|_| several),
                column: carried(&aggregate.column).and_then(place),
                by: carried(&aggregate.by).and_then(place),
                filter: filter.and_then(|filter| place(&filter.carried)),
            }
        };
        let aggregates = windows.aggregates.iter().map(planned).collect();
        let mut closing: Vec<_> = windows
            .windows
            .iter()
            .enumerate()
            .map(|(place, window): (usize, &Window)| (window.span(), place))
            .collect();
        closing.sort_by_key(|(span, place)| (span.is_none(), *span, *place));
        Ok(Self {
            aggregates,
            windows: closing,
            source: several.then(|| columns.len() - 1),
            inputs,
            columns,
        })
    }

    /// The columns that events must carry, in this order.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }
}

impl Carried {
    /// Columns of one source among several are told apart by its place.
    fn new(windows: &Windows, source: &Source, place: Option<usize>) -> Result<Self> {
        let of = |aggregate: &&Aggregate| aggregate.source.as_ref() == Some(&source.name);
        let its = windows.aggregates.iter().filter(of);
        let needs_order = its.clone().any(|a| a.function.is_of_order());
        let is_argument = |name: &String| {
            its.clone()
                .any(|a| a.column.as_ref() == Some(name) || a.by.as_ref() == Some(name))
        };
        let columns = source.columns.keys();
        let columns = columns.filter(|name| needs_order || is_argument(name));
        let carried = |name: &String| match place {
            Some(place) => format!("__{place}_{name}"),
            None => name.clone(),
        };
        let columns = columns.map(|name| (name.clone(), carried(name))).collect();
        let mut filters: Vec<CarriedFilter> = Vec::new();
        for filter in its.filter_map(|aggregate| aggregate.filter.as_ref()) {
            let mut known = filters.iter().map(|known| known.plan.filter());
            if known.any(|known| known.canonical == filter.canonical) {
                continue;
            }
            let plan = FilterPlan::new(filter, source);
            let plan = plan.map_err(|error| Error::Refused(error.to_string()))?;
            let carried = format!("__{}_filter_{}", place.unwrap_or(0), filters.len());
            filters.push(CarriedFilter {
                plan: Arc::new(plan),
                carried,
            });
        }
        Ok(Self { columns, filters })
    }

    /// The names on the way.
    fn names(&self) -> impl Iterator<Item = &String> {
        let columns = self.columns.iter().map(|(_, carried)| carried);
        columns.chain(self.filters.iter().map(|filter| &filter.carried))
    }
}

/// One key's windows as of one instant, event by event.
#[derive(Debug)]
pub(crate) struct KeyWindows {
    plan: Arc<WindowPlan>,
    as_of: Instant,
    accumulators: Vec<Accumulator>,
    /// How many windows have closed.
    closed: usize,
    /// By aggregate, then declared window.
    values: Vec<Value>,
    has_events: bool,
}

impl KeyWindows {
    pub(crate) fn new(plan: &Arc<WindowPlan>, as_of: Instant) -> Self {
        let mut windows = Self {
            plan: Arc::clone(plan),
            as_of,
            accumulators: Vec::with_capacity(plan.aggregates.len()),
            closed: 0,
            values: vec![Value::Null; plan.aggregates.len() * plan.windows.len()],
            has_events: false,
        };
        windows.restart();
        windows
    }

    fn restart(&mut self) {
        self.accumulators.clear();
        let fresh = |a: &PlannedAggregate| match a.by {
            Some(_) => Accumulator::apart(a.function, a.column.is_none()),
            None => Accumulator::new(a.function, a.column.is_none()),
        };
        self.accumulators
            .extend(self.plan.aggregates.iter().map(fresh));
        self.closed = 0;
        self.has_events = false;
    }

    /// Adds an event that is known and lies before as-of; none is newer than the next.
    pub(crate) fn add(
        &mut self,
        event_time: Instant,
        columns: &[Column],
        row: usize,
    ) -> std::result::Result<(), FeatureOutOfRange> {
        self.has_events = true;
        while let Some((span, _)) = self.plan.windows.get(self.closed)
            && !as_of::event_counts(event_time, *span, self.as_of)
        {
            self.close()?;
        }
        if self.closed == self.plan.windows.len() {
            return Ok(());
        }
        let source = self.plan.source.map(|column| columns[column].cell(row));
        for (accumulator, aggregate) in self.accumulators.iter_mut().zip(&self.plan.aggregates) {
            if let (Some(of), Some(Cell::Int(source))) = (aggregate.source, source)
                && usize::try_from(source) != Ok(of)
            {
                continue;
            }
            if let Some(filter) = aggregate.filter
                && columns[filter].cell(row) != Cell::Bool(true)
            {
                continue;
            }
            let cell = aggregate
                .column
                .map_or(Cell::Null, |column| columns[column].cell(row));
            match aggregate.by {
                Some(by) => accumulator.add_apart(columns[by].cell(row), cell),
                None => accumulator.add(cell),
            }
        }
        Ok(())
    }

    /// Sets the values of the next window.
    fn close(&mut self) -> std::result::Result<(), FeatureOutOfRange> {
        let (_, window) = self.plan.windows[self.closed];
        for (place, accumulator) in self.accumulators.iter_mut().enumerate() {
            let feature = place * self.plan.windows.len() + window;
            self.values[feature] = accumulator.value().map_err(|out| FeatureOutOfRange {
                feature,
                message: out.0,
            })?;
        }
        self.closed += 1;
        Ok(())
    }

    /// The features in view order, `None` when there was no event; the next event starts the next key.
    pub(crate) fn finish(&mut self) -> std::result::Result<Option<&[Value]>, FeatureOutOfRange> {
        let has_events = self.has_events;
        if has_events {
            while self.closed < self.plan.windows.len() {
                self.close()?;
            }
        }
        self.restart();
        Ok(has_events.then_some(self.values.as_slice()))
    }
}

/// Events of all of a view's sources in the order of keys, newest first.
pub(crate) async fn events(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    windows: &Windows,
    plan: &WindowPlan,
    as_of: Instant,
) -> Result<SortedRows> {
    let cut = Cut {
        as_of,
        rows: RowKind::Events,
    };
    let names = windows.sources.iter().zip(&windows.key_columns);
    let inputs: Vec<SortedInput<'_>> = names
        .zip(&plan.inputs)
        .map(|((name, key_columns), carried)| SortedInput {
            source: &definitions.sources[name],
            key_columns,
            columns: &carried.columns,
            filters: &carried.filters,
        })
        .collect();
    sorted_by_key(
        session,
        definitions,
        definitions.entity_of(view),
        &inputs,
        cut,
    )
    .await
}

/// The snapshot of a windowed view.
pub(crate) async fn compute(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    windows: &Windows,
    as_of: Instant,
) -> Result<Snapshot> {
    let plan = Arc::new(WindowPlan::new(windows, definitions)?);
    let schema = snapshot::schema(definitions, view);
    let events = events(session, definitions, view, windows, &plan, as_of).await?;
    let counts = events.counts();
    let state = Night {
        events,
        entity: definitions.entity_of(view).clone(),
        windows: KeyWindows::new(&plan, as_of),
        plan,
        as_of,
        key: None,
        rows: SnapshotRows::new(definitions, view, Arc::clone(&schema)),
        ended: false,
    };
    let batches = stream::try_unfold(state, |mut state| async move {
        let batch = state.next_batch().await?;
        Ok(batch.map(|batch| (batch, state)))
    });
    Ok(Snapshot {
        schema,
        batches: batches.boxed(),
        counts,
    })
}

/// Goes through events key by key.
struct Night {
    events: SortedRows,
    entity: Entity,
    plan: Arc<WindowPlan>,
    as_of: Instant,
    windows: KeyWindows,
    /// The key whose events are being added: its bytes and its parts.
    key: Option<(Vec<u8>, Vec<Value>)>,
    rows: SnapshotRows,
    ended: bool,
}

impl Night {
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.ended && self.rows.len() < BATCH_ROWS {
            let Some(batch) = self
                .events
                .stream
                .try_next()
                .await
                .map_err(|e| Error::engine("sorting events", &e))?
            else {
                self.ended = true;
                self.end_key()?;
                break;
            };
            self.add(&KeyedBatch::new(&batch, &self.entity, self.plan.columns())?)?;
        }
        if self.rows.len() == 0 {
            return Ok(None);
        }
        self.rows.take_batch().map(Some)
    }

    fn add(&mut self, batch: &KeyedBatch) -> Result<()> {
        for row in 0..batch.rows() {
            let bytes = batch.keys.value(row);
            if self.key.as_ref().is_none_or(|(key, _)| key != bytes) {
                self.end_key()?;
                self.key = Some((bytes.to_vec(), key_values(batch, row)?));
            }
            let added = self.windows.add(batch.event_time(row), &batch.columns, row);
            added.map_err(|out| self.out_of_range(out))?;
        }
        Ok(())
    }

    fn end_key(&mut self) -> Result<()> {
        let Some((_, key)) = self.key.take() else {
            return Ok(());
        };
        match self.windows.finish() {
            Ok(Some(values)) => self.rows.push(&key, self.as_of, values),
            Ok(None) => Ok(()),
            Err(out) => Err(self.rows.out_of_range(&key, out.feature, out.message)),
        }
    }

    fn out_of_range(&self, out: FeatureOutOfRange) -> Error {
        let key = self.key.as_ref().map_or(&[] as &[Value], |(_, key)| key);
        self.rows.out_of_range(key, out.feature, out.message)
    }
}

#[cfg(test)]
mod tests;
