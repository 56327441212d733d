//! Instants, spans of time, and the only places that read a clock.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::offset::LocalResult;
use chrono::{DateTime, NaiveDate, NaiveTime, Offset, SecondsFormat, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, UTC (rule 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instant(i64);

/// Why a text is not an [`Instant`] or a [`TimeSpan`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct TimeError {
    /// The text that was refused.
    pub text: String,
    /// What would have been accepted.
    pub expected: &'static str,
}

impl Instant {
    /// The earliest and the latest instant that the four-digit years 0000 to 9999 can name.
    pub const RANGE: (Self, Self) = (Self(-62_167_219_200_000_000), Self(253_402_300_799_999_999));

    /// From microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Midnight UTC of a day counted from 1970-01-01; `None` outside 64-bit microseconds.
    #[must_use]
    pub fn from_days(days: i32) -> Option<Self> {
        i64::from(days).checked_mul(MICROS_PER_DAY).map(Self)
    }

    /// Parses RFC 3339 with a zone (`1997-10-01T02:00:00Z`, `...+02:00`), or a plain date, which is midnight UTC.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, a time without a zone included.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        Self::parse_in(text, Tz::UTC)
    }

    /// Parses RFC 3339 with a zone.
    ///
    /// # Errors
    /// [`TimeError`] for any other text.
    pub fn parse_zoned(text: &str) -> Result<Self, TimeError> {
        let instant = DateTime::parse_from_rfc3339(text).map_err(|_| TimeError {
            text: text.to_owned(),
            expected: "an instant: write RFC 3339 with a zone (`1997-10-01T02:00:00Z`)",
        })?;
        Ok(Self(instant.timestamp_micros()))
    }

    /// Parses as [`Instant::parse`] does, with plain dates as midnight in `zone`.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, and for a date whose midnight in `zone` cannot be told.
    pub fn parse_in(text: &str, zone: Tz) -> Result<Self, TimeError> {
        let refused = |expected| TimeError {
            text: text.to_owned(),
            expected,
        };
        if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            let midnight = date.and_time(NaiveTime::MIN).and_utc();
            let midnight = Self(midnight.timestamp_micros()).as_local_in(zone);
            return midnight.ok_or_else(|| refused("a date within the years of its time zone"));
        }
        Self::parse_zoned(text).map_err(|_| {
            refused("an instant: write a date (`1997-10-01`) or RFC 3339 with a zone (`1997-10-01T02:00:00Z`)")
        })
    }

    /// The instant at which clocks in `zone` show what clocks in UTC show at `self`. When clocks go back the first of two
    /// is meant; a time that clocks skip is read with the offset from before the skip. `None` outside the years that
    /// zones know.
    #[must_use]
    pub fn as_local_in(self, zone: Tz) -> Option<Self> {
        if zone == Tz::UTC {
            return Some(self);
        }
        let local = DateTime::from_timestamp_micros(self.0)?.naive_utc();
        let offset = match zone.offset_from_local_datetime(&local) {
            LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset,
            LocalResult::None => {
                let before = local.checked_sub_signed(TimeDelta::days(1))?;
                zone.offset_from_local_datetime(&before).earliest()?
            }
        };
        let offset = i64::from(offset.fix().local_minus_utc()) * MICROS_PER_SECOND;
        self.0.checked_sub(offset).map(Self)
    }

    /// `self - span`, or the earliest representable instant when that does not fit.
    #[must_use]
    pub const fn saturating_sub(self, span: TimeSpan) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The form used in file paths: `19971001T000000Z`, with six digits of fraction when there is one.
    #[must_use]
    pub fn path_form(self) -> String {
        match DateTime::<Utc>::from_timestamp_micros(self.0) {
            Some(time) if self.0.rem_euclid(MICROS_PER_SECOND) == 0 => {
                time.format("%Y%m%dT%H%M%SZ").to_string()
            }
            Some(time) => time.format("%Y%m%dT%H%M%S%.6fZ").to_string(),
            None => format!("{}us", self.0),
        }
    }
}

/// RFC 3339 in UTC, with as many fraction digits (0, 3 or 6) as the instant needs.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::<Utc>::from_timestamp_micros(self.0) {
            Some(time) => f.write_str(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            None => write!(f, "{}us", self.0),
        }
    }
}

impl serde::Serialize for Instant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Instant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A length of time, zero or more microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimeSpan(i64);

/// The units a span is written in, longest first, with their lengths in microseconds.
const UNITS: [(&str, i64); 7] = [
    ("w", 7 * MICROS_PER_DAY),
    ("d", MICROS_PER_DAY),
    ("h", 3_600 * MICROS_PER_SECOND),
    ("m", 60 * MICROS_PER_SECOND),
    ("s", MICROS_PER_SECOND),
    ("ms", 1_000),
    ("us", 1),
];

