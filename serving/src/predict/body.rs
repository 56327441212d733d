//! The JSON of a request, read once into typed columns, with the place of everything that is wrong.
//!
//! Names become positions while they are read, values become typed values; no tree of the JSON is built.

use std::fmt;

use feature_defs::article::with_article;
use feature_defs::data_type::DataType;
use feature_defs::foreign;
use feature_defs::name::{MAX_NAME_LENGTH, Name};
use feature_defs::suggestion::named;
use feature_defs::time::Instant;
use feature_defs::value::json::expected;
use feature_defs::value::{StrictJson, Value};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};

/// A column that a request brings: a key part or a request field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: Name,
    pub(crate) data_type: DataType,
    pub(crate) nullable: bool,
    /// Taken where the request leaves the column out; without one it is required.
    pub(crate) default: Option<Value>,
}

/// A request as it was read. Its memory is used again by the next one.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// One a key column.
    pub(crate) keys: Vec<Given>,
    /// One a request field.
    pub(crate) fields: Vec<Given>,
    /// Names beside the key columns, the first few.
    pub(crate) strangers: Vec<String>,
    pub(crate) as_of: Option<Instant>,
    pub(crate) explain: bool,
}

/// How many names beside the key columns are kept.
const STRANGERS: usize = 4;

/// The values of one column, if the request had it.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) given: bool,
    pub(crate) values: Vec<Value>,
}

/// What a body may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'p> {
    pub(crate) keys: &'p [Column],
    pub(crate) fields: &'p [Column],
    /// Whether `explain` is one of the members.
    pub(crate) explain: bool,
    /// Most values a column.
    pub(crate) entities: usize,
}

impl Body {
    /// Reads a body, replacing what was read before.
    pub(crate) fn read(&mut self, bytes: &[u8], expected: Expected<'_>) -> Result<()> {
        empty(&mut self.keys, expected.keys.len());
        empty(&mut self.fields, expected.fields.len());
        self.strangers.clear();
        self.as_of = None;
        self.explain = false;

        let mut place = Place::default();
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let members = Members {
            expected,
            body: self,
            place: &mut place,
        };
        let read = (&mut json)
            .deserialize_map(members)
            .and_then(|()| json.end());
        if bytes.iter().all(u8::is_ascii_whitespace) {
            let message = "the body is empty: send a JSON object with `entities` and `request`";
            return Err(Error::new(ErrorKind::InvalidJson, message).at("$"));
        }
        read.map_err(|error| place.explain(&error))
    }
}

fn empty(columns: &mut Vec<Given>, count: usize) {
    columns.resize_with(count, Given::default);
    for column in columns {
        column.given = false;
        column.values.clear();
    }
}

/// Where in the body the reader stands, and our own error if it stopped there for one.
#[derive(Debug, Default)]
struct Place<'p> {
    section: Option<&'static str>,
    column: Option<&'p Column>,
    element: Option<usize>,
    /// Where inside the element, like `[2].amount`.
    inside: String,
    failure: Option<Error>,
}

impl Place<'_> {
    fn path(&self) -> String {
        let mut path = "$".to_owned();
        if let Some(section) = self.section {
            path = format!("{path}.{section}");
        }
        if let Some(column) = self.column {
            path = format!("{path}.{}", column.name);
        }
        if let Some(element) = self.element {
            path = format!("{path}[{element}]");
        }
        path.push_str(&self.inside);
        path
    }

    /// Keeps our own error and stops the reader.
    fn refuse<E: serde::de::Error>(&mut self, kind: ErrorKind, message: String) -> E {
        self.failure = Some(Error::new(kind, message).at(self.path()));
        E::custom("refused")
    }

    fn explain(mut self, error: &serde_json::Error) -> Error {
        if let Some(failure) = self.failure.take() {
            return failure;
        }
        let text = error.to_string();
        if let (true, Some(column)) = (text.starts_with("number out of range"), self.column) {
            let message = format!(
                "the number is out of range: {} is {}",
                with_article(column.data_type),
                range(column.data_type)
            );
            return Error::new(ErrorKind::InvalidRequest, message).at(self.path());
        }
        let kind = match error.classify() {
            serde_json::error::Category::Data => ErrorKind::InvalidRequest,
            _ => ErrorKind::InvalidJson,
        };
        Error::new(kind, foreign::json(error)).at(self.path())
    }
}

