//! `entities:`

use crate::article::with_article;
use crate::entity::KEY_TYPES;
use crate::language::keys::ENTITY;
use crate::name::Name;
use crate::parse::members::Members;
use crate::parse::objects::{DeclaredEntity, DeclaredKey};
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};

/// Column names of stored rows and of entity frames that no key may have.
const TAKEN: [(&str, &str); 2] = [
    ("event_time", "the stamp of each row"),
    ("as_of", "the instant from which a request looks"),
];

/// `name: {keys: {key: type, ...}}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredEntity {
    let owner = format!("entity `{name}`");
    let fields = reader.fields(node, &key.span, &owner, &ENTITY.names());
    let keys_node = fields.and_then(|fields| reader.require(&fields, "keys"));
    let keys = keys_node.and_then(|node| read_keys(reader, node, &owner));
    DeclaredEntity {
        keys: keys.unwrap_or(Members::unknown()),
    }
}

fn read_keys<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    owner: &str,
) -> Option<Members<DeclaredKey>> {
    let map = reader.map(node, "`keys`")?;
    if map.entries.is_empty() && map.whole {
        reader.refuse(
            &node.span,
            format!("{owner} has no keys"),
            "write `keys: {customer_id: int64}`",
        );
        return None;
    }
    let mut keys = Vec::new();
    for (key, node) in &map.entries {
        let name = reader.name(key);
        let data_type = read_key_type(reader, node).filter(|_| !map.repeats(&key.text));
        if let Some((_, taken)) = TAKEN.iter().find(|(taken, _)| *taken == key.text) {
            let message = format!("the key name `{}` is taken by {taken}", key.text);
            reader.refuse(&key.span, message, "give the key another name");
        }
        keys.push(name.map(|name| DeclaredKey { name, data_type }));
    }
    Some(keys.into_iter().collect::<Members<_>>().whole_if(map.whole))
}

fn read_key_type(reader: &mut Reader<'_>, node: &Node) -> Option<crate::data_type::DataType> {
    let data_type = reader.data_type(node)?;
    if KEY_TYPES.contains(&data_type.value) {
        return Some(data_type.value);
    }
    let message = format!(
        "{} is not a key: equal values must have equal bytes",
        with_article(data_type.value)
    );
    let accepted = KEY_TYPES.map(|t| t.to_string()).join(", ");
    reader.refuse(&data_type.span, message, format!("accepted: {accepted}"));
    None
}
