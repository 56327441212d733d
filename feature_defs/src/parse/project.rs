//! `nightfill.yaml`: the project's settings.

use std::path::Path;

use indexmap::IndexMap;

use crate::language::keys::{ENVIRONMENT, PROJECT};
use crate::name::Name;
use crate::parse::reader::Reader;
use crate::parse::yaml::Node;
use crate::parse::{outside, places};
use crate::project::{Environment, Places, Project, Root};

/// The file that makes a folder a project.
pub const PROJECT_FILE: &str = "nightfill.yaml";

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
    let renamed_from = fields
        .get("renamed_from")
        .and_then(|node| reader.parsed(node, "`renamed_from`", Name::parse));
    if let (Some(name), Some(former)) = (&name, &renamed_from)
        && name.value == former.value
    {
        let message = format!("the project is called `{}` already", former.value);
        let help = "write the name that it had before, or leave `renamed_from` out";
        reader.refuse(&former.span, message, help);
    }
    let timezone = match fields.get("timezone") {
        Some(node) => reader.timezone(node).unwrap_or(chrono_tz::UTC),
        None => chrono_tz::UTC,
    };
    let places = places::read(reader, &fields, None);
    let databases = outside::read_databases(reader, &fields, None);
    let roots = outside::read_roots(reader, &fields, None);
    let environments = match fields.get("environments") {
        Some(node) => {
            let of_project = (databases.as_ref(), roots.as_ref());
            read_environments(reader, node, places.as_ref(), of_project)
        }
        None => Some(IndexMap::new()),
    };
    Some(Project {
        name: name?.value,
        renamed_from: renamed_from.map(|former| former.value),
        root: root.to_owned(),
        timezone,
        places: places?,
        databases: databases?,
        roots: roots?,
        environment: None,
        environments: environments?,
    })
}

/// The databases and roots of the project, as far as they could be read.
type OfProject<'a> = (
    Option<&'a IndexMap<Name, String>>,
    Option<&'a IndexMap<Name, Root>>,
);

/// `environments: {name: {registry?, offline?, online?, databases?, roots?}}`: each has state of its own.
fn read_environments<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    project: Option<&Places>,
    (databases_of_project, roots_of_project): OfProject<'_>,
) -> Option<IndexMap<Name, Environment>> {
    let map = reader.map(node, "`environments`")?;
    let mut all: Vec<(String, Places)> = Vec::new();
    all.extend(project.map(|places| ("the project itself".to_owned(), places.clone())));
    let mut environments = IndexMap::new();
    let mut whole = map.whole && project.is_some();
    for (key, node) in &map.entries {
        let owner = format!("environment `{}`", key.text);
        let name = reader.name(key);
        let fields = reader.fields(node, &key.span, &owner, &ENVIRONMENT.names());
        let (Some(name), Some(fields)) = (name, fields) else {
            whole = false;
            continue;
        };
        let places = places::read(reader, &fields, Some(&name));
        let databases = outside::read_databases(reader, &fields, databases_of_project);
        let roots = outside::read_roots(reader, &fields, roots_of_project);
        let (Some(places), Some(databases), Some(roots)) = (places, databases, roots) else {
            whole = false;
            continue;
        };
        for (other, taken) in &all {
            for (setting, shared) in places.shared_with(taken) {
                let message = format!("{owner} has the `{setting}` of {other}: `{shared}`");
                let help = format!(
                    "write another place, or leave `{setting}` out: it is below `.nightfill/{name}` then"
                );
                reader.refuse(&fields.key_span(setting), message, help);
            }
        }
        all.push((owner, places.clone()));
        let environment = Environment {
            places,
            databases,
            roots,
        };
        environments.insert(name, environment);
    }
    whole.then_some(environments)
}
