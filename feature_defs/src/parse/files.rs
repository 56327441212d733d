//! Finding and reading a project's definition files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::definitions::DefinitionFile;
use crate::error::{Problem, Problems, Span};
use crate::parse::project::{PROJECT_FILE, state_paths};
use crate::parse::view::beside;
use crate::parse::yaml::{Kind, Node};
use crate::parse::{LoadError, yaml};

/// Largest definition file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads the definition files of the project at `root`, sorted by path: `nightfill.yaml`, every `*.yaml` and `*.yml`
/// below it, and the SQL files that their views name. Hidden folders, folders that hold the project's state, symbolic
/// links and projects within the project are left out.
///
/// # Errors
/// [`LoadError`] when `root` is not a project, and when a file cannot be read or is not UTF-8 text.
pub fn read_files(root: &Path) -> Result<Vec<DefinitionFile>, LoadError> {
    let project = read_settings(root)?;
    let state: Vec<PathBuf> = state_paths(&project)
        .into_iter()
        .map(|path| root.join(path))
        .collect();
    let mut paths = BTreeSet::new();
    find(root, "", &state, &mut paths)?;
    paths.remove(PROJECT_FILE);
    let mut files = vec![project];
    for path in &paths {
        files.push(read_file(root, path)?);
    }
    let sql: BTreeSet<String> = files.iter().flat_map(sql_files).collect();
    for path in sql {
        if root.join(&path).is_file() {
            files.push(read_file(root, &path)?);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Reads the file that makes a folder a project.
pub(super) fn read_settings(root: &Path) -> Result<DefinitionFile, LoadError> {
    if !root.join(PROJECT_FILE).is_file() {
        return Err(LoadError::NoProject(root.to_owned()));
    }
    read_file(root, PROJECT_FILE)
}

fn find(
    root: &Path,
    folder: &str,
    state: &[PathBuf],
    paths: &mut BTreeSet<String>,
) -> Result<(), LoadError> {
    let absolute = root.join(folder);
    let unreadable = |source| LoadError::Unreadable {
        path: absolute.clone(),
        source,
    };
    for entry in fs::read_dir(&absolute).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        if kind.is_file() && (name.ends_with(".yaml") || name.ends_with(".yml")) {
            paths.insert(path);
        } else if kind.is_dir()
            && !state.contains(&entry.path())
            && !entry.path().join(PROJECT_FILE).is_file()
        {
            find(root, &path, state, paths)?;
        }
    }
    Ok(())
}

fn read_file(root: &Path, path: &str) -> Result<DefinitionFile, LoadError> {
    let absolute = root.join(path);
    let unreadable = |source| LoadError::Unreadable {
        path: absolute.clone(),
        source,
    };
    if fs::metadata(&absolute).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Err(LoadError::TooLarge(absolute));
    }
    let bytes = fs::read(&absolute).map_err(unreadable)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(DefinitionFile {
            path: path.to_owned(),
            text,
        }),
        Err(error) => Err(LoadError::Problems(not_text(path, &error))),
    }
}

fn not_text(path: &str, error: &std::string::FromUtf8Error) -> Problems {
    let start = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let span = Span {
        file: path.to_owned(),
        bytes: start..start + char::REPLACEMENT_CHARACTER.len_utf8(),
    };
    Problems {
        problems: vec![Problem::new(
            span,
            "this is not UTF-8 text",
            "save the file as UTF-8",
        )],
        files: vec![DefinitionFile {
            path: path.to_owned(),
            text,
        }],
    }
}

/// The SQL files that a file's views name, whatever else is wrong with it.
fn sql_files(file: &DefinitionFile) -> Vec<String> {
    let Some(root) = yaml::read(file, &mut Vec::new()) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for view in values(&root, Some("views"))
        .into_iter()
        .flat_map(|views| values(views, None))
    {
        for name in values(view, Some("sql_file")) {
            if let Kind::Scalar { text, .. } = &name.kind {
                paths.extend(beside(&file.path, text));
            }
        }
    }
    paths
}

/// The values of a map: of one key, or of all.
fn values<'a>(node: &'a Node, key: Option<&str>) -> Vec<&'a Node> {
    let Kind::Mapping(entries) = &node.kind else {
        return Vec::new();
    };
    let chosen = entries
        .iter()
        .filter(|(text, _)| key.is_none_or(|key| text.text == key));
    chosen.map(|(_, node)| node).collect()
}
