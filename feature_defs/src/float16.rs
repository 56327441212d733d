//! Half-precision floats: how numbers become them, and how they are written.

use half::f16;

/// Most significant decimal digits that tell a [`f16`] from its neighbours.
const DIGITS: usize = 5;

/// The nearest half-precision float, the even one of two; infinite beyond 65519.99.
#[must_use]
pub fn nearest(value: f64) -> f16 {
    f16::from_f32(to_odd(value))
}

/// Whether a number has a half-precision float: all but finite ones that [`nearest`] makes infinite.
#[must_use]
pub fn fits(value: f64) -> bool {
    !value.is_finite() || nearest(value).is_finite()
}

/// The number of fewest digits whose [`nearest`] is that of `value`.
#[must_use]
pub fn shortest(value: f64) -> f64 {
    let wanted = nearest(value);
    let with_digits = |digits: usize| {
        let text = format!("{:.*e}", digits - 1, f64::from(wanted));
        let short: f64 = text.parse().ok()?;
        (nearest(short) == wanted).then_some(short)
    };
    let short = (1..=DIGITS).find_map(with_digits);
    short.unwrap_or_else(|| f64::from(wanted))
}

/// The `f32` beside the value whose last bit is odd, unless one is equal to it: rounded from there to fewer digits, a
/// number goes where it would have gone at once (S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded
/// sums: proved algorithms using rounding to odd", 2008).
#[allow(clippy::cast_possible_truncation)] // the nearest is corrected
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if value.is_nan() || f64::from(near) == value {
        return near;
    }
    let away_from_zero = f64::from(near).abs() > value.abs();
    let toward_zero = near.to_bits() - u32::from(away_from_zero);
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = f16> {
        (0..=u16::MAX).map(f16::from_bits)
    }

    #[test]
    fn every_half_is_nearest_to_itself_and_to_its_shortest_text() {
        for half in all().filter(|half| !half.is_nan()) {
            let wide = f64::from(half);
            assert_eq!(nearest(wide).to_bits(), half.to_bits());
            assert!(fits(wide));
            let short = if half.is_finite() {
                let text = serde_json::to_string(&shortest(wide)).expect("a number");
                let digits = text.split('e').next().unwrap_or_default();
                let digits = digits.replace(['.', '-'], "");
                assert!(digits.trim_matches('0').len() <= DIGITS, "{text}");
                text.parse().expect("a number")
            } else {
                wide
            };
            assert_eq!(nearest(short).to_bits(), half.to_bits(), "{wide}");
        }
        assert_eq!(shortest(f64::from(f16::from_f32(0.1))).to_string(), "0.1");
    }

    #[test]
    fn numbers_go_to_the_nearest_half_and_from_the_middle_to_the_even_one() {
        let finite: Vec<f16> = (0..0x7c00).map(f16::from_bits).collect();
        for pair in finite.windows(2) {
            let (below, above) = (f64::from(pair[0]), f64::from(pair[1]));
            let middle = below + (above - below) / 2.0;
            let even = if pair[0].to_bits() % 2 == 0 {
                pair[0]
            } else {
                pair[1]
            };
            assert_eq!(nearest(middle), even);
            assert_eq!(nearest(middle.next_down()), pair[0]);
            assert_eq!(nearest(middle.next_up()), pair[1]);
            assert_eq!(nearest(-middle.next_up()), -pair[1]);
        }
    }

    #[test]
    fn numbers_that_are_too_great_do_not_fit() {
        for (value, there) in [
            (65_504.0, true),
            (65_519.999, true),
            (65_520.0, false),
            (-65_520.0, false),
            (1e300, false),
            (f64::INFINITY, true),
            (f64::NAN, true),
            (1e-300, true),
        ] {
            assert_eq!(fits(value), there, "{value}");
        }
    }
}