impl TimeSpan {
    /// From microseconds; `None` when negative.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros < 0 { None } else { Some(Self(micros)) }
    }

    /// The span in microseconds.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Parses a whole number and a unit: `7d`, `12h`, `90m`, `30s`, `2w`, `250ms`, `10us`. A day is 24 hours.
    ///
    /// # Errors
    /// [`TimeError`] for any other text and for spans that do not fit 64-bit microseconds.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let refused = || TimeError {
            text: text.to_owned(),
            expected: "a length of time: write a whole number and a unit, like `7d`, `12h`, `90m`, `30s` (units: w, d, h, m, s, ms, us)",
        };
        let digits_end = text
            .find(|c: char| !c.is_ascii_digit())
            .ok_or_else(refused)?;
        let (digits, unit) = text.split_at(digits_end);
        let count: i64 = digits.parse().map_err(|_| refused())?;
        let (_, micros_per_unit) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(refused)?;
        count
            .checked_mul(*micros_per_unit)
            .map(Self)
            .ok_or_else(refused)
    }
}

/// The shortest exact form in one unit no longer than a day, as [`TimeSpan::parse`] reads it: `30d`, `36h`, `0s`.
impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        for (unit, micros) in &UNITS[1..] {
            if self.0 % micros == 0 {
                return write!(f, "{}{unit}", self.0 / micros);
            }
        }
        Ok(())
    }
}

/// Greatest age at which a value may be used, measured from as-of; not deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ttl {
    /// No limit (`ttl: none`).
    Unlimited,
    /// Usable up to and including this age; `0s` means that instant only.
    AtMost(TimeSpan),
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("none"),
            Self::AtMost(span) => span.fmt(f),
        }
    }
}

/// The only source of the present instant. Time inside the product comes as an argument or through this.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present instant.
    fn now(&self) -> Instant;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place that reads the machine's clock
    fn now(&self) -> Instant {
        Instant(Utc::now().timestamp_micros())
    }
}

/// A clock that stands still until it is set, for tests and replays.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self(AtomicI64::new(now.micros()))
    }

    /// Moves the clock to `now`.
    pub fn set(&self, now: Instant) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
}

/// Measures elapsed time on the monotonic clock, for timings in replies and metrics.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // the one place that reads the monotonic clock
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }

    /// Time since the start or the last lap, and starts the next lap.
    pub fn lap(&mut self) -> std::time::Duration {
        let next = Self::start();
        let lap = next.0.duration_since(self.0);
        *self = next;
        lap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_parse_dates_and_zones() {
        let midnight = Instant::parse("1997-10-01").expect("date");
        assert_eq!(midnight.micros(), 875_664_000_000_000);
        let same = Instant::parse("1997-10-01T02:00:00+02:00").expect("rfc 3339");
        assert_eq!(same, midnight);
        assert_eq!(midnight.to_string(), "1997-10-01T00:00:00Z");
        assert_eq!(midnight.path_form(), "19971001T000000Z");
        let after = Instant::from_micros(midnight.micros() + 1);
        assert_eq!(after.path_form(), "19971001T000000.000001Z");
        assert!(Instant::parse("1997-10-01T00:00:00").is_err());
        assert!(Instant::parse("yesterday").is_err());
        let berlin = Instant::parse_in("2026-07-02", Tz::Europe__Berlin).expect("date");
        assert_eq!(berlin.to_string(), "2026-07-01T22:00:00Z");
        let told = "2026-07-02T00:00:00+09:00";
        let told_in_berlin = Instant::parse_in(told, Tz::Europe__Berlin);
        assert_eq!(told_in_berlin, Instant::parse(told));
    }

    #[test]
    fn spans_parse_and_print() {
        for (text, micros, shown) in [
            ("7d", 604_800_000_000, "7d"),
            ("1w", 604_800_000_000, "7d"),
            ("36h", 129_600_000_000, "36h"),
            ("0s", 0, "0s"),
            ("0d", 0, "0s"),
            ("1500ms", 1_500_000, "1500ms"),
        ] {
            let span = TimeSpan::parse(text).expect(text);
            assert_eq!((span.micros(), span.to_string().as_str()), (micros, shown));
        }
        for text in [
            "",
            "7",
            "d",
            "-7d",
            "7 d",
            "7y",
            "1.5d",
            "99999999999999999d",
        ] {
            assert!(TimeSpan::parse(text).is_err(), "{text}");
        }
    }
}
