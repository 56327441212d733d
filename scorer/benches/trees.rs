//! `cargo bench -p scorer`: one row, and 1,000 rows, through ensembles of 31 leaves a tree, by each evaluator.

#![allow(clippy::print_stdout)] // the table is what this is for

use std::hint::black_box;

use feature_defs::time::Stopwatch;
use scorer::Scorer;
use scorer::kernels::{Interleaved, Scalar};
use scorer::trees::{Child, Ensemble, Missing, Quantized, Rule, Split, Tree};

const FEATURES: u32 = 35;
const LEAVES: usize = 31;
const BINS: u64 = 255;
const ROWS: usize = 1000;
const SAMPLES: usize = 2000;

/// The plain evaluator as a [`Scorer`].
#[derive(Debug)]
struct Plain(Ensemble);

impl Scorer for Plain {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn score(&self, rows: &[f64], scores: &mut [f64]) {
        for (row, score) in rows.chunks_exact(self.width()).zip(scores) {
            *score = self.0.score(row);
        }
    }
}

fn main() {
    println!("trees x leaves, {FEATURES} features, {BINS} thresholds a feature; nanoseconds a row");
    println!();
    println!("| trees | kernel | one row p50 | p99 | of plain | {ROWS} rows | of plain |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for trees in [100, 500] {
        let mut random = Random(u64::from(trees));
        let ensemble = ensemble(trees, &mut random);
        let quantized = Quantized::new(&ensemble).expect("small enough");
        let rows: Vec<f64> = (0..ROWS * FEATURES as usize)
            .map(|_| random.value())
            .collect();
        let kernels: [(&str, Box<dyn Scorer>); 3] = [
            ("plain", Box::new(Plain(ensemble))),
            ("scalar", Box::new(Scalar::new(&quantized))),
            ("interleaved", Box::new(Interleaved::new(&quantized))),
        ];
        let mut plain = None;
        for (name, kernel) in &kernels {
            let (p50, p99) = one_row(kernel.as_ref(), &rows);
            let many = many_rows(kernel.as_ref(), &rows);
            let (plain_p50, plain_many) = *plain.get_or_insert((p50, many));
            println!(
                "| {trees} x {LEAVES} | {name} | {p50:.0} | {p99:.0} | {:.2} | {many:.0} | {:.2} |",
                p50 / plain_p50,
                many / plain_many
            );
        }
    }
}

/// Nanoseconds of calls with one row each, another row each time: p50 and p99.
fn one_row(kernel: &dyn Scorer, rows: &[f64]) -> (f64, f64) {
    let mut score = [0.0];
    let mut times: Vec<f64> = Vec::with_capacity(SAMPLES);
    for sample in 0..SAMPLES * 2 {
        let row = &rows[sample % ROWS * kernel.width()..][..kernel.width()];
        let watch = Stopwatch::start();
        kernel.score(black_box(row), &mut score);
        black_box(score);
        let elapsed = watch.elapsed();
        if sample >= SAMPLES {
            times.push(elapsed.as_nanos() as f64);
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    (times[SAMPLES / 2], times[SAMPLES * 99 / 100])
}

/// Nanoseconds a row of a call with all rows: the median of some.
fn many_rows(kernel: &dyn Scorer, rows: &[f64]) -> f64 {
    let mut scores = vec![0.0; ROWS];
    let mut times: Vec<f64> = (0..40)
        .map(|_| {
            let watch = Stopwatch::start();
            kernel.score(black_box(rows), &mut scores);
            black_box(&scores);
            watch.elapsed().as_nanos() as f64 / ROWS as f64
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Trees grown like a boosting library grows them: the leaf that holds most is split next, somewhere within its range.
fn ensemble(trees: u32, random: &mut Random) -> Ensemble {
    Ensemble {
        feature_names: (0..FEATURES).map(|at| format!("f{at}")).collect(),
        trees: (0..trees).map(|_| tree(random)).collect(),
        average: false,
        objective: None,
    }
}

fn tree(random: &mut Random) -> Tree {
    // where a leaf hangs (split, side), and the share of rows that reach it
    let mut leaves: Vec<(Option<(usize, bool)>, f64)> = vec![(None, 1.0)];
    let mut splits: Vec<Split> = Vec::new();
    while leaves.len() < LEAVES {
        let fullest = (0..leaves.len())
            .max_by(|a, b| leaves[*a].1.total_cmp(&leaves[*b].1))
            .expect("there is a leaf");
        let (place, share) = leaves[fullest];
        let bin = random.next() % BINS;
        let split = splits.len();
        if let Some((parent, right)) = place {
            let child = if right {
                &mut splits[parent].right
            } else {
                &mut splits[parent].left
            };
            *child = Child::Split(split as u32);
        }
        splits.push(Split {
            feature: (random.next() % u64::from(FEATURES)) as u32,
            rule: Rule::Number {
                threshold: bin as f64 / BINS as f64,
                missing: if random.next().is_multiple_of(2) {
                    Missing::NanLeft
                } else {
                    Missing::NanRight
                },
            },
            left: Child::Leaf(fullest as u32),
            right: Child::Leaf(leaves.len() as u32),
        });
        let left_share = share * (bin as f64 + 0.5) / BINS as f64;
        leaves[fullest] = (Some((split, false)), left_share);
        leaves.push((Some((split, true)), share - left_share));
    }
    Tree {
        splits,
        leaves: (0..LEAVES).map(|_| random.unit() - 0.5).collect(),
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1, or a missing value once in twenty.
    fn value(&mut self) -> f64 {
        if self.next().is_multiple_of(20) {
            return f64::NAN;
        }
        self.unit()
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
