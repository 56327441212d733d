//! `models:`

use crate::model::Transform;
use crate::name::Name;
use crate::parse::objects::DeclaredModel;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};

/// `name: {service, output: {name, transform}, description}`; the output's name is the model's unless it says otherwise.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<DeclaredModel> {
    let fields = reader.fields(
        node,
        &key.span,
        &format!("model `{name}`"),
        &["service", "output", "description"],
    )?;
    let description = reader.description(&fields);
    let service = reader.require(&fields, "service");
    let service = service.and_then(|node| reader.text(node, "`service`"));
    let mut output = name.clone();
    let mut transform = None;
    if let Some(node) = fields.get("output") {
        let span = fields.key_span("output");
        let fields = reader.fields(node, &span, "`output`", &["name", "transform"])?;
        if let Some(node) = fields.get("name") {
            output = reader.parsed(node, "`name`", Name::parse)?.value;
        }
        if let Some(node) = fields.get("transform") {
            transform = Some(reader.one_of(node, "a transform", &Transform::NAMED)?);
        }
    }
    Some(DeclaredModel {
        description,
        service: service?,
        output,
        transform,
    })
}
