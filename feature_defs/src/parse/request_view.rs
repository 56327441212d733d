//! `request_views:`

use crate::data_type::DataType;
use crate::language::keys::{REQUEST_FEATURE, REQUEST_FIELD, REQUEST_VIEW};
use crate::name::Name;
use crate::parse::embedded::Embedded;
use crate::parse::members::Members;
use crate::parse::objects::{DeclaredField, DeclaredRequestFeature, DeclaredRequestView};
use crate::parse::reader::{Placed, Reader, is_null};
use crate::parse::yaml::{Kind, Node, Text};
use crate::suggestion::accepted;
use crate::value::Value;
use crate::value::json::expected;

/// `name: {inputs: {field: type or {type, default, nullable}}, features: {name: expression or {expression, description}}}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredRequestView {
    let owner = format!("request view `{name}`");
    let mut view = DeclaredRequestView {
        inputs: Members::unknown(),
        features: Members::unknown(),
    };
    let Some(fields) = reader.fields(node, &key.span, &owner, &REQUEST_VIEW.names()) else {
        return view;
    };
    view.inputs = match fields.get("inputs") {
        Some(node) => read_inputs(reader, node),
        None => Members::none(),
    };
    let features = reader.require(&fields, "features");
    let features = features.and_then(|node| read_features(reader, node, &owner));
    view.features = features.unwrap_or(Members::unknown());
    view
}

fn read_inputs<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Members<DeclaredField> {
    let Some(map) = reader.map(node, "`inputs`") else {
        return Members::unknown();
    };
    let read = |key, node| read_input(reader, key, node);
    Members::of_map(map, read, |field| {
        field.data_type = None;
        field.whole = false;
    })
}

fn read_input<'a>(reader: &mut Reader<'a>, key: &'a Text, node: &'a Node) -> Option<DeclaredField> {
    let name = reader.name(key);
    let before = reader.found.len();
    let mut field = DeclaredField {
        name: Placed {
            value: name?,
            span: key.span.clone(),
        },
        data_type: None,
        default: None,
        nullable: false,
        whole: true,
    };
    if matches!(node.kind, Kind::Mapping(_)) {
        read_parts(reader, &mut field, node);
    } else {
        field.data_type = reader.data_type(node).map(|data_type| data_type.value);
    }
    field.whole = reader.found.len() == before;
    Some(field)
}

/// `{type, default, nullable}`
fn read_parts<'a>(
    reader: &mut Reader<'a>,
    field: &mut DeclaredField,
    node: &'a Node,
) -> Option<()> {
    let owner = format!("request field `{}`", field.name.value);
    let fields = reader.fields(node, &field.name.span, &owner, &REQUEST_FIELD.names())?;
    let nullable = match fields.get("nullable") {
        Some(node) => {
            let named = [("true", true), ("false", false)];
            reader.one_of(node, "`true` or `false`", &named)
        }
        None => Some(false),
    };
    field.nullable = nullable.unwrap_or(true);
    let data_type = reader.require(&fields, "type");
    let data_type = data_type.and_then(|node| reader.data_type(node));
    field.data_type = data_type.map(|data_type| data_type.value);
    let default = fields.get("default")?;
    if is_null(default) && !field.nullable {
        let help = "add `nullable: true`, or leave the default out";
        let message = "the default is null, and the field is not nullable";
        reader.refuse(&default.span, message, help);
        return None;
    }
    field.default = read_value(reader, default, field.data_type?);
    Some(())
}

fn read_features<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    owner: &str,
) -> Option<Members<DeclaredRequestFeature>> {
    let map = reader.map(node, "`features`")?;
    if map.entries.is_empty() && map.whole {
        let message = format!("{owner} has no features");
        reader.refuse(&node.span, message, "write `features: {name: expression}`");
        return None;
    }
    let read = |key, node| read_feature(reader, key, node);
    Some(Members::of_map(map, read, |feature| {
        feature.expression = None
    }))
}

