//! Definition files to [`Definitions`].
//!
//! A project is a folder with a `nightfill.yaml`. Every `*.yaml` and `*.yml` file in it and below may hold the sections
//! `entities`, `sources`, `views`, `request_views`, `services` and `models`; names are unique over all files.
//!
//! ```text
//!   files      which files, their texts
//!   yaml       a text to a tree in which everything knows its place
//!   entity, source, view, request_view, service, model, project
//!              trees to objects as far as they can be read, references still texts
//!   members    lists that may have lost members on the way, so that no problem is told of what follows from another
//!   validate   objects to Definitions
//! ```

pub(crate) mod about;
mod check;
mod embedded;
mod entity;
mod files;
pub(crate) mod members;
mod model;
pub(crate) mod objects;
mod outside;
mod places;
mod project;
pub(crate) mod reader;
pub(crate) mod request_view;
mod scan_fault;
mod service;
mod source;
mod source_partitions;
mod source_path;
mod source_table;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod view;
mod window_view;
pub(crate) mod yaml;

use std::path::{Path, PathBuf};

pub use files::read_files;
pub use project::PROJECT_FILE;

use crate::definitions::{DefinitionFile, Definitions};
use crate::error::{Problem, Problems, Span};
use crate::language::keys::PROJECT;
use crate::name::Name;
use crate::project::Project;
use crate::suggestion::accepted;
use files::{Files, read_all};
use indexmap::map::Entry;
use objects::{Declared, Objects, Section, Unread, alike};
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
    Ok(check(root, read_all(root)?)?)
}

/// Reads the settings of the project at `root`, whatever its definitions say.
///
/// # Errors
/// [`LoadError`]: a file that cannot be read, or all the problems of the settings.
pub fn settings(root: &Path) -> Result<Project, LoadError> {
    let mut found = Vec::new();
    let files = vec![files::read_settings(root, &mut found)?];
    if !found.is_empty() {
        return Err(sorted(found, files).into());
    }
    let tree = yaml::read(&files[0], &mut found);
    let mut reader = Reader {
        file: &files[0],
        files: &files,
        unreadable: &[],
        unnamed_sql: &[],
        timezone: chrono_tz::UTC,
        databases: None,
        roots: None,
        found: &mut found,
    };
    let project = project::read(&mut reader, &tree, root);
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
    check(
        root,
        Files {
            files,
            problems: Vec::new(),
            unnamed_sql: Vec::new(),
        },
    )
}

/// Checks files of which some may not be text.
fn check(root: &Path, read: Files) -> Result<Definitions, Problems> {
    let Files {
        files,
        problems: mut found,
        unnamed_sql,
    } = read;
    let unreadable: Vec<String> = found
        .iter()
        .map(|problem| problem.span.file.clone())
        .collect();
    let is_yaml =
        |file: &&DefinitionFile| !file.path.ends_with(".sql") && !unreadable.contains(&file.path);
    let trees: Vec<(&DefinitionFile, Node)> = files
        .iter()
        .filter(is_yaml)
        .map(|file| (file, yaml::read(file, &mut found)))
        .collect();
    let mut objects = Objects::default();
    for file in &files {
        if unreadable.contains(&file.path) {
            objects.unread.add(&file.text);
        }
    }
    let mut reader = Reader {
        file: &DefinitionFile {
            path: PROJECT_FILE.to_owned(),
            text: String::new(),
        },
        files: &files,
        unreadable: &unreadable,
        unnamed_sql: &unnamed_sql,
        timezone: chrono_tz::UTC,
        databases: None,
        roots: None,
        found: &mut found,
    };
    let project = read_project(&mut reader, root, &trees);
    if let Some(project) = &project {
        reader.timezone = project.timezone;
        reader.databases = Some(&project.databases);
        reader.roots = Some(&project.roots);
    }
    for (file, tree) in &trees {
        reader.file = file;
        read_sections(&mut reader, tree, &mut objects);
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

fn read_project<'a>(
    reader: &mut Reader<'a>,
    root: &Path,
    trees: &'a [(&'a DefinitionFile, Node)],
) -> Option<Project> {
    if let Some((file, tree)) = trees.iter().find(|(file, _)| file.path == PROJECT_FILE) {
        reader.file = file;
        return project::read(reader, tree, root);
    }
    if reader.unreadable.iter().all(|path| path != PROJECT_FILE) {
        let span = Span {
            file: PROJECT_FILE.to_owned(),
            bytes: 0..0,
        };
        let message = format!("there is no `{PROJECT_FILE}`");
        let help = "it holds `version: 1` and `project: name`";
        reader.refuse(&span, message, help);
    }
    None
}

