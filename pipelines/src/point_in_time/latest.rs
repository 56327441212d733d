//! The join of a view of newest rows: columnar, without a sort, in memory that grows with the frame and not with the
//! source.
//!
//! ```text
//!   read   keys and times of all rows  --> the newest row of each slot (newest.rs)
//!   pick   all columns of rows that tie --> the greatest of each slot (ties.rs)
//!   pick   the features of rows that answer --> answers: a place for each question, and columns
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::{CastOptions, cast_with_options};
use datafusion::common::HashMap;
use datafusion::execution::memory_pool::MemoryReservation;
use feature_defs::as_of;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::feature_view::{FeatureView, Latest};
use feature_defs::source::Source;
use feature_defs::time::{Instant, Ttl};

use super::Questions;
use super::answers::Answers;
use super::newest::{Newest, SeenRow};
use super::slots::Slots;
use super::ties::greatest;
use super::workers::{Workers, engine};
use crate::error::{Error, Result};
use crate::keys;
use crate::scan::{Cut, PlacedSource, RowKind, RowPlace};
use crate::session::Session;

/// Answers each question for the `wanted` features of a view (their places in it).
pub(super) async fn answer(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    declared: &Latest,
    questions: &Questions<'_>,
    wanted: &[usize],
) -> Result<Answers> {
    let Some((earliest, latest)) = span(questions.as_ofs) else {
        return Answers::none(view, questions.as_ofs.len());
    };
    let memory = session.reservation("point-in-time join");
    let rows = questions.keys.len();
    grow(&memory, Slots::size(rows) + Newest::size(rows))?;
    let slots = Arc::new(Slots::new(questions));
    let cut = Cut {
        as_of: latest,
        rows: RowKind::FeatureRows,
    };
    let oldest = match view.ttl {
        Ttl::Unlimited => None,
        Ttl::AtMost(span) => Some(earliest.saturating_sub(span)),
    };
    let workers = Workers::new(session.threads());
    let source = &definitions.sources[&declared.source];
    let placed = PlacedSource::open(session, definitions, source, cut, oldest).await?;
    let join = Join {
        source: Arc::new(placed),
        slots,
        entity: Arc::new(definitions.entity_of(view).clone()),
        ttl: view.ttl,
        workers,
    };
    let newest = join.newest(&declared.key_columns).await?;
    let answers = join.answers(&newest, source).await?;
    drop(newest);
    let names: Vec<String> = wanted
        .iter()
        .map(|feature| declared.columns[*feature].clone())
        .collect();
    let places: Vec<RowPlace> = answers.iter().map(|(place, _)| *place).collect();
    let picked = join.pick(places, names, &memory).await?;
    let of_slot = picked.by_slot(&answers, join.slots.len());
    let of_question = join.slots.of_questions().iter();
    let of_question = of_question.map(|slot| slot.and_then(|slot| of_slot[slot as usize]));
    Answers::new(view, wanted, picked.columns, of_question.collect(), memory)
}

/// The earliest and the latest as-of.
fn span(as_ofs: &[Instant]) -> Option<(Instant, Instant)> {
    let earliest = as_ofs.iter().min()?;
    Some((*earliest, *as_ofs.iter().max()?))
}

fn grow(memory: &MemoryReservation, bytes: usize) -> Result<()> {
    let grown = memory.try_grow(bytes);
    grown.map_err(|e| Error::engine("joining a frame", &e))
}

/// A frame against a source.
struct Join {
    source: Arc<PlacedSource>,
    slots: Arc<Slots>,
    entity: Arc<Entity>,
    ttl: Ttl,
    workers: Workers,
}

/// Columns of picked rows.
struct Picked {
    /// For each column its chunks, in the order of places.
    columns: Vec<Vec<ArrayRef>>,
    /// The place of each row, ascending, each once.
    places: Vec<RowPlace>,
    /// How many rows each chunk has.
    chunks: Vec<usize>,
}

