use proptest::prelude::*;

use super::*;

const VARIANCE: Spread = Spread {
    sample: true,
    root: false,
};
const STDDEV: Spread = Spread {
    sample: true,
    root: true,
};
const OF_ALL: Spread = Spread {
    sample: false,
    root: false,
};

fn moments(cells: impl IntoIterator<Item = Cell<'static>>) -> Moments {
    let mut moments = Moments::default();
    cells.into_iter().for_each(|cell| moments.add(cell));
    moments
}

fn of_floats(values: &[f64]) -> Moments {
    moments(values.iter().map(|value| Cell::Float(*value)))
}

#[test]
fn spreads_of_floats_are_rounded_once() {
    // Results of Python's `statistics.variance`, `stdev` and `pvariance`, which compute with fractions.
    for (values, variance, stddev, of_all) in [
        (
            vec![0.1, 0.2, 0.3],
            0.009_999_999_999_999_998,
            0.099_999_999_999_999_99,
            0.006_666_666_666_666_665,
        ),
        (
            vec![1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0],
            30.0,
            5.477_225_575_051_661,
            22.5,
        ),
        (
            vec![1e16, 1e16 + 2.0, 1e16 + 4.0],
            4.0,
            2.0,
            2.666_666_666_666_666_5,
        ),
        (
            vec![0.1, 0.1, 0.1, 0.1, 0.1, 0.2],
            0.001_666_666_666_666_666_8,
            0.040_824_829_046_386_304,
            0.001_388_888_888_888_889,
        ),
        (vec![1e-200, 3e-200], 0.0, 1.414_213_562_373_095e-200, 0.0),
        (
            vec![1e150, -1e150, 3.0],
            9.999_999_999_999_999e299,
            1e150,
            6.666_666_666_666_666e299,
        ),
        (vec![5e-324, 1.5e-323], 0.0, 5e-324, 0.0),
        (
            vec![-2.0, 0.0, 7.5, 7.5],
            24.75,
            4.974_937_185_533_1,
            18.5625,
        ),
    ] {
        let moments = of_floats(&values);
        assert_eq!(moments.spread(VARIANCE), Ok(Some(variance)), "{values:?}");
        assert_eq!(moments.spread(STDDEV), Ok(Some(stddev)), "{values:?}");
        assert_eq!(moments.spread(OF_ALL), Ok(Some(of_all)), "{values:?}");
    }
}

#[test]
fn a_sample_needs_two_values_and_all_values_one() {
    assert_eq!(of_floats(&[]).spread(OF_ALL), Ok(None));
    assert_eq!(of_floats(&[7.0]).spread(OF_ALL), Ok(Some(0.0)));
    assert_eq!(of_floats(&[7.0]).spread(VARIANCE), Ok(None));
    assert_eq!(of_floats(&[7.0, 7.0]).spread(STDDEV), Ok(Some(0.0)));
}

#[test]
fn what_is_not_finite_makes_a_spread_nan() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let spread = of_floats(&[1.0, value]).spread(VARIANCE);
        assert!(spread.is_ok_and(|spread| spread.is_some_and(f64::is_nan)));
        assert_eq!(of_floats(&[value]).spread(VARIANCE), Ok(None));
    }
}

#[test]
fn a_variance_beyond_the_floats_is_told_and_its_root_fits() {
    let moments = of_floats(&[f64::MAX, -f64::MAX, 0.0]);
    assert_eq!(moments.spread(VARIANCE), Err(BeyondFloats));
    assert_eq!(moments.spread(STDDEV), Ok(Some(f64::MAX)));
}

#[test]
fn integers_of_64_bits_and_decimals_of_38_digits_are_exact() {
    let signed = moments([Cell::Int(i64::MIN), Cell::Int(i64::MAX)]);
    let half = 2_f64.powi(127);
    assert_eq!(signed.spread(VARIANCE), Ok(Some(half)));
    let unsigned = moments([Cell::UInt(u64::MAX), Cell::UInt(u64::MAX - 1)]);
    assert_eq!(unsigned.spread(VARIANCE), Ok(Some(0.5)));
    let decimal = |unscaled| Cell::Decimal { unscaled, scale: 2 };
    let great = 10_i128.pow(38) - 1;
    let near = moments([decimal(great), decimal(great - 100)]);
    assert_eq!(near.spread(VARIANCE), Ok(Some(0.5)));
    let far = moments([decimal(great), decimal(-great)]);
    assert_eq!(far.spread(VARIANCE), Ok(Some(2e72)));
}

proptest! {
    #[test]
    fn spreads_are_the_nearest_floats_in_any_order(
        mut values in prop::collection::vec(-(1_i64 << 40)..1_i64 << 40, 2..50),
    ) {
        let count = values.len() as i128;
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let squares: i128 = values.iter().map(|value| i128::from(*value).pow(2)).sum();
        let numerator = BigInt::from(squares) * count - BigInt::from(sum) * sum;
        let denominator = BigInt::from(count * (count - 1));
        let variance = moments(values.iter().map(|value| Cell::Int(*value))).spread(VARIANCE);
        let variance = variance.expect("in range").expect("two values");
        // Variances of integers this great have no bit below 2^-60.
        let distance = |candidate: f64| {
            let units = candidate * 2_f64.powi(60);
            let whole = BigInt::from(units as u128);
            let difference: BigInt = whole * &denominator - (&numerator << 60);
            difference.magnitude().clone()
        };
        if variance > 1e-3 {
            prop_assert!(distance(variance) <= distance(variance.next_up()));
            prop_assert!(distance(variance) <= distance(variance.next_down()));
        }
        values.reverse();
        let floats = values.iter().map(|value| Cell::Float(*value as f64));
        prop_assert_eq!(moments(floats).spread(VARIANCE), Ok(Some(variance)));
        let decimals = values.iter().map(|value| Cell::Decimal { unscaled: i128::from(*value) * 100, scale: 2 });
        prop_assert_eq!(moments(decimals).spread(VARIANCE), Ok(Some(variance)));
    }
}
