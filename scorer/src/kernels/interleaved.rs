//! The fast kernel: several ways down at once, without a branch on what a row holds.
//!
//! A node is 4 bytes (8 for large ensembles). The children of a split lie side by side, so the next node is
//! `child + (column > bin)`. A leaf leads to itself, so all ways of a group can go on until the last is down. One row
//! goes down [`LANES`] trees at a time; of many rows, [`LANES`] go down one tree at a time. The processor overlaps the
//! lanes, where a single way down would wait for memory at every split.
//!
//! ```text
//!   tree   | root | left | right | ... |      values   | leaf's value, or 0 at a split |
//!   Narrow   child: u16 | column: u8  | bin: u8        at most 256 columns, 255 edges a feature, 32,768 leaves a tree
//!   Wide     child: u32 | column: u16 | bin: u16       all others
//! ```

use std::collections::VecDeque;

use super::assert_lengths;
use crate::Scorer;
use crate::trees::columns::{Bin, Columns};
use crate::trees::{Child, Quantized, QuantizedTree};

/// Ways down at once.
const LANES: usize = 8;

/// Steps between two looks at whether all ways are down.
const STRIDE: usize = 4;

/// The greatest number of columns whose integers stand on the stack.
const ON_STACK: usize = 512;

/// The fast kernel.
#[derive(Debug)]
pub struct Interleaved {
    columns: Columns,
    width: usize,
    divisor: Option<f64>,
    trees: Trees,
}

#[derive(Debug)]
enum Trees {
    Narrow(Packed<Narrow>),
    Wide(Packed<Wide>),
}

/// A split or a leaf. Indices count from the first node of the tree.
trait Node: Copy + std::fmt::Debug {
    type Bin: Bin;
    fn new(child: usize, column: u16, bin: u16) -> Self;
    fn leaf(at: usize) -> Self;
    /// The node that comes next for a row's columns.
    fn next(self, columns: &[Self::Bin]) -> usize;
}

#[derive(Debug, Clone, Copy)]
struct Narrow {
    child: u16,
    column: u8,
    bin: u8,
}

#[derive(Debug, Clone, Copy)]
struct Wide {
    child: u32,
    column: u16,
    bin: u16,
}

impl Node for Narrow {
    type Bin = u8;

    fn new(child: usize, column: u16, bin: u16) -> Self {
        Self {
            child: child as u16,
            column: column as u8,
            bin: bin as u8,
        }
    }

    fn leaf(at: usize) -> Self {
        Self::new(at, 0, u16::from(u8::MAX))
    }

    #[inline(always)]
    fn next(self, columns: &[u8]) -> usize {
        let right = columns[usize::from(self.column)] > self.bin;
        usize::from(self.child) + usize::from(right)
    }
}

impl Node for Wide {
    type Bin = u16;

    fn new(child: usize, column: u16, bin: u16) -> Self {
        Self {
            child: child as u32,
            column,
            bin,
        }
    }

    fn leaf(at: usize) -> Self {
        Self::new(at, 0, u16::MAX)
    }

    #[inline(always)]
    fn next(self, columns: &[u16]) -> usize {
        let right = columns[usize::from(self.column)] > self.bin;
        self.child as usize + usize::from(right)
    }
}

/// All trees, one after the other.
#[derive(Debug)]
struct Packed<N> {
    nodes: Vec<N>,
    values: Vec<f64>,
    trees: Vec<Place>,
}

/// Where a tree's nodes are.
#[derive(Debug, Clone, Copy)]
struct Place {
    root: usize,
    depth: usize,
}

impl Interleaved {
    /// Makes the kernel of an ensemble.
    ///
    /// # Panics
    /// When the ensemble does not pass [`Quantized::check`].
    #[must_use]
    pub fn new(quantized: &Quantized) -> Self {
        let fits = quantized.columns.len() <= 1 << u8::BITS
            && quantized
                .edges
                .iter()
                .all(|edges| edges.len() <= usize::from(u8::MAX))
            && quantized
                .trees
                .iter()
                .all(|tree| tree.leaves.len() <= 1 << 15);
        if fits {
            Self::with(quantized, Trees::Narrow(Packed::new(&quantized.trees)))
        } else {
            Self::wide(quantized)
        }
    }

    /// Makes the kernel with nodes of 8 bytes, whether 4 would do or not.
    pub(crate) fn wide(quantized: &Quantized) -> Self {
        Self::with(quantized, Trees::Wide(Packed::new(&quantized.trees)))
    }

    fn with(quantized: &Quantized, trees: Trees) -> Self {
        Self {
            columns: Columns::new(quantized),
            width: quantized.width(),
            divisor: quantized.average.then_some(quantized.trees.len() as f64),
            trees,
        }
    }

