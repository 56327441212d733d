//! `nightfill.yaml`: the project's settings.

use std::path::Path;

use indexmap::IndexMap;

use crate::language::keys::{ENVIRONMENT, PROJECT};
use crate::name::Name;
use crate::parse::places;
use crate::parse::reader::Reader;
use crate::parse::yaml::Node;
use crate::project::{Places, Project};

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
    let environments = match fields.get("environments") {
        Some(node) => read_environments(reader, node, places.as_ref()),
        None => Some(IndexMap::new()),
    };
    Some(Project {
        name: name?.value,
        renamed_from: renamed_from.map(|former| former.value),
        root: root.to_owned(),
        timezone,
        places: places?,
        environment: None,
        environments: environments?,
    })
}

/// `environments: {name: {registry?, offline?, online?}}`: each has state of its own.
fn read_environments<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    project: Option<&Places>,
) -> Option<IndexMap<Name, Places>> {
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
        let Some(places) = places::read(reader, &fields, Some(&name)) else {
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
        environments.insert(name, places);
    }
    whole.then_some(environments)
}
