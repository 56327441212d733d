//! Variances from exact sums, so that neither the order of rows nor the nearness of values to each other matters.
//!
//! The sum `s` of `n` values and the sum `q` of their squares are whole numbers of a unit and of its square. With them
//!
//! ```text
//!   variance = (n q - s s) / (n (n - 1))        of all values: / (n n)
//! ```
//!
//! is a fraction of whole numbers, in which nothing cancels. It, or its root, is rounded once.

use num_bigint::{BigInt, BigUint};

use super::wide_sum::{FLOAT_UNIT, MANTISSA_BITS, WideSum, units};
use crate::column::Cell;

/// Number, sum and sum of squares of the values that were added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    count: u64,
    sum: WideSum,
    squares: WideSum,
    unit: Unit,
    /// Whether a NaN or an infinity is among the values.
    not_finite: bool,
}

/// `2^-binary * 10^-decimal`, of which every value of a column is a whole number.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    binary: u16,
    decimal: u8,
}

/// Which measure of spread is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Whether values are a sample, and `n - 1` divides; `n` otherwise.
    pub(crate) sample: bool,
    /// Whether its square root is wanted.
    pub(crate) root: bool,
}

impl Moments {
    /// Adds a number; what is none is passed over.
    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Int(value) => self.count(value.unsigned_abs().into(), 0, value < 0),
            Cell::UInt(value) => self.count(value.into(), 0, false),
            Cell::Decimal { unscaled, scale } => {
                self.unit.decimal = scale;
                self.count(unscaled.unsigned_abs(), 0, unscaled < 0);
            }
            Cell::Float(value) if !value.is_finite() => {
                self.count += 1;
                self.not_finite = true;
            }
            Cell::Float(value) => {
                self.unit.binary = FLOAT_UNIT;
                let (mantissa, position) = units(value);
                self.count(mantissa.into(), position, value < 0.0);
            }
            _ => {}
        }
    }

    /// Counts `magnitude * 2^position` units.
    fn count(&mut self, magnitude: u128, position: usize, negative: bool) {
        self.count += 1;
        self.sum.add(magnitude, position, negative);
        let low = magnitude & u128::from(u64::MAX);
        let high = magnitude >> 64;
        self.squares.add(low * low, 2 * position, false);
        if high > 0 {
            self.squares.add(low * high, 2 * position + 65, false);
            self.squares.add(high * high, 2 * position + 128, false);
        }
    }

    /// The measure, rounded once to the nearest `f64`: `Ok(None)` of too few values, NaN if a NaN or an infinity is
    /// among them.
    ///
    /// # Errors
    /// When the measure is beyond the greatest `f64`.
    pub(crate) fn spread(&self, spread: Spread) -> Result<Option<f64>, BeyondFloats> {
        let divisor = match spread.sample {
            true => self.count.saturating_sub(1),
            false => self.count,
        };
        if divisor == 0 {
            return Ok(None);
        }
        if self.not_finite {
            return Ok(Some(f64::NAN));
        }
        let sum = self.sum.to_integer();
        let squares: BigInt = self.squares.to_integer() * self.count - &sum * &sum;
        let fraction = Fraction {
            numerator: squares.magnitude().clone(),
            denominator: BigUint::from(self.count)
                * divisor
                * BigUint::from(10_u8).pow(2 * u32::from(self.unit.decimal)),
            exponent: -2 * i64::from(self.unit.binary),
        };
        let measure = match spread.root {
            true => fraction.nearest_root(),
            false => fraction.nearest(),
        };
        measure.map(Some).ok_or(BeyondFloats)
    }
}

/// A result that no finite `f64` is near to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BeyondFloats;

/// `numerator / denominator * 2^exponent`; the exponent is even.
struct Fraction {
    numerator: BigUint,
    denominator: BigUint,
    exponent: i64,
}

/// A quotient of so many bits is rounded right, whatever follows them.
const QUOTIENT_BITS: u64 = 66;

impl Fraction {
    fn nearest(&self) -> Option<f64> {
        let (quotient, exponent, exact) = self.quotient(QUOTIENT_BITS);
        round(&quotient, exponent, exact)
    }

    fn nearest_root(&self) -> Option<f64> {
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
    let lowest = (units + bits - 1 - MANTISSA_BITS as i64).max(0);
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

#[cfg(test)]
mod tests;
