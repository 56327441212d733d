//! Days and times as they are written, read in one way wherever a text holds one.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime};

/// What a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// `2026-02-03`
    Day(NaiveDate),
    /// `2026-02-03 10:30`, with `T` or a space, with or without seconds.
    Local(NaiveDateTime),
    /// The same with a zone: `Z`, `+02:00`.
    Zoned(DateTime<FixedOffset>),
}

impl Written {
    /// Reads a text; `None` when it is neither a day nor a time.
    pub(super) fn read(text: &str) -> Option<Self> {
        let whole = with_seconds(text);
        if let Ok(time) = DateTime::parse_from_rfc3339(&whole) {
            return Some(Self::Zoned(time));
        }
        if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            return Some(Self::Day(day));
        }
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        let mut times = forms.iter();
        times.find_map(|form| {
            let time = NaiveDateTime::parse_from_str(&whole, form).ok()?;
            Some(Self::Local(time))
        })
    }
}

/// `2026-02-03 10:30` as `2026-02-03 10:30:00`; any other text as it is.
fn with_seconds(text: &str) -> Cow<'_, str> {
    let Some((minutes, rest)) = text.split_at_checked("2026-02-03 10:30".len()) else {
        return text.into();
    };
    let ends = rest.is_empty() || rest.starts_with(['Z', 'z', '+', '-']);
    if ends && has_shape(minutes, b"0000-00-00?00:00") {
        return format!("{minutes}:00{rest}").into();
    }
    text.into()
}

/// `2026-02-03 10:30+01` as `2026-02-03 10:30+01:00`; any other text as it is.
pub(super) fn with_zone_minutes(text: &str) -> Cow<'_, str> {
    let Some((time, [b'+' | b'-', b'0'..=b'9', b'0'..=b'9'])) = text.as_bytes().split_last_chunk()
    else {
        return text.into();
    };
    // A day ends like that too.
    match time.len() >= "2026-02-03 10:30".len() {
        true => format!("{text}:00").into(),
        false => text.into(),
    }
}

/// Which part of a text in the shape of a day or a time is one that calendars or clocks do not have:
/// `there is no month 13`.
pub(super) fn impossible(text: &str) -> Option<String> {
    let part = |at: usize| text.get(at..at + 2)?.parse::<u32>().ok();
    if !has_shape(text.get(..10)?, b"0000-00-00") {
        return None;
    }
    let (year, month, day) = (text[..4].parse().ok()?, part(5)?, part(8)?);
    let Some(first) = NaiveDate::from_ymd_opt(year, month, 1) else {
        return Some(format!("there is no month {month:02}"));
    };
    if first.with_day(day).is_none() {
        let days = first.num_days_in_month();
        return Some(format!(
            "there is no day {day:02} in {}, which has {days}",
            &text[..7]
        ));
    }
    if !has_shape(text.get(10..16)?, b"?00:00") {
        return None;
    }
    let (hour, minute) = (part(11)?, part(14)?);
    let second = match text.get(16..19) {
        Some(seconds) if has_shape(seconds, b":00") => part(17)?,
        _ => 0,
    };
    // A second 60 is one that was put in.
    [
        ("hour", hour, 23),
        ("minute", minute, 59),
        ("second", second, 60),
    ]
    .into_iter()
    .find(|(_, value, last)| value > last)
    .map(|(unit, value, _)| format!("there is no {unit} {value:02}"))
}

/// Whether a text has a digit for each `0`, anything that parts a day from a time for `?`, and all else as it is.
fn has_shape(text: &str, shape: &[u8]) -> bool {
    let fits = |(byte, form): (u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'?' => matches!(byte, b'T' | b't' | b' '),
        form => byte == *form,
    };
    text.len() == shape.len() && text.bytes().zip(shape).all(fits)
}
