//! Values as CSV writes them.

use chrono_tz::Tz;
use feature_defs::article::with_article;
use feature_defs::data_type::DataType;
use feature_defs::float16;
use feature_defs::time::{self, Instant};
use feature_defs::value::{Value, uuid};

/// Reads a value of a type; `None` for a text that is none. Times without a zone are in `zone`.
pub(crate) fn parse(text: &[u8], data_type: DataType, zone: Tz) -> Option<Value> {
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
        DataType::Float16 => Value::Float(float(half(text.parse().ok()?), text)?),
        DataType::Float32 => Value::Float(float(text.parse::<f32>().ok()?.into(), text)?),
        DataType::Float64 => Value::Float(float(text.parse().ok()?, text)?),
        DataType::Decimal { precision, scale } => Value::Decimal {
            unscaled: decimal(text, precision, scale)?,
            scale,
        },
        DataType::String => Value::String(text.to_owned()),
        // Refused where columns are declared.
        DataType::Bytes | DataType::List(_) | DataType::Vector { .. } | DataType::Struct(_) => {
            return None;
        }
        DataType::Uuid => Value::Uuid(uuid::parse(text)?),
        DataType::Date => Value::Date(time::parse_day(text).ok()?),
        DataType::Timestamp => Value::Timestamp(Instant::parse_local(text, zone).ok()?),
    })
}

/// Why a text is not a value of a type, with what is.
pub(crate) fn refusal(text: &[u8], data_type: DataType, zone: Tz) -> String {
    let shown = String::from_utf8_lossy(text);
    let time = match data_type {
        DataType::Date => time::parse_day(&shown).err(),
        DataType::Timestamp => Instant::parse_local(&shown, zone).err(),
        _ => None,
    };
    if let Some(refused) = time {
        return refused.to_string();
    }
    let expected = match data_type {
        DataType::Bool => "write `true` or `false`".to_owned(),
        DataType::Decimal { precision, scale } => format!(
            "write at most {} digits before and {scale} after the point",
            precision.saturating_sub(scale)
        ),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => match shown.parse::<f64>() {
            Ok(_) => "it is too great".to_owned(),
            Err(_) => "write a number, like `0.5`".to_owned(),
        },
        DataType::Uuid => "write one like `0198a1b2-3c4d-7e5f-8a6b-9c0d1e2f3a4b`".to_owned(),
        DataType::String => "save the file as UTF-8".to_owned(),
        other => match other.integer_range() {
            Some((least, greatest)) if shown.parse::<i128>().is_ok() => {
                format!("they go from {least} to {greatest}")
            }
            Some(_) => "write a whole number, like `42`".to_owned(),
            None => return format!("`{shown}` is not {}", with_article(data_type)),
        },
    };
    format!("`{shown}` is not {}: {expected}", with_article(data_type))
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "TRUE" | "True" => Some(true),
        "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The nearest half-precision float.
fn half(value: f64) -> f64 {
    float16::nearest(value).into()
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
            ("70000", DataType::Float16, None),
            ("-inf", DataType::Float16, Some("Float(-inf)")),
            ("0.1", DataType::Float16, Some("Float(0.0999755859375)")),
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
            (
                "2024-07-01 12:00:00.25+00",
                DataType::Timestamp,
                Some("2024-07-01T12:00:00.250Z"),
            ),
            (
                "2024-07-01 12:00-03",
                DataType::Timestamp,
                Some("2024-07-01T15:00:00Z"),
            ),
            ("2024-07-01 12:00-3", DataType::Timestamp, None),
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
    #[test]
    fn refusals_say_what_to_write() {
        let money = DataType::Decimal {
            precision: 5,
            scale: 2,
        };
        for (text, data_type, said) in [
            (
                "yes",
                DataType::Bool,
                "`yes` is not a bool: write `true` or `false`",
            ),
            (
                "1.5",
                DataType::Int8,
                "`1.5` is not an int8: write a whole number, like `42`",
            ),
            (
                "128",
                DataType::Int8,
                "`128` is not an int8: they go from -128 to 127",
            ),
            (
                "1.505",
                money,
                "`1.505` is not a decimal(5,2): write at most 3 digits before and 2 after the point",
            ),
            (
                "x",
                DataType::Float64,
                "`x` is not a float64: write a number, like `0.5`",
            ),
            (
                "2026-13-02",
                DataType::Date,
                "`2026-13-02` is not a date: there is no month 13",
            ),
            (
                "2026-04-31 10:30",
                DataType::Timestamp,
                "`2026-04-31 10:30` is not a timestamp: there is no day 31 in 2026-04, which has 30",
            ),
        ] {
            let refusal = refusal(text.as_bytes(), data_type, chrono_tz::Tz::UTC);
            assert_eq!(refusal, said);
        }
        for (text, data_type, said) in [
            (
                "1e39",
                DataType::Float32,
                "`1e39` is not a float32: it is too great",
            ),
            (
                "7e4",
                DataType::Float16,
                "`7e4` is not a float16: it is too great",
            ),
            (
                "x",
                DataType::Float16,
                "`x` is not a float16: write a number, like `0.5`",
            ),
        ] {
            let refusal = refusal(text.as_bytes(), data_type, chrono_tz::Tz::UTC);
            assert_eq!(refusal, said);
        }
        let example = "0198a1b2-3c4d-7e5f-8a6b-9c0d1e2f3a4b";
        assert!(shown(example, DataType::Uuid).is_some());
        let no_uuid = refusal(b"7", DataType::Uuid, chrono_tz::Tz::UTC);
        assert!(no_uuid.contains(example), "{no_uuid}");
        let forms = refusal(b"3.2.2026", DataType::Timestamp, chrono_tz::Tz::UTC);
        assert!(forms.contains("`1997-10-01 02:00`"), "{forms}");
    }
}
