//! `services:`

use crate::language::keys::{SERVICE, SERVICE_FEATURE};
use crate::name::Name;
use crate::parse::members::Members;
use crate::parse::objects::{DeclaredService, DeclaredServiceFeature};
use crate::parse::reader::{Reader, is_null};
use crate::parse::yaml::{Kind, Node, Text};

/// `name: {features: [view.*, view.feature, view.feature: {default: value, as: name}], full_names, aliases}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredService {
    let owner = format!("service `{name}`");
    let fields = reader.fields(node, &key.span, &owner, &SERVICE.names());
    let full_names = fields.as_ref().and_then(|fields| {
        let words = [("true", true), ("false", false)];
        reader.one_of(fields.get("full_names")?, "a truth value", &words)
    });
    let aliases = fields.as_ref().and_then(|fields| {
        let items = reader.list(fields.get("aliases")?, "`aliases`")?;
        let read = |item| reader.parsed(item, "an alias", Name::parse);
        Some(items.iter().filter_map(read).collect())
    });
    let features = fields.and_then(|fields| reader.require(&fields, "features"));
    let features = features.and_then(|node| read_features(reader, node, &owner));
    DeclaredService {
        full_names: full_names.unwrap_or(true),
        aliases: aliases.unwrap_or_default(),
        features: features.unwrap_or(Members::unknown()),
    }
}

fn read_features<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    owner: &str,
) -> Option<Members<DeclaredServiceFeature>> {
    let items = reader.list(node, "`features`")?;
    if items.is_empty() {
        let message = format!("{owner} has no features");
        reader.refuse(&node.span, message, "write `features: [view.*]`");
        return None;
    }
    Some(items.iter().map(|item| read_entry(reader, item)).collect())
}

fn read_entry<'a>(reader: &mut Reader<'a>, item: &'a Node) -> Option<DeclaredServiceFeature> {
    let (text, default, rename) = match &item.kind {
        Kind::Mapping(map) if map.entries.len() == 1 => {
            let (key, node) = &map.entries[0];
            if let Kind::Scalar { text, .. } = &node.kind
                && !is_null(node)
            {
                let message = format!("`{}` has a value here", key.text);
                let help = format!("write `{}: {{ default: {text} }}`", key.text);
                reader.refuse(&node.span, message, help);
                return None;
            }
            let fields = reader.fields(
                node,
                &key.span,
                &format!("`{}`", key.text),
                &SERVICE_FEATURE.names(),
            )?;
            let rename = fields
                .get("as")
                .map(|node| reader.parsed(node, "`as`", Name::parse));
            let rename = match rename {
                Some(name) => Some(name?),
                None => None,
            };
            (key.clone(), fields.get("default").cloned(), rename)
        }
        _ => (reader.text(item, "a feature of the service")?, None, None),
    };
    let Some((view, feature)) = text.text.split_once('.') else {
        return Some(DeclaredServiceFeature {
            view: text.text,
            dotted: false,
            feature: None,
            default,
            rename,
            span: text.span,
        });
    };
    if feature == "*" && rename.is_some() {
        reader.refuse(
            &text.span,
            "one name for all features of a view",
            "write the name at each `view.feature`, or `full_names: false` at the service",
        );
        return None;
    }
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
        dotted: true,
        feature: (feature != "*").then(|| feature.to_owned()),
        default,
        rename,
        span: text.span,
    })
}
