//! The keys that every object may have.

use crate::about::About;
use crate::language::keys::ABOUT;
use crate::name::Name;
use crate::parse::reader::{Placed, Reader};
use crate::parse::yaml::{Kind, Node, Text};

/// What an object says of itself, as written.
#[derive(Debug, Default)]
pub(crate) struct DeclaredAbout {
    pub(crate) description: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) deprecated: Option<String>,
    pub(crate) renamed_from: Option<Placed<Name>>,
}

impl DeclaredAbout {
    pub(crate) fn whole(&self) -> About {
        About {
            description: self.description.clone(),
            owner: self.owner.clone(),
            tags: self.tags.clone(),
            deprecated: self.deprecated.clone(),
            renamed_from: self.renamed_from.as_ref().map(|name| name.value.clone()),
        }
    }
}

/// Reads them among an object's other keys; nothing where the object is not a map, which its own reader says.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, key: &'a Text, node: &'a Node) -> DeclaredAbout {
    let Kind::Mapping(map) = &node.kind else {
        return DeclaredAbout::default();
    };
    let fields = reader.fields_among(map, &key.span, &ABOUT.names());
    let mut text = |name: &str, what: &str| Some(reader.text(fields.get(name)?, what)?.text);
    let description = text("description", "a description");
    let owner = text("owner", "`owner`");
    DeclaredAbout {
        description,
        owner,
        deprecated: fields
            .get("deprecated")
            .and_then(|node| read_deprecated(reader, node)),
        tags: fields
            .get("tags")
            .map(|node| read_tags(reader, node))
            .unwrap_or_default(),
        renamed_from: fields
            .get("renamed_from")
            .and_then(|node| reader.parsed(node, "`renamed_from`", Name::parse)),
    }
}

fn read_deprecated(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let why = reader.text(node, "`deprecated`")?;
    if matches!(why.text.as_str(), "true" | "false" | "yes" | "no") {
        let message = "`deprecated` does not say why";
        let help = "write what to use instead, like `deprecated: use spend_v2`; an object without the key is not deprecated";
        reader.refuse(&why.span, message, help);
        return None;
    }
    Some(why.text)
}

fn read_tags<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for node in reader.list(node, "`tags`").unwrap_or_default() {
        let Some(tag) = reader.text(node, "a tag") else {
            continue;
        };
        if tags.contains(&tag.text) {
            let message = format!("the tag `{}` stands here twice", tag.text);
            reader.refuse(&tag.span, message, "keep one");
            continue;
        }
        tags.push(tag.text);
    }
    tags
}
