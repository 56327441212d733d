//! Floats as whole numbers, and fractions of whole numbers rounded once to the nearest float.

use num_bigint::BigUint;

/// Every float is a whole number of `2^-1074`.
pub(super) const FLOAT_UNIT: u16 = 1074;

/// Bits of a float's mantissa, without the hidden one.
pub(super) const MANTISSA_BITS: u32 = 52;

/// A finite float as `mantissa * 2^position` units of `2^-1074`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    pub(super) mantissa: u64,
    pub(super) position: usize,
    pub(super) negative: bool,
}

impl Units {
    #[inline]
    pub(super) fn of(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let fraction = bits & ((1 << MANTISSA_BITS) - 1);
        // A subnormal counts units as they stand, a normal number has its leading bit hidden.
        let (mantissa, position) = match bits >> MANTISSA_BITS {
            0 => (fraction, 0),
            exponent => (fraction | (1 << MANTISSA_BITS), exponent - 1),
        };
        Self {
            mantissa,
            position: usize::try_from(position).unwrap_or(0),
            negative: value < 0.0,
        }
    }
}

/// `numerator / denominator * 2^exponent`; the exponent is even.
pub(super) struct Fraction {
    pub(super) numerator: BigUint,
    pub(super) denominator: BigUint,
    pub(super) exponent: i64,
}

/// A quotient of so many bits is rounded right, whatever follows them.
const QUOTIENT_BITS: u64 = 66;

impl Fraction {
    /// The nearest `f64`; `None` beyond the greatest.
    pub(super) fn nearest(&self) -> Option<f64> {
        let (quotient, exponent, exact) = self.quotient(QUOTIENT_BITS);
        round(&quotient, exponent, exact)
    }

    /// The nearest `f64` to its square root; `None` beyond the greatest.
    pub(super) fn nearest_root(&self) -> Option<f64> {
        let (quotient, exponent, exact) = self.quotient(2 * QUOTIENT_BITS);
        let root = quotient.sqrt();
        let exact = exact && &root * &root == quotient;
        round(&root, exponent / 2, exact)
    }

    /// The whole part of the fraction at an even exponent that gives it so many bits at least, and whether that is all
    /// of it.
    fn quotient(&self, bits: u64) -> (BigUint, i64, bool) {
        let missing = (self.denominator.bits() + bits).saturating_sub(self.numerator.bits());
        let shift = missing.next_multiple_of(2);
        let shifted = &self.numerator << shift;
        let quotient = &shifted / &self.denominator;
        let exact = &quotient * &self.denominator == shifted;
        let shift = i64::try_from(shift).unwrap_or(i64::MAX);
        (quotient, self.exponent - shift, exact)
    }
}

/// `whole * 2^exponent`, or a little more where that is not exact, as the nearest `f64`, ties to even. The whole number is
/// 0 or has more bits than a mantissa.
fn round(whole: &BigUint, exponent: i64, exact: bool) -> Option<f64> {
    if *whole == BigUint::ZERO {
        return Some(0.0);
    }
    let units = exponent + i64::from(FLOAT_UNIT);
    let bits = i64::try_from(whole.bits()).ok()?;
    // The position of the mantissa's last bit, in the unit of floats.
    let lowest = (units + bits - 1 - i64::from(MANTISSA_BITS)).max(0);
    let dropped = u64::try_from(lowest - units).ok()?;
    let mut mantissa = u64::try_from(whole >> dropped).ok()?;
    if dropped > 0 && whole.bit(dropped - 1) {
        let half_exactly = exact && whole.trailing_zeros() == Some(dropped - 1);
        if !half_exactly || mantissa & 1 == 1 {
            mantissa += 1;
        }
    }
    let lowest = u64::try_from(lowest).ok().filter(|lowest| *lowest < 2047)?;
    // The hidden bit adds one to the exponent, and so does a mantissa that rounded up to 2^53.
    let value = f64::from_bits((lowest << MANTISSA_BITS) + mantissa);
    value.is_finite().then_some(value)
}
