//! Ensembles as they were trained, and the plain evaluator that everything faster is measured against.

use std::fmt;

use feature_defs::model::Transform;

use super::category::CategorySet;
use super::shape::{self, ShapeError};

/// Values at most this far from zero count as zero, in every split: the reference library drops them when it takes a
/// row over, and its zero-as-missing test has the same radius. It is the single-precision 1e-35, widened.
pub const ZERO_RADIUS: f64 = 1e-35_f32 as f64;

/// Trees whose values are added up, in order, in f64.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    /// Names of the inputs, in the order of a row's values.
    pub feature_names: Vec<String>,
    /// The trees, in the order in which they are added up. At least one.
    pub trees: Vec<Tree>,
    /// Whether the sum is divided by the number of trees (random forests).
    pub average: bool,
    /// What the model was trained for, where its file says so.
    pub objective: Option<Objective>,
}

/// What a model was trained for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// As the file has it.
    pub text: String,
    /// What its library applies to the raw score; `None` when it is none of ours.
    pub transform: Option<Transform>,
}

/// A binary tree. Its root is split 0, or leaf 0 when there are no splits.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The splits.
    pub splits: Vec<Split>,
    /// The values of the leaves: one leaf more than splits.
    pub leaves: Vec<f64>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Position of the feature in a row.
    pub feature: u32,
    /// Which way a value goes.
    pub rule: Rule,
    /// Where values go that the rule sends left.
    pub left: Child,
    /// Where the others go.
    pub right: Child,
}

/// Which way a value goes at a split.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Left when `value <= threshold`, apart from missing values.
    Number {
        /// Not NaN.
        threshold: f64,
        /// What counts as missing, and where it goes.
        missing: Missing,
    },
    /// Left when the value's category is in the set. Values that are no category go right.
    Category(CategorySet),
}

/// What counts as missing at a split on numbers, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Missing {
    /// Nothing: NaN is compared as 0.
    AsZero,
    /// NaN goes left.
    NanLeft,
    /// NaN goes right.
    NanRight,
    /// NaN and zero go left.
    ZeroLeft,
    /// NaN and zero go right.
    ZeroRight,
}

/// Where a split leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// To another split.
    Split(u32),
    /// To a leaf.
    Leaf(u32),
}

impl fmt::Display for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Split(at) => write!(f, "split {at}"),
            Self::Leaf(at) => write!(f, "leaf {at}"),
        }
    }
}

impl Ensemble {
    /// Number of inputs a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.feature_names.len()
    }

    /// The raw score of one row.
    ///
    /// # Panics
    /// When the row is shorter than [`Ensemble::width`].
    #[must_use]
    pub fn score(&self, row: &[f64]) -> f64 {
        let mut sum = 0.0;
        for tree in &self.trees {
            sum += tree.value(row);
        }
        if self.average {
            sum / self.trees.len() as f64
        } else {
            sum
        }
    }
}

impl Tree {
    /// The value of the leaf that a row reaches.
    #[must_use]
    pub fn value(&self, row: &[f64]) -> f64 {
        let mut at = self.root();
        loop {
            match at {
                Child::Leaf(leaf) => return self.leaves[leaf as usize],
                Child::Split(split) => {
                    let split = &self.splits[split as usize];
                    let goes_left = split.rule.goes_left(row[split.feature as usize]);
                    at = if goes_left { split.left } else { split.right };
                }
            }
        }
    }

    /// Where a row starts.
    #[must_use]
    pub fn root(&self) -> Child {
        if self.splits.is_empty() {
            Child::Leaf(0)
        } else {
            Child::Split(0)
        }
    }

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

impl Rule {
    /// Whether a value goes left.
    #[must_use]
    pub fn goes_left(&self, value: f64) -> bool {
        let value = round_to_zero(value);
        match self {
            Self::Number { threshold, missing } => match (missing, value.is_nan()) {
                (Missing::AsZero, true) => 0.0 <= *threshold,
                (Missing::NanLeft | Missing::ZeroLeft, true) => true,
                (Missing::NanRight | Missing::ZeroRight, true) => false,
                (Missing::ZeroLeft, false) if value == 0.0 => true,
                (Missing::ZeroRight, false) if value == 0.0 => false,
                (_, false) => value <= *threshold,
            },
            Self::Category(left) => left.contains_value(value),
        }
    }
}

/// The value, or zero when it is at most [`ZERO_RADIUS`] away from it.
pub(crate) fn round_to_zero(value: f64) -> f64 {
    if value.abs() <= ZERO_RADIUS {
        0.0
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_go_where_each_rule_sends_them() {
        let above = |missing| Rule::Number {
            threshold: 1.0,
            missing,
        };
        let below = |missing| Rule::Number {
            threshold: -1.0,
            missing,
        };
        // rule, then whether NaN, 0, 1e-36, 0.5 and 2 go left
        for (rule, expected) in [
            (above(Missing::AsZero), [true, true, true, true, false]),
            (below(Missing::AsZero), [false; 5]),
            (above(Missing::NanLeft), [true, true, true, true, false]),
            (above(Missing::NanRight), [false, true, true, true, false]),
            (below(Missing::NanLeft), [true, false, false, false, false]),
            (
                above(Missing::ZeroRight),
                [false, false, false, true, false],
            ),
            (below(Missing::ZeroLeft), [true, true, true, false, false]),
        ] {
            let goes_left = [f64::NAN, 0.0, 1e-36, 0.5, 2.0].map(|value| rule.goes_left(value));
            assert_eq!(goes_left, expected, "{rule:?}");
        }
    }

    #[test]
    fn thresholds_are_compared_as_doubles() {
        for (threshold, value, goes_left) in [
            (0.1, 0.1, true),
            (0.1, f64::from(0.1_f32), false),
            (16_777_216.5, 16_777_217.0, false),
            (f64::INFINITY, f64::INFINITY, true),
        ] {
            let missing = Missing::NanRight;
            let rule = Rule::Number { threshold, missing };
            assert_eq!(rule.goes_left(value), goes_left, "{value} <= {threshold}");
        }
    }
}
