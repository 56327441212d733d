use proptest::prelude::*;

use super::*;
use crate::trees::{CategorySet, Child, Ensemble, Missing, Rule, Split, Tree, verification_rows};

/// Few distinct thresholds, so that splits share edges; zeros of both signs and infinities among them.
fn threshold() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-6_i32..6).prop_map(|n| f64::from(n) / 2.0),
        1 => prop::sample::select(vec![0.0, -0.0, 1e-35, -1e-35, 1e-300, f64::INFINITY, f64::NEG_INFINITY]),
        1 => any::<f64>().prop_filter("a threshold is not NaN", |t| !t.is_nan()),
    ]
}

fn missing() -> impl Strategy<Value = Missing> {
    prop::sample::select(vec![
        Missing::AsZero,
        Missing::NanLeft,
        Missing::NanRight,
        Missing::ZeroLeft,
        Missing::ZeroRight,
    ])
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        5 => (threshold(), missing()).prop_map(|(threshold, missing)| Rule::Number { threshold, missing }),
        1 => prop::collection::vec(any::<u32>(), 0..4)
            .prop_map(|words| Rule::Category(CategorySet::from_words(&words))),
    ]
}

/// A tree grown leaf by leaf: each choice names the leaf that is split next.
fn tree(features: u32) -> impl Strategy<Value = Tree> {
    let choices = prop::collection::vec((any::<prop::sample::Index>(), 0..features, rule()), 0..20);
    (choices, prop::collection::vec(-1e3..1e3, 21))
        .prop_map(|(choices, values)| grow(choices, &values))
}

fn grow(choices: Vec<(prop::sample::Index, u32, Rule)>, values: &[f64]) -> Tree {
    let mut splits: Vec<Split> = Vec::new();
    // where each leaf hangs: the split, and whether on its right
    let mut places: Vec<Option<(usize, bool)>> = vec![None];
    for (which, feature, rule) in choices {
        let leaf = which.index(places.len());
        let split = Child::Split(splits.len() as u32);
        if let Some((parent, right)) = places[leaf] {
            let side = if right {
                &mut splits[parent].right
            } else {
                &mut splits[parent].left
            };
            *side = split;
        }
        places[leaf] = Some((splits.len(), false));
        let new_leaf = places.len();
        places.push(Some((splits.len(), true)));
        splits.push(Split {
            feature,
            rule,
            left: Child::Leaf(leaf as u32),
            right: Child::Leaf(new_leaf as u32),
        });
    }
    Tree {
        splits,
        leaves: values[..places.len()].to_vec(),
    }
}

fn ensemble() -> impl Strategy<Value = Ensemble> {
    (1_u32..5, any::<bool>()).prop_flat_map(|(features, average)| {
        prop::collection::vec(tree(features), 1..30).prop_map(move |trees| Ensemble {
            feature_names: (0..features).map(|at| format!("f{at}")).collect(),
            trees,
            average,
            objective: None,
        })
    })
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-6_i32..130).prop_map(|n| f64::from(n) / 2.0),
        1 => prop::sample::select(vec![f64::NAN, 0.0, -0.0, 1e-36, -1e-36, f64::INFINITY, f64::NEG_INFINITY, 4e9, -0.5]),
        1 => any::<f64>(),
    ]
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// Scores of every kernel, for all rows at once and for each alone, against the plain evaluator.
fn assert_all_equal(ensemble: &Ensemble, rows: &[f64]) {
    let width = ensemble.width();
    let expected: Vec<f64> = rows.chunks(width).map(|row| ensemble.score(row)).collect();
    let quantized = Quantized::new(ensemble).expect("small enough");
    let kernels: [&dyn Scorer; 3] = [
        &Scalar::new(&quantized),
        &Interleaved::new(&quantized),
        &Interleaved::wide(&quantized),
    ];
    for kernel in kernels {
        let mut scores = vec![0.0; expected.len()];
        kernel.score(rows, &mut scores);
        assert_eq!(bits(&scores), bits(&expected), "{kernel:?}");
        for (row, expected) in rows.chunks(width).zip(&expected) {
            let mut score = [0.0];
            kernel.score(row, &mut score);
            assert_eq!(
                score[0].to_bits(),
                expected.to_bits(),
                "{kernel:?} on {row:?}"
            );
        }
    }
    let restored = Ensemble {
        trees: quantized.to_trees(),
        ..ensemble.clone()
    };
    let again: Vec<f64> = rows.chunks(width).map(|row| restored.score(row)).collect();
    assert_eq!(bits(&again), bits(&expected), "trees restored from bins");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kernel_gives_the_bits_of_the_plain_evaluator(
        ensemble in ensemble(),
        values in prop::collection::vec(value(), 4 * 21),
    ) {
        let width = ensemble.width();
        assert_all_equal(&ensemble, &values[..values.len() / width * width]);
        let quantized = Quantized::new(&ensemble).expect("small enough");
        assert_all_equal(&ensemble, &verification_rows(&quantized, 19));
    }
}

/// A chain of splits on one feature, with more edges, columns and depth than the narrow layout holds.
#[test]
fn large_ensembles_give_the_same_bits() {
    let splits = 700;
    let tree = |feature: u32| Tree {
        splits: (0..splits)
            .map(|at| Split {
                feature,
                rule: Rule::Number {
                    threshold: f64::from(at),
                    missing: Missing::NanLeft,
                },
                left: Child::Leaf(at),
                right: if at + 1 == splits {
                    Child::Leaf(splits)
                } else {
                    Child::Split(at + 1)
                },
            })
            .collect(),
        leaves: (0..=splits).map(|at| f64::from(at) / 3.0).collect(),
    };
    let width = 600;
    let ensemble = Ensemble {
        feature_names: (0..width).map(|at| format!("f{at}")).collect(),
        trees: (0..width).map(tree).collect(),
        average: false,
        objective: None,
    };
    let quantized = Quantized::new(&ensemble).expect("fits");
    assert_all_equal(&ensemble, &verification_rows(&quantized, 9));
}

#[test]
fn no_rows_give_no_scores() {
    let ensemble = Ensemble {
        feature_names: vec!["a".to_owned()],
        trees: vec![Tree {
            splits: Vec::new(),
            leaves: vec![0.25],
        }],
        average: false,
        objective: None,
    };
    assert_all_equal(&ensemble, &[]);
    assert_all_equal(&ensemble, &[f64::NAN; 10]);
}

#[test]
#[should_panic(expected = "3 values are not 1 rows of 2")]
fn rows_of_another_width_are_refused() {
    let ensemble = Ensemble {
        feature_names: vec!["a".to_owned(), "b".to_owned()],
        trees: vec![Tree {
            splits: Vec::new(),
            leaves: vec![0.25],
        }],
        average: false,
        objective: None,
    };
    let quantized = Quantized::new(&ensemble).expect("fits");
    Interleaved::new(&quantized).score(&[0.0; 3], &mut [0.0]);
}
