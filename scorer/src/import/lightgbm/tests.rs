use proptest::prelude::*;

use super::*;
use crate::trees::{Child, Missing, Quantized, Rule};

const TINY: &str = include_str!("../../../tests/data/tiny.txt");
const CATEGORICAL: &str = include_str!("../../../tests/data/categorical.txt");

#[test]
fn every_part_of_a_tree_is_read() {
    let ensemble = read(TINY).expect("tiny model");
    assert_eq!(
        ensemble.feature_names,
        ["customer_spend.spend_30d", "basket.amount"]
    );
    assert_eq!(
        ensemble.objective.as_ref().map(|o| o.text.as_str()),
        Some("binary sigmoid:1")
    );
    assert!(!ensemble.average);
    let tree = &ensemble.trees[0];
    assert_eq!(tree.leaves, [0.5, -0.25, 0.125]);
    let first = &tree.splits[0];
    assert_eq!(
        (first.feature, first.left, first.right),
        (0, Child::Split(1), Child::Leaf(1))
    );
    let threshold_and_missing = |rule: &Rule| match rule {
        Rule::Number { threshold, missing } => (*threshold, *missing),
        Rule::Category(_) => panic!("not on categories"),
    };
    assert_eq!(threshold_and_missing(&first.rule), (0.1, Missing::NanLeft));
    assert_eq!(
        threshold_and_missing(&tree.splits[1].rule),
        (2.5, Missing::NanRight)
    );
    assert_eq!(ensemble.trees[1].leaves, [0.0625]);
    // leaf 0 by both splits, leaf 2 for missing at the second, leaf 1 above 0.1
    assert_eq!(ensemble.score(&[0.1, 2.5]), 0.5625);
    assert_eq!(ensemble.score(&[f64::NAN, f64::NAN]), 0.1875);
    assert_eq!(ensemble.score(&[0.1_f64.next_up(), 2.5]), -0.1875);
}

#[test]
fn malformed_models_are_refused_with_their_line() {
    for (from, to, expected) in [
        (
            "tree\n",
            "trees\n",
            "line 1: `trees` does not start a LightGBM text model: expected `tree`",
        ),
        (
            "version=v4",
            "version=v9",
            "line 2: version `v9` is not v3 or v4",
        ),
        (
            "num_class=1",
            "num_class=3",
            "line 3: the model has `num_class=3`: only models with one output are supported",
        ),
        (
            "label_index=0",
            "num_class=1",
            "line 5: `num_class` stands here twice",
        ),
        (
            "max_feature_idx=1",
            "max_feature_idx=2",
            "line 8: 2 feature names, but `max_feature_idx=2`",
        ),
        (
            "max_feature_idx=1",
            "max_feature_idx=999999999",
            "line 6: more than 65536 features are not supported",
        ),
        (
            "customer_spend.spend_30d basket.amount\nf",
            "a a\nf",
            "line 8: two features are named `a`",
        ),
        (
            "tree_sizes=300 120",
            "tree_sizes=300",
            "line 33: 2 trees found, but `tree_sizes` has 1",
        ),
        (
            "Tree=1",
            "Tree=2",
            "line 25: expected `Tree=1` here, found `Tree=2`",
        ),
        (
            "num_leaves=3",
            "num_leaves=1000000000",
            "line 13: `num_leaves=1000000000` is not between 1 and 131072",
        ),
        (
            "num_leaves=3",
            "num_leaves=131072",
            "line 15: `split_feature` has 2 values, expected 131071",
        ),
        (
            "num_leaves=3",
            "num_leaves=0",
            "line 13: `num_leaves=0` is not between 1 and 131072",
        ),
        (
            "num_leaves=3",
            "num_leaves=x",
            "line 13: `x` is not a number that `num_leaves` takes",
        ),
        (
            "num_leaves=3\n",
            "",
            "line 12: `Tree=0` has no `num_leaves`",
        ),
        (
            "split_feature=0 1",
            "split_feature=0 2",
            "line 15: feature 2 does not exist: the model has 2 features",
        ),
        ("01 2.5", "01 nan", "line 16: a threshold is not a number"),
        (
            "decision_type=10 8",
            "decision_type=10 12",
            "line 17: decision type 12 is not defined",
        ),
        (
            "decision_type=10 8",
            "decision_type=10 200",
            "line 17: decision type 200 is not defined",
        ),
        (
            "decision_type=10 8",
            "decision_type=10 1",
            "line 16: category set `2.5` does not exist: the tree has 0",
        ),
        (
            "left_child=1 -1",
            "left_child=0 -1",
            "line 12: split 0 leads to split 0, which another split leads to as well",
        ),
        (
            "left_child=1 -1",
            "left_child=7 -1",
            "line 12: split 0 leads to split 7, which does not exist",
        ),
        (
            "left_child=1 -1",
            "left_child=1 -2",
            "line 12: split 1 leads to leaf 1, which another split leads to as well",
        ),
        (
            "leaf_value=0.5 -0.25",
            "leaf_value=0.5 inf",
            "line 20: leaf value `inf` is not a finite number",
        ),
        (
            "is_linear=0",
            "is_linear=1",
            "line 21: trees with linear leaves are not supported",
        ),
        (
            "end of trees",
            "end of tree",
            "line 33: expected `Tree=2` here, found `end of tree`",
        ),
        (
            "pandas_categorical:null",
            "pandas_categorical:[[\"a\"]]",
            "line 39: the model was trained on pandas columns of type `category`, whose codes only pandas knows: train on integer codes instead",
        ),
    ] {
        let text = TINY.replacen(from, to, 1);
        assert_ne!(text, TINY, "{from}");
        let refused = read(&text).expect_err(expected).to_string();
        assert_eq!(refused, expected);
    }
    assert_eq!(
        read("").expect_err("empty").to_string(),
        "line 1: the file is empty"
    );
}

