//! `numeric` as PostgreSQL sends it, to whole numbers of a scale.

/// Why a numeric is no decimal of some precision and scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumericFault {
    /// `NaN`, `Infinity`, `-Infinity`
    NoNumber(&'static str),
    /// It has more digits before or after the point.
    Digits,
    /// It is not as PostgreSQL writes it.
    Damaged,
}

const GROUP: i128 = 10_000;

/// Reads the binary form: counts of base-10000 digits, weight of the first, sign, shown scale, then the digits, all
/// 16 bits, big end first. Exact or not at all.
pub(super) fn decimal(bytes: &[u8], precision: u8, scale: i8) -> Result<i128, NumericFault> {
    let mut words = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let mut next = || words.next().ok_or(NumericFault::Damaged);
    let (count, weight, sign) = (next()?, next()?.cast_signed(), next()?);
    next()?;
    let negative = match sign {
        0x0000 => false,
        0x4000 => true,
        0xC000 => return Err(NumericFault::NoNumber("NaN")),
        0xD000 => return Err(NumericFault::NoNumber("Infinity")),
        0xF000 => return Err(NumericFault::NoNumber("-Infinity")),
        _ => return Err(NumericFault::Damaged),
    };
    let digits: Vec<i128> = words.map(i128::from).collect();
    if digits.len() != usize::from(count) {
        return Err(NumericFault::Damaged);
    }
    let Some((last, first)) = digits.split_last() else {
        return Ok(0);
    };
    let mut value: i128 = 0;
    for digit in first {
        value = shifted(value, GROUP, *digit)?;
    }
    // The power of ten of the last group, in units of the scale.
    let exponent = 4 * (i32::from(weight) + 1 - i32::from(count)) + i32::from(scale);
    value = match exponent {
        0.. => {
            let whole = shifted(value, GROUP, *last)?;
            shifted(whole, power(exponent)?, 0)?
        }
        // PostgreSQL writes no groups of zeros at the end, so that a group that is cut off whole is never zero.
        -3..=-1 if last % power(-exponent)? == 0 => {
            shifted(value, power(4 + exponent)?, last / power(-exponent)?)?
        }
        _ if value == 0 && *last == 0 => 0,
        _ => return Err(NumericFault::Digits),
    };
    if value >= power(i32::from(precision))? {
        return Err(NumericFault::Digits);
    }
    Ok(if negative { -value } else { value })
}

fn shifted(value: i128, factor: i128, digit: i128) -> Result<i128, NumericFault> {
    let shifted = value.checked_mul(factor).and_then(|v| v.checked_add(digit));
    shifted.ok_or(NumericFault::Digits)
}

fn power(exponent: i32) -> Result<i128, NumericFault> {
    let exponent = u32::try_from(exponent).map_err(|_| NumericFault::Digits)?;
    10_i128.checked_pow(exponent).ok_or(NumericFault::Digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
        let count = u16::try_from(digits.len()).expect("few");
        let head = [count, weight.cast_unsigned(), sign, 0];
        let words = head.iter().chain(digits);
        words.flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_are_exact_or_refused() {
        // 12345.67 is 1, 2345, 6700 of weight 1.
        let number = sent(1, 0, &[1, 2345, 6700]);
        assert_eq!(decimal(&number, 12, 2), Ok(1_234_567));
        assert_eq!(decimal(&number, 12, 4), Ok(123_456_700));
        assert_eq!(decimal(&number, 12, 1), Err(NumericFault::Digits));
        assert_eq!(decimal(&number, 6, 2), Err(NumericFault::Digits));
        assert_eq!(decimal(&sent(1, 0x4000, &[3]), 12, 2), Ok(-3_000_000));
        assert_eq!(decimal(&sent(0, 0, &[]), 12, 2), Ok(0));
        // 0.01 in the widest scale, and the largest number of all digits.
        let small = sent(-1, 0, &[100]);
        assert_eq!(decimal(&small, 38, 38), Ok(10_i128.pow(36)));
        let nines = [99, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999];
        assert_eq!(decimal(&sent(9, 0, &nines), 38, 0), Ok(10_i128.pow(38) - 1));
        let fraction = [9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9900];
        assert_eq!(
            decimal(&sent(-1, 0, &fraction), 38, 38),
            Ok(10_i128.pow(38) - 1)
        );
    }

    #[test]
    fn what_is_no_number_is_named() {
        for (sign, name) in [(0xC000, "NaN"), (0xD000, "Infinity"), (0xF000, "-Infinity")] {
            let refused = decimal(&sent(0, sign, &[]), 12, 2);
            assert_eq!(refused, Err(NumericFault::NoNumber(name)));
        }
        assert_eq!(decimal(&[0, 1, 0], 12, 2), Err(NumericFault::Damaged));
    }
}
