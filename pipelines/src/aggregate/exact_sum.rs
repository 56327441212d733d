//! Sums of floats without rounding until the end, so that order cannot matter.
//!
//! Every finite `f64` is a whole number of 2^-1074; the sum is kept as one very wide integer of that unit.

use super::fraction::{MANTISSA_BITS, Units};
use super::wide_sum::{LIMB_BITS, WideSum};

/// The exact sum of `f64` values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ExactSum {
    /// The finite values, in units of 2^-1074.
    whole: WideSum,
    /// How many NaNs, positive and negative infinities were added: they can be taken away again.
    not_finite: [i64; 3],
}

impl ExactSum {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        self.count(value, 1);
    }

    /// Takes away a value that was added.
    pub(crate) fn subtract(&mut self, value: f64) {
        self.count(value, -1);
    }

    fn count(&mut self, value: f64, sign: i64) {
        if !value.is_finite() {
            let class = if value.is_nan() {
                0
            } else {
                1 + usize::from(value < 0.0)
            };
            self.not_finite[class] += sign;
            return;
        }
        if value == 0.0 {
            return;
        }
        let units = Units::of(value);
        let negative = units.negative != (sign < 0);
        let (mantissa, position) = (units.mantissa.into(), units.position);
        self.whole.add_part(mantissa, position, negative);
    }

    /// Adds all that another sum holds.
    pub(crate) fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.not_finite.iter_mut().zip(other.not_finite) {
            *mine += theirs;
        }
        self.whole.merge(other.whole);
    }

    /// The sum, rounded once to the nearest `f64`, ties to even. NaN if a NaN or infinities of both signs are in it,
    /// else the infinity that is in it. `None` when finite values have a sum beyond the greatest `f64`.
    pub(crate) fn value(&self) -> Option<f64> {
        match self.not_finite.map(|count| count > 0) {
            [true, _, _] | [_, true, true] => return Some(f64::NAN),
            [_, true, false] => return Some(f64::INFINITY),
            [_, false, true] => return Some(f64::NEG_INFINITY),
            [false, false, false] => {}
        }
        let (negative, first, limbs) = self.whole.clone().into_magnitude();
        let magnitude = round(first, &limbs)?;
        Some(if negative { -magnitude } else { magnitude })
    }

    /// The sum of an integer alone.
    #[expect(clippy::cast_precision_loss)] // parts of 48 bits
    pub(crate) fn of_integer(value: i128) -> Self {
        const PART_BITS: u32 = 48;
        let mut sum = Self::default();
        let mut rest = value.unsigned_abs();
        let mut scale = if value < 0 { -1.0 } else { 1.0 };
        while rest > 0 {
            let part = rest & ((1 << PART_BITS) - 1);
            sum.add(part as f64 * scale);
            rest >>= PART_BITS;
            scale *= 2_f64.powi(PART_BITS as i32);
        }
        sum
    }

    /// The sum divided by a positive whole number below 2^53, rounded to the nearest `f64` (from a remainder that is
    /// exact, so that a second rounding shows only within 2^-50 of the middle between two floats). A sum beyond the
    /// greatest `f64` is scaled down first, and rounds twice; `None` when that does not help.
    pub(crate) fn divided_by(&self, divisor: f64) -> Option<f64> {
        let scaled = || Some(self.scaled_down().value()? / divisor * Self::SCALE_DOWN);
        self.nearest_quotient(divisor).or_else(scaled)
    }

    fn nearest_quotient(&self, divisor: f64) -> Option<f64> {
        let quotient = self.value()? / divisor;
        let product = quotient * divisor;
        if !product.is_finite() {
            return Some(quotient);
        }
        // The product's own rounding error is exact, too.
        let error = quotient.mul_add(divisor, -product);
        let mut remainder = self.clone();
        remainder.subtract(product);
        remainder.subtract(error);
        Some(quotient + remainder.value()? / divisor)
    }

    /// What [`ExactSum::scaled_down`] divides by.
    const SCALE_DOWN: f64 = 4_294_967_296.0;

    /// The sum divided by [`ExactSum::SCALE_DOWN`], but for digits below the least `f64`.
    fn scaled_down(&self) -> Self {
        Self {
            whole: self.whole.clone().one_limb_down(),
            not_finite: self.not_finite,
        }
    }

    /// Appends the state as bytes, for partial results that travel between operators: the counts of what is not finite,
    /// the first limb's number, the limbs; 8 bytes each, little-endian.
    pub(crate) fn append_to(self, bytes: &mut Vec<u8>) {
        let (first, limbs) = self.whole.into_limbs();
        let first = i64::try_from(first).unwrap_or(0);
        let words = self.not_finite.iter().chain([&first]).chain(&limbs);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
    }

    /// Reads what [`ExactSum::append_to`] wrote; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let ([nan, infinite, negative_infinite, first], limbs) = words.split_first_chunk::<4>()?;
        let word = |bytes: &[u8; 8]| i64::from_le_bytes(*bytes);
        rest.is_empty().then_some(())?;
        let first = usize::try_from(word(first)).ok()?;
        Some(Self {
            not_finite: [nan, infinite, negative_infinite].map(word),
            whole: WideSum::of_limbs(first, limbs.iter().map(word).collect()),
        })
    }

    /// Bytes of memory behind the sum.
    pub(crate) fn heap_size(&self) -> usize {
        self.whole.heap_size()
    }
}

