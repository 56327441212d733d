//! One tree.

use super::ImportError;
use super::header::Header;
use super::text::{Field, Fields, Line, Lines, shorten};
use crate::trees::{CategorySet, Child, LIMITS, Missing, Rule, Split, Tree};

/// `decision_type` bit: the split is on categories.
const CATEGORICAL: u8 = 1;
/// `decision_type` bit: missing values go left.
const DEFAULT_LEFT: u8 = 2;
/// `decision_type` bits from here: what is missing.
const MISSING_SHIFT: u8 = 2;

/// Reads the block that `start` begins.
pub(super) fn read<'a>(
    start: Line<'a>,
    index: usize,
    header: &Header,
    lines: &mut Lines<'a>,
) -> Result<Tree, ImportError> {
    if start.text.strip_prefix("Tree=") != Some(index.to_string().as_str()) {
        let found = shorten(start.text);
        return Err(start.error(format!("expected `Tree={index}` here, found `{found}`")));
    }
    let fields = Fields::read(start, lines)?;
    if let Some(linear) = fields.get("is_linear").filter(|field| field.text != "0") {
        return Err(linear.error("trees with linear leaves are not supported"));
    }
    let leaf_count = leaf_count(fields.require("num_leaves")?)?;
    let tree = Tree {
        splits: splits(&fields, leaf_count - 1, header)?,
        leaves: leaf_values(fields.require("leaf_value")?, leaf_count)?,
    };
    match tree.depth() {
        Ok(_) => Ok(tree),
        Err(error) => Err(start.error(error.to_string())),
    }
}

fn leaf_count(field: Field<'_>) -> Result<usize, ImportError> {
    let count: usize = field.number()?;
    if (1..=LIMITS.leaves).contains(&count) {
        Ok(count)
    } else {
        Err(field.error(format!(
            "`num_leaves={count}` is not between 1 and {}",
            LIMITS.leaves
        )))
    }
}

fn leaf_values(field: Field<'_>, count: usize) -> Result<Vec<f64>, ImportError> {
    let values: Vec<f64> = field.numbers(count)?;
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(field.error(format!("leaf value `{value}` is not a finite number"))),
        None => Ok(values),
    }
}

fn splits(fields: &Fields<'_>, count: usize, header: &Header) -> Result<Vec<Split>, ImportError> {
    let sets = category_sets(fields)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let feature_field = fields.require("split_feature")?;
    let features: Vec<u32> = feature_field.numbers(count)?;
    let width = header.feature_names.len();
    if let Some(feature) = features.iter().find(|feature| **feature as usize >= width) {
        return Err(feature_field.error(format!(
            "feature {feature} does not exist: the model has {width} features"
        )));
    }
    let threshold_field = fields.require("threshold")?;
    let thresholds: Vec<f64> = threshold_field.numbers(count)?;
    let decision_field = fields.require("decision_type")?;
    let decisions: Vec<u8> = decision_field.numbers(count)?;
    let left: Vec<i32> = fields.require("left_child")?.numbers(count)?;
    let right: Vec<i32> = fields.require("right_child")?.numbers(count)?;
    let mut splits = Vec::with_capacity(count);
    for at in 0..count {
        let rule = if decisions[at] & CATEGORICAL == 0 {
            number_rule(
                thresholds[at],
                threshold_field,
                decisions[at],
                decision_field,
            )?
        } else {
            category_rule(thresholds[at], threshold_field, &sets)?
        };
        splits.push(Split {
            feature: features[at],
            rule,
            left: child(left[at]),
            right: child(right[at]),
        });
    }
    Ok(splits)
}

fn number_rule(
    threshold: f64,
    threshold_field: Field<'_>,
    decision: u8,
    decision_field: Field<'_>,
) -> Result<Rule, ImportError> {
    if threshold.is_nan() {
        return Err(threshold_field.error("a threshold is not a number"));
    }
    let missing = match (decision >> MISSING_SHIFT, decision & DEFAULT_LEFT != 0) {
        (0, _) => Missing::AsZero,
        (1, true) => Missing::ZeroLeft,
        (1, false) => Missing::ZeroRight,
        (2, true) => Missing::NanLeft,
        (2, false) => Missing::NanRight,
        _ => {
            return Err(decision_field.error(format!("decision type {decision} is not defined")));
        }
    };
    Ok(Rule::Number { threshold, missing })
}

/// The threshold of a split on categories is the number of its set.
fn category_rule(
    threshold: f64,
    field: Field<'_>,
    sets: &[CategorySet],
) -> Result<Rule, ImportError> {
    // the cast saturates, so only the number itself comes back from it
    let at = threshold as usize;
    match sets.get(at) {
        Some(set) if at as f64 == threshold => Ok(Rule::Category(set.clone())),
        _ => Err(field.error(format!(
            "category set `{threshold}` does not exist: the tree has {}",
            sets.len()
        ))),
    }
}

/// A child's number: a split from 0 up, or the complement of a leaf.
fn child(number: i32) -> Child {
    if number >= 0 {
        Child::Split(number as u32)
    } else {
        Child::Leaf(!number as u32)
    }
}

fn category_sets(fields: &Fields<'_>) -> Result<Vec<CategorySet>, ImportError> {
    let count_field = fields.require("num_cat")?;
    let count: usize = count_field.number()?;
    if count > LIMITS.leaves {
        let limit = LIMITS.leaves;
        return Err(count_field.error(format!("`num_cat={count}` is more than {limit}")));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let bounds_field = fields.require("cat_boundaries")?;
    let bounds: Vec<usize> = bounds_field.numbers(count + 1)?;
    let words_field = fields.require("cat_threshold")?;
    let words: Vec<u32> = words_field.numbers(bounds[count])?;
    let mut sets = Vec::with_capacity(count);
    for pair in bounds.windows(2) {
        let set = words
            .get(pair[0]..pair[1])
            .ok_or_else(|| bounds_field.error("`cat_boundaries` do not ascend"))?;
        sets.push(CategorySet::from_words(set));
    }
    if bounds[0] != 0 {
        return Err(bounds_field.error("`cat_boundaries` do not start at 0"));
    }
    Ok(sets)
}
