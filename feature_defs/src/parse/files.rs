//! Finding and reading a project's definition files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::definitions::DefinitionFile;
use crate::error::{Problem, Problems, Span};
use crate::parse::places::state_paths;
use crate::parse::project::PROJECT_FILE;
use crate::parse::view::beside;
use crate::parse::yaml::{Kind, Node};
use crate::parse::{LoadError, yaml};
use crate::suggestion::nearest;

/// Largest definition file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads the definition files of the project at `root`, sorted by path: `nightfill.yaml`, every `*.yaml` and `*.yml`
/// below it, and the SQL files that their views name. Hidden folders, folders that hold the project's state, symbolic
/// links and projects within the project are left out.
///
/// # Errors
/// [`LoadError`] when `root` is not a project, and when a file cannot be read or is not UTF-8 text.
pub fn read_files(root: &Path) -> Result<Vec<DefinitionFile>, LoadError> {
    let Files {
        files, problems, ..
    } = read_all(root)?;
    if problems.is_empty() {
        return Ok(files);
    }
    Err(LoadError::Problems(Problems { problems, files }))
}

/// The files of a project, and which of them are not text.
pub(crate) struct Files {
    /// All of them; those that are not text as far as they are.
    pub(crate) files: Vec<DefinitionFile>,
    /// One problem for each file that is not text.
    pub(crate) problems: Vec<Problem>,
    /// SQL files that no view names, which were not read.
    pub(crate) unnamed_sql: Vec<String>,
}

/// Like [`read_files`], with problems beside the files that have none.
pub(crate) fn read_all(root: &Path) -> Result<Files, LoadError> {
    let mut problems = Vec::new();
    let project = read_settings(root, &mut problems)?;
    let state: Vec<PathBuf> = state_paths(&project)
        .into_iter()
        .map(|path| root.join(path))
        .collect();
    let mut found = Found::default();
    find(root, "", &state, &mut found)?;
    let mut paths = std::mem::take(&mut found.yaml);
    paths.remove(PROJECT_FILE);
    let mut files = vec![project];
    for path in &paths {
        files.push(read_file(root, path, &mut problems)?);
    }
    let sql: BTreeSet<String> = files.iter().flat_map(sql_files).collect();
    for path in sql {
        if !paths.contains(&path) && root.join(&path).is_file() {
            files.push(read_file(root, &path, &mut problems)?);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let is_read = |path: &String| files.iter().any(|file| file.path == *path);
    let unnamed_sql = found.sql.into_iter().filter(|path| !is_read(path));
    Ok(Files {
        unnamed_sql: unnamed_sql.collect(),
        files,
        problems,
    })
}

/// Reads the file that makes a folder a project.
pub(super) fn read_settings(
    root: &Path,
    problems: &mut Vec<Problem>,
) -> Result<DefinitionFile, LoadError> {
    if !root.join(PROJECT_FILE).is_file() {
        return Err(LoadError::NoProject(root.to_owned()));
    }
    read_file(root, PROJECT_FILE, problems)
}

/// Files below a folder, by their endings.
#[derive(Default)]
struct Found {
    yaml: BTreeSet<String>,
    sql: BTreeSet<String>,
}

fn find(root: &Path, folder: &str, state: &[PathBuf], found: &mut Found) -> Result<(), LoadError> {
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
            found.yaml.insert(path);
        } else if kind.is_file() && name.ends_with(".sql") {
            found.sql.insert(path);
        } else if kind.is_dir()
            && !state.contains(&entry.path())
            && !entry.path().join(PROJECT_FILE).is_file()
        {
            find(root, &path, state, found)?;
        }
    }
    Ok(())
}

fn read_file(
    root: &Path,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Result<DefinitionFile, LoadError> {
    let absolute = root.join(path);
    let unreadable = |source| LoadError::Unreadable {
        path: absolute.clone(),
        source,
    };
    if fs::metadata(&absolute).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Err(LoadError::TooLarge(absolute));
    }
    let bytes = fs::read(&absolute).map_err(unreadable)?;
    Ok(DefinitionFile {
        path: path.to_owned(),
        text: text_of(path, bytes, problems),
    })
}

/// A file's text, as far as it is text: it is a problem if not all of it is.
pub(crate) fn text_of(path: &str, bytes: Vec<u8>, problems: &mut Vec<Problem>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        problems.push(not_text(path, &error));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

fn not_text(path: &str, error: &std::string::FromUtf8Error) -> Problem {
    let start = error.utf8_error().valid_up_to();
    let span = Span {
        file: path.to_owned(),
        bytes: start..start + char::REPLACEMENT_CHARACTER.len_utf8(),
    };
    Problem::new(span, "this is not UTF-8 text", "save the file as UTF-8")
}

/// The SQL files that a file's views name, whatever else is wrong with it.
fn sql_files(file: &DefinitionFile) -> Vec<String> {
    let root = yaml::read(file, &mut Vec::new());
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

/// The values of a map: of one key and of those that are near to it, or of all.
fn values<'a>(node: &'a Node, key: Option<&str>) -> Vec<&'a Node> {
    let Kind::Mapping(map) = &node.kind else {
        return Vec::new();
    };
    let entries = map.entries.iter().chain(&map.repeated);
    let chosen = entries.filter(|(text, _)| {
        key.is_none_or(|key| text.text == key || nearest(&text.text, [key]).is_some())
    });
    chosen.map(|(_, node)| node).collect()
}
