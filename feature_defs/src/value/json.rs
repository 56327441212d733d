//! The JSON form of values: exact both ways, and without casts.
//!
//! | type | JSON |
//! | --- | --- |
//! | `bool` | `true`, `false` |
//! | `int8` to `uint64` | an integer with all its digits; for `int64` and `uint64` also its digits as a string (`"9007199254740993"`, no `+`, `-0` or leading zeros), for callers whose numbers are floats |
//! | `float16`, `float32`, `float64` | a number, or `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `decimal(p,s)` | a string of plain digits (`"118.40"`); a number is read when it has at most 15 significant digits, which a float holds exactly |
//! | `string` | a string |
//! | `bytes` | a string in base64, with padding |
//! | `uuid` | a string of 32 hexadecimal digits in five groups (`"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`), read in upper case too |
//! | `date` | `"1997-10-01"` |
//! | `timestamp` | RFC 3339 with a zone and at most microseconds, seconds may be left out: `"1997-10-01T02:00:00.25Z"`; written in UTC |
//! | `list<T>`, `vector<F, n>` | an array of the elements' forms |
//! | `struct<a: T, ...>` | an object of the fields' forms, read in any order; a field that is left out is null, another one is refused |
//!
//! `null` is [`Value::Null`] for every type. A `float32` or `float16` is read as the nearest one and written in the
//! fewest digits that name it; everything else is read exactly or refused. A decimal may be written with fewer digits after the point than its type has, never with more.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{Datelike, NaiveDate};
use serde_json::Value as Json;

use super::{Value, nested, uuid};
use crate::data_type::DataType;
use crate::float16;
use crate::time::{self, Instant};

/// Most significant decimal digits that every `float64` keeps.
const EXACT_FLOAT_DIGITS: usize = 15;

/// Longest part of a refused value that a message repeats, in characters.
const SHOWN_CHARACTERS: usize = 40;

/// Why a JSON value is not a value of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{found} is no {data_type}: expected {expected}", at(.path))]
pub struct ValueError {
    /// Where inside the value, like `[0].amount`; empty for all of it.
    pub path: String,
    /// The JSON that was refused, in backticks, shortened.
    pub found: String,
    /// The type that was asked for.
    pub data_type: DataType,
    /// What would have been accepted, ranges included.
    pub expected: String,
}

impl ValueError {
    pub(crate) fn new(json: &Json, data_type: DataType) -> Self {
        Self {
            path: String::new(),
            found: shown(json),
            data_type,
            expected: expected_of(json, data_type),
        }
    }

    /// The same, told of a part of the value.
    #[must_use]
    pub(crate) fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

fn at(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("at `{path}`: "),
    }
}

impl Value {
    /// Reads the JSON form of a value of `data_type`; the [module](self) says what that is.
    ///
    /// # Errors
    /// [`ValueError`] for any JSON that is not exactly a value of the type.
    pub fn from_json(json: &Json, data_type: DataType) -> Result<Self, ValueError> {
        if json.is_null() {
            return Ok(Self::Null);
        }
        match data_type {
            DataType::List(element) => nested::read_list(json, data_type, *element, None),
            DataType::Vector { element, length } => {
                nested::read_list(json, data_type, *element, Some(length))
            }
            DataType::Struct(of) => nested::read_struct(json, data_type, of),
            plain => read(json, plain).ok_or_else(|| ValueError::new(json, plain)),
        }
    }

    /// Appends the JSON form of this value, which must be of `data_type` or null.
    pub fn write_json(&self, data_type: DataType, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Int(value) => write_serde(value, out),
            Self::UInt(value) => write_serde(value, out),
            Self::Float(value) => write_float(*value, data_type, out),
            Self::Decimal { unscaled, scale } => write_decimal(*unscaled, *scale, out),
            Self::String(text) => write_serde(text, out),
            Self::Bytes(bytes) => write_serde(&BASE64_STANDARD.encode(bytes), out),
            Self::Uuid(bytes) => write_serde(&uuid::text(bytes), out),
            Self::Date(days) => write_date(*days, out),
            Self::Timestamp(instant) => write_text(out, format_args!("\"{instant}\"")),
            Self::List(elements) => nested::write_list(elements, data_type, out),
            Self::Struct(fields) => nested::write_struct(fields, data_type, out),
        }
    }
}

