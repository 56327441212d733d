//! The language for editors: JSON Schema.
//!
//! An editor completes and underlines while one types; `check` knows more (what names refer to, what SQL gives).

use serde_json::{Map, Value, json};

use crate::language::keys::{LATEST, PROJECT, SECTIONS, SQL, VIEW, WINDOWS};
use crate::language::{Form, Key, Object, Presence};

/// A JSON Schema (2020-12) of every definition file.
#[must_use]
pub fn schema() -> Value {
    let mut properties = properties(PROJECT.all_keys());
    for (section, objects) in &SECTIONS {
        let object = match *section {
            "views" => json!({ "anyOf": [view(&WINDOWS), view(&SQL), view(&LATEST)] }),
            _ => object(objects[0]),
        };
        let section_schema = json!({
            "type": "object",
            "description": objects[0].meaning,
            "propertyNames": { "pattern": NAME },
            "additionalProperties": object,
        });
        properties.insert((*section).to_owned(), section_schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Nightfill definition file",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

const NAME: &str = "^[a-z][a-z0-9_]*$";

/// The keys of all views and those of one kind.
fn view(kind: &Object) -> Value {
    let mut schema = object(&VIEW);
    let own = object(kind);
    schema["description"] = kind.title.into();
    if let (Some(all), Some(own)) = (
        schema["properties"].as_object_mut(),
        own["properties"].as_object(),
    ) {
        all.extend(own.clone());
    }
    if let (Some(all), Some(own)) = (
        schema["required"].as_array_mut(),
        own["required"].as_array(),
    ) {
        all.extend(own.iter().cloned());
    }
    schema
}

fn object(object: &Object) -> Value {
    let keys = object.all_keys();
    let required = keys.filter(|key| key.presence == Presence::Required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties(object.all_keys()),
        "required": required,
        "additionalProperties": false,
    })
}

fn properties(keys: impl Iterator<Item = &'static Key>) -> Map<String, Value> {
    let described = keys.map(|key| {
        let mut schema = form(&key.form);
        schema["description"] = key.meaning.into();
        (key.name.to_owned(), schema)
    });
    described.collect()
}

fn form(form: &Form) -> Value {
    match form {
        Form::Text
        | Form::Path
        | Form::Timezone
        | Form::Cron
        | Form::Reference(_)
        | Form::Syntax(_) => {
            json!({ "type": "string" })
        }
        Form::Name => json!({ "type": "string", "pattern": NAME }),
        Form::Span => json!({ "type": "string", "pattern": "^[0-9]+[a-z]+$" }),
        Form::DataType => json!({
            "type": "string",
            "pattern": "^(bool|u?int(8|16|32|64)|float(16|32|64)|decimal\\([0-9]+, ?[0-9]+\\)|string|bytes|uuid|date|timestamp|(list|vector|struct) ?<.*>)$",
        }),
        Form::Value => {
            json!({ "type": ["string", "number", "boolean", "null", "array", "object"] })
        }
        Form::Number => json!({ "type": "number" }),
        Form::Bool => json!({ "type": "boolean" }),
        // `version: 1` is a number to an editor.
        Form::OneOf(["1"]) => json!({ "const": 1 }),
        Form::OneOf(words) => json!({ "enum": words }),
        Form::List(of) => json!({ "type": "array", "items": self::form(of), "minItems": 1 }),
        Form::Map(of) => json!({ "type": "object", "additionalProperties": self::form(of) }),
        Form::Part(part) => object(part),
        Form::Either(short, full) => json!({ "anyOf": [self::form(short), self::form(full)] }),
    }
}
