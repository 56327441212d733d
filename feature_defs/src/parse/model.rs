//! `models:`

use crate::language::keys::{MODEL, OUTPUT};
use crate::model::Transform;
use crate::name::Name;
use crate::parse::objects::DeclaredModel;
use crate::parse::reader::{Placed, Reader};
use crate::parse::yaml::{Node, Text};

/// `name: {service, output: {name, transform}}`; the output's name is the model's unless it says otherwise.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredModel {
    let owner = format!("model `{name}`");
    let mut model = DeclaredModel {
        service: None,
        output: Placed {
            value: name.clone(),
            span: key.span.clone(),
        },
        transform: None,
    };
    let Some(fields) = reader.fields(node, &key.span, &owner, &MODEL.names()) else {
        return model;
    };
    let service = reader.require(&fields, "service");
    model.service = service.and_then(|node| reader.text(node, "`service`"));
    let Some(node) = fields.get("output") else {
        return model;
    };
    let span = fields.key_span("output");
    let Some(fields) = reader.fields(node, &span, "`output`", &OUTPUT.names()) else {
        return model;
    };
    if let Some(node) = fields.get("name")
        && let Some(output) = reader.parsed(node, "`name`", Name::parse)
    {
        model.output = output;
    }
    if let Some(node) = fields.get("transform")
        && let Some(transform) = reader.one_of(node, "a transform", &Transform::NAMED)
    {
        model.transform = Some(transform);
    }
    model
}