fn read(json: &Json, data_type: DataType) -> Option<Value> {
    match data_type {
        DataType::Bool => json.as_bool().map(Value::Bool),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            read_float(json, data_type).map(Value::Float)
        }
        DataType::Decimal { precision, scale } => read_decimal(json, precision, scale),
        DataType::String => Some(Value::String(json.as_str()?.to_owned())),
        DataType::Bytes => BASE64_STANDARD
            .decode(json.as_str()?)
            .ok()
            .map(Value::Bytes),
        DataType::Uuid => uuid::parse(json.as_str()?).map(Value::Uuid),
        DataType::Date => read_date(json.as_str()?).map(Value::Date),
        DataType::Timestamp => read_timestamp(json.as_str()?).map(Value::Timestamp),
        integer => read_integer(json, integer),
    }
}

fn read_integer(json: &Json, data_type: DataType) -> Option<Value> {
    let (least, greatest) = data_type.integer_range()?;
    let value = match json {
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => i128::from(value),
            (None, Some(value)) => i128::from(value),
            (None, None) => return None,
        },
        Json::String(text) if matches!(data_type, DataType::Int64 | DataType::UInt64) => {
            canonical_integer(text)?
        }
        _ => return None,
    };
    if value < least || value > greatest {
        return None;
    }
    if least < 0 {
        i64::try_from(value).ok().map(Value::Int)
    } else {
        u64::try_from(value).ok().map(Value::UInt)
    }
}

/// An integer in its one canonical form: `-?[1-9][0-9]*` or `0`.
fn canonical_integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain =
        !digits.is_empty() && digits.len() <= 20 && digits.bytes().all(|b| b.is_ascii_digit());
    if !plain || (digits.starts_with('0') && text != "0") {
        return None;
    }
    text.parse().ok()
}

fn read_float(json: &Json, data_type: DataType) -> Option<f64> {
    let value = match json {
        Json::Number(number) => number.as_f64()?,
        Json::String(text) => match text.as_str() {
            "NaN" => return Some(f64::NAN),
            "Infinity" => return Some(f64::INFINITY),
            "-Infinity" => return Some(f64::NEG_INFINITY),
            _ => return None,
        },
        _ => return None,
    };
    #[allow(clippy::cast_possible_truncation)]
    // to the nearest float of the type, which is what it keeps
    let nearest = match data_type {
        DataType::Float16 => float16::nearest(value).into(),
        DataType::Float32 => (value as f32).into(),
        _ => value,
    };
    nearest.is_finite().then_some(nearest)
}

fn read_decimal(json: &Json, precision: u8, scale: u8) -> Option<Value> {
    let unscaled = match json {
        Json::String(text) => parse_decimal(text, precision, scale)?,
        Json::Number(number) => {
            let text = match (number.as_i64(), number.as_u64()) {
                (None, None) => exact_float_text(number.as_f64()?)?,
                _ => number.to_string(),
            };
            parse_decimal(&text, precision, scale)?
        }
        _ => return None,
    };
    Some(Value::Decimal { unscaled, scale })
}

/// The shortest digits that name this float, if they are few enough to be what was written.
fn exact_float_text(value: f64) -> Option<String> {
    let text = value.to_string();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    (value.is_finite() && significant.len() <= EXACT_FLOAT_DIGITS).then_some(text)
}

/// `-?digits[.digits]` to an integer of units of 10^-scale.
fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (unsigned, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let kept = fraction.trim_end_matches('0');
    if whole.is_empty()
        || !all_digits(whole)
        || !all_digits(fraction)
        || kept.len() > usize::from(scale)
    {
        return None;
    }
    let mut unscaled: i128 = 0;
    let missing = usize::from(scale) - kept.len();
    for digit in whole
        .bytes()
        .chain(kept.bytes())
        .chain(std::iter::repeat_n(b'0', missing))
    {
        unscaled = unscaled
            .checked_mul(10)?
            .checked_add(i128::from(digit - b'0'))?;
    }
    let limit = 10_i128.checked_pow(u32::from(precision))?;
    let signed = if text.starts_with('-') {
        -unscaled
    } else {
        unscaled
    };
    (unscaled < limit).then_some(signed)
}

