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

use super::fraction::{FLOAT_UNIT, Fraction, Units};
use super::wide_sum::WideSum;
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
                let units = Units::of(value);
                self.count(units.mantissa.into(), units.position, units.negative);
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

#[cfg(test)]
mod tests;
