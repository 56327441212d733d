//! Values as JSON lines write them: the JSON form that requests and answers have ([`feature_defs::value::json`]), read
//! from the text itself, so that every digit counts.
//!
//! What differs from requests: a number stands for a decimal whatever its digits, a timestamp may have no zone, and a
//! struct may have fields that are not declared, as a Parquet file may.

use std::borrow::Cow;
use std::fmt;

use chrono_tz::Tz;
use feature_defs::data_type::{DataType, StructType};
use feature_defs::time::Instant;
use feature_defs::value::json::expected;
use feature_defs::value::{Value, ValueError};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::csv_values;

/// Longest part of a refused value that a message repeats, in characters.
const SHOWN_CHARACTERS: usize = 40;

/// Greatest power of ten by which a decimal is written: more than any decimal needs.
const MAX_EXPONENT: usize = 80;

/// A value that is none of its type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where inside the column's value, like `[0].amount`.
    pub(super) path: String,
    pub(super) message: String,
}

impl Fault {
    fn new(message: impl fmt::Display) -> Self {
        Self {
            path: String::new(),
            message: message.to_string(),
        }
    }

    fn refused(raw: &RawValue, data_type: DataType) -> Self {
        Self::new(ValueError {
            path: String::new(),
            found: shown(raw.get()),
            data_type,
            expected: expected_here(data_type),
        })
    }

    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

/// Reads a value of a type. Times without a zone are in `zone`.
pub(super) fn read(raw: &RawValue, data_type: DataType, zone: Tz) -> Result<Value, Fault> {
    let text = raw.get();
    if text == "null" {
        return Ok(Value::Null);
    }
    match data_type {
        DataType::List(element) => list(raw, data_type, *element, None, zone),
        DataType::Vector { element, length } => list(raw, data_type, *element, Some(length), zone),
        DataType::Struct(of) => structs(raw, data_type, of, zone),
        plain => match text.as_bytes().first() {
            Some(b'"') => string(raw, plain, zone),
            Some(b'-' | b'0'..=b'9') => {
                number(text, plain, zone).ok_or_else(|| Fault::refused(raw, plain))
            }
            Some(b't' | b'f') if plain == DataType::Bool => Ok(Value::Bool(text == "true")),
            _ => Err(Fault::refused(raw, plain)),
        },
    }
}

fn string(raw: &RawValue, data_type: DataType, zone: Tz) -> Result<Value, Fault> {
    let text: String = serde_json::from_str(raw.get()).map_err(|_| {
        Fault::new(format!(
            "{} is no text: a `\\u` escape is half of a pair",
            shown(raw.get())
        ))
    })?;
    match data_type {
        DataType::String => Ok(Value::String(text)),
        DataType::Timestamp => match Instant::parse_local(&text, zone) {
            Ok(instant) => Ok(Value::Timestamp(instant)),
            Err(error) => Err(Fault::new(error)),
        },
        other => {
            let value = Value::from_json(&Json::String(text), other);
            value.map_err(|_| Fault::refused(raw, other))
        }
    }
}

/// A number of a type that numbers stand for.
fn number(text: &str, data_type: DataType, zone: Tz) -> Option<Value> {
    match data_type {
        DataType::Decimal { .. } => {
            let plain = without_exponent(text)?;
            csv_values::parse(plain.as_bytes(), data_type, zone)
        }
        number if number.is_float() || number.integer_range().is_some() => {
            csv_values::parse(text.as_bytes(), number, zone)
        }
        _ => None,
    }
}

/// The same number in plain digits: `1.5e-3` as `0.0015`.
fn without_exponent(text: &str) -> Option<Cow<'_, str>> {
    let Some((digits, exponent)) = text.split_once(['e', 'E']) else {
        return Some(Cow::Borrowed(text));
    };
    let exponent: i32 = exponent.parse().ok()?;
    let zeros = usize::try_from(exponent.unsigned_abs()).ok()?;
    if zeros > MAX_EXPONENT {
        return None;
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let zeros = "0".repeat(zeros);
    // The point moves over zeros that do not count.
    let (all, point) = if exponent < 0 {
        (format!("{zeros}{whole}{fraction}"), whole.len())
    } else {
        let all = format!("{whole}{fraction}{zeros}");
        (all, whole.len() + zeros.len())
    };
    let (whole, fraction) = all.split_at(point);
    Some(Cow::Owned(format!("{sign}{whole}.{fraction}")))
}

fn list(
    raw: &RawValue,
    data_type: DataType,
    element: DataType,
    length: Option<u32>,
    zone: Tz,
) -> Result<Value, Fault> {
    let elements: Vec<&RawValue> =
        serde_json::from_str(raw.get()).map_err(|_| Fault::refused(raw, data_type))?;
    if length.is_some_and(|length| u32::try_from(elements.len()) != Ok(length)) {
        return Err(Fault::refused(raw, data_type));
    }
    let mut values = Vec::with_capacity(elements.len());
    for (place, raw) in elements.into_iter().enumerate() {
        let value = match read(raw, element, zone) {
            Ok(Value::Null) if length.is_some() => Err(Fault::refused(raw, element)),
            read => read,
        };
        values.push(value.map_err(|fault| fault.within(&format!("[{place}]")))?);
    }
    Ok(Value::List(values))
}

fn structs(raw: &RawValue, data_type: DataType, of: &StructType, zone: Tz) -> Result<Value, Fault> {
    if !raw.get().starts_with('{') {
        return Err(Fault::refused(raw, data_type));
    }
    let members: Members<'_> = serde_json::from_str(raw.get()).map_err(Fault::new)?;
    if let Some(name) = members.repeated() {
        return Err(Fault::new(format!(
            "the key `{name}` stands in the object twice"
        )));
    }
    let mut values = Vec::with_capacity(of.fields.len());
    for field in &of.fields {
        let value = match members.get(&field.name) {
            Some(raw) => read(raw, field.data_type, zone),
            None => Ok(Value::Null),
        };
        values.push(value.map_err(|fault| fault.within(&format!(".{}", field.name)))?);
    }
    Ok(Value::Struct(values))
}

/// The members of an object by name, their values unread.
#[derive(Debug, Default)]
pub(super) struct Members<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

impl<'j> Members<'j> {
    pub(super) fn get(&self, name: &str) -> Option<&'j RawValue> {
        let place = self.0.binary_search_by(|(key, _)| key.as_ref().cmp(name));
        place.ok().map(|place| self.0[place].1)
    }

    /// A name that stands in the object more than once.
    pub(super) fn repeated(&self) -> Option<&str> {
        let mut pairs = self.0.windows(2);
        let pair = pairs.find(|pair| pair[0].0 == pair[1].0)?;
        Some(pair[0].0.as_ref())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_ref())
    }
}

/// A key, which is only copied where it has escapes.
#[derive(Deserialize)]
struct Key<'j>(#[serde(borrow)] Cow<'j, str>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Key(name), value)) = map.next_entry()? {
            members.push((name, value));
        }
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Members(members))
    }
}

/// What a type takes, where JSON lines take more than requests do.
fn expected_here(data_type: DataType) -> String {
    match data_type {
        DataType::Decimal { precision, scale } => format!(
            "a number, or a string like \"118.4\", with at most {} digits before and {scale} after the point",
            precision.saturating_sub(scale)
        ),
        DataType::Timestamp => {
            "a string like \"1997-10-01T02:00:00Z\" or \"1997-10-01 02:00\"".to_owned()
        }
        other => expected(other),
    }
}

/// A part of a file for messages, shortened.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests;
