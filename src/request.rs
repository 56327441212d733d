//! From arguments to the JSON of a request, the same that callers send over HTTP.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Instant;
use serde_json::{Map, Value, json};

/// Which entities, and what the request brings.
#[derive(Debug, Clone, clap::Args)]
#[command(group = clap::ArgGroup::new("who").required(true).multiple(true))]
pub(crate) struct Asked {
    /// An entity by its key, like `customer_id=7`, or `user=7,shop=4` where the key has parts; may be repeated. A comma
    /// parts key parts and no list: many entities, and keys that hold commas, go by `--entities`
    #[arg(long, value_name = "KEY=VALUE", value_parser = key, group = "who")]
    entity: Vec<Key>,
    /// Entities as JSON, one list a key part, like `{"customer_id": [7, 8]}`, or a file that holds it
    #[arg(
        long,
        value_name = "JSON|FILE",
        conflicts_with = "entity",
        group = "who"
    )]
    entities: Option<String>,
    /// A request field, like `amount=59.90`, the same for every entity; may be repeated
    #[arg(long, value_name = "FIELD=VALUE", value_parser = pair)]
    request: Vec<Pair>,
    /// The whole request as it is sent over HTTP, or a file that holds it
    #[arg(long, value_name = "JSON|FILE", conflicts_with_all = ["entity", "entities", "request"], group = "who")]
    body: Option<String>,
}

impl Asked {
    /// The body of the request, as of `as_of` if one is given.
    ///
    /// # Errors
    /// When an argument is not what it should be.
    pub(crate) fn body(
        &self,
        definitions: &Definitions,
        as_of: Option<Instant>,
    ) -> anyhow::Result<Map<String, Value>> {
        if let Some(given) = &self.body {
            let mut body = object(given)?;
            if let Some(as_of) = as_of {
                body.insert("as_of".to_owned(), json!(as_of));
            }
            return Ok(body);
        }
        let entities = match &self.entities {
            Some(given) => object(given)?,
            None => columns(&self.entity, definitions)?,
        };
        let count = entities
            .values()
            .find_map(Value::as_array)
            .map_or(0, Vec::len);
        let mut body = Map::new();
        body.insert("entities".to_owned(), Value::Object(entities));
        let mut fields = Map::new();
        for Pair { name, value } in &self.request {
            let value = typed(value, field_type(definitions, name));
            fields.insert(name.clone(), Value::Array(vec![value; count]));
        }
        if !fields.is_empty() {
            body.insert("request".to_owned(), Value::Object(fields));
        }
        if let Some(as_of) = as_of {
            body.insert("as_of".to_owned(), json!(as_of));
        }
        Ok(body)
    }
}

/// A JSON object that was given in place, or the file that holds it.
fn object(given: &str) -> anyhow::Result<Map<String, Value>> {
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        let read = fs::read_to_string(Path::new(given));
        read.with_context(|| format!("`{given}` is neither JSON nor a file that can be read"))?
    };
    serde_json::from_str(&text).with_context(|| {
        format!("`{given}` does not hold a JSON object, like `{{\"customer_id\": [1, 2]}}`")
    })
}

/// One list a key part, from `customer_id=7` or `user=7,shop=4`, one an entity.
fn columns(entities: &[Key], definitions: &Definitions) -> anyhow::Result<Map<String, Value>> {
    let mut columns: Map<String, Value> = Map::new();
    for (index, Key(parts)) in entities.iter().enumerate() {
        for Pair { name, value } in parts {
            let value = typed(value, key_type(definitions, name));
            let column = columns.entry(name).or_insert_with(|| json!([]));
            let values = column
                .as_array_mut()
                .ok_or_else(|| anyhow!("`{name}` is no list"))?;
            if values.len() != index {
                bail!("every `--entity` names the same key parts once each: see `{name}`");
            }
            values.push(value);
        }
    }
    let whole = |column: &Value| column.as_array().map(Vec::len) == Some(entities.len());
    if !columns.values().all(whole) {
        bail!("every `--entity` names the same key parts once each");
    }
    Ok(columns)
}

/// An entity's key as it was written.
#[derive(Debug, Clone)]
struct Key(Vec<Pair>);

/// A name and the text of its value.
#[derive(Debug, Clone)]
struct Pair {
    name: String,
    value: String,
}

fn key(text: &str) -> Result<Key, String> {
    let parts = text.split(',').map(pair).collect::<Result<_, _>>();
    parts.map(Key).map_err(|wrong| match text.split_once('=') {
        Some((name, values)) if values.contains(',') => {
            let list: Vec<&str> = values.split(',').collect();
            let list = json!({ name: list });
            format!("{wrong}; a list goes by `--entities`, like `--entities '{list}'`")
        }
        _ => wrong,
    })
}

fn pair(text: &str) -> Result<Pair, String> {
    let pair = text.split_once('=');
    let (name, value) = pair.ok_or_else(|| format!("`{text}` is not `NAME=VALUE`"))?;
    Ok(Pair {
        name: name.trim().to_owned(),
        value: value.to_owned(),
    })
}

fn key_type(definitions: &Definitions, name: &str) -> Option<DataType> {
    let parts = definitions
        .entities
        .values()
        .flat_map(|entity| &entity.keys);
    let part = parts.into_iter().find(|part| part.name.as_str() == name);
    part.map(|part| part.data_type)
}

fn field_type(definitions: &Definitions, name: &str) -> Option<DataType> {
    let views = definitions.request_views.values();
    let mut fields = views.flat_map(|view| &view.inputs);
    let field = fields.find(|field| field.name.as_str() == name);
    field.map(|field| field.data_type)
}

/// A value as JSON writes its type: numbers, booleans, lists and structs bare, all else in quotes. What does not fit is left to the
/// reader of the request to refuse, which says what it expected.
fn typed(text: &str, data_type: Option<DataType>) -> Value {
    let bare = match data_type {
        Some(DataType::String) => false,
        Some(t) => {
            let bare = t.is_integer() || t.is_float() || t == DataType::Bool || t.is_nested();
            bare || text == "null"
        }
        None => true,
    };
    let parsed = if bare {
        serde_json::from_str(text).ok()
    } else {
        None
    };
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_an_entity_is_told_where_lists_go() {
        let refused = key("kunde=A,B").expect_err("a list");
        assert!(refused.starts_with("`B` is not `NAME=VALUE`"), "{refused}");
        assert!(
            refused.contains(r#"--entities '{"kunde":["A","B"]}'"#),
            "{refused}"
        );
        let refused = key("kunde").expect_err("no value");
        assert_eq!(refused, "`kunde` is not `NAME=VALUE`");
        let Key(parts) = key("user=7, shop=4").expect("two parts");
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["user", "shop"]);
    }

    #[test]
    fn values_are_written_as_their_type_is() {
        let decimal = DataType::parse("decimal(12,2)").ok();
        for (text, data_type, value) in [
            ("7", Some(DataType::Int64), json!(7)),
            ("7", Some(DataType::String), json!("7")),
            ("null", Some(DataType::String), json!("null")),
            ("null", decimal, Value::Null),
            ("59.90", decimal, json!("59.90")),
            ("0.5", Some(DataType::Float64), json!(0.5)),
            ("x", Some(DataType::Int64), json!("x")),
            ("true", Some(DataType::Bool), json!(true)),
            ("[1, 2]", DataType::Int64.list_of(), json!([1, 2])),
        ] {
            assert_eq!(typed(text, data_type), value, "{text} {data_type:?}");
        }
    }
}