fn read_feature<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    node: &'a Node,
) -> Option<DeclaredRequestFeature> {
    let name = reader.name(key);
    let (expression, description) = match node.kind {
        Kind::Mapping(_) => {
            let owner = format!("feature `{}`", key.text);
            let fields = reader.fields(node, &key.span, &owner, &REQUEST_FEATURE.names())?;
            let node = reader.require(&fields, "expression");
            let expression = node.and_then(|node| reader.text(node, "`expression`"));
            (expression, reader.description(&fields))
        }
        _ => (reader.text(node, "an expression"), None),
    };
    Some(DeclaredRequestFeature {
        name: Placed {
            value: name?,
            span: key.span.clone(),
        },
        expression: expression.map(|text| Embedded::scalar(&text, &reader.file.text)),
        description,
    })
}

/// A literal of a declared type, in its JSON form without the need for quotes.
pub(crate) fn read_value(
    reader: &mut Reader<'_>,
    node: &Node,
    data_type: DataType,
) -> Option<Value> {
    if is_null(node) {
        return Some(Value::Null);
    }
    if let (true, Kind::Sequence(_) | Kind::Mapping(_)) = (data_type.is_nested(), &node.kind) {
        return read_nested(reader, node, data_type);
    }
    let text = reader.text(node, "a value")?;
    match literal(node, &text.text, data_type) {
        Ok(value) => Some(value),
        Err(error) => {
            reader.refuse(&text.span, error.to_string(), "");
            None
        }
    }
}

/// A list, vector or struct as a list or map of values; another form of it is JSON in a text.
fn read_nested(reader: &mut Reader<'_>, node: &Node, data_type: DataType) -> Option<Value> {
    let refused = |reader: &mut Reader<'_>| {
        let help = format!("write {}", expected(data_type));
        reader.refuse(&node.span, format!("this is no {data_type}"), help);
    };
    match (&node.kind, data_type) {
        (Kind::Sequence(items), DataType::List(element)) => {
            let values = items.iter().map(|item| read_value(reader, item, *element));
            values.collect::<Option<_>>().map(Value::List)
        }
        (Kind::Sequence(items), DataType::Vector { element, length }) => {
            let nulls = items.iter().filter(|item| is_null(item)).count();
            if u32::try_from(items.len()) != Ok(length) || nulls > 0 {
                refused(reader);
                return None;
            }
            let values = items.iter().map(|item| read_value(reader, item, *element));
            values.collect::<Option<_>>().map(Value::List)
        }
        (Kind::Mapping(map), DataType::Struct(of)) => {
            for (key, _) in &map.entries {
                if of.index_of(&key.text).is_none() {
                    let names: Vec<&str> = of.fields.iter().map(|f| f.name.as_str()).collect();
                    let message = format!("`{}` is not a field of {data_type}", key.text);
                    reader.refuse(&key.span, message, accepted(&key.text, &names));
                    return None;
                }
            }
            let fields = of.fields.iter().map(|field| match map.get(&field.name) {
                Some(node) => read_value(reader, node, field.data_type),
                None => Some(Value::Null),
            });
            fields.collect::<Option<_>>().map(Value::Struct)
        }
        _ => {
            refused(reader);
            None
        }
    }
}

fn literal(
    node: &Node,
    text: &str,
    data_type: DataType,
) -> Result<Value, crate::value::ValueError> {
    let plain = matches!(node.kind, Kind::Scalar { plain: true, .. });
    let as_text = || serde_json::Value::String(text.to_owned());
    let unquoted =
        plain && (data_type == DataType::Bool || data_type.is_integer() || data_type.is_float());
    let json = if unquoted || data_type.is_nested() {
        serde_json::from_str(text).unwrap_or_else(|_| as_text())
    } else {
        as_text()
    };
    Value::from_json(&json, data_type)
}
