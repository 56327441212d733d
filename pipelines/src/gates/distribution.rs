//! How far values moved: the population stability index (N. Siddiqi, "Credit Risk Scorecards", 2006, chapter 10).
//!
//! Values fall into parts, and with `p` the share of a part before and `q` now, the index is the sum of
//! `(p - q) ln(p / q)`. A share of nothing counts as [`LEAST_SHARE`].

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use feature_defs::name::Name;
use futures::TryStreamExt;
use store::offline::{OfflineStore, SnapshotManifest};
use twox_hash::XxHash3_64;

use crate::column::{Cell, Column};
use crate::error::{Error, Result};

/// Stands for a share of nothing, whose logarithm is none.
const LEAST_SHARE: f64 = 1e-4;

/// Parts of numbers: tenths of those before.
const TENTHS: u64 = 10;

/// Values that are no numbers and are parts of their own: the most frequent ones before; the rest is one part.
const WORDS: usize = 20;

/// Rows before, and now.
type Counts = [u64; 2];

/// How often a feature has which values in two snapshots.
#[derive(Debug, Default)]
struct Distribution {
    nulls: Counts,
    nans: Counts,
    /// Numbers by the first bits of their order, which tell numbers apart that differ by a part in 4,096.
    numbers: BTreeMap<u32, Counts>,
    /// Texts and booleans, by hash.
    words: BTreeMap<u64, Counts>,
}

/// The index of each feature between two snapshots; `None` where either has no rows.
pub(super) async fn indices(
    features: &[&Name],
    before: &SnapshotManifest,
    now: &SnapshotManifest,
    offline: &dyn OfflineStore,
) -> Result<Vec<Option<f64>>> {
    let mut distributions: Vec<Distribution> = Vec::new();
    distributions.resize_with(features.len(), Distribution::default);
    for (side, snapshot) in [before, now].into_iter().enumerate() {
        let mut batches = offline.read(snapshot).await?;
        while let Some(batch) = batches.try_next().await? {
            for (feature, distribution) in features.iter().zip(&mut distributions) {
                distribution.add(&column(&batch, feature)?, batch.num_rows(), side);
            }
        }
    }
    Ok(distributions.iter().map(Distribution::index).collect())
}

fn column(batch: &RecordBatch, feature: &Name) -> Result<Column> {
    let column = batch.column_by_name(feature.as_str());
    let column = column
        .ok_or_else(|| Error::Refused(format!("a kept snapshot has no column `{feature}`")))?;
    Column::new(column)
}

impl Distribution {
    fn add(&mut self, column: &Column, rows: usize, side: usize) {
        for row in 0..rows {
            self.part(column.cell(row))[side] += 1;
        }
    }

    #[expect(clippy::cast_precision_loss)] // parts are coarser than that
    fn part(&mut self, cell: Cell<'_>) -> &mut Counts {
        match cell {
            Cell::Null => &mut self.nulls,
            Cell::Int(value) | Cell::Timestamp(value) => self.number(value as f64),
            Cell::UInt(value) => self.number(value as f64),
            Cell::Float(value) if value.is_nan() => &mut self.nans,
            Cell::Float(value) => self.number(value),
            Cell::Decimal { unscaled, .. } => self.number(unscaled as f64),
            Cell::Date(days) => self.number(days.into()),
            Cell::Bool(value) => self.words.entry(value.into()).or_default(),
            Cell::String(text) => self.word(text.as_bytes()),
            Cell::Bytes(bytes) | Cell::Uuid(bytes) => self.word(bytes),
            // Refused when definitions are checked.
            Cell::Nested { .. } => &mut self.nulls,
        }
    }

    fn number(&mut self, value: f64) -> &mut Counts {
        let bits = (value + 0.0).to_bits();
        // All bits of negative numbers turned, the sign of the others: the order of the numbers.
        let ordered = if bits >> 63 == 1 {
            !bits
        } else {
            bits | 1 << 63
        };
        let first = u32::try_from(ordered >> 40).unwrap_or(u32::MAX);
        self.numbers.entry(first).or_default()
    }

    fn word(&mut self, bytes: &[u8]) -> &mut Counts {
        let hash = XxHash3_64::oneshot(bytes);
        self.words.entry(hash).or_default()
    }

    fn index(&self) -> Option<f64> {
        let parts = self.parts();
        let totals = parts.iter().fold([0, 0], |total, part| sum(total, *part));
        if totals.contains(&0) {
            return None;
        }
        let present = parts.into_iter().filter(|part| *part != [0, 0]);
        Some(present.map(|part| moved(part, totals)).sum())
    }

