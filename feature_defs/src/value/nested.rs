//! The JSON form of lists, vectors and structs.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use super::{Value, ValueError};
use crate::data_type::{DataType, StructType};
use crate::suggestion::nearest;

/// Reads an array, of `length` elements where that is fixed; those of a fixed length are never null.
pub(super) fn read_list(
    json: &Json,
    data_type: DataType,
    element: DataType,
    length: Option<u32>,
) -> Result<Value, ValueError> {
    let refused = || ValueError::new(json, data_type);
    let elements = json.as_array().ok_or_else(refused)?;
    let is_long = |length| u32::try_from(elements.len()) == Ok(length);
    if !length.is_none_or(is_long) {
        return Err(refused());
    }
    let mut values = Vec::with_capacity(elements.len());
    for (place, json) in elements.iter().enumerate() {
        if length.is_some() && json.is_null() {
            return Err(ValueError::new(json, element).within(&format!("[{place}]")));
        }
        let value = Value::from_json(json, element);
        values.push(value.map_err(|error| error.within(&format!("[{place}]")))?);
    }
    Ok(Value::List(values))
}

/// Reads an object; fields that it leaves out are null.
pub(super) fn read_struct(
    json: &Json,
    data_type: DataType,
    of: &StructType,
) -> Result<Value, ValueError> {
    let members = json.as_object();
    let members = members.ok_or_else(|| ValueError::new(json, data_type))?;
    if let Some(unknown) = members.keys().find(|name| of.index_of(name).is_none()) {
        let names: Vec<&str> = of.fields.iter().map(|field| field.name.as_str()).collect();
        let near = nearest(unknown, names.iter().copied());
        let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        return Err(ValueError {
            path: String::new(),
            found: format!("an object with `{unknown}`"),
            data_type,
            expected: format!("`{}`{near}", names.join("`, `")),
        });
    }
    let mut values = Vec::with_capacity(of.fields.len());
    for field in &of.fields {
        let value = match members.get(&field.name) {
            Some(json) => Value::from_json(json, field.data_type),
            None => Ok(Value::Null),
        };
        values.push(value.map_err(|error| error.within(&format!(".{}", field.name)))?);
    }
    Ok(Value::Struct(values))
}

pub(super) fn write_list(elements: &[Value], data_type: DataType, out: &mut Vec<u8>) {
    let element = match data_type {
        DataType::List(element) | DataType::Vector { element, .. } => *element,
        other => other,
    };
    out.push(b'[');
    for (place, value) in elements.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        value.write_json(element, out);
    }
    out.push(b']');
}

pub(super) fn write_struct(values: &[Value], data_type: DataType, out: &mut Vec<u8>) {
    let fields = match data_type {
        DataType::Struct(of) => of.fields.as_slice(),
        _ => &[],
    };
    out.push(b'{');
    for (place, (field, value)) in fields.iter().zip(values).enumerate() {
        // Names of fields need no escapes.
        out.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(field.name.as_bytes());
        out.extend_from_slice(b"\":");
        value.write_json(field.data_type, out);
    }
    out.push(b'}');
}

/// JSON in which no object has a member twice, of which the last would win without a word.
#[derive(Debug, Clone, PartialEq)]
pub struct StrictJson(pub Json);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Strict).map(Self)
    }
}

struct Strict;

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(StrictJson(element)) = seq.next_element()? {
            elements.push(element);
        }
        Ok(elements.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Map::new();
        while let Some((name, StrictJson(value))) = map.next_entry::<String, StrictJson>()? {
            if members.contains_key(&name) {
                let message = format!("`{name}` stands in one object twice");
                return Err(serde::de::Error::custom(message));
            }
            members.insert(name, value);
        }
        Ok(members.into())
    }
}
