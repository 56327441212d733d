//! Binning: a row of f64 values becomes the integers that trees compare, once for all trees.

use std::collections::{BTreeMap, BTreeSet};

use super::category::{self, CategorySet};
use super::ensemble::{Missing, round_to_zero};
use super::quantize::{Column, Quantized, bin_of};

/// An integer that trees compare: u8 where all fit, else u16.
pub(crate) trait Bin:
    Copy + Ord + Default + Send + Sync + std::fmt::Debug + 'static
{
    /// Cuts a number off to this width. Callers choose a width that fits all numbers of an ensemble.
    fn cut(number: u16) -> Self;
}

impl Bin for u8 {
    fn cut(number: u16) -> Self {
        number as Self
    }
}

impl Bin for u16 {
    fn cut(number: u16) -> Self {
        number
    }
}

/// How the columns of a row are filled from its values, feature by feature.
#[derive(Debug)]
pub(crate) struct Columns {
    numbers: Vec<Numbers>,
    categories: Vec<Categories>,
    count: usize,
}

/// The columns of one feature's numbers: one search, then a choice a column.
#[derive(Debug)]
struct Numbers {
    feature: usize,
    edges: Box<[f64]>,
    columns: Box<[(usize, Missing)]>,
}

/// The columns of one feature's categories, one a set.
#[derive(Debug)]
struct Categories {
    feature: usize,
    /// All codes that any set names, ascending. A value's rank here is its bit; any other value has no bit.
    codes: Box<[u32]>,
    /// For each 64 ranks a word a set, so that one row reads consecutive words.
    words: Vec<Box<[u64]>>,
    /// The column of each set.
    columns: Box<[usize]>,
}

impl Columns {
    /// The plan for an ensemble.
    pub(crate) fn new(quantized: &Quantized) -> Self {
        let mut by_feature: BTreeMap<usize, Vec<(usize, &Column)>> = BTreeMap::new();
        for (at, column) in quantized.columns.iter().enumerate() {
            let feature = column.feature() as usize;
            by_feature.entry(feature).or_default().push((at, column));
        }
        let mut numbers = Vec::new();
        let mut categories = Vec::new();
        for (feature, columns) in by_feature {
            let mut choices = Vec::new();
            let mut sets = Vec::new();
            for (at, column) in columns {
                match column {
                    Column::Number { missing, .. } => choices.push((at, *missing)),
                    Column::Category { left, .. } => sets.push((at, left)),
                }
            }
            if !choices.is_empty() {
                let edges = quantized.edges[feature].clone().into_boxed_slice();
                numbers.push(Numbers {
                    feature,
                    edges,
                    columns: choices.into(),
                });
            }
            if !sets.is_empty() {
                categories.push(Categories::new(feature, &sets));
            }
        }
        Self {
            numbers,
            categories,
            count: quantized.columns.len(),
        }
    }

    /// Number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Fills the columns of one row.
    pub(crate) fn fill<B: Bin>(&self, row: &[f64], columns: &mut [B]) {
        for numbers in &self.numbers {
            numbers.fill(round_to_zero(row[numbers.feature]), columns);
        }
        for categories in &self.categories {
            categories.fill(round_to_zero(row[categories.feature]), columns);
        }
    }
}

impl Numbers {
    fn fill<B: Bin>(&self, value: f64, columns: &mut [B]) {
        let missing = value.is_nan();
        let bin = bin_of(&self.edges, if missing { 0.0 } else { value });
        let (least, greatest) = (0, self.edges.len() as u16);
        for (at, rule) in &self.columns {
            let number = match rule {
                Missing::NanLeft if missing => least,
                Missing::NanRight if missing => greatest,
                Missing::ZeroLeft if missing || value == 0.0 => least,
                Missing::ZeroRight if missing || value == 0.0 => greatest,
                _ => bin,
            };
            columns[*at] = B::cut(number);
        }
    }
}

impl Categories {
    fn new(feature: usize, sets: &[(usize, &CategorySet)]) -> Self {
        let codes: BTreeSet<u32> = sets.iter().flat_map(|(_, set)| set.codes()).collect();
        let codes: Box<[u32]> = codes.into_iter().collect();
        let words = codes.chunks(u64::BITS as usize).map(|chunk| {
            let word = |set: &CategorySet| {
                let bits = (0_u32..).zip(chunk);
                bits.fold(0, |word, (bit, code)| {
                    word | u64::from(set.contains(*code)) << bit
                })
            };
            sets.iter().map(|(_, set)| word(set)).collect()
        });
        Self {
            feature,
            words: words.collect(),
            codes,
            columns: sets.iter().map(|(at, _)| *at).collect(),
        }
    }

    fn fill<B: Bin>(&self, value: f64, columns: &mut [B]) {
        let rank = category::code(value).and_then(|code| self.codes.binary_search(&code).ok());
        let Some(rank) = rank else {
            for at in &self.columns {
                columns[*at] = B::cut(1);
            }
            return;
        };
        let words = &self.words[rank / u64::BITS as usize];
        let bit = rank % u64::BITS as usize;
        for (at, word) in self.columns.iter().zip(words) {
            columns[*at] = B::cut(u16::from(word >> bit & 1 == 0));
        }
    }
}
