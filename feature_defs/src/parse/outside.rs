//! `databases:` and `roots:`, the places that sources are read from, by name.

use std::path::PathBuf;

use indexmap::IndexMap;

use crate::name::Name;
use crate::parse::places::{no_such_place, objects_url, postgres_url};
use crate::parse::reader::{Fields, Reader};
use crate::parse::yaml::Node;
use crate::project::Root;
use crate::source::WILDCARDS;
use crate::suggestion::accepted;

type Named<T> = IndexMap<Name, T>;

/// `databases: {name: postgres://user@host/database}`
pub(crate) fn read_databases<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    of_project: Option<&Named<String>>,
) -> Option<Named<String>> {
    read_named(reader, fields, "databases", of_project, postgres_url)
}

/// `roots: {name: folder or URL}`
pub(crate) fn read_roots<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    of_project: Option<&Named<Root>>,
) -> Option<Named<Root>> {
    read_named(reader, fields, "roots", of_project, read_root)
}

fn read_root(reader: &mut Reader<'_>, node: &Node, what: &str) -> Option<Root> {
    let text = reader.text(node, &format!("`{what}`"))?.text;
    if Root::is_of_objects(&text) {
        return objects_url(reader, node, what).map(Root::Objects);
    }
    let (message, help) = if text.contains("://") {
        let message = no_such_place(what, &text);
        let help = "accepted: a folder, `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`";
        (message, help)
    } else if text.contains(WILDCARDS) {
        let help = "write the folder above all files here, and wildcards in the `path` of sources";
        (format!("`{what}` has wildcards"), help)
    } else if text.starts_with('~') {
        let message = format!("`{what}` starts with `~`, which is not looked up");
        (message, "write the whole path of the folder")
    } else {
        return Some(Root::Folder(PathBuf::from(text)));
    };
    reader.refuse(&node.span, message, help);
    None
}

/// A map of names to places. An environment says where those of the project are; it names no others.
fn read_named<'a, T>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    key: &str,
    of_project: Option<&Named<T>>,
    read: impl Fn(&mut Reader<'_>, &Node, &str) -> Option<T>,
) -> Option<Named<T>> {
    let mut named = IndexMap::new();
    let Some(node) = fields.get(key) else {
        return Some(named);
    };
    let map = reader.map(node, &format!("`{key}`"))?;
    let mut whole = map.whole;
    for (text, node) in &map.entries {
        let name = reader.name(text);
        let place = read(reader, node, &format!("{key}.{}", text.text));
        let (Some(name), Some(place)) = (name, place) else {
            whole = false;
            continue;
        };
        if let Some(known) = of_project.filter(|known| !known.contains_key(&name)) {
            let message = format!("the project has no {} `{name}`", key.trim_end_matches('s'));
            let known: Vec<&str> = known.keys().map(Name::as_str).collect();
            let help = match known.is_empty() {
                true => format!(
                    "write `{key}` of the project first: an environment only says where they are"
                ),
                false => accepted(name.as_str(), &known),
            };
            reader.refuse(&text.span, message, help);
            whole = false;
            continue;
        }
        named.insert(name, place);
    }
    whole.then_some(named)
}
