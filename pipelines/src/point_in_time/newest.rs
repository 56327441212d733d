//! The newest row that each slot of a frame sees, found while the rows come in any order, over several threads.
//!
//! A row counts for the first slot of its key that sees it; afterwards each slot takes the newer of its own and what
//! the slot before it has. No order of rows is needed, memory is that of the frame, and a row costs one search among
//! the instants of its key, however many rows the key has.

use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::HashMap;
use feature_defs::as_of;
use feature_defs::time::{Instant, Ttl};

use super::slots::Slots;
use crate::scan::RowPlace;

/// How many parts the slots have, each behind a lock of its own.
const STRIPES: usize = 256;

/// The newest row of each slot so far.
#[derive(Debug)]
pub(super) struct Newest {
    stripes: Vec<Mutex<Stripe>>,
}

#[derive(Debug, Default)]
struct Stripe {
    /// Slot `s` is in stripe `s % STRIPES`, at `s / STRIPES`.
    rows: Vec<Option<SeenRow>>,
    /// Of slots whose newest row is not the only one with its times: the others.
    ties: HashMap<usize, Vec<RowPlace>>,
}

/// A row that a slot sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenRow {
    pub(super) event_time: Instant,
    pub(super) created_time: Option<Instant>,
    pub(super) place: RowPlace,
}

impl SeenRow {
    /// What decides which of two rows is newer, before the columns do (rules 3 and 4). No created time is the least.
    fn times(&self) -> (Instant, Option<Instant>) {
        (self.event_time, self.created_time)
    }
}

/// The row that a slot answers with, or several that differ at most in their columns.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) slot: usize,
    pub(super) place: RowPlace,
    /// The slot that saw the row first, whose ties decide.
    pub(super) seen_by: usize,
}

impl Newest {
    pub(super) fn new(slots: &Slots) -> Self {
        let each = slots.len().div_ceil(STRIPES);
        let stripe = || Stripe {
            rows: vec![None; each],
            ties: HashMap::default(),
        };
        Self {
            stripes: (0..STRIPES).map(|_| Mutex::new(stripe())).collect(),
        }
    }

    fn stripe(&self, slot: usize) -> MutexGuard<'_, Stripe> {
        let stripe = &self.stripes[slot % STRIPES];
        stripe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a row that `slot` is the first to see.
    pub(super) fn add(&self, slot: usize, row: SeenRow) {
        let mut stripe = self.stripe(slot);
        let Stripe { rows, ties } = &mut *stripe;
        let newest = &mut rows[slot / STRIPES];
        let Some(held) = newest else {
            *newest = Some(row);
            return;
        };
        match row.times().cmp(&held.times()) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => ties.entry(slot).or_default().push(row.place),
            std::cmp::Ordering::Greater => {
                *held = row;
                if !ties.is_empty() {
                    ties.remove(&slot);
                }
            }
        }
    }

    /// The rows that answer, of slots whose newest row has not expired (rule 5), in the order of slots.
    pub(super) fn answers(&self, slots: &Slots, ttl: Ttl) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(slots.len());
        for key in 0..slots.keys() {
            let mut newest: Option<(SeenRow, usize)> = None;
            for slot in slots.of_key(key) {
                let seen = self.stripe(slot).rows[slot / STRIPES];
                // Rows with the same times are seen by the same slot first, so there are no ties between slots.
                if let Some(row) = seen
                    && newest.is_none_or(|(held, _)| row.times() > held.times())
                {
                    newest = Some((row, slot));
                }
                if let Some((row, seen_by)) = newest
                    && as_of::within_ttl(row.event_time, ttl, slots.instant(slot))
                {
                    let place = row.place;
                    answers.push(Answer {
                        slot,
                        place,
                        seen_by,
                    });
                }
            }
        }
        answers
    }

    /// All rows that a slot was the first to see and none is newer than, where there are several.
    pub(super) fn tied(&self, slot: usize) -> Option<Vec<RowPlace>> {
        let stripe = self.stripe(slot);
        let mut places = stripe.ties.get(&slot)?.clone();
        places.extend(stripe.rows[slot / STRIPES].map(|row| row.place));
        Some(places)
    }

    /// Bytes in memory for a number of slots, about, without ties.
    pub(super) const fn size(slots: usize) -> usize {
        slots * size_of::<Option<SeenRow>>()
    }
}
