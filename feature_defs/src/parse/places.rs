//! Where a project's state lives: its registry and its stores.

use std::path::PathBuf;

use crate::definitions::DefinitionFile;
use crate::name::Name;
use crate::parse::reader::{Fields, Reader};
use crate::parse::yaml::{self, Kind, Node};
use crate::project::{Location, Places};

/// The settings that say where state lives.
const PLACES: [&str; 3] = ["registry", "offline", "online"];

const DEFAULT_REGISTRY: &str = ".nightfill/registry.db";
const DEFAULT_OFFLINE: &str = ".nightfill/offline";
const DEFAULT_ONLINE: &str = ".nightfill/online";

/// Reads the places of a project, or of one of its environments: what that leaves out is in a folder of its own.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    environment: Option<&Name>,
) -> Option<Places> {
    let default = |path: &str| match environment {
        Some(name) => path
            .replace(".nightfill/", &format!(".nightfill/{name}/"))
            .into(),
        None => PathBuf::from(path),
    };
    let registry = match fields.get("registry") {
        Some(node) => registry(reader, node),
        None => Some(Location::Sqlite(default(DEFAULT_REGISTRY))),
    };
    let offline = match fields.get("offline") {
        Some(node) => path(reader, node, "offline", &[""]).map(Location::Local),
        None => Some(Location::Local(default(DEFAULT_OFFLINE))),
    };
    let online = match fields.get("online") {
        Some(node) => path(reader, node, "online", &["embedded://"]).map(Location::Embedded),
        None => Some(Location::Embedded(default(DEFAULT_ONLINE))),
    };
    Some(Places {
        registry: registry?,
        offline: offline?,
        online: online?,
    })
}

/// A SQLite file or a PostgreSQL database.
fn registry(reader: &mut Reader<'_>, node: &Node) -> Option<Location> {
    const FORMS: [&str; 2] = ["sqlite://", "postgres://"];
    if let Kind::Scalar { text, .. } = &node.kind
        && let Some(rest) = postgres(text)
    {
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let user = authority.split_once('@').map_or("", |(user, _)| user);
        if user.contains(':') || query.split('&').any(|part| part.starts_with("password=")) {
            reader.refuse(
                &node.span,
                "`registry` has a password in it",
                "leave it out, as definitions are kept and shown: it is read from the environment (`PGPASSWORD`) or the \
                 password file",
            );
            return None;
        }
        if authority.is_empty() {
            reader.refuse(
                &node.span,
                "`registry` names no database",
                "write `postgres://user@host/database`",
            );
            return None;
        }
        return Some(Location::Postgres(text.clone()));
    }
    path(reader, node, "registry", &FORMS).map(Location::Sqlite)
}

/// What follows the scheme of a PostgreSQL database.
fn postgres(text: &str) -> Option<&str> {
    text.strip_prefix("postgres://")
        .or_else(|| text.strip_prefix("postgresql://"))
}

/// A path after the first of these forms, which are all that this setting accepts.
fn path(reader: &mut Reader<'_>, node: &Node, setting: &str, forms: &[&str]) -> Option<PathBuf> {
    let text = reader.text(node, &format!("`{setting}`"))?;
    let path = text
        .text
        .strip_prefix(forms[0])
        .filter(|path| !path.contains("://") && !path.is_empty());
    if path.is_none() {
        let written = text.text.split_once("://").map(|(scheme, _)| scheme);
        let message = match written {
            Some(written) => format!("`{setting}` does not accept `{written}://`"),
            None => format!("`{setting}` is not a place"),
        };
        let accepted = forms.iter().map(|form| match *form {
            "postgres://" => "`postgres://user@host/database`".to_owned(),
            form => format!("`{form}path/below/the/project`"),
        });
        let accepted = accepted.collect::<Vec<_>>().join(", ");
        reader.refuse(&text.span, message, format!("accepted: {accepted}"));
    }
    path.map(PathBuf::from)
}

/// The folders and files that hold the project's state in any environment, as written, whatever else is wrong with the
/// settings.
pub(crate) fn state_paths(file: &DefinitionFile) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = [DEFAULT_REGISTRY, DEFAULT_OFFLINE, DEFAULT_ONLINE]
        .map(Into::into)
        .into();
    let settings = yaml::read(file, &mut Vec::new());
    add_places(&settings, &mut paths);
    for environment in entries(&settings, "environments") {
        add_places(environment, &mut paths);
    }
    paths
}

fn add_places(settings: &Node, paths: &mut Vec<PathBuf>) {
    let Kind::Mapping(map) = &settings.kind else {
        return;
    };
    for (key, value) in &map.entries {
        if let (true, Kind::Scalar { text, .. }) =
            (PLACES.contains(&key.text.as_str()), &value.kind)
            && postgres(text).is_none()
        {
            let path = text
                .split_once("://")
                .map_or(text.as_str(), |(_, path)| path);
            paths.push(path.trim_end_matches('/').into());
        }
    }
}

/// The values of the map that stands at a key.
fn entries<'a>(node: &'a Node, key: &str) -> Vec<&'a Node> {
    let Kind::Mapping(map) = &node.kind else {
        return Vec::new();
    };
    match map.get(key).map(|node| &node.kind) {
        Some(Kind::Mapping(map)) => map.entries.iter().map(|(_, node)| node).collect(),
        _ => Vec::new(),
    }
}
