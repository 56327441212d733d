//! Definition files to [`Definitions`].
//!
//! A project is a folder with a `nightfill.yaml`. Every `*.yaml` and `*.yml` file in it and below may hold the sections
//! `entities`, `sources`, `views`, `request_views`, `services` and `models`; names are unique over all files.
//!
//! ```text
//!   files      which files, their texts
//!   yaml       a text to a tree in which everything knows its place
//!   entity, source, view, request_view, service, model, project
//!              trees to objects of the right shape, references still texts
//!   validate   objects to Definitions
//! ```

mod embedded;
mod entity;
mod files;
mod model;
pub(crate) mod objects;
mod project;
pub(crate) mod reader;
pub(crate) mod request_view;
mod service;
mod source;
#[cfg(test)]
mod tests;
mod view;
mod window_view;
pub(crate) mod yaml;

use std::path::{Path, PathBuf};

pub use files::read_files;
pub use project::PROJECT_FILE;

use crate::definitions::{DefinitionFile, Definitions};
use crate::error::{Problem, Problems, Span};
use crate::name::Name;
use crate::project::Project;
use crate::suggestion::accepted;
use objects::{Declared, Objects, Section};
use reader::Reader;
use yaml::{Kind, Node, Text};

pub(crate) use embedded::Embedded;

/// The sections that a definition file may have.
const SECTIONS: [&str; 6] = [
    "entities",
    "sources",
    "views",
    "request_views",
    "services",
    "models",
];

/// Why definitions could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no project file.
    #[error("there is no `{PROJECT_FILE}` in `{}`: name a project's folder, or start one with `nightfill init`", .0.display())]
    NoProject(PathBuf),
    /// A file or folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is larger than definitions are.
    #[error("`{}` is larger than 4 MiB, which no definition file needs", .0.display())]
    TooLarge(PathBuf),
    /// The files hold problems.
    #[error(transparent)]
    Problems(#[from] Problems),
}

/// Reads, checks and fingerprints the definitions of the project at `root`.
///
/// # Errors
/// [`LoadError`]: files that cannot be read, or all the problems that they hold.
pub fn load(root: &Path) -> Result<Definitions, LoadError> {
    Ok(parse(root, read_files(root)?)?)
}

/// Reads the settings of the project at `root`, whatever its definitions say.
///
/// # Errors
/// [`LoadError`]: a file that cannot be read, or all the problems of the settings.
pub fn settings(root: &Path) -> Result<Project, LoadError> {
    let files = vec![files::read_settings(root)?];
    let mut found = Vec::new();
    let trees = [(&files[0], yaml::read(&files[0], &mut found))];
    let project = read_project(root, &files, &trees, &mut found);
    match project {
        Some(project) if found.is_empty() => Ok(project),
        _ => Err(sorted(found, files).into()),
    }
}

/// Checks and fingerprints definitions that were read before. `root` is where the project's relative paths start.
///
/// # Errors
/// All the problems that the files hold, by file and place.
pub fn parse(root: &Path, files: Vec<DefinitionFile>) -> Result<Definitions, Problems> {
    let mut found = Vec::new();
    let trees: Vec<(&DefinitionFile, Option<Node>)> = files
        .iter()
        .filter(|file| !file.path.ends_with(".sql"))
        .map(|file| (file, yaml::read(file, &mut found)))
        .collect();
    let project = read_project(root, &files, &trees, &mut found);
    let timezone = project
        .as_ref()
        .map_or(chrono_tz::UTC, |project| project.timezone);
    let mut objects = Objects::default();
    for (file, tree) in &trees {
        let mut reader = Reader {
            file,
            files: &files,
            timezone,
            found: &mut found,
        };
        if let Some(tree) = tree {
            read_sections(&mut reader, tree, &mut objects);
        }
    }
    let definitions = crate::validate::resolve(project, objects, &files, &mut found);
    match definitions {
        Some(mut definitions) if found.is_empty() => {
            definitions.files = files;
            Ok(definitions)
        }
        _ => Err(sorted(found, files)),
    }
}

fn read_project(
    root: &Path,
    files: &[DefinitionFile],
    trees: &[(&DefinitionFile, Option<Node>)],
    found: &mut Vec<Problem>,
) -> Option<Project> {
    let Some((file, tree)) = trees.iter().find(|(file, _)| file.path == PROJECT_FILE) else {
        let span = Span {
            file: PROJECT_FILE.to_owned(),
            bytes: 0..0,
        };
        let message = format!("there is no `{PROJECT_FILE}`");
        let help = "it holds `version: 1` and `project: name`";
        found.push(Problem::new(span, message, help));
        return None;
    };
    let empty = Node {
        span: Span {
            file: file.path.clone(),
            bytes: 0..0,
        },
        kind: Kind::Mapping(Vec::new()),
    };
    let mut reader = Reader {
        file,
        files,
        timezone: chrono_tz::UTC,
        found,
    };
    let unreadable = !reader.found.is_empty() && tree.is_none();
    if unreadable {
        return None;
    }
    project::read(&mut reader, tree.as_ref().unwrap_or(&empty), root)
}

fn read_sections<'a>(reader: &mut Reader<'a>, tree: &'a Node, objects: &mut Objects) {
    let is_project = reader.file.path == PROJECT_FILE;
    let Some(entries) = reader.map(tree, "a definition file") else {
        return;
    };
    for (key, node) in entries {
        match key.text.as_str() {
            "entities" => section(reader, node, "entity", &mut objects.entities, entity::read),
            "sources" => section(reader, node, "source", &mut objects.sources, source::read),
            "views" => section(reader, node, "view", &mut objects.views, view::read),
            "request_views" => {
                section(
                    reader,
                    node,
                    "request view",
                    &mut objects.request_views,
                    request_view::read,
                );
            }
            "services" => section(
                reader,
                node,
                "service",
                &mut objects.services,
                service::read,
            ),
            "models" => section(reader, node, "model", &mut objects.models, model::read),
            _ if is_project => {}
            other if project::KEYS.contains(&other) => {
                let help = format!("settings stand in `{PROJECT_FILE}`");
                reader.refuse(
                    &key.span,
                    format!("`{other}` is a setting of the project"),
                    help,
                );
            }
            other => {
                let message = format!("unknown key `{other}` in a definition file");
                reader.refuse(&key.span, message, accepted(other, &SECTIONS));
            }
        }
    }
}

type Read<'a, T> = fn(&mut Reader<'a>, &'a Text, &Name, &'a Node) -> Option<T>;

fn section<'a, T>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    what: &str,
    section: &mut Section<T>,
    read: Read<'a, T>,
) {
    for (key, node) in reader.map(node, "a section").unwrap_or_default() {
        let Some(name) = reader.name(key) else {
            continue;
        };
        if let Some(earlier) = section.get(&name) {
            let help = format!("the first one is in `{}`", earlier.span.file);
            reader.refuse(
                &key.span,
                format!("{what} `{name}` is declared twice"),
                help,
            );
            continue;
        }
        let object = read(reader, key, &name, node);
        section.insert(
            name,
            Declared {
                span: key.span.clone(),
                object,
            },
        );
    }
}

fn sorted(mut found: Vec<Problem>, files: Vec<DefinitionFile>) -> Problems {
    found.sort_by(|a, b| {
        let place = |problem: &Problem| (problem.span.bytes.start, problem.span.bytes.end);
        a.span.file.cmp(&b.span.file).then(place(a).cmp(&place(b)))
    });
    found.dedup();
    Problems {
        problems: found,
        files,
    }
}
