//! Where a project's state lives: its registry and its stores.

use std::path::PathBuf;

use crate::definitions::DefinitionFile;
use crate::name::Name;
use crate::parse::reader::{Fields, Reader};
use crate::parse::yaml::{self, Kind, Node};
use crate::project::{Location, Places, Root};
use crate::redis_place::{RedisPlace, RedisPlaceError};

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
        Some(node) => offline(reader, node),
        None => Some(Location::Local(default(DEFAULT_OFFLINE))),
    };
    let online = match fields.get("online") {
        Some(node) => online(reader, node),
        None => Some(Location::Embedded(default(DEFAULT_ONLINE))),
    };
    Some(Places {
        registry: registry?,
        offline: offline?,
        online: online?,
    })
}

/// A folder or a place in object storage.
fn offline(reader: &mut Reader<'_>, node: &Node) -> Option<Location> {
    if let Kind::Scalar { text, .. } = &node.kind
        && Root::is_of_objects(text)
    {
        return objects_url(reader, node, "offline").map(Location::Objects);
    }
    path(reader, node, "offline", &[""]).map(Location::Local)
}

/// A SQLite file or a PostgreSQL database.
fn registry(reader: &mut Reader<'_>, node: &Node) -> Option<Location> {
    const FORMS: [&str; 2] = ["sqlite://", "postgres://"];
    if let Kind::Scalar { text, .. } = &node.kind
        && is_postgres(text)
    {
        return postgres_url(reader, node, "registry").map(Location::Postgres);
    }
    path(reader, node, "registry", &FORMS).map(Location::Sqlite)
}

/// What is wrong with a place of a kind that a setting does not accept.
pub(crate) fn no_such_place(setting: &str, text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, _)) => format!("`{setting}` does not accept `{scheme}://`"),
        None => format!("`{setting}` is not a place"),
    }
}

/// The URL of a PostgreSQL database, without a password.
pub(crate) fn postgres_url(reader: &mut Reader<'_>, node: &Node, what: &str) -> Option<String> {
    let text = reader.text(node, &format!("`{what}`"))?.text;
    let (message, help) = match after_scheme(&text) {
        None => (
            no_such_place(what, &text),
            "accepted: `postgres://user@host/database`",
        ),
        Some(rest) => {
            let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
            let user = authority.split_once('@').map_or("", |(user, _)| user);
            let mut settings = query.split('&');
            if user.contains(':') || settings.any(|setting| setting.starts_with("password=")) {
                let help = "leave it out, as definitions are kept and shown: it is read from the environment (`PGPASSWORD`) or the \
                     password file";
                (format!("`{what}` has a password in it"), help)
            } else if authority.is_empty() {
                let help = "write `postgres://user@host/database`";
                (format!("`{what}` names no database"), help)
            } else {
                return Some(text);
            }
        }
    };
    reader.refuse(&node.span, message, help);
    None
}

/// An LMDB folder, or a Redis server.
fn online(reader: &mut Reader<'_>, node: &Node) -> Option<Location> {
    const FORMS: [&str; 2] = ["embedded://", "redis://"];
    let Kind::Scalar { text, .. } = &node.kind else {
        return path(reader, node, "online", &FORMS).map(Location::Embedded);
    };
    let error = match RedisPlace::parse(text) {
        None => return path(reader, node, "online", &FORMS).map(Location::Embedded),
        Some(Ok(place)) => return Some(Location::Redis(place)),
        Some(Err(error)) => error,
    };
    let whole = "write `redis://user@host:6379/0`";
    let (message, help) = match error {
        RedisPlaceError::Password => (
            "`online` has a password in it",
            "leave it out, as definitions are kept and shown: it is read from the environment (`NIGHTFILL_ONLINE_PASSWORD` \
             or `REDIS_PASSWORD`)",
        ),
        RedisPlaceError::NoHost => ("`online` names no server", whole),
        RedisPlaceError::Port => ("the port of `online` is no number from 1 to 65535", whole),
        RedisPlaceError::Database => (
            "what follows the server in `online` is no number of a database",
            whole,
        ),
        RedisPlaceError::Option => (
            "`online` has an option that it does not take",
            "accepted: `?namespace=name`",
        ),
        RedisPlaceError::Namespace => (
            "the namespace of `online` is not a name",
            "write lower-case letters, digits and `_`, starting with a letter or `_`",
        ),
    };
    reader.refuse(&node.span, message, help);
    None
}

/// The URL of a place in object storage: a bucket and a prefix, and nothing else.
pub(crate) fn objects_url(reader: &mut Reader<'_>, node: &Node, what: &str) -> Option<String> {
    const FORM: &str =
        "write `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`";
    let text = reader.text(node, &format!("`{what}`"))?.text;
    let place = text.split_once("://").map_or("", |(_, place)| place);
    let bucket = place.split('/').next().unwrap_or_default();
    let (message, help) = if bucket.is_empty() {
        (format!("`{what}` names no bucket"), FORM.to_owned())
    } else if bucket.contains(['@', ':']) || place.contains(['?', '#']) {
        let message = format!("`{what}` says more than a bucket and a prefix");
        let help = "credentials, regions and endpoints are read from the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, ...)";
        (message, format!("{FORM}: {help}"))
    } else if place.contains(['*', '[']) {
        let help = "write the place above all files here, and wildcards in the `path` of sources";
        (format!("`{what}` has wildcards"), help.to_owned())
    } else if place.split('/').any(|part| matches!(part, "." | "..")) {
        (format!("`{what}` has `.` or `..` in it"), FORM.to_owned())
    } else {
        return Some(text);
    };
    reader.refuse(&node.span, message, help);
    None
}

fn is_postgres(text: &str) -> bool {
    after_scheme(text).is_some()
}

/// What follows the scheme of a PostgreSQL database.
fn after_scheme(text: &str) -> Option<&str> {
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
        let message = no_such_place(setting, &text.text);
        let accepted = forms.iter().map(|form| match *form {
            "postgres://" => "`postgres://user@host/database`".to_owned(),
            "redis://" => "`redis://user@host:6379/0`".to_owned(),
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
            && !is_postgres(text)
            && !Root::is_of_objects(text)
            && RedisPlace::parse(text).is_none()
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
