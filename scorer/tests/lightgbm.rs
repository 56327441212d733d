//! Imported models score what LightGBM scored: `tests/data/make_models.py` trained them and stored its predictions.

use scorer::import::lightgbm;
use scorer::kernels::{Interleaved, Scalar};
use scorer::trees::Quantized;
use scorer::{Scorer, trees::Missing};

const TOLERANCE: f64 = 1e-9;

/// A model's text, and LightGBM's raw predictions of awkward rows.
struct Case {
    name: &'static str,
    text: &'static str,
    stored: &'static [u8],
}

macro_rules! cases {
    ($($name:literal),* $(,)?) => {
        [$(Case {
            name: $name,
            text: include_str!(concat!("data/", $name, ".txt")),
            stored: include_bytes!(concat!("data/", $name, ".bin")),
        }),*]
    };
}

const CASES: [Case; 12] = cases![
    "binary",
    "categorical",
    "constant",
    "dart",
    "forest",
    "many_bins",
    "no_missing",
    "one_hot",
    "poisson",
    "quantile",
    "regression",
    "zero_as_missing",
];

impl Case {
    /// Rows and predictions.
    fn stored(&self) -> (Vec<f64>, Vec<f64>) {
        let (header, body) = self.stored.split_at(8);
        let count =
            |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let values: Vec<f64> = body
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            .collect();
        let (rows, predictions) = values.split_at((count(0) * count(4)) as usize);
        (rows.to_vec(), predictions.to_vec())
    }
}

/// Case MOD-08 is among the rows: thresholds, and their neighbours in double and in single precision.
#[test]
fn imported_models_score_what_lightgbm_scored() {
    let (mut rows_seen, mut equal_bits) = (0, 0);
    for case in CASES {
        let (rows, expected) = case.stored();
        let ensemble = lightgbm::read(case.text).expect(case.name);
        let width = ensemble.width();
        let quantized = Quantized::new(&ensemble).expect(case.name);
        let mut scalar = vec![0.0; expected.len()];
        Scalar::new(&quantized).score(&rows, &mut scalar);
        let mut fast = vec![0.0; expected.len()];
        Interleaved::new(&quantized).score(&rows, &mut fast);
        for (at, expected) in expected.iter().enumerate() {
            let row = &rows[at * width..][..width];
            let found = ensemble.score(row);
            let name = case.name;
            assert!(
                (found - expected).abs() <= TOLERANCE,
                "{name} row {at}: {found} for {expected}, {row:?}"
            );
            assert_eq!(
                scalar[at].to_bits(),
                found.to_bits(),
                "{name} row {at} on bins"
            );
            assert_eq!(
                fast[at].to_bits(),
                found.to_bits(),
                "{name} row {at} by the fast kernel"
            );
            rows_seen += 1;
            equal_bits += usize::from(found.to_bits() == expected.to_bits());
        }
    }
    assert_eq!(
        (rows_seen, equal_bits),
        (12 * 240, 12 * 240),
        "rows, and rows with equal bits"
    );
}

#[test]
fn the_models_have_splits_of_every_kind() {
    use scorer::trees::Rule;
    let mut kinds = std::collections::BTreeSet::new();
    let (mut sets, mut most_edges) = (0, 0);
    for case in CASES {
        let ensemble = lightgbm::read(case.text).expect(case.name);
        for split in ensemble.trees.iter().flat_map(|tree| &tree.splits) {
            match &split.rule {
                Rule::Number { missing, .. } => _ = kinds.insert(*missing),
                Rule::Category(_) => sets += 1,
            }
        }
        let quantized = Quantized::new(&ensemble).expect(case.name);
        most_edges = quantized
            .edges
            .iter()
            .map(Vec::len)
            .fold(most_edges, usize::max);
    }
    let all = [
        Missing::AsZero,
        Missing::NanLeft,
        Missing::NanRight,
        Missing::ZeroLeft,
        Missing::ZeroRight,
    ];
    assert_eq!(kinds, all.into());
    assert!(sets > 50, "{sets} splits on categories");
    assert!(most_edges > 255, "{most_edges} edges need 16 bits");
}

#[test]
fn forests_are_averaged_and_constant_models_have_one_leaf() {
    for case in CASES {
        let ensemble = lightgbm::read(case.text).expect(case.name);
        assert_eq!(ensemble.average, case.name == "forest", "{}", case.name);
        if case.name == "constant" {
            assert_eq!(ensemble.trees.len(), 1);
            assert!(ensemble.trees[0].splits.is_empty());
        }
    }
}