    fn parts(&self) -> Vec<Counts> {
        let mut parts = vec![self.nulls, self.nans];
        parts.extend(self.tenths());
        let mut words: Vec<Counts> = self.words.values().copied().collect();
        words.sort_unstable_by(|a, b| b.cmp(a));
        let rest = words.split_off(words.len().min(WORDS));
        parts.extend(words);
        parts.push(rest.into_iter().fold([0, 0], sum));
        parts
    }

    /// Numbers in parts that each hold about a tenth of those before; the outer ones are open.
    fn tenths(&self) -> Vec<Counts> {
        let total: u64 = self.numbers.values().map(|counts| counts[0]).sum();
        let mut parts = Vec::new();
        let (mut part, mut seen, mut edge) = ([0, 0], 0, 1);
        for counts in self.numbers.values() {
            part = sum(part, *counts);
            seen += counts[0];
            if counts[0] > 0 && seen * TENTHS >= edge * total {
                parts.push(part);
                part = [0, 0];
                edge = seen * TENTHS / total + 1;
            }
        }
        match parts.last_mut() {
            Some(last) => *last = sum(*last, part),
            None => parts.push(part),
        }
        parts
    }
}

fn sum(one: Counts, other: Counts) -> Counts {
    [one[0] + other[0], one[1] + other[1]]
}

#[expect(clippy::cast_precision_loss)] // counts below 2^53
fn moved(part: Counts, totals: Counts) -> f64 {
    let share = |side: usize| (part[side] as f64 / totals[side] as f64).max(LEAST_SHARE);
    let (before, now) = (share(0), share(1));
    (before - now) * (before / now).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[(Cell<'_>, Counts)]) -> Distribution {
        let mut distribution = Distribution::default();
        for (cell, counts) in cells {
            let part = distribution.part(*cell);
            *part = sum(*part, *counts);
        }
        distribution
    }

    fn is_near(distribution: &Distribution, expected: f64) {
        let index = distribution.index().expect("rows on both sides");
        assert!((index - expected).abs() < 1e-6, "{index} is not {expected}");
    }

    #[test]
    fn two_words_move_by_the_formula() {
        let words = of(&[(Cell::Bool(true), [50, 60]), (Cell::Bool(false), [50, 40])]);
        // 0.1 ln 1.2 + 0.1 ln 1.25, worked out by hand
        is_near(&words, 0.040_546_5);
    }

    #[test]
    fn what_did_not_move_has_index_zero_whatever_the_sizes() {
        let numbers: Vec<_> = (0..1000).map(|i| (Cell::Int(i), [3, 6])).collect();
        is_near(&of(&numbers), 0.0);
    }

    #[test]
    fn numbers_move_by_tenths_of_those_before() {
        // 0..100 before; 50..100 twice each now: five tenths of 10% become 0 and five become 20%.
        let numbers: Vec<_> = (0..100)
            .map(|i| (Cell::Float(f64::from(i)), [1, if i < 50 { 0 } else { 2 }]))
            .collect();
        let gone = 5.0 * (0.1 - 1e-4) * (0.1_f64 / 1e-4).ln();
        let doubled = 5.0 * (0.1 - 0.2) * (0.1_f64 / 0.2).ln();
        is_near(&of(&numbers), gone + doubled);
    }

    #[test]
    fn numbers_beyond_those_before_fall_into_the_outer_parts() {
        let mut numbers: Vec<_> = (0..10).map(|i| (Cell::Int(i), [1, 1])).collect();
        numbers.extend([(Cell::Int(-1000), [0, 1]), (Cell::Int(1000), [0, 1])]);
        let distribution = of(&numbers);
        let parts = distribution.tenths();
        assert_eq!(parts.len(), 10);
        assert_eq!((parts[0], parts[9]), ([1, 2], [1, 2]));
    }

    #[test]
    fn nulls_and_nan_are_parts_of_their_own() {
        let cells = [(Cell::Null, [0, 50]), (Cell::Float(1.0), [100, 50])];
        let to_null = (1e-4 - 0.5) * (1e-4_f64 / 0.5).ln() + 0.5 * 2.0_f64.ln();
        is_near(&of(&cells), to_null);
        let cells = [
            (Cell::Float(f64::NAN), [0, 50]),
            (Cell::Float(1.0), [100, 50]),
        ];
        is_near(&of(&cells), to_null);
    }

    #[test]
    fn nothing_is_compared_with_no_rows() {
        assert_eq!(of(&[(Cell::Int(1), [0, 5])]).index(), None);
        assert_eq!(of(&[(Cell::Int(1), [5, 0])]).index(), None);
    }
}
