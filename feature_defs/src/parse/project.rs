//! `nightfill.yaml`: the project's settings.

use std::path::{Path, PathBuf};

use crate::definitions::DefinitionFile;
use crate::language::keys::PROJECT;
use crate::name::Name;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Kind, Node};
use crate::project::{Location, Project};

/// The file that makes a folder a project.
pub const PROJECT_FILE: &str = "nightfill.yaml";

/// The settings that say where state lives.
const PLACES: [&str; 3] = ["registry", "offline", "online"];

const DEFAULT_REGISTRY: &str = ".nightfill/registry.db";
const DEFAULT_OFFLINE: &str = ".nightfill/offline";
const DEFAULT_ONLINE: &str = ".nightfill/online";

/// Reads the settings from the entries of the project file.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, node: &'a Node, root: &Path) -> Option<Project> {
    let start = crate::error::Span {
        file: reader.file.path.clone(),
        bytes: 0..reader
            .file
            .text
            .find('\n')
            .unwrap_or(reader.file.text.len()),
    };
    let known: Vec<&str> = PROJECT.names().into_iter().chain(super::SECTIONS).collect();
    let fields = reader.fields(node, &start, "the project", &known)?;
    let version = reader.require(&fields, "version");
    if let Some(node) = version {
        let text = reader.text(node, "`version`");
        if let Some(text) = text.filter(|text| text.text != "1") {
            reader.refuse(
                &text.span,
                format!("version `{}` is not known", text.text),
                "accepted: 1",
            );
        }
    }
    let name = reader.require(&fields, "project");
    let name = name.and_then(|node| reader.parsed(node, "`project`", Name::parse));
    let timezone = match fields.get("timezone") {
        Some(node) => reader.timezone(node).unwrap_or(chrono_tz::UTC),
        None => chrono_tz::UTC,
    };
    let registry = match fields.get("registry") {
        Some(node) => registry(reader, node),
        None => Some(Location::Sqlite(DEFAULT_REGISTRY.into())),
    };
    let offline = match fields.get("offline") {
        Some(node) => path(reader, node, "offline", &[""]).map(Location::Local),
        None => Some(Location::Local(DEFAULT_OFFLINE.into())),
    };
    let online = match fields.get("online") {
        Some(node) => path(reader, node, "online", &["embedded://"]).map(Location::Embedded),
        None => Some(Location::Embedded(DEFAULT_ONLINE.into())),
    };
    Some(Project {
        name: name?.value,
        root: root.to_owned(),
        timezone,
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

/// The folders and files that hold the project's state, as written, whatever else is wrong with the settings.
pub(crate) fn state_paths(file: &DefinitionFile) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = [DEFAULT_REGISTRY, DEFAULT_OFFLINE, DEFAULT_ONLINE]
        .map(Into::into)
        .into();
    let Kind::Mapping(map) = super::yaml::read(file, &mut Vec::new()).kind else {
        return paths;
    };
    for (key, value) in map.entries {
        if let (true, Kind::Scalar { text, .. }) = (PLACES.contains(&key.text.as_str()), value.kind)
            && postgres(&text).is_none()
        {
            let path = text
                .split_once("://")
                .map_or(text.as_str(), |(_, path)| path);
            paths.push(path.trim_end_matches('/').into());
        }
    }
    paths
}
