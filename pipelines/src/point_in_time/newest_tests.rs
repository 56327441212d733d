//! Random rows in any order against the reference, in memory.
//!
//! By default `CASES` are tried; `PIT_CASES=1000000` in the environment tries as many, from `PIT_SEED`.

use std::collections::BTreeMap;

use arrow::array::BinaryArray;
use feature_defs::time::{Instant, TimeSpan, Ttl};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::Questions;
use super::newest::{Newest, SeenRow};
use super::reference::{self, Row};
use super::slots::Slots;
use crate::scan::RowPlace;

const CASES: u64 = 20_000;

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn at(micros: i64) -> Instant {
    Instant::from_micros(micros)
}

/// The key's bytes: of one word, of other tags and of other lengths, so that both lookups are asked.
fn bytes(key: i64, are_words: bool) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(key.to_be_bytes());
    if !are_words && key % 2 == 1 {
        bytes.push(7);
    }
    bytes
}

#[test]
fn newest_rows_equal_the_reference_whatever_order_they_come_in() {
    let first = number("PIT_SEED", 0);
    for seed in first..first + number("PIT_CASES", CASES) {
        one_case(seed);
    }
}

fn one_case(seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let (keys, instants) = (dice.random_range(1..5_i64), dice.random_range(1..14_i64));
    let are_words = dice.random_bool(0.5);
    let rows: Vec<Row> = (0..dice.random_range(0..40_u32))
        .map(|_| Row {
            key: dice.random_range(0..keys),
            event_time: at(dice.random_range(0..instants)),
            created_time: dice
                .random_bool(0.6)
                .then(|| at(dice.random_range(-1..instants + 2))),
            value: dice.random_bool(0.8).then(|| dice.random_range(-2..3)),
        })
        .collect();
    let ttl = match dice.random_range(0..4) {
        0 => Ttl::Unlimited,
        1 => Ttl::AtMost(TimeSpan::from_micros(0).expect("span")),
        _ => Ttl::AtMost(TimeSpan::from_micros(dice.random_range(1..8)).expect("span")),
    };
    let frame: Vec<(Option<i64>, Instant)> = (0..dice.random_range(0..25_u32))
        .map(|_| {
            let key = dice.random_bool(0.9).then(|| dice.random_range(0..=keys));
            (key, at(dice.random_range(-1..instants + 3)))
        })
        .collect();
    let as_ofs: Vec<Instant> = frame.iter().map(|row| row.1).collect();
    let held = frame
        .iter()
        .map(|row| row.0.map(|key| bytes(key, are_words)));
    let questions = Questions {
        keys: &BinaryArray::from_iter(held),
        as_ofs: &as_ofs,
    };
    let slots = Slots::new(&questions);
    let newest = Newest::new(&slots);
    for (number, row) in rows.iter().enumerate() {
        let key = bytes(row.key, are_words);
        if let Some(slot) = slots.first_to_see(&key, row.event_time, row.created_time) {
            let row = SeenRow {
                event_time: row.event_time,
                created_time: row.created_time,
                place: place(number),
            };
            newest.add(slot, row);
        }
    }
    let of = |place: RowPlace| rows[place.row as usize];
    let answers = newest.answers(&slots, ttl).into_iter().map(|answer| {
        let tied = newest.tied(answer.seen_by).unwrap_or_default();
        let greatest = tied.into_iter().map(of).map(|row| row.value).max();
        (answer.slot, greatest.unwrap_or(of(answer.place).value))
    });
    let answers: BTreeMap<usize, Option<i64>> = answers.collect();
    for (question, (key, as_of)) in frame.iter().enumerate() {
        let slot = slots.of_questions()[question];
        let told = slot.and_then(|slot| answers.get(&(slot as usize)).copied());
        let expected = key.and_then(|key| reference::latest(&rows, key, *as_of, ttl));
        assert_eq!(told, expected, "seed {seed}, question {question}");
    }
}

fn place(row: usize) -> RowPlace {
    RowPlace {
        piece: 0,
        row: u32::try_from(row).expect("few rows"),
    }
}