fn read_sections<'a>(reader: &mut Reader<'a>, tree: &'a Node, objects: &mut Objects) {
    let is_project = reader.file.path == PROJECT_FILE;
    let told = is_project && !matches!(tree.kind, Kind::Mapping(_));
    let map = match told {
        true => None,
        false => reader.map(tree, "a definition file"),
    };
    let Some(map) = map else {
        objects.unread.add(&reader.file.text);
        return;
    };
    let meant = reader::meant(map, &SECTIONS);
    for (at, (key, node)) in map.entries.iter().enumerate() {
        let known = SECTIONS.contains(&key.text.as_str());
        if !known && !is_project {
            refuse_section(reader, key);
        }
        let taken_for = meant.iter().find(|meant| meant.at == at);
        let name = taken_for.map_or(key.text.as_str(), |meant| meant.key.as_str());
        if !read_section(reader, name, node, objects) {
            objects.unread.add(part(reader.file, node));
        }
    }
    for (key, node) in &map.repeated {
        if !read_section(reader, &key.text, node, objects) {
            objects.unread.add(part(reader.file, node));
        }
    }
}

fn refuse_section(reader: &mut Reader<'_>, key: &Text) {
    let name = key.text.as_str();
    let (message, help) = if PROJECT.names().contains(&name) {
        let message = format!("`{name}` is a setting of the project");
        (message, format!("settings stand in `{PROJECT_FILE}`"))
    } else {
        let message = format!("unknown key `{name}` in a definition file");
        let help = format!(
            "{}; every `.yaml` below the project holds definitions: put others into a folder whose name starts with `.`",
            accepted(name, &SECTIONS)
        );
        (message, help)
    };
    reader.refuse(&key.span, message, help);
}

/// Reads a section by its name. Whether it is one, and a map.
fn read_section<'a>(
    reader: &mut Reader<'a>,
    name: &str,
    node: &'a Node,
    objects: &mut Objects,
) -> bool {
    let Objects {
        entities,
        sources,
        views,
        request_views,
        services,
        models,
        unread,
    } = objects;
    match name {
        "entities" => section(reader, node, "entity", entities, unread, entity::read),
        "sources" => section(reader, node, "source", sources, unread, source::read),
        "views" => section(reader, node, "view", views, unread, view::read),
        "request_views" => {
            let (what, read) = ("request view", request_view::read);
            section(reader, node, what, request_views, unread, read)
        }
        "services" => section(reader, node, "service", services, unread, service::read),
        "models" => section(reader, node, "model", models, unread, model::read),
        _ => false,
    }
}

/// The text of a node, for names that it may declare.
fn part<'a>(file: &'a DefinitionFile, node: &Node) -> &'a str {
    file.text.get(node.span.bytes.clone()).unwrap_or_default()
}

type Read<'a, T> = fn(&mut Reader<'a>, &'a Text, &Name, &'a Node) -> T;

fn section<'a, T>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    what: &str,
    section: &mut Section<T>,
    unread: &mut Unread,
    read: Read<'a, T>,
) -> bool {
    let Some(map) = reader.map(node, "a section") else {
        return false;
    };
    for (key, node) in map.entries.iter().chain(&map.repeated) {
        let name = reader.name(key);
        if name.is_none() {
            unread.add(&key.text);
        }
        let stand_in = || Name::parse(&alike(&key.text)).ok();
        let Some(read_as) = name.clone().or_else(stand_in) else {
            continue;
        };
        let about = about::read(reader, key, node);
        let object = read(reader, key, &read_as, node);
        match section.entry(read_as) {
            Entry::Vacant(place) => {
                place.insert(Declared {
                    span: key.span.clone(),
                    about,
                    object,
                    doubtful: name.is_none() || map.repeats(&key.text),
                });
            }
            Entry::Occupied(mut earlier) if name.is_some() => {
                let earlier = earlier.get_mut();
                if !map.repeats(&key.text) {
                    let message = format!("{what} `{}` is declared twice", key.text);
                    let help = format!("the first one is in `{}`", earlier.span.file);
                    reader.refuse(&key.span, message, help);
                }
                earlier.doubtful = true;
            }
            Entry::Occupied(_) => {}
        }
    }
    true
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
