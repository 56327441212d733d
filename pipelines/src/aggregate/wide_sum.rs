//! Sums of whole numbers of any size, and floats as such numbers.
//!
//! Adding with carries put off is the idea of the small superaccumulator in R. M. Neal, "Fast exact summation using
//! small and large superaccumulators", 2015.

use num_bigint::BigInt;

/// A sum of integers, in limbs of 32 bits; only those from the first that was touched are kept:
///
/// ```text
///   limb i, an i64, stands for limb * 2^(32 (first + i))
///   add      3 limbs, without carrying: 2^30 additions fit before carries must move
///   carry    leaves 0 <= limb < 2^32, but for the last, which holds the sign
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WideSum {
    /// Number of the first limb kept.
    first: usize,
    limbs: Vec<i64>,
    additions_since_carry: u32,
}

pub(super) const LIMB_BITS: usize = 32;
const LIMB_MASK: i64 = 0xffff_ffff;
const CARRY_EVERY: u32 = 1 << 30;

impl WideSum {
    /// Adds `magnitude * 2^position`, or takes it away.
    pub(super) fn add(&mut self, magnitude: u128, position: usize, negative: bool) {
        let low = magnitude & u128::from(u64::MAX);
        self.add_part(low, position, negative);
        if magnitude > low {
            self.add_part(magnitude >> 64, position + 64, negative);
        }
    }

    /// Adds a part of at most 64 bits, or takes it away.
    #[inline]
    pub(super) fn add_part(&mut self, part: u128, position: usize, negative: bool) {
        let limb = position / LIMB_BITS;
        let shifted = part << (position % LIMB_BITS);
        self.reach(limb, limb + 3);
        let sign = if negative { -1 } else { 1 };
        for (offset, target) in self.limbs[limb - self.first..][..3].iter_mut().enumerate() {
            let digits = (shifted >> (offset * LIMB_BITS)) & u128::from(u32::MAX);
            *target += sign * i64::try_from(digits).unwrap_or(0);
        }
        self.additions_since_carry += 1;
        if self.additions_since_carry == CARRY_EVERY {
            self.carry();
        }
    }

    /// The sum.
    pub(super) fn to_integer(&self) -> BigInt {
        let limbs = self.limbs.iter().rev();
        let digits = limbs.fold(BigInt::ZERO, |above, limb| (above << LIMB_BITS) + *limb);
        digits << (self.first * LIMB_BITS)
    }

    /// Makes the limbs `from..to` be kept.
    fn reach(&mut self, from: usize, to: usize) {
        if self.limbs.is_empty() {
            self.first = from;
        }
        if from < self.first {
            let missing = self.first - from;
            self.limbs.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = from;
        }
        if to > self.first + self.limbs.len() {
            self.limbs.resize(to - self.first, 0);
        }
    }

    /// Adds all that another sum holds.
    pub(super) fn merge(&mut self, mut other: Self) {
        if other.limbs.is_empty() {
            return;
        }
        other.carry();
        self.carry();
        self.reach(other.first, other.first + other.limbs.len());
        let start = other.first - self.first;
        for (mine, theirs) in self.limbs[start..].iter_mut().zip(&other.limbs) {
            *mine += theirs;
        }
        self.carry();
    }

    /// Whether the sum is below 0, the number of the first limb of its magnitude, and its limbs, carried.
    pub(super) fn into_magnitude(mut self) -> (bool, usize, Vec<i64>) {
        self.carry();
        let negative = self.limbs.last().is_some_and(|last| *last < 0);
        if negative {
            for limb in &mut self.limbs {
                *limb = -*limb;
            }
            self.carry();
        }
        (negative, self.first, self.limbs)
    }

    /// The sum divided by 2^32, but for what is below 1 then.
    pub(super) fn one_limb_down(mut self) -> Self {
        if self.first == 0 && !self.limbs.is_empty() {
            self.carry();
            self.limbs.remove(0);
        } else {
            self.first -= usize::from(self.first > 0);
        }
        self
    }

    /// The number of the first limb and the limbs, carried.
    pub(super) fn into_limbs(mut self) -> (usize, Vec<i64>) {
        self.carry();
        (self.first, self.limbs)
    }

    /// The sum of what [`WideSum::into_limbs`] gave.
    pub(super) const fn of_limbs(first: usize, limbs: Vec<i64>) -> Self {
        Self {
            first,
            limbs,
            additions_since_carry: 1,
        }
    }

    /// Bytes of memory behind the sum.
    pub(super) fn heap_size(&self) -> usize {
        self.limbs.capacity() * size_of::<i64>()
    }

    /// Moves carries, and drops limbs at the end that only repeat the sign.
    fn carry(&mut self) {
        self.additions_since_carry = 1;
        let mut carry = 0;
        for limb in &mut self.limbs {
            let with_carry = *limb + carry;
            *limb = with_carry & LIMB_MASK;
            carry = with_carry >> LIMB_BITS;
        }
        if carry != 0 {
            self.limbs.push(carry);
        }
        while let Some(last) = self.limbs.pop() {
            match (last, self.limbs.last_mut()) {
                (0, _) => {}
                (-1, Some(next)) if *next > 0 => {
                    // -1 in the last limb and x in the next: x - 2^32 in the next alone.
                    *next -= 1 << LIMB_BITS;
                    break;
                }
                _ => {
                    self.limbs.push(last);
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_big_integers_carried_or_not(
            values in prop::collection::vec((any::<u128>(), 0..300_usize, any::<bool>()), 0..40),
            carry_at in 0..40_usize,
        ) {
            let mut sum = WideSum::default();
            let mut expected = BigInt::ZERO;
            for (place, (magnitude, position, negative)) in values.into_iter().enumerate() {
                sum.add(magnitude, position, negative);
                let value = BigInt::from(magnitude) << position;
                expected += if negative { -value } else { value };
                if place == carry_at {
                    sum.carry();
                }
            }
            prop_assert_eq!(sum.to_integer(), expected);
        }
    }
}
