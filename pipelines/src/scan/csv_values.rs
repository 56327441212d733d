//! Values as CSV writes them.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::time::Instant;
use feature_defs::value::Value;

/// Reads a value of a type; `None` for a text that is none. Times without a zone are in `zone`.
pub(super) fn parse(text: &[u8], data_type: DataType, zone: Tz) -> Option<Value> {
    if data_type == DataType::Bytes {
        return Some(Value::Bytes(text.to_owned()));
    }
    let text = std::str::from_utf8(text).ok()?;
    Some(match data_type {
        DataType::Bool => Value::Bool(boolean(text)?),
        DataType::Int8 => Value::Int(text.parse::<i8>().ok()?.into()),
        DataType::Int16 => Value::Int(text.parse::<i16>().ok()?.into()),
        DataType::Int32 => Value::Int(text.parse::<i32>().ok()?.into()),
        DataType::Int64 => Value::Int(text.parse().ok()?),
        DataType::UInt8 => Value::UInt(text.parse::<u8>().ok()?.into()),
        DataType::UInt16 => Value::UInt(text.parse::<u16>().ok()?.into()),
        DataType::UInt32 => Value::UInt(text.parse::<u32>().ok()?.into()),
        DataType::UInt64 => Value::UInt(text.parse().ok()?),
        DataType::Float32 => Value::Float(float(text.parse::<f32>().ok()?.into(), text)?),
        DataType::Float64 => Value::Float(float(text.parse().ok()?, text)?),
        DataType::Decimal { precision, scale } => Value::Decimal {
            unscaled: decimal(text, precision, scale)?,
            scale,
        },
        DataType::String => Value::String(text.to_owned()),
        DataType::Bytes => return None,
        DataType::Date => Value::Date(days(text)?),
        DataType::Timestamp => Value::Timestamp(timestamp(text, zone)?),
    })
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "TRUE" | "True" => Some(true),
        "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// A number too great for its type is none, unless it says that it is infinite.
fn float(value: f64, text: &str) -> Option<f64> {
    let says_infinite = text.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'i'));
    (value.is_finite() || value.is_nan() || says_infinite).then_some(value)
}

/// Digits with at most `scale` of them after the point, zeros at the end aside.
fn decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let kept = fraction.trim_end_matches('0');
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if kept.len() > usize::from(scale) {
        return None;
    }
    let mut unscaled: i128 = 0;
    let zeros = usize::from(scale) - kept.len();
    let all = whole
        .bytes()
        .chain(kept.bytes())
        .chain(std::iter::repeat_n(b'0', zeros));
    for digit in all {
        unscaled = unscaled
            .checked_mul(10)?
            .checked_add(i128::from(digit - b'0'))?;
    }
    (unscaled < 10_i128.pow(u32::from(precision))).then_some(if negative {
        -unscaled
    } else {
        unscaled
    })
}

fn days(text: &str) -> Option<i32> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    i32::try_from(days).ok()
}

/// RFC 3339 with `T` or a space, with or without a zone, or a date, which is midnight.
fn timestamp(text: &str, zone: Tz) -> Option<Instant> {
    let (time, zoned) = if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        (time.naive_utc(), true)
    } else if let Ok(time) = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f") {
        (time, false)
    } else if let Ok(time) = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f") {
        (time, false)
    } else {
        (
            NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .ok()?
                .and_hms_opt(0, 0, 0)?,
            false,
        )
    };
    let utc = time.and_utc();
    let micros = utc.timestamp_micros();
    let is_whole = i64::from(utc.timestamp_subsec_nanos()) % 1_000 == 0;
    let instant = Instant::from_micros(micros);
    let instant = if zoned {
        Some(instant)
    } else {
        instant.as_local_in(zone)
    };
    instant.filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, data_type: DataType) -> Option<String> {
        let value = parse(text.as_bytes(), data_type, chrono_tz::Europe::Berlin)?;
        Some(match value {
            Value::Timestamp(instant) => instant.to_string(),
            Value::Decimal { unscaled, .. } => unscaled.to_string(),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn values_parse_exactly_or_not_at_all() {
        let money = DataType::Decimal {
            precision: 5,
            scale: 2,
        };
        for (text, data_type, expected) in [
            ("12.5", money, Some("1250")),
            ("-0.01", money, Some("-1")),
            ("1.500", money, Some("150")),
            ("1.505", money, None),
            ("1000", money, None),
            (".", money, None),
            ("1e2", money, None),
            ("128", DataType::Int8, None),
            ("1.0", DataType::Int64, None),
            ("1e400", DataType::Float64, None),
            (
                "2024-07-01",
                DataType::Timestamp,
                Some("2024-06-30T22:00:00Z"),
            ),
            (
                "2024-07-01 12:00:00",
                DataType::Timestamp,
                Some("2024-07-01T10:00:00Z"),
            ),
            (
                "2024-07-01T12:00:00.25+00:00",
                DataType::Timestamp,
                Some("2024-07-01T12:00:00.250Z"),
            ),
            ("2024-07-01T12:00:00.0000001Z", DataType::Timestamp, None),
            ("2024-02-30", DataType::Date, None),
            ("yes", DataType::Bool, None),
        ] {
            assert_eq!(
                shown(text, data_type).as_deref(),
                expected,
                "{text} as {data_type}"
            );
        }
    }
}
