//! The one check that splits and leaves form a tree, for imported ensembles and for loaded bundles.

use super::ensemble::Child;

/// Why splits and leaves do not form a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A binary tree has one leaf more than splits.
    #[error("{leaves} leaves do not fit {splits} splits: a tree has one leaf more than splits")]
    Count {
        /// Splits found.
        splits: usize,
        /// Leaves found.
        leaves: usize,
    },
    /// A child that does not exist.
    #[error("split {split} leads to {child}, which does not exist")]
    OutOfRange {
        /// The split whose child it is.
        split: usize,
        /// The child.
        child: Child,
    },
    /// A child that two ways lead to, which includes every cycle.
    #[error("split {split} leads to {child}, which another split leads to as well")]
    Repeated {
        /// The split whose child it is.
        split: usize,
        /// The child.
        child: Child,
    },
}

/// Checks that every split and every leaf is reached from split 0 exactly once, and returns the depth: the number of
/// splits on the longest way to a leaf. Nothing is allocated before the counts fit.
pub(crate) fn depth(
    splits: usize,
    leaves: usize,
    children: impl Fn(usize) -> [Child; 2],
) -> Result<usize, ShapeError> {
    if leaves != splits + 1 {
        return Err(ShapeError::Count { splits, leaves });
    }
    if splits == 0 {
        return Ok(0);
    }
    // with `splits` splits reached once each there are `2 * splits` ways, one to each child: none can be left out
    let mut split_reached = vec![false; splits];
    let mut leaf_reached = vec![false; leaves];
    split_reached[0] = true;
    let mut deepest = 0;
    let mut open = vec![(0, 1)];
    while let Some((split, depth)) = open.pop() {
        deepest = deepest.max(depth);
        for child in children(split) {
            let reached = match child {
                Child::Split(at) => split_reached.get_mut(at as usize),
                Child::Leaf(at) => leaf_reached.get_mut(at as usize),
            };
            let reached = reached.ok_or(ShapeError::OutOfRange { split, child })?;
            if std::mem::replace(reached, true) {
                return Err(ShapeError::Repeated { split, child });
            }
            if let Child::Split(at) = child {
                open.push((at as usize, depth + 1));
            }
        }
    }
    // a part that nothing leads to would have to lead somewhere: to itself
    if let Some(split) = split_reached.iter().position(|reached| !reached) {
        let child = Child::Split(u32::try_from(split).unwrap_or(u32::MAX));
        return Err(ShapeError::Repeated { split, child });
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Child::{Leaf, Split};

    fn of(children: &[[Child; 2]], leaves: usize) -> Result<usize, ShapeError> {
        depth(children.len(), leaves, |split| children[split])
    }

    #[test]
    fn trees_have_the_depth_of_their_longest_way() {
        assert_eq!(of(&[], 1), Ok(0));
        assert_eq!(of(&[[Leaf(0), Leaf(1)]], 2), Ok(1));
        assert_eq!(of(&[[Split(1), Leaf(0)], [Leaf(2), Leaf(1)]], 3), Ok(2));
    }

    #[test]
    fn cycles_shared_children_and_islands_are_refused() {
        let refused = [
            (of(&[], 0), "count"),
            (of(&[[Leaf(0), Leaf(1)]], 3), "count"),
            (of(&[[Leaf(0), Leaf(2)]], 2), "range"),
            (of(&[[Leaf(0), Leaf(0)]], 2), "shared leaf"),
            (of(&[[Split(0), Leaf(0)]], 2), "itself"),
            (of(&[[Split(1), Leaf(0)], [Split(0), Leaf(1)]], 3), "cycle"),
            (of(&[[Leaf(0), Leaf(1)], [Split(1), Leaf(2)]], 3), "island"),
        ];
        for (result, why) in refused {
            assert!(result.is_err(), "{why}: {result:?}");
        }
    }
}