/// Rounds a magnitude of carried limbs; `None` beyond the greatest `f64`.
fn round(first: usize, limbs: &[i64]) -> Option<f64> {
    let Some(top) = limbs.last().filter(|top| **top > 0) else {
        return Some(0.0);
    };
    let top_bit = (first + limbs.len() - 1) * LIMB_BITS + top.ilog2() as usize;
    let bit = |position: usize| -> u64 {
        let (limb, offset) = (position / LIMB_BITS, position % LIMB_BITS);
        if limb < first {
            return 0;
        }
        limbs[limb - first].unsigned_abs() >> offset & 1
    };
    let lowest = top_bit.saturating_sub(MANTISSA_BITS as usize);
    let mut mantissa = 0;
    for position in (lowest..=top_bit).rev() {
        mantissa = mantissa << 1 | bit(position);
    }
    if lowest > 0 && bit(lowest - 1) == 1 {
        let half_exactly = (first * LIMB_BITS..lowest - 1).all(|position| bit(position) == 0);
        if !half_exactly || mantissa & 1 == 1 {
            mantissa += 1;
        }
    }
    // The hidden bit adds one to the exponent, and so does a mantissa that rounded up to 2^53.
    let bits = ((lowest as u64) << MANTISSA_BITS) + mantissa;
    let value = f64::from_bits(bits);
    (bits < f64::INFINITY.to_bits()).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(values: &[f64]) -> Option<f64> {
        let mut sum = ExactSum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum.value()
    }

    #[test]
    fn sums_are_rounded_once() {
        // Results of Python's `math.fsum`.
        for (values, expected) in [
            (vec![], 0.0),
            (vec![0.1; 10], 1.0),
            (vec![1e16, 1.0, -1e16], 1.0),
            (vec![1e100, 1.0, -1e100, 1e-50], 1.0),
            (vec![9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0),
            (
                vec![9_007_199_254_740_992.0, 1.0, 1e-300],
                9_007_199_254_740_994.0,
            ),
            (vec![f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (vec![5e-324, 5e-324, -1.5e-323], -5e-324),
            (vec![f64::MIN_POSITIVE, -5e-324], 2.225_073_858_507_201e-308),
            (vec![-0.1, -0.2, -0.3], -0.6),
        ] {
            assert_eq!(sum(&values), Some(expected), "{values:?}");
        }
    }

    #[test]
    fn infinities_and_nan_go_through_and_overflow_is_told_apart() {
        let (infinite, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(sum(&[1.0, infinite]), Some(infinite));
        assert_eq!(sum(&[-infinite, f64::MAX, f64::MAX]), Some(-infinite));
        assert!(sum(&[infinite, -infinite]).expect("nan").is_nan());
        assert!(sum(&[nan, 1.0]).expect("nan").is_nan());
        assert_eq!(sum(&[f64::MAX, f64::MAX]), None);
        assert_eq!(sum(&[-f64::MAX, -f64::MAX]), None);
    }

    /// A value `mantissa * 2^exponent`, of which sums of 200 are exact in `i128` units of 2^-20.
    fn value() -> impl Strategy<Value = (i64, u32)> {
        ((-(1_i64 << 53)..(1 << 53)), 0..50_u32)
    }

    fn float((mantissa, exponent): (i64, u32)) -> f64 {
        mantissa as f64 * 2_f64.powi(exponent as i32 - 20)
    }

    proptest! {
        #[test]
        fn sums_equal_integer_sums_in_any_order_and_grouping(
            values in prop::collection::vec(value(), 0..200),
            cut in any::<prop::sample::Index>(),
        ) {
            let units: i128 = values.iter().map(|(m, e)| i128::from(*m) << e).sum();
            let expected = units as f64 / 2_f64.powi(20);
            let floats: Vec<f64> = values.into_iter().map(float).collect();
            prop_assert_eq!(sum(&floats), Some(expected));
            let mut sorted = floats.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(sum(&sorted), Some(expected));
            let (left, right) = floats.split_at(if floats.is_empty() { 0 } else { cut.index(floats.len()) });
            let mut merged = ExactSum::default();
            left.iter().for_each(|value| merged.add(*value));
            let mut other = ExactSum::default();
            right.iter().for_each(|value| other.add(*value));
            let mut bytes = Vec::new();
            other.append_to(&mut bytes);
            merged.merge(ExactSum::from_bytes(&bytes).expect("bytes"));
            prop_assert_eq!(merged.value(), Some(expected));
            left.iter().for_each(|value| merged.subtract(*value));
            prop_assert_eq!(merged.value(), sum(right));
        }

        #[test]
        fn quotients_are_the_nearest_floats(sum in -(1_i128 << 100)..1 << 100, divisor in 1_i64..1 << 40) {
            let quotient = ExactSum::of_integer(sum).divided_by(divisor as f64).expect("finite");
            let distance = |candidate: f64| {
                let mut distance = ExactSum::of_integer(sum);
                let product = candidate * divisor as f64;
                distance.subtract(product);
                distance.subtract(candidate.mul_add(divisor as f64, -product));
                distance.value().expect("finite").abs()
            };
            prop_assert!(distance(quotient) <= distance(quotient.next_up()));
            prop_assert!(distance(quotient) <= distance(quotient.next_down()));
        }

        #[test]
        fn any_two_floats_sum_as_ieee_says(a in any::<f64>(), b in any::<f64>()) {
            let expected = a + b;
            match sum(&[a, b]) {
                Some(value) => prop_assert!(value == expected || (value.is_nan() && expected.is_nan())),
                None => prop_assert!(expected.is_infinite()),
            }
        }
    }
}
