//! `request_views:`

use crate::data_type::DataType;
use crate::name::Name;
use crate::parse::embedded::Embedded;
use crate::parse::objects::{DeclaredRequestFeature, DeclaredRequestView};
use crate::parse::reader::{Placed, Reader, is_null};
use crate::parse::yaml::{Kind, Node, Text};
use crate::request_view::RequestField;
use crate::value::Value;

/// `name: {inputs: {field: type or {type, default, nullable}}, features: {name: expression or {expression, description}}}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<DeclaredRequestView> {
    let owner = format!("request view `{name}`");
    let fields = reader.fields(
        node,
        &key.span,
        &owner,
        &["inputs", "features", "description"],
    )?;
    let description = reader.description(&fields);
    let mut whole = true;
    let mut inputs = Vec::new();
    let entries = fields
        .get("inputs")
        .and_then(|node| reader.map(node, "`inputs`"));
    for (key, node) in entries.unwrap_or_default() {
        let field = read_input(reader, key, node);
        whole &= field.is_some();
        inputs.extend(field.map(|value| Placed {
            value,
            span: key.span.clone(),
        }));
    }
    let node = reader.require(&fields, "features")?;
    let entries = reader.map(node, "`features`")?;
    if entries.is_empty() {
        reader.refuse(
            &node.span,
            format!("{owner} has no features"),
            "write `features: {name: expression}`",
        );
    }
    let mut features = Vec::new();
    for (key, node) in entries {
        let feature = read_feature(reader, key, node);
        whole &= feature.is_some();
        features.extend(feature);
    }
    (whole && !features.is_empty()).then_some(DeclaredRequestView {
        description,
        inputs,
        features,
    })
}

fn read_input<'a>(reader: &mut Reader<'a>, key: &'a Text, node: &'a Node) -> Option<RequestField> {
    let name = reader.name(key);
    if !matches!(node.kind, Kind::Mapping(_)) {
        let data_type = reader.data_type(node)?.value;
        return Some(RequestField {
            name: name?,
            data_type,
            default: None,
            nullable: false,
        });
    }
    let owner = format!("request field `{}`", key.text);
    let fields = reader.fields(node, &key.span, &owner, &["type", "default", "nullable"])?;
    let nullable = match fields.get("nullable") {
        Some(node) => reader.one_of(
            node,
            "`true` or `false`",
            &[("true", true), ("false", false)],
        )?,
        None => false,
    };
    let type_node = reader.require(&fields, "type")?;
    let data_type = reader.data_type(type_node)?.value;
    let default = match fields.get("default") {
        Some(node) => Some(read_value(reader, node, data_type)?),
        None => None,
    };
    if let (Some(Value::Null), false) = (&default, nullable) {
        let span = fields.key_span("default");
        reader.refuse(
            &span,
            "the default is null, and the field is not nullable",
            "add `nullable: true`, or leave the default out",
        );
        return None;
    }
    Some(RequestField {
        name: name?,
        data_type,
        default,
        nullable,
    })
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
            let fields = reader.fields(node, &key.span, &owner, &["expression", "description"])?;
            let node = reader.require(&fields, "expression")?;
            (
                reader.text(node, "`expression`")?,
                reader.description(&fields),
            )
        }
        _ => (reader.text(node, "an expression")?, None),
    };
    Some(DeclaredRequestFeature {
        name: Placed {
            value: name?,
            span: key.span.clone(),
        },
        expression: Embedded::scalar(&expression, &reader.file.text),
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
    let text = reader.text(node, "a value")?;
    match literal(node, &text.text, data_type) {
        Ok(value) => Some(value),
        Err(error) => {
            reader.refuse(&text.span, error.to_string(), "");
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
    let json = if unquoted {
        serde_json::from_str(text).unwrap_or_else(|_| as_text())
    } else {
        as_text()
    };
    Value::from_json(&json, data_type)
}
