//! Instants, spans of time, and the only places that read a clock.

mod written;

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::offset::LocalResult;
use chrono::{DateTime, NaiveDateTime, NaiveTime, Offset, SecondsFormat, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use written::Written;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, UTC (rule 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instant(i64);

/// Why a text is not an [`Instant`], a day or a [`TimeSpan`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct TimeError {
    /// The text that was refused.
    pub text: String,
    /// What would have been accepted, or what is impossible about it.
    pub expected: Cow<'static, str>,
}

impl TimeError {
    fn new(text: &str, expected: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.to_owned(),
            expected: expected.into(),
        }
    }

    /// Of a text that is no `what`: the part of it that cannot be, or the forms that are read.
    fn no(what: &str, text: &str, forms: &str) -> Self {
        let why = written::impossible(text);
        Self::new(text, format!("{what}: {}", why.as_deref().unwrap_or(forms)))
    }
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

    /// Parses a time with a zone (`1997-10-01T02:00:00Z`, `1997-10-01 02:00+02:00`), or a plain date, which is midnight
    /// UTC.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, a time without a zone included.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        Self::parse_in(text, Tz::UTC)
    }

    /// Parses a time with a zone: RFC 3339, whose seconds may be left out.
    ///
    /// # Errors
    /// [`TimeError`] for any other text.
    pub fn parse_zoned(text: &str) -> Result<Self, TimeError> {
        match Written::read(text) {
            Some(Written::Zoned(time)) => Ok(Self(time.timestamp_micros())),
            Some(Written::Local(_)) => Err(without_zone(text)),
            Some(Written::Day(_)) | None => Err(TimeError::no(
                "an instant",
                text,
                "write RFC 3339 with a zone (`1997-10-01T02:00:00Z`)",
            )),
        }
    }

    /// Parses as [`Instant::parse_zoned`] does, and loses nothing.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, for a time finer than microseconds, and for a second that was put in.
    pub fn parse_exact(text: &str) -> Result<Self, TimeError> {
        match Written::read(text) {
            Some(Written::Zoned(time)) if !is_exact(time.timestamp_subsec_nanos()) => {
                Err(finer(text))
            }
            _ => Self::parse_zoned(text),
        }
    }

    /// Parses as [`Instant::parse`] does, with plain dates as midnight in `zone`.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, and for a date whose midnight in `zone` cannot be told.
    pub fn parse_in(text: &str, zone: Tz) -> Result<Self, TimeError> {
        match Written::read(text) {
            Some(Written::Zoned(time)) => Ok(Self(time.timestamp_micros())),
            Some(Written::Day(day)) => local(text, day.and_time(NaiveTime::MIN), zone),
            Some(Written::Local(_)) => Err(without_zone(text)),
            None => Err(TimeError::no(
                "an instant",
                text,
                "write a date (`1997-10-01`) or RFC 3339 with a zone (`1997-10-01T02:00:00Z`)",
            )),
        }
    }

    /// Parses a timestamp of a file: a day, which is midnight, or a time with `T` or a space, with or without seconds
    /// and a zone, whose minutes may be left out (`+00`, as PostgreSQL and DuckDB write it). What has no zone is meant in
    /// `zone`.
    ///
    /// # Errors
    /// [`TimeError`] for any other text, and for a time finer than microseconds.
    pub fn parse_local(text: &str, zone: Tz) -> Result<Self, TimeError> {
        let (instant, time) = match Written::read(&written::with_zone_minutes(text)) {
            Some(Written::Zoned(time)) => (Ok(Self(time.timestamp_micros())), time.naive_utc()),
            Some(Written::Local(time)) => (local(text, time, zone), time),
            Some(Written::Day(day)) => {
                let time = day.and_time(NaiveTime::MIN);
                (local(text, time, zone), time)
            }
            None => return Err(TimeError::no("a timestamp", text, TIMESTAMP_FORMS)),
        };
        // A second that was put in is the first of the next minute.
        if is_exact(time.and_utc().timestamp_subsec_nanos() % 1_000_000_000) {
            instant
        } else {
            Err(finer(text))
        }
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

/// The forms of a timestamp in a file.
const TIMESTAMP_FORMS: &str = "write `1997-10-01`, `1997-10-01 02:00`, `1997-10-01T02:00:00` or `1997-10-01T02:00:00.25`, each time with or without a zone (`Z`, `+02:00`)";

/// The instant at which clocks in `zone` show `time`.
fn local(text: &str, time: NaiveDateTime, zone: Tz) -> Result<Instant, TimeError> {
    let shown = Instant(time.and_utc().timestamp_micros());
    let instant = shown.as_local_in(zone);
    instant.ok_or_else(|| TimeError::new(text, "a date within the years of its time zone"))
}

/// Whether these nanoseconds of a second are whole microseconds, and no second that was put in.
const fn is_exact(nanos: u32) -> bool {
    nanos < 1_000_000_000 && nanos.is_multiple_of(1_000)
}

fn finer(text: &str) -> TimeError {
    TimeError::new(text, "a timestamp of at most microseconds")
}

fn without_zone(text: &str) -> TimeError {
    let expected = format!(
        "an instant: it has no zone, so write `{text}Z` for UTC, or its offset, like `{text}+02:00`"
    );
    TimeError::new(text, expected)
}

/// The day that a text names (`1997-10-01`), counted from 1970-01-01.
///
/// # Errors
/// [`TimeError`] for any other text.
pub fn parse_day(text: &str) -> Result<i32, TimeError> {
    match Written::read(text) {
        Some(Written::Day(day)) => Ok(day.to_epoch_days()),
        _ => Err(TimeError::no("a date", text, "write one like `1997-10-01`")),
    }
}

/// What calendars and clocks do not have of a day or a time: `there is no month 13`; none for any other text.
#[must_use]
pub fn impossible(text: &str) -> Option<String> {
    written::impossible(text)
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
        let refused = || TimeError::new(text, format!("a length of time: {}", Self::forms(text)));
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

    /// What to write instead of a text that is no span.
    pub(crate) fn forms(text: &str) -> String {
        let digits_end = text.find(|c: char| !c.is_ascii_digit());
        let (digits, unit) = text.split_at(digits_end.unwrap_or(text.len()));
        let unit = unit.trim();
        if !digits.is_empty() {
            let has = |names: &[&str]| names.contains(&unit);
            if let Some((_, why)) = NO_UNITS.iter().find(|(names, _)| has(names)) {
                return (*why).to_owned();
            }
            if let Some((_, ours)) = OTHER_UNITS.iter().find(|(names, _)| has(names)) {
                return format!("write `{digits}{ours}`");
            }
        }
        "write a whole number and a unit, like `7d`, `12h`, `90m` (minutes), `30s` (units: w, d, h, m, s, ms, us)".to_owned()
    }
}

/// Units that no span has, because they have no one length, with what is near to them.
const NO_UNITS: [(&[&str], &str); 2] = [
    (
        &["mo", "M", "mon", "month", "months"],
        "a month has no fixed length: write days, like `30d` (`m` is minutes)",
    ),
    (
        &["y", "Y", "yr", "year", "years", "a"],
        "a year has no fixed length: write days, like `365d`",
    ),
];

/// Units as other programs write them, with ours.
const OTHER_UNITS: [(&[&str], &str); 5] = [
    (&["D", "day", "days"], "d"),
    (&["W", "wk", "week", "weeks"], "w"),
    (&["H", "hr", "hrs", "hour", "hours"], "h"),
    (&["min", "mins", "minute", "minutes"], "m"),
    (&["S", "sec", "secs", "second", "seconds"], "s"),
];

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
mod tests;