    fn score_with<N: Node>(&self, trees: &Packed<N>, rows: &[f64], scores: &mut [f64]) {
        // columns that no tree reads are read by leaves, hence at least one
        let count = self.columns.count().max(1);
        let mut on_stack = [N::Bin::default(); ON_STACK];
        let mut on_heap = Vec::new();
        let room = if count <= ON_STACK {
            &mut on_stack[..]
        } else {
            on_heap.resize(count * LANES.min(scores.len()), N::Bin::default());
            &mut on_heap[..]
        };
        // as many rows at a time as there is room for: all lanes, or one
        let lanes = if room.len() >= count * LANES {
            LANES
        } else {
            1
        };
        let mut done = 0;
        while done < scores.len() {
            let many = scores.len() - done >= LANES && lanes == LANES;
            let taken = if many { LANES } else { 1 };
            for lane in 0..taken {
                let row = &rows[(done + lane) * self.width..][..self.width];
                self.columns.fill(row, &mut room[lane * count..][..count]);
            }
            if many {
                let sums = trees.sum_rows(&room[..count * LANES], count);
                scores[done..done + LANES].copy_from_slice(&sums);
            } else {
                scores[done] = trees.sum_row(&room[..count]);
            }
            done += taken;
        }
        if let Some(divisor) = self.divisor {
            for score in scores {
                *score /= divisor;
            }
        }
    }
}

impl Scorer for Interleaved {
    fn width(&self) -> usize {
        self.width
    }

    fn score(&self, rows: &[f64], scores: &mut [f64]) {
        assert_lengths(rows, scores, self.width);
        match &self.trees {
            Trees::Narrow(trees) => self.score_with(trees, rows, scores),
            Trees::Wide(trees) => self.score_with(trees, rows, scores),
        }
    }
}

impl<N: Node> Packed<N> {
    fn new(trees: &[QuantizedTree]) -> Self {
        let mut packed = Self {
            nodes: Vec::new(),
            values: Vec::new(),
            trees: Vec::new(),
        };
        for tree in trees {
            packed.push(tree);
        }
        packed
    }

    /// Lays a tree out level by level, so that the splits of the first levels share cache lines.
    fn push(&mut self, tree: &QuantizedTree) {
        let root = self.nodes.len();
        let depth = tree.depth().expect("the ensemble was checked");
        self.trees.push(Place { root, depth });
        let start = match tree.splits.len() {
            0 => Child::Leaf(0),
            _ => Child::Split(0),
        };
        let mut open = VecDeque::from([start]);
        let mut placed = 1;
        while let Some(child) = open.pop_front() {
            let at = self.nodes.len() - root;
            match child {
                Child::Leaf(leaf) => {
                    self.nodes.push(N::leaf(at));
                    self.values.push(tree.leaves[leaf as usize]);
                }
                Child::Split(split) => {
                    let split = tree.splits[split as usize];
                    self.nodes.push(N::new(placed, split.column, split.bin));
                    self.values.push(0.0);
                    open.extend([split.left, split.right]);
                    placed += 2;
                }
            }
        }
    }

    /// One row through all trees, a group of trees at a time.
    fn sum_row(&self, columns: &[N::Bin]) -> f64 {
        let mut sum = 0.0;
        for group in self.trees.chunks(LANES) {
            let depth = group.iter().map(|tree| tree.depth).max().unwrap_or(0);
            // lanes without a tree go down the first one again
            let roots = std::array::from_fn(|lane| group.get(lane).unwrap_or(&group[0]).root);
            let leaves = self.descend(roots, depth, [columns; LANES]);
            for leaf in &leaves[..group.len()] {
                sum += self.values[*leaf];
            }
        }
        sum
    }

    /// [`LANES`] rows of `count` columns through all trees, a tree at a time.
    fn sum_rows(&self, columns: &[N::Bin], count: usize) -> [f64; LANES] {
        let rows = std::array::from_fn(|lane| &columns[lane * count..][..count]);
        let mut sums = [0.0; LANES];
        for tree in &self.trees {
            let leaves = self.descend([tree.root; LANES], tree.depth, rows);
            for (sum, leaf) in sums.iter_mut().zip(leaves) {
                *sum += self.values[leaf];
            }
        }
        sums
    }

    /// The leaves that [`LANES`] ways lead to, each from its root by its row. Most ways are far shorter than the
    /// deepest, so every [`STRIDE`] steps we look whether all are down.
    #[inline(always)]
    fn descend(
        &self,
        roots: [usize; LANES],
        depth: usize,
        rows: [&[N::Bin]; LANES],
    ) -> [usize; LANES] {
        let mut at = roots;
        for _ in 0..depth.div_ceil(STRIDE) {
            let mut moved = 0;
            for _ in 0..STRIDE {
                moved = 0;
                for lane in 0..LANES {
                    let next = roots[lane] + self.nodes[at[lane]].next(rows[lane]);
                    moved |= next ^ at[lane];
                    at[lane] = next;
                }
            }
            if moved == 0 {
                break;
            }
        }
        at
    }
}