#[test]
fn category_sets_that_do_not_fit_are_refused() {
    for (key, value) in [
        ("num_cat", "0"),
        ("num_cat", "1"),
        ("num_cat", "4000000000"),
        ("cat_boundaries", "1 2"),
        ("cat_threshold", "1"),
        ("cat_threshold", "-1"),
    ] {
        let at = CATEGORICAL.find(&format!("\n{key}=")).expect("key") + key.len() + 2;
        let end = at + CATEGORICAL[at..].find('\n').expect("line");
        let text = format!("{}{value}{}", &CATEGORICAL[..at], &CATEGORICAL[end..]);
        assert!(read(&text).is_err(), "{key}={value}");
    }
}

#[test]
fn windows_line_ends_are_read() {
    assert_eq!(read(&TINY.replace('\n', "\r\n")), read(TINY));
}

#[test]
fn a_file_cut_off_anywhere_in_the_trees_is_refused() {
    let end = TINY.find("end of trees").expect("end") + "end of trees".len();
    for length in (0..end).filter(|length| TINY.is_char_boundary(*length)) {
        assert!(read(&TINY[..length]).is_err(), "first {length} bytes");
    }
}

fn mutated(text: &'static str) -> impl Strategy<Value = String> {
    let pieces = [
        "",
        " ",
        "\n",
        "=",
        "-",
        "-1",
        "0",
        "9999999999",
        "nan",
        "1e999",
        "é",
        "Tree=0",
        "num_cat=1",
        "end of trees",
    ];
    let change = (
        any::<prop::sample::Index>(),
        0_usize..8,
        prop::sample::select(pieces.to_vec()),
    );
    prop::collection::vec(change, 1..4).prop_map(move |changes| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, removed, piece) in changes {
            let start = at.index(bytes.len());
            let end = (start + removed).min(bytes.len());
            bytes.splice(start..end, piece.bytes());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_models_are_read_or_refused_but_never_panic(
        text in prop_oneof![mutated(TINY), mutated(CATEGORICAL)],
    ) {
        if let Ok(ensemble) = read(&text) {
            let row = vec![0.5; ensemble.width()];
            let score = ensemble.score(&row);
            let quantized = Quantized::new(&ensemble).expect("read models are small enough");
            let mut scores = [0.0];
            crate::Scorer::score(&crate::kernels::fastest(&quantized), &row, &mut scores);
            prop_assert_eq!(scores[0].to_bits(), score.to_bits());
        }
    }
}