fn read_date(text: &str) -> Option<i32> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
    if !shape {
        return None;
    }
    time::parse_day(text).ok()
}

fn read_timestamp(text: &str) -> Option<Instant> {
    Instant::parse_exact(text).ok()
}

fn write_float(value: f64, data_type: DataType, out: &mut Vec<u8>) {
    if value.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else if value == f64::INFINITY {
        out.extend_from_slice(b"\"Infinity\"");
    } else if value == f64::NEG_INFINITY {
        out.extend_from_slice(b"\"-Infinity\"");
    } else if data_type == DataType::Float16 {
        write_serde(&float16::shortest(value), out);
    } else if data_type == DataType::Float32 {
        #[allow(clippy::cast_possible_truncation)] // a widened float32 narrows to itself
        write_serde(&(value as f32), out);
    } else {
        write_serde(&value, out);
    }
}

fn write_decimal(unscaled: i128, scale: u8, out: &mut Vec<u8>) {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs();
    if scale == 0 {
        return write_text(out, format_args!("\"{sign}{digits}\""));
    }
    let unit = 10_u128.saturating_pow(u32::from(scale));
    let (whole, fraction) = (digits / unit, digits % unit);
    let width = usize::from(scale);
    write_text(out, format_args!("\"{sign}{whole}.{fraction:0width$}\""));
}

fn write_date(days: i32, out: &mut Vec<u8>) {
    match NaiveDate::from_epoch_days(days) {
        Some(date) => write_text(
            out,
            format_args!(
                "\"{:04}-{:02}-{:02}\"",
                date.year(),
                date.month(),
                date.day()
            ),
        ),
        None => write_text(out, format_args!("\"{days}d\"")),
    }
}

/// Numbers and strings as `serde_json` writes them, without an allocation. Writing to a `Vec` cannot fail.
fn write_serde<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(&mut *out, value);
    debug_assert!(written.is_ok());
}

fn write_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok());
}

fn shown(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// What a type takes, and what is impossible about a day or a time that is none.
fn expected_of(json: &Json, data_type: DataType) -> String {
    let expected = expected(data_type);
    let is_time = matches!(data_type, DataType::Date | DataType::Timestamp);
    let text = json.as_str().filter(|_| is_time);
    match text.and_then(time::impossible) {
        Some(impossible) => format!("{expected}, and {impossible}"),
        None => expected,
    }
}

/// What is accepted for a type, in words.
#[must_use]
pub fn expected(data_type: DataType) -> String {
    match data_type {
        DataType::List(element) => format!("an array of {element} values"),
        DataType::Vector { element, length } => {
            format!("an array of {length} {element} values, none of them null")
        }
        DataType::Struct(of) => {
            let names: Vec<&str> = of.fields.iter().map(|field| field.name.as_str()).collect();
            format!("an object with `{}`", names.join("`, `"))
        }
        DataType::Bool => "`true` or `false`".to_owned(),
        DataType::Float16 => {
            "a number from -65504 to 65504, \"NaN\", \"Infinity\" or \"-Infinity\"".to_owned()
        }
        DataType::Float32 => {
            "a number from -3.4028235e38 to 3.4028235e38, \"NaN\", \"Infinity\" or \"-Infinity\""
                .to_owned()
        }
        DataType::Float64 => "a number, \"NaN\", \"Infinity\" or \"-Infinity\"".to_owned(),
        DataType::Decimal { precision, scale } => format!(
            "a string like \"118.4\" with at most {} digits before and {scale} after the point",
            precision.saturating_sub(scale)
        ),
        DataType::String => "a string".to_owned(),
        DataType::Bytes => "a string in base64".to_owned(),
        DataType::Uuid => "a uuid like \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"".to_owned(),
        DataType::Date => "a day like \"1997-10-01\"".to_owned(),
        DataType::Timestamp => {
            "RFC 3339 with a zone and at most microseconds, like \"1997-10-01T02:00:00Z\""
                .to_owned()
        }
        integer => {
            let (least, greatest) = integer.integer_range().unwrap_or_default();
            format!("an integer from {least} to {greatest}")
        }
    }
}