impl Join {
    /// The newest row of each slot.
    async fn newest(&self, key_columns: &[String]) -> Result<Arc<Newest>> {
        let newest = Arc::new(Newest::new(&self.slots));
        let (found, slots) = (Arc::clone(&newest), Arc::clone(&self.slots));
        let (source, entity) = (Arc::clone(&self.source), Arc::clone(&self.entity));
        let (names, ttl) = (key_columns.to_vec(), self.ttl);
        let read = move |piece: usize| -> Result<()> {
            source.read(piece, &names, &mut |first, times, columns| {
                let rows = columns.first().map_or(0, |column| column.len());
                let parts = key_parts(&entity, &columns)?;
                let mut row = first;
                keys::for_each(&parts, rows, |nth, key| {
                    let place = row;
                    row.row += 1;
                    let (event_time, created_time) =
                        (times.event_time(nth), times.created_time(nth));
                    let slot =
                        key.and_then(|key| slots.first_to_see(key, event_time, created_time));
                    let Some(slot) = slot else {
                        return;
                    };
                    // Too old for the first slot that sees it is too old for all.
                    if as_of::within_ttl(event_time, ttl, slots.instant(slot)) {
                        let row = SeenRow {
                            event_time,
                            created_time,
                            place,
                        };
                        found.add(slot, row);
                    }
                })?;
                Ok(true)
            })
        };
        self.workers.each(self.source.pieces(), read).await?;
        Ok(newest)
    }

    /// The row that answers each slot, sorted by place: ties are decided.
    async fn answers(&self, newest: &Newest, source: &Source) -> Result<Vec<(RowPlace, usize)>> {
        let answers = newest.answers(&self.slots, self.ttl);
        let mut tied = Vec::new();
        let mut last = None;
        for answer in &answers {
            if last != Some(answer.seen_by) {
                last = Some(answer.seen_by);
                let places = newest.tied(answer.seen_by).unwrap_or_default();
                tied.extend(places.into_iter().map(|place| (place, answer.seen_by)));
            }
        }
        let greatest: HashMap<usize, RowPlace> =
            greatest(&self.workers, &self.source, source, tied).await?;
        let decided = answers.into_iter().map(|answer| {
            let place = greatest.get(&answer.seen_by).copied();
            (place.unwrap_or(answer.place), answer.slot)
        });
        let mut decided: Vec<_> = decided.collect();
        decided.sort_unstable();
        Ok(decided)
    }

    /// Fetches columns of the rows at these places, which ascend.
    async fn pick(
        &self,
        mut places: Vec<RowPlace>,
        names: Vec<String>,
        memory: &MemoryReservation,
    ) -> Result<Picked> {
        places.dedup();
        let mut by_piece: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for place in &places {
            by_piece.entry(place.piece).or_default().push(place.row);
        }
        let by_piece: Vec<(u32, Vec<u32>)> = by_piece.into_iter().collect();
        let (source, columns, count) = (Arc::clone(&self.source), names.len(), by_piece.len());
        let shared = memory.new_empty();
        let pick = move |piece: usize| -> Result<Vec<Vec<ArrayRef>>> {
            let (piece, rows) = &by_piece[piece];
            let mut batches = Vec::new();
            source.pick(*piece as usize, rows, &names, &mut |columns| {
                let bytes = columns.iter().map(|column| column.get_array_memory_size());
                grow(&shared, bytes.sum())?;
                batches.push(columns);
                Ok(true)
            })?;
            // Accounted for by who holds the columns from here on.
            Ok(batches)
        };
        let batches = self.workers.each(count, pick).await?;
        let mut picked = Picked {
            columns: vec![Vec::new(); columns],
            places,
            chunks: Vec::new(),
        };
        for batch in batches.into_iter().flatten() {
            picked
                .chunks
                .extend(batch.first().map(|column| column.len()));
            for (column, chunk) in picked.columns.iter_mut().zip(batch) {
                grow(memory, chunk.get_array_memory_size())?;
                column.push(chunk);
            }
        }
        Ok(picked)
    }
}

impl Picked {
    /// For each slot the chunk and the row in it that answers; `answers` are sorted by place.
    fn by_slot(&self, answers: &[(RowPlace, usize)], slots: usize) -> Vec<Option<(u32, u32)>> {
        let mut of_slot = vec![None; slots];
        let mut chunks = self.chunks.iter().enumerate();
        let (mut chunk, mut left) = (0, 0);
        let mut row = 0;
        let mut answers = answers.iter().peekable();
        for place in &self.places {
            while row == left {
                let Some((next, rows)) = chunks.next() else {
                    return of_slot;
                };
                (chunk, left, row) = (next, *rows, 0);
            }
            while let Some((_, slot)) = answers.next_if(|(at, _)| at == place) {
                let location = u32::try_from(chunk).ok().zip(u32::try_from(row).ok());
                of_slot[*slot] = location;
            }
            row += 1;
        }
        of_slot
    }
}

/// A batch's key columns in the types of the entity's key parts.
fn key_parts(entity: &Entity, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let parts = entity.keys.iter().zip(columns);
    parts
        .map(|(part, column)| {
            let wanted = part.data_type.to_arrow();
            if *column.data_type() == wanted {
                return Ok(Arc::clone(column));
            }
            cast_with_options(column, &wanted, &options).map_err(engine)
        })
        .collect()
}
