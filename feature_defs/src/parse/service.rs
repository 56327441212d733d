//! `services:`

use crate::name::Name;
use crate::parse::objects::{DeclaredService, DeclaredServiceFeature};
use crate::parse::reader::Reader;
use crate::parse::yaml::{Kind, Node, Text};

/// `name: {features: [view.*, view.feature, view.feature: {default: value}], description}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<DeclaredService> {
    let owner = format!("service `{name}`");
    let fields = reader.fields(node, &key.span, &owner, &["features", "description"])?;
    let description = reader.description(&fields);
    let node = reader.require(&fields, "features")?;
    let items = reader.list(node, "`features`")?;
    if items.is_empty() {
        reader.refuse(
            &node.span,
            format!("{owner} has no features"),
            "write `features: [view.*]`",
        );
        return None;
    }
    let mut features = Vec::new();
    for item in items {
        features.extend(read_entry(reader, item));
    }
    (features.len() == items.len()).then_some(DeclaredService {
        description,
        features,
    })
}

fn read_entry<'a>(reader: &mut Reader<'a>, item: &'a Node) -> Option<DeclaredServiceFeature> {
    let (text, default) = match &item.kind {
        Kind::Mapping(entries) if entries.len() == 1 => {
            let (key, node) = &entries[0];
            let fields =
                reader.fields(node, &key.span, &format!("`{}`", key.text), &["default"])?;
            (key.clone(), fields.get("default").cloned())
        }
        _ => (reader.text(item, "a feature of the service")?, None),
    };
    let Some((view, feature)) = text.text.split_once('.') else {
        let message = format!("`{}` is not a feature", text.text);
        let help = format!(
            "write `{}.*` for all features of a view, or `view.feature`",
            text.text
        );
        reader.refuse(&text.span, message, help);
        return None;
    };
    if feature == "*" && default.is_some() {
        reader.refuse(
            &text.span,
            "a default for all features of a view",
            "write the default at each `view.feature`",
        );
        return None;
    }
    Some(DeclaredServiceFeature {
        view: view.to_owned(),
        feature: (feature != "*").then(|| feature.to_owned()),
        default,
        span: text.span,
    })
}
