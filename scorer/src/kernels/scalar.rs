//! The reference kernel: one row, one tree, one split at a time.

use super::assert_lengths;
use crate::Scorer;
use crate::trees::columns::Columns;
use crate::trees::{Child, Quantized, QuantizedTree};

/// The reference kernel.
#[derive(Debug)]
pub struct Scalar {
    quantized: Quantized,
    columns: Columns,
}

impl Scalar {
    /// Makes the kernel of an ensemble.
    #[must_use]
    pub fn new(quantized: &Quantized) -> Self {
        Self {
            quantized: quantized.clone(),
            columns: Columns::new(quantized),
        }
    }
}

impl Scorer for Scalar {
    fn width(&self) -> usize {
        self.quantized.width()
    }

    fn score(&self, rows: &[f64], scores: &mut [f64]) {
        assert_lengths(rows, scores, self.width());
        let mut columns = vec![0_u16; self.columns.count()];
        for (at, score) in scores.iter_mut().enumerate() {
            let row = &rows[at * self.width()..][..self.width()];
            self.columns.fill(row, &mut columns);
            let mut sum = 0.0;
            for tree in &self.quantized.trees {
                sum += value(tree, &columns);
            }
            *score = if self.quantized.average {
                sum / self.quantized.trees.len() as f64
            } else {
                sum
            };
        }
    }
}

fn value(tree: &QuantizedTree, columns: &[u16]) -> f64 {
    let mut at = match tree.splits.len() {
        0 => Child::Leaf(0),
        _ => Child::Split(0),
    };
    loop {
        match at {
            Child::Leaf(leaf) => return tree.leaves[leaf as usize],
            Child::Split(split) => {
                let split = tree.splits[split as usize];
                let goes_left = columns[usize::from(split.column)] <= split.bin;
                at = if goes_left { split.left } else { split.right };
            }
        }
    }
}