fn range(data_type: DataType) -> String {
    match data_type {
        DataType::Float64 => {
            "a number from -1.7976931348623157e308 to 1.7976931348623157e308".to_owned()
        }
        other => expected(other),
    }
}

/// The members of the body.
struct Members<'c, 'p> {
    expected: Expected<'p>,
    body: &'c mut Body,
    place: &'c mut Place<'p>,
}

const MEMBERS: [&str; 4] = ["entities", "request", "as_of", "explain"];

impl<'de> Visitor<'de> for Members<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `entities` and `request`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let known = &MEMBERS[..if self.expected.explain { 4 } else { 3 }];
        let mut seen = [false; MEMBERS.len()];
        while let Some(found) = map.next_key_seed(Named(|name: &str| {
            let position = known.iter().position(|member| *member == name);
            position.ok_or_else(|| named(name, known.iter().copied()))
        }))? {
            let position = match found {
                Ok(position) => position,
                Err(unknown) => {
                    let message = format!("unknown member {unknown}");
                    return Err(self.place.refuse(ErrorKind::InvalidRequest, message));
                }
            };
            self.place.section = Some(MEMBERS[position]);
            if std::mem::replace(&mut seen[position], true) {
                return Err(refuse_repeated(self.place, MEMBERS[position]));
            }
            match position {
                0 => map.next_value_seed(Columns {
                    columns: self.expected.keys,
                    given: &mut self.body.keys,
                    extra: Extra::Kept(&mut self.body.strangers),
                    entities: self.expected.entities,
                    place: &mut *self.place,
                })?,
                1 => map.next_value_seed(Columns {
                    columns: self.expected.fields,
                    given: &mut self.body.fields,
                    extra: Extra::Refused,
                    entities: self.expected.entities,
                    place: &mut *self.place,
                })?,
                2 => self.body.as_of = read_as_of(&map.next_value::<Json>()?, self.place)?,
                _ => self.body.explain = map.next_value()?,
            }
            self.place.section = None;
        }
        Ok(())
    }
}

fn read_as_of<E: serde::de::Error>(
    json: &Json,
    place: &mut Place<'_>,
) -> std::result::Result<Option<Instant>, E> {
    match json {
        Json::Null => Ok(None),
        Json::String(text) => Instant::parse_zoned(text)
            .map(Some)
            .map_err(|error| place.refuse(ErrorKind::InvalidRequest, error.to_string())),
        _ => Err(place.refuse(
            ErrorKind::InvalidRequest,
            "expected an instant: RFC 3339 with a zone (`1997-10-01T02:00:00Z`)".to_owned(),
        )),
    }
}

fn refuse_repeated<E: serde::de::Error>(place: &mut Place<'_>, name: &str) -> E {
    let message = format!("`{name}` stands here twice");
    place.refuse(ErrorKind::InvalidRequest, message)
}

/// What to do with a column that is not expected.
#[derive(Debug)]
enum Extra<'c> {
    /// Keys of other services may stand beside ours; a mistyped key of ours is missed anyway, and found among these.
    Kept(&'c mut Vec<String>),
    /// A mistyped optional field would silently take its default.
    Refused,
}

/// An object of columns.
struct Columns<'c, 'p> {
    columns: &'p [Column],
    given: &'c mut [Given],
    extra: Extra<'c>,
    entities: usize,
    place: &'c mut Place<'p>,
}

