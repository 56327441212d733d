//! `entities:`

use crate::entity::{Entity, KEY_TYPES, KeyPart};
use crate::name::Name;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};

/// `name: {keys: {key: type, ...}, description}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<Entity> {
    let owner = format!("entity `{name}`");
    let fields = reader.fields(node, &key.span, &owner, &["keys", "description"])?;
    let description = reader.description(&fields);
    let keys_node = reader.require(&fields, "keys")?;
    let entries = reader.map(keys_node, "`keys`")?;
    if entries.is_empty() {
        reader.refuse(
            &keys_node.span,
            format!("{owner} has no keys"),
            "write `keys: {customer_id: int64}`",
        );
    }
    let mut keys = Vec::new();
    for (key, node) in entries {
        let name = reader.name(key);
        let data_type = reader.data_type(node);
        if let Some(refused) = data_type.as_ref().filter(|t| !KEY_TYPES.contains(&t.value)) {
            let message = format!(
                "a {} is not a key: equal values must have equal bytes",
                refused.value
            );
            let accepted = KEY_TYPES.map(|t| t.to_string()).join(", ");
            reader.refuse(&refused.span, message, format!("accepted: {accepted}"));
            continue;
        }
        let (Some(name), Some(data_type)) = (name, data_type) else {
            continue;
        };
        keys.push(KeyPart {
            name,
            data_type: data_type.value,
        });
    }
    (keys.len() == entries.len() && !keys.is_empty()).then(|| Entity {
        name: name.clone(),
        description,
        keys,
    })
}
