//! Quantiles of all values of a window, which are kept until it closes.
//!
//! Of `n` values in their order, the quantile `q` lies at `q (n - 1)`, counted from 0: at a value, or between two
//! neighbours, in the proportion of its distances from them:
//!
//! ```text
//!   values    10   20   40   80        q = 0.5  lies at 1.5:  20 + 0.5 (40 - 20) = 30
//!   place      0    1    2    3        q = 0.9  lies at 2.7:  40 + 0.7 (80 - 40) = 68
//! ```
//!
//! This is the seventh definition in R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996.

use feature_defs::aggregation::Portion;
use num_bigint::{BigInt, BigUint, Sign};

use super::fraction::{FLOAT_UNIT, Fraction, Units};
use super::in_order;
use crate::column::Cell;

/// All numbers of a window, as flat as their type allows.
#[derive(Debug, Clone, Default)]
pub(crate) enum Numbers {
    #[default]
    None,
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Decimals(Vec<i128>, u8),
}

/// A place between two neighbours among values: `part / of` of the way from the value at `below` to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    below: usize,
    part: u32,
    of: u32,
}

impl Numbers {
    /// Adds a number; what is none is passed over.
    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        if matches!(self, Self::None) {
            *self = match cell {
                Cell::Int(_) => Self::Signed(Vec::new()),
                Cell::UInt(_) => Self::Unsigned(Vec::new()),
                Cell::Float(_) => Self::Floats(Vec::new()),
                Cell::Decimal { scale, .. } => Self::Decimals(Vec::new(), scale),
                _ => return,
            };
        }
        match (self, cell) {
            (Self::Signed(values), Cell::Int(value)) => values.push(value),
            (Self::Unsigned(values), Cell::UInt(value)) => values.push(value),
            (Self::Floats(values), Cell::Float(value)) => values.push(value),
            (Self::Decimals(values, _), Cell::Decimal { unscaled, .. }) => values.push(unscaled),
            _ => {}
        }
    }

    /// The quantile as the nearest `f64`; `None` of no numbers. It moves numbers among each other.
    pub(crate) fn quantile(&mut self, portion: Portion) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Signed(values) => {
                let (place, low, high) = neighbours(values, portion, Ord::cmp)?;
                Some(between_integers(place, low.into(), high.into(), 0))
            }
            Self::Unsigned(values) => {
                let (place, low, high) = neighbours(values, portion, Ord::cmp)?;
                Some(between_integers(place, low.into(), high.into(), 0))
            }
            Self::Decimals(values, scale) => {
                let scale = *scale;
                let (place, low, high) = neighbours(values, portion, Ord::cmp)?;
                Some(between_integers(place, low, high, scale))
            }
            Self::Floats(values) => {
                let (place, low, high) = neighbours(values, portion, |a, b| in_order(*a, *b))?;
                Some(between_floats(place, low, high))
            }
        }
    }
}

impl Place {
    /// That of a quantile of so many values; `None` of none.
    fn of(portion: Portion, values: usize) -> Option<Self> {
        let last = u128::try_from(values.checked_sub(1)?).ok()?;
        let whole = u128::from(Portion::WHOLE);
        let place = last * u128::from(portion.get());
        let part = u32::try_from(place % whole).ok()?;
        let shared = greatest_divisor(part, Portion::WHOLE);
        Some(Self {
            below: usize::try_from(place / whole).ok()?,
            part: part / shared,
            of: Portion::WHOLE / shared,
        })
    }
}

const fn greatest_divisor(mut one: u32, mut other: u32) -> u32 {
    while one != 0 {
        (one, other) = (other % one, one);
    }
    other
}

/// The place of a quantile, and the values on both sides of it: one and the same where it lies at a value.
fn neighbours<T: Copy>(
    values: &mut [T],
    portion: Portion,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Option<(Place, T, T)> {
    let place = Place::of(portion, values.len())?;
    let (_, low, above) = values.select_nth_unstable_by(place.below, &order);
    let low = *low;
    let next = above.iter().copied().min_by(&order);
    Some((place, low, next.filter(|_| place.part > 0).unwrap_or(low)))
}

/// Every whole number up to here is an `f64` of its own.
const SURELY_WHOLE: u128 = 1 << 53;

/// Between whole numbers of `10^-scale`.
#[expect(clippy::cast_precision_loss)] // exact where it is taken
fn between_integers(place: Place, low: i128, high: i128, scale: u8) -> f64 {
    let parts = 10_u128.checked_pow(scale.into());
    let parts = parts.and_then(|parts| parts.checked_mul(place.of.into()));
    let step = high.checked_sub(low);
    let step = step.and_then(|step| step.checked_mul(place.part.into()));
    let whole = low.checked_mul(place.of.into());
    let whole = whole
        .zip(step)
        .and_then(|(low, step)| low.checked_add(step));
    if let (Some(whole), Some(parts)) = (whole, parts)
        && whole.unsigned_abs() <= SURELY_WHOLE
        && parts <= SURELY_WHOLE
    {
        return whole as f64 / parts as f64;
    }
    between(place, &low.into(), &high.into(), scale, 0)
}

/// Between floats; NaN where one of them is, and between infinities of both signs.
fn between_floats(place: Place, low: f64, high: f64) -> f64 {
    if low.is_nan() || high.is_nan() {
        return f64::NAN;
    }
    if place.part == 0 || low == high {
        return low;
    }
    if low.is_infinite() || high.is_infinite() {
        return low + high;
    }
    let units = |value: f64| {
        let units = Units::of(value);
        let magnitude = BigUint::from(units.mantissa) << units.position;
        let sign = if units.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        BigInt::from_biguint(sign, magnitude)
    };
    between(place, &units(low), &units(high), 0, FLOAT_UNIT)
}

/// Between whole numbers of `10^-scale * 2^-binary`, rounded once. It lies between two floats, so it has a nearest one.
fn between(place: Place, low: &BigInt, high: &BigInt, scale: u8, binary: u16) -> f64 {
    let numerator = low * place.of + (high - low) * place.part;
    let fraction = Fraction {
        numerator: numerator.magnitude().clone(),
        denominator: BigUint::from(10_u8).pow(scale.into()) * place.of,
        exponent: -i64::from(binary),
    };
    let nearest = fraction.nearest().unwrap_or(f64::INFINITY);
    match numerator.sign() {
        Sign::Minus => -nearest,
        Sign::NoSign | Sign::Plus => nearest,
    }
}

#[cfg(test)]
mod tests;