impl<'de> DeserializeSeed<'de> for Columns<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Columns<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an array of values, one an entity, for each name")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(found) = map.next_key_seed(Named(|name: &str| {
            let position = self.columns.iter().position(|c| c.name.as_str() == name);
            position.ok_or_else(|| match &mut self.extra {
                Extra::Kept(strangers) => {
                    if strangers.len() < STRANGERS {
                        strangers.push(name.chars().take(MAX_NAME_LENGTH).collect());
                    }
                    None
                }
                Extra::Refused => {
                    let known = self.columns.iter().map(|column| column.name.as_str());
                    Some(named(name, known))
                }
            })
        }))? {
            let position = match found {
                Ok(position) => position,
                Err(None) => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Err(Some(unknown)) => {
                    let message = format!("unknown field {unknown}");
                    return Err(self.place.refuse(ErrorKind::InvalidRequest, message));
                }
            };
            let column = &self.columns[position];
            self.place.column = Some(column);
            if std::mem::replace(&mut self.given[position].given, true) {
                return Err(refuse_repeated(self.place, column.name.as_str()));
            }
            map.next_value_seed(Elements {
                column,
                values: &mut self.given[position].values,
                entities: self.entities,
                place: &mut *self.place,
            })?;
            self.place.column = None;
        }
        Ok(())
    }
}

/// An array of values of one column.
struct Elements<'c, 'p> {
    column: &'p Column,
    values: &'c mut Vec<Value>,
    entities: usize,
    place: &'c mut Place<'p>,
}

impl<'de> DeserializeSeed<'de> for Elements<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an array of {} values, one an entity",
            self.column.data_type
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        self.place.element = Some(0);
        while let Some(value) = seq.next_element_seed(Element {
            column: self.column,
            place: &mut *self.place,
        })? {
            if self.values.len() == self.entities {
                self.place.element = None;
                let message = format!("more than {} entities in one request", self.entities);
                return Err(self.place.refuse(ErrorKind::TooLarge, message));
            }
            self.values.push(value);
            self.place.element = Some(self.values.len());
        }
        self.place.element = None;
        Ok(())
    }
}

/// One value.
struct Element<'c, 'p> {
    column: &'p Column,
    place: &'c mut Place<'p>,
}

impl Element<'_, '_> {
    fn take<E: serde::de::Error>(self, json: &Json) -> std::result::Result<Value, E> {
        if json.is_null() && !self.column.nullable {
            let message = format!(
                "null is not a value of `{}`: send one, or declare the field `nullable: true`",
                self.column.name
            );
            return Err(self.place.refuse(ErrorKind::InvalidRequest, message));
        }
        Value::from_json(json, self.column.data_type).map_err(|mut refused| {
            self.place.inside = std::mem::take(&mut refused.path);
            self.place
                .refuse(ErrorKind::InvalidRequest, refused.to_string())
        })
    }
}

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Element<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_article(self.column.data_type))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Value, E> {
        self.take(&Json::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<Value, E> {
        self.take(&Json::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Value, E> {
        self.take(&Json::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Value, E> {
        self.take(&Json::from(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> std::result::Result<Value, E> {
        self.take(&Json::from(value))
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Value, E> {
        self.take(&Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> std::result::Result<Value, A::Error> {
        let StrictJson(json) = StrictJson::deserialize(SeqAccessDeserializer::new(seq))?;
        self.take(&json)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Value, A::Error> {
        let StrictJson(json) = StrictJson::deserialize(MapAccessDeserializer::new(map))?;
        self.take(&json)
    }
}

/// A member's name, looked up while it is read; `Err` holds what to say of one that is not known.
struct Named<F>(F);

impl<'de, F, U> DeserializeSeed<'de> for Named<F>
where
    F: FnOnce(&str) -> std::result::Result<usize, U>,
{
    type Value = std::result::Result<usize, U>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        json: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<F, U> Visitor<'_> for Named<F>
where
    F: FnOnce(&str) -> std::result::Result<usize, U>,
{
    type Value = std::result::Result<usize, U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<Self::Value, E> {
        Ok((self.0)(name))
    }
}
