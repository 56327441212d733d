use proptest::prelude::*;

use super::*;

fn portion(text: &str) -> Portion {
    Portion::parse(text).expect("a portion")
}

fn quantile(cells: &[Cell<'static>], of: &str) -> Option<f64> {
    let mut numbers = Numbers::default();
    cells.iter().for_each(|cell| numbers.add(*cell));
    numbers.quantile(portion(of))
}

fn of_floats(values: &[f64], of: &str) -> Option<f64> {
    let cells: Vec<Cell<'static>> = values.iter().map(|value| Cell::Float(*value)).collect();
    quantile(&cells, of)
}

fn of_integers(values: &[i64], of: &str) -> Option<f64> {
    let cells: Vec<Cell<'static>> = values.iter().map(|value| Cell::Int(*value)).collect();
    quantile(&cells, of)
}

#[test]
fn quantiles_lie_at_values_and_between_them() {
    let values = [80, 10, 40, 20];
    for (of, expected) in [
        ("0", 10.0),
        ("0.25", 17.5),
        ("0.5", 30.0),
        ("0.9", 68.0),
        ("1", 80.0),
    ] {
        assert_eq!(of_integers(&values, of), Some(expected), "{of}");
    }
    assert_eq!(of_integers(&[], "0.5"), None);
    assert_eq!(of_integers(&[7], "0.3"), Some(7.0));
}

#[test]
fn integers_beyond_floats_are_rounded_once() {
    let great = i64::MAX;
    assert_eq!(
        of_integers(&[great, great], "0.5"),
        Some(9_223_372_036_854_775_807.0)
    );
    // Their distance is no int64, and the middle is -0.5.
    assert_eq!(of_integers(&[i64::MIN, great], "0.5"), Some(-0.5));
    let cells = [Cell::UInt(u64::MAX), Cell::UInt(0)];
    assert_eq!(quantile(&cells, "0.5"), Some(9_223_372_036_854_775_807.5));
    // 2^53 + 1 between 2^53 and 2^53 + 2 is no float; ties go to even.
    let odd = 9_007_199_254_740_993;
    assert_eq!(
        of_integers(&[odd - 1, odd + 1], "0.5"),
        Some(9_007_199_254_740_992.0)
    );
}

#[test]
fn decimals_are_rounded_once() {
    let cents = |unscaled| Cell::Decimal { unscaled, scale: 2 };
    assert_eq!(quantile(&[cents(10), cents(21)], "0.5"), Some(0.155));
    let widest = 10_i128.pow(38) - 1;
    let wide = |unscaled| Cell::Decimal {
        unscaled,
        scale: 38,
    };
    assert_eq!(quantile(&[wide(-widest), wide(widest)], "0.75"), Some(0.5));
    assert_eq!(quantile(&[wide(1), wide(2)], "0.5"), Some(1.5e-38));
}

#[test]
fn floats_that_are_no_numbers_stand_above_all() {
    let (nan, infinite) = (f64::NAN, f64::INFINITY);
    assert_eq!(of_floats(&[nan, 1.0, 3.0], "0.5"), Some(3.0));
    assert_eq!(of_floats(&[-nan, 1.0, 3.0], "0.5"), Some(3.0));
    assert!(of_floats(&[nan, 1.0], "0.5").is_some_and(f64::is_nan));
    assert_eq!(of_floats(&[infinite, 1.0], "0.5"), Some(infinite));
    assert_eq!(of_floats(&[infinite, infinite], "0.5"), Some(infinite));
    assert_eq!(of_floats(&[-infinite, 1.0], "0.5"), Some(-infinite));
    assert!(of_floats(&[-infinite, infinite], "0.5").is_some_and(f64::is_nan));
}

#[test]
fn floats_neither_overflow_nor_vanish_between() {
    assert_eq!(of_floats(&[f64::MAX, f64::MAX], "0.5"), Some(f64::MAX));
    assert_eq!(of_floats(&[-f64::MAX, f64::MAX], "0.5"), Some(0.0));
    assert_eq!(
        of_floats(&[-f64::MAX, f64::MAX], "0.75"),
        Some(f64::MAX / 2.0)
    );
    let least = f64::from_bits(1);
    assert_eq!(of_floats(&[least, 3.0 * least], "0.5"), Some(2.0 * least));
    // As Python's `fractions` have it: 0.1 + (0.2 - 0.1) * 0.3, of the numbers that these floats are.
    assert_eq!(of_floats(&[0.1, 0.2], "0.3"), Some(0.13));
}

proptest! {
    #[test]
    fn order_and_type_of_values_do_not_matter(
        values in prop::collection::vec(-1000..1000_i64, 1..30),
        billionths in 0..=Portion::WHOLE,
        turn in 0..30_usize,
    ) {
        let portion = Portion::billionths(billionths).expect("a portion");
        let of = |cells: Vec<Cell<'static>>| {
            let mut numbers = Numbers::default();
            cells.into_iter().for_each(|cell| numbers.add(cell));
            numbers.quantile(portion)
        };
        let mut turned = values.clone();
        turned.rotate_left(turn % values.len());
        let expected = of(values.iter().map(|value| Cell::Int(*value)).collect());
        prop_assert_eq!(of(turned.iter().map(|value| Cell::Int(*value)).collect()), expected);
        #[expect(clippy::cast_precision_loss)] // small
        let floats = values.iter().map(|value| Cell::Float(*value as f64)).collect();
        prop_assert_eq!(of(floats), expected);
        let decimals = values.iter().map(|value| Cell::Decimal { unscaled: i128::from(*value) * 100, scale: 2 });
        prop_assert_eq!(of(decimals.collect()), expected);
        let mut sorted = values;
        sorted.sort_unstable();
        let place = (sorted.len() - 1) as u128 * u128::from(billionths);
        let below = usize::try_from(place / 1_000_000_000).expect("small");
        let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
        let expected = expected.expect("values");
        #[expect(clippy::cast_precision_loss)] // small
        let inside = expected >= low as f64 && expected <= high as f64;
        prop_assert!(inside, "{} is not between {} and {}", expected, low, high);
    }
}
