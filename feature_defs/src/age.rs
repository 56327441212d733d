//! Ages, as answers and reports show them.

use std::fmt;

use crate::time::Instant;

/// How long ago something was. What lies ahead has the age 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age {
    seconds: u64,
}

/// The units of an age, longest first, with their lengths in seconds.
const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl Age {
    /// The age at `as_of` of what happened at `event_time`, in whole seconds, rounded down.
    #[must_use]
    pub fn at(as_of: Instant, event_time: Instant) -> Self {
        let micros = as_of.micros().saturating_sub(event_time.micros()).max(0);
        Self {
            seconds: micros.unsigned_abs() / 1_000_000,
        }
    }

    /// Whole seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    /// Its greatest unit and the one below that, rounded down, without a second part of 0.
    pub fn parts(self) -> impl Iterator<Item = (u64, &'static str)> {
        let fits = UNITS.iter().position(|(_, length)| self.seconds >= *length);
        let greatest = fits.unwrap_or(UNITS.len() - 1);
        let mut rest = self.seconds;
        let counts = UNITS[greatest..].iter().take(2).map(move |(unit, length)| {
            let count = rest / length;
            rest %= length;
            (count, *unit)
        });
        let counts = counts.enumerate();
        counts.filter_map(|(place, part)| (place == 0 || part.0 > 0).then_some(part))
    }
}

/// `2h11m`, `3d`, `0s`.
impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, unit) in self.parts() {
            write!(f, "{count}{unit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_show_their_two_greatest_units() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (61, "1m1s"),
            (7_860, "2h11m"),
            (7_200, "2h"),
            (86_400 + 59, "1d"),
            (90_000, "1d1h"),
            (-5, "0s"),
        ] {
            let as_of = Instant::from_micros(seconds * 1_000_000 + 999);
            let age = Age::at(as_of, Instant::from_micros(0));
            assert_eq!(age.to_string(), shown);
        }
    }
}
