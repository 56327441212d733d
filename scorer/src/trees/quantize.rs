//! Trees on integers: every threshold becomes the number of a bin, and a row is binned once for all trees.
//!
//! A feature's *edges* are the distinct thresholds of all splits on it, ascending. The bin of a value is the number of
//! edges below it, so `value <= edges[j]` and `bin <= j` are the same thing, for every value and every `j`.
//!
//! What is missing, and where it goes, differs from split to split even on one feature. So trees do not compare
//! features but *columns*: one for each (feature, [`Missing`]) that occurs, which holds the feature's bin, or for a
//! missing value the least bin (always left) or the greatest (always right). A set of categories is a column too, with
//! 0 inside and 1 outside. Then every split of every kind is `column <= bin`, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::category::CategorySet;
use super::ensemble::{Child, Ensemble, Missing, Rule, Split, Tree};
use super::shape::{self, ShapeError};

/// The most of each that a quantised ensemble holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) features: usize,
    pub(crate) columns: usize,
    pub(crate) edges: usize,
    pub(crate) trees: usize,
    pub(crate) leaves: usize,
    /// Distinct categories of a feature times its sets.
    pub(crate) category_bits: usize,
}

/// Bins and columns are 16-bit numbers; the others keep hostile files from asking for memory.
pub(crate) const LIMITS: Limits = Limits {
    features: 1 << 16,
    columns: 1 << 16,
    edges: (1 << 16) - 1,
    trees: 1 << 17,
    leaves: 1 << 17,
    category_bits: 1 << 29,
};

/// An ensemble on integer bins. Gives the same bits as the [`Ensemble`] that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantized {
    /// By feature: the distinct thresholds, ascending.
    pub edges: Vec<Vec<f64>>,
    /// What splits compare.
    pub columns: Vec<Column>,
    /// The trees, in the order in which they are added up.
    pub trees: Vec<QuantizedTree>,
    /// Whether the sum is divided by the number of trees.
    pub average: bool,
}

/// What splits compare: an integer made of one feature's value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// The bin of a number.
    Number {
        /// Position of the feature in a row.
        feature: u32,
        /// What counts as missing, and where it goes.
        missing: Missing,
    },
    /// 0 when the value's category is in the set, else 1.
    Category {
        /// Position of the feature in a row.
        feature: u32,
        /// The categories that go left.
        left: CategorySet,
    },
}

/// A tree whose splits compare integers. Its root is split 0, or leaf 0 when there are no splits.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedTree {
    /// The splits.
    pub splits: Vec<QuantizedSplit>,
    /// The values of the leaves: one leaf more than splits.
    pub leaves: Vec<f64>,
}

/// One decision: left when `columns[column] <= bin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantizedSplit {
    /// Which column.
    pub column: u16,
    /// The greatest integer that goes left.
    pub bin: u16,
    /// Where values go that are at most `bin`.
    pub left: Child,
    /// Where the others go.
    pub right: Child,
}

/// Why an ensemble cannot be quantised, or why what claims to be a quantised one is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantizeError {
    /// More of something than fits.
    #[error("{found} {what}: at most {limit} are supported")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// An ensemble without trees.
    #[error("there are no trees")]
    NoTrees,
    /// A tree that is none.
    #[error("tree {tree}: {error}")]
    Shape {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        error: ShapeError,
    },
    /// A reference or value that does not fit.
    #[error("{0}")]
    Invalid(String),
}

impl Quantized {
    /// Quantises an ensemble. Nothing is lost: see [`Quantized::to_trees`].
    ///
    /// # Errors
    /// When there are more distinct thresholds on one feature, or more columns, than 16 bits count.
    pub fn new(ensemble: &Ensemble) -> Result<Self, QuantizeError> {
        let mut edges = vec![Vec::new(); ensemble.width()];
        let mut columns = BTreeSet::new();
        for split in ensemble.trees.iter().flat_map(|tree| &tree.splits) {
            if let Rule::Number { threshold, .. } = split.rule {
                let edges: &mut Vec<f64> =
                    edges.get_mut(split.feature as usize).ok_or_else(|| {
                        QuantizeError::Invalid(format!("feature {} does not exist", split.feature))
                    })?;
                edges.push(threshold);
            }
            columns.insert(column_of(split));
        }
        for edges in &mut edges {
            edges.sort_unstable_by(f64::total_cmp);
            // -0 and 0 are one edge: comparisons do not tell them apart
            edges.dedup_by(|a, b| a == b);
        }
        let columns: Vec<Column> = columns.into_iter().collect();
        check_limits(&edges, &columns)?;
        let numbers: BTreeMap<&Column, u16> = columns.iter().zip(0..=u16::MAX).collect();
        let quantize = |split: &Split| QuantizedSplit {
            column: numbers[&column_of(split)],
            bin: match split.rule {
                Rule::Number { threshold, .. } => bin_of(&edges[split.feature as usize], threshold),
                Rule::Category(_) => 0,
            },
            left: split.left,
            right: split.right,
        };
        let trees = ensemble.trees.iter().map(|tree| QuantizedTree {
            splits: tree.splits.iter().map(quantize).collect(),
            leaves: tree.leaves.clone(),
        });
        let trees = trees.collect();
        let quantized = Self {
            edges,
            columns,
            trees,
            average: ensemble.average,
        };
        quantized.check()?;
        Ok(quantized)
    }

