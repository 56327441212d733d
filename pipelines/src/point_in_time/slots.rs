//! An entity frame by key and as-of: one slot for each key and instant that somebody asks for.
//!
//! ```text
//!   key a:  slot 0 (1 May)  slot 1 (3 May)  slot 2 (9 May)     key b:  slot 3 (2 May)  slot 4 (9 May)
//!                  ^ a row of key a that can be seen from 2 May on is seen by slots 1 and 2, and first by slot 1
//! ```

use std::ops::Range;

use arrow::array::Array;
use datafusion::common::HashMap;
use feature_defs::time::Instant;

use super::Questions;
use crate::scan::{Cut, RowKind};

/// The slots of a frame: those of a key stand together, the earliest first.
#[derive(Debug)]
pub(super) struct Slots {
    keys: KeyLookup,
    /// For each key, where its slots end; they start where those of the key before end.
    ends: Vec<u32>,
    instants: Vec<Instant>,
    /// Each question's slot; `None` for a question with a null in its key.
    of_question: Vec<Option<u32>>,
}

impl Slots {
    pub(super) fn new(questions: &Questions<'_>) -> Self {
        let mut keys = KeyLookup::new(questions);
        let mut key_of = Vec::with_capacity(questions.keys.len());
        let mut ends: Vec<u32> = Vec::new();
        for question in 0..questions.keys.len() {
            let key = questions.keys.is_valid(question);
            let key = key.then(|| keys.add(questions.keys.value(question)));
            if let Some(key) = key {
                ends.resize(ends.len().max(key as usize + 1), 0);
                ends[key as usize] += 1;
            }
            key_of.push(key);
        }
        // Counts become starts, and starts become ends while questions are put in their places.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut asked = vec![(Instant::from_micros(0), 0_usize); start as usize];
        for (question, key) in key_of.iter().enumerate() {
            if let Some(key) = key {
                let place = &mut ends[*key as usize];
                asked[*place as usize] = (questions.as_ofs[question], question);
                *place += 1;
            }
        }
        let mut slots = Self {
            keys,
            ends,
            instants: Vec::with_capacity(asked.len()),
            of_question: vec![None; key_of.len()],
        };
        let mut start = 0;
        for key in 0..slots.ends.len() {
            let end = slots.ends[key] as usize;
            let of_key = &mut asked[start..end];
            of_key.sort_unstable();
            let first = slots.instants.len();
            for (as_of, question) in of_key {
                if slots.instants.len() == first || slots.instants.last() != Some(as_of) {
                    slots.instants.push(*as_of);
                }
                slots.of_question[*question] = Some(narrow(slots.instants.len() - 1));
            }
            slots.ends[key] = narrow(slots.instants.len());
            start = end;
        }
        slots
    }

    pub(super) const fn len(&self) -> usize {
        self.instants.len()
    }

    pub(super) const fn keys(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn instant(&self, slot: usize) -> Instant {
        self.instants[slot]
    }

    pub(super) fn of_questions(&self) -> &[Option<u32>] {
        &self.of_question
    }

    /// The slots of a key.
    pub(super) fn of_key(&self, key: usize) -> Range<usize> {
        let start = if key == 0 { 0 } else { self.ends[key - 1] };
        start as usize..self.ends[key] as usize
    }

    /// The earliest slot of a key that sees a row with these times (rules 3 and 4); all later ones see it too.
    pub(super) fn first_to_see(
        &self,
        key: &[u8],
        event_time: Instant,
        created_time: Option<Instant>,
    ) -> Option<usize> {
        let slots = self.of_key(self.keys.find(key)? as usize);
        let sees = |as_of: Instant| {
            let rows = RowKind::FeatureRows;
            Cut { as_of, rows }.sees(event_time, created_time)
        };
        let blind = self.instants[slots.clone()].partition_point(|as_of| !sees(*as_of));
        (blind < slots.len()).then_some(slots.start + blind)
    }

    /// Bytes in memory, about.
    pub(super) fn size(questions: usize) -> usize {
        // A key in the lookup, its end, an instant, a question's slot, and what sorting takes.
        questions * (32 + 4 + 8 + 8 + 24)
    }
}

/// Frames are held in memory: they have fewer rows than 32 bits count.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Keys by their canonical bytes, numbered as they came.
#[derive(Debug)]
enum KeyLookup {
    /// Keys of one part of 8 bytes, behind the tag that they share: they are held in place.
    Words(u8, HashMap<u64, u32>),
    Bytes(HashMap<Vec<u8>, u32>),
}

impl KeyLookup {
    fn new(questions: &Questions<'_>) -> Self {
        let mut tags = questions.keys.iter().flatten().map(word);
        let first = tags.next().flatten().map(|(tag, _)| tag);
        match first {
            Some(tag) if tags.all(|key| key.is_some_and(|(other, _)| other == tag)) => {
                Self::Words(tag, HashMap::default())
            }
            _ => Self::Bytes(HashMap::default()),
        }
    }

    fn add(&mut self, key: &[u8]) -> u32 {
        match self {
            Self::Words(_, keys) => {
                let next = narrow(keys.len());
                let (_, word) = word(key).unwrap_or_default();
                *keys.entry(word).or_insert(next)
            }
            Self::Bytes(keys) => {
                let next = narrow(keys.len());
                *keys.entry_ref(key).or_insert(next)
            }
        }
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        match self {
            Self::Words(tag, keys) => {
                let (found, word) = word(key)?;
                (found == *tag).then(|| keys.get(&word).copied())?
            }
            Self::Bytes(keys) => keys.get(key).copied(),
        }
    }
}

/// The tag and payload of a key of one part of 8 bytes.
fn word(key: &[u8]) -> Option<(u8, u64)> {
    let (tag, payload) = key.split_first()?;
    let payload: [u8; 8] = payload.try_into().ok()?;
    Some((*tag, u64::from_be_bytes(payload)))
}
