//! Decimals as model inputs.

/// Powers of ten, correctly rounded; exact up to 10^22.
const POWERS_OF_TEN: [f64; 39] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32,
    1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
];

/// A decimal as a model sees it: `unscaled / 10^scale`. The nearest float64 while `unscaled` is under 2^53 and `scale`
/// at most 22, within two units in the last place beyond.
#[must_use]
#[allow(clippy::cast_precision_loss)] // to the nearest float64, as documented
pub fn decimal_to_f64(unscaled: i128, scale: u8) -> f64 {
    let power = POWERS_OF_TEN.get(usize::from(scale));
    unscaled as f64 / power.copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_are_the_nearest_float() {
        for (unscaled, scale, text) in [
            (11_840, 2, "118.40"),
            (-5_990, 2, "-59.90"),
            (1, 22, "1e-22"),
            (0, 38, "0"),
            (9_007_199_254_740_991, 7, "900719925.4740991"),
        ] {
            let expected: f64 = text.parse().expect("a number");
            assert_eq!(
                decimal_to_f64(unscaled, scale).to_bits(),
                expected.to_bits()
            );
        }
    }
}