    /// Number of inputs a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.edges.len()
    }

    /// Number of distinct (feature, set of categories) that splits name.
    #[must_use]
    pub fn category_sets(&self) -> usize {
        let sets = self.columns.iter();
        sets.filter(|column| matches!(column, Column::Category { .. }))
            .count()
    }

    /// The trees on f64 thresholds again: what was quantised, apart from the sign of zero thresholds.
    #[must_use]
    pub fn to_trees(&self) -> Vec<Tree> {
        let restore = |split: &QuantizedSplit| {
            let (feature, rule) = match &self.columns[usize::from(split.column)] {
                Column::Number { feature, missing } => {
                    let threshold = self.edges[*feature as usize][usize::from(split.bin)];
                    let missing = *missing;
                    (*feature, Rule::Number { threshold, missing })
                }
                Column::Category { feature, left } => (*feature, Rule::Category(left.clone())),
            };
            Split {
                feature,
                rule,
                left: split.left,
                right: split.right,
            }
        };
        let trees = self.trees.iter().map(|tree| Tree {
            splits: tree.splits.iter().map(restore).collect(),
            leaves: tree.leaves.clone(),
        });
        trees.collect()
    }

    /// Checks everything that kernels rely on.
    ///
    /// # Errors
    /// At the first thing that does not fit.
    pub fn check(&self) -> Result<(), QuantizeError> {
        check_limits(&self.edges, &self.columns)?;
        at_most("trees", self.trees.len(), LIMITS.trees)?;
        if self.trees.is_empty() {
            return Err(QuantizeError::NoTrees);
        }
        let invalid = |message: String| Err(QuantizeError::Invalid(message));
        for (feature, edges) in self.edges.iter().enumerate() {
            // also refuses NaN, which is not below anything
            if edges.len() == 1 && edges[0].is_nan() || !edges.is_sorted_by(|a, b| a < b) {
                return invalid(format!("the edges of feature {feature} do not ascend"));
            }
        }
        for column in &self.columns {
            if column.feature() as usize >= self.width() {
                return invalid(format!("feature {} does not exist", column.feature()));
            }
        }
        for (at, tree) in self.trees.iter().enumerate() {
            at_most("leaves in a tree", tree.leaves.len(), LIMITS.leaves)?;
            tree.depth()
                .map_err(|error| QuantizeError::Shape { tree: at, error })?;
            if tree.leaves.iter().any(|value| !value.is_finite()) {
                return invalid(format!("tree {at} has a leaf that is not a finite number"));
            }
            for split in &tree.splits {
                let bins = match self.columns.get(usize::from(split.column)) {
                    Some(Column::Number { feature, .. }) => self.edges[*feature as usize].len(),
                    Some(Column::Category { .. }) => 1,
                    None => 0,
                };
                if usize::from(split.bin) >= bins {
                    return invalid(format!(
                        "tree {at} compares column {} with {}, which does not exist",
                        split.column, split.bin
                    ));
                }
            }
        }
        Ok(())
    }
}

impl QuantizedTree {
    /// The number of splits on the longest way to a leaf.
    ///
    /// # Errors
    /// When splits and leaves do not form a tree.
    pub fn depth(&self) -> Result<usize, ShapeError> {
        shape::depth(self.splits.len(), self.leaves.len(), |split| {
            [self.splits[split].left, self.splits[split].right]
        })
    }
}

impl Column {
    /// Position of the feature in a row.
    #[must_use]
    pub fn feature(&self) -> u32 {
        match self {
            Self::Number { feature, .. } | Self::Category { feature, .. } => *feature,
        }
    }
}

fn column_of(split: &Split) -> Column {
    let feature = split.feature;
    match &split.rule {
        Rule::Number { missing, .. } => Column::Number {
            feature,
            missing: *missing,
        },
        Rule::Category(left) => Column::Category {
            feature,
            left: left.clone(),
        },
    }
}

/// The number of edges below `value`. Edges are few enough to count in 16 bits.
pub(crate) fn bin_of(edges: &[f64], value: f64) -> u16 {
    edges.partition_point(|edge| *edge < value) as u16
}

fn check_limits(edges: &[Vec<f64>], columns: &[Column]) -> Result<(), QuantizeError> {
    at_most("features", edges.len(), LIMITS.features)?;
    let most = edges.iter().map(Vec::len).max().unwrap_or(0);
    at_most("distinct thresholds on one feature", most, LIMITS.edges)?;
    at_most("distinct columns", columns.len(), LIMITS.columns)?;
    check_categories(columns)
}

/// Kernels keep a bit for each category of a feature in each of its sets.
fn check_categories(columns: &[Column]) -> Result<(), QuantizeError> {
    let mut sets: BTreeMap<u32, Vec<&CategorySet>> = BTreeMap::new();
    for column in columns {
        if let Column::Category { feature, left } = column {
            sets.entry(*feature).or_default().push(left);
        }
    }
    for sets in sets.values() {
        let longest = sets.iter().map(|set| set.words().len()).max().unwrap_or(0);
        let mut named = vec![0; longest];
        for set in sets {
            for (named, word) in named.iter_mut().zip(set.words()) {
                *named |= word;
            }
        }
        let codes: usize = named
            .iter()
            .map(|word: &u32| word.count_ones() as usize)
            .sum();
        let what = "categories times splits on one feature";
        at_most(what, codes * sets.len(), LIMITS.category_bits)?;
    }
    Ok(())
}

fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), QuantizeError> {
    if found <= limit {
        Ok(())
    } else {
        Err(QuantizeError::TooMany { what, found, limit })
    }
}
