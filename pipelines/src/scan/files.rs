//! The files of a source: found by path or glob, below its root, in the order of their paths.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use feature_defs::name::Name;
use feature_defs::project::{Project, Root};
use feature_defs::source::{DELTA_LOG, SourceFiles, WILDCARDS, folder_above};
use glob::{MatchOptions, Pattern, PatternError};
use store::objects::{FoundObject, Objects};
use tokio::runtime::Handle;

use super::delta::LoggedFile;
use super::object_file::{ObjectFile, ObjectRead};
use crate::error::{Error, Result};

/// A file of a source.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub(crate) place: FilePlace,
    /// Its path below its root.
    pub(crate) path: String,
    /// How messages name it.
    pub(crate) shown: String,
    /// What the log of its table says of it, if it is of a Delta table.
    pub(crate) logged: Option<Arc<LoggedFile>>,
}

/// Where a file is.
#[derive(Debug, Clone)]
pub(crate) enum FilePlace {
    /// On local disk.
    Local(PathBuf),
    /// In object storage.
    Object(Arc<ObjectFile>),
}

/// Bytes of a file from the first on.
pub(crate) type FileBytes = Box<dyn Read + Send>;

impl SourceFile {
    /// A file in object storage, below a root.
    pub(super) fn of_object(
        objects: &Arc<Objects>,
        found: FoundObject,
        root: Option<&Name>,
    ) -> Self {
        let path = found.path.clone();
        let shown = shown(root, &path);
        let object = ObjectFile::new(Arc::clone(objects), found, Handle::current());
        Self {
            place: FilePlace::Object(Arc::new(object)),
            path,
            shown,
            logged: None,
        }
    }

    /// Its bytes from the first on. Not for threads of the asynchronous runtime.
    pub(crate) fn open(&self) -> Result<FileBytes> {
        match &self.place {
            FilePlace::Local(path) => Ok(Box::new(self.open_local(path)?)),
            FilePlace::Object(object) => Ok(Box::new(ObjectRead::new(object))),
        }
    }

    /// What it calls a column.
    pub(super) fn name_in_file<'a>(&'a self, column: &'a str) -> &'a str {
        let logged = self.logged.as_ref();
        logged.map_or(column, |logged| logged.name_in_file(column))
    }

    /// Whether the number of a row that was read says where it is in the file.
    pub(super) fn numbers_rows(&self) -> bool {
        let logged = self.logged.as_ref();
        logged.is_none_or(|logged| logged.deleted().is_empty())
    }

    /// The file on local disk that it is.
    pub(crate) fn open_local(&self, path: &Path) -> Result<File> {
        File::open(path).map_err(|e| Error::unreadable(&self.shown, &e))
    }
}

/// Finds the files of a source. What is hidden, or starts with `_` as what a writer leaves beside its data does
/// (`_SUCCESS`, `_temporary/`), is found by its whole name, never by a wildcard.
///
/// # Errors
/// Where there is none, or one is empty, or leads out of its root; those of object storage.
pub(crate) async fn find(project: &Project, files: &SourceFiles) -> Result<Vec<SourceFile>> {
    let folder = match folder_of(project, files)? {
        Folder::Objects(objects) => return find_objects(&objects, files).await,
        Folder::Local(folder) => folder,
    };
    let files = files.clone();
    let find = move || find_local(&folder, files.root.as_ref(), &files.path);
    let found = tokio::task::spawn_blocking(find).await;
    found.map_err(|e| Error::Refused(e.to_string()))?
}

/// The place that paths of a source start at.
pub(super) enum Folder {
    Local(PathBuf),
    Objects(Arc<Objects>),
}

/// The root of a source's files.
pub(super) fn folder_of(project: &Project, files: &SourceFiles) -> Result<Folder> {
    let root = files.root.as_ref().and_then(|name| project.roots.get(name));
    Ok(match root {
        Some(Root::Objects(url)) => Folder::Objects(Arc::new(Objects::open(url)?)),
        Some(Root::Folder(folder)) => Folder::Local(project.root.join(folder)),
        None => Folder::Local(project.root.clone()),
    })
}

/// Finds objects that the pattern names.
async fn find_objects(objects: &Arc<Objects>, files: &SourceFiles) -> Result<Vec<SourceFile>> {
    let (root, pattern) = (files.root.as_ref(), files.path.as_str());
    let mut found: Vec<FoundObject> = if has_wildcard(pattern) {
        let wanted = Pattern::new(pattern).map_err(|e| no_pattern(pattern, &e))?;
        let is_wanted =
            |path: &str| wanted.matches_with(path, MATCHING) && !is_beside_data(path, pattern);
        let mut found = objects.list(folder_above(pattern)).await?;
        let logs = found.iter().filter_map(|object| table_of_log(&object.path));
        let tables: BTreeSet<String> = logs.map(str::to_owned).collect();
        found.retain(|object| is_wanted(&object.path));
        let is_inside = |path: &str, table: &str| {
            let below = path.strip_prefix(table);
            below.is_some_and(|below| table.is_empty() || below.starts_with('/'))
        };
        for object in &found {
            let mut tables = tables.iter();
            if let Some(table) = tables.find(|table| is_inside(&object.path, table)) {
                return Err(is_of_table(&shown(root, &object.path), table));
            }
        }
        found
    } else {
        objects.find(pattern).await?.into_iter().collect()
    };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    if found.is_empty() {
        if !has_wildcard(pattern) {
            let below = objects.list(pattern).await?;
            let mut logs = below.iter().filter_map(|object| table_of_log(&object.path));
            let shown = shown(root, pattern);
            if logs.any(|table| table == pattern.trim_end_matches('/')) {
                return Err(is_table(&shown));
            }
            if !below.is_empty() {
                return Err(is_folder(&shown));
            }
        }
        return Err(no_file(root, pattern));
    }
    if let Some(empty) = found.iter().find(|object| object.length == 0) {
        return Err(is_empty(&shown(root, &empty.path)));
    }
    let found = found.into_iter();
    Ok(found
        .map(|object| SourceFile::of_object(objects, object, root))
        .collect())
}

/// Finds files below a folder on local disk, which is the project's if it has no name.
fn find_local(root: &Path, name: Option<&Name>, pattern: &str) -> Result<Vec<SourceFile>> {
    let root = root.canonicalize().map_err(|e| Error::io(root, e))?;
    if Path::new(pattern).is_absolute() {
        return Err(Error::input(
            pattern,
            "a source's path is relative to the project's root",
        ));
    }
    let mut files = Vec::new();
    for found in matches(&root, name, pattern)? {
        let path = relative(&root, &found);
        let shown = shown(name, &path);
        let real = local_below(&root, name, &found, &shown)?;
        let metadata = real.metadata().map_err(|e| Error::unreadable(&shown, &e))?;
        if metadata.is_dir() {
            if has_wildcard(pattern) {
                continue;
            }
            return Err(match real.join(DELTA_LOG).is_dir() {
                true => is_table(&shown),
                false => is_folder(&shown),
            });
        }
        if metadata.len() == 0 {
            return Err(is_empty(&shown));
        }
        files.push(SourceFile {
            place: FilePlace::Local(real),
            path,
            shown,
            logged: None,
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        return Err(no_file(name, pattern));
    }
    refuse_files_of_tables(&root, &files)?;
    Ok(files)
}

/// Some files of a Delta table are no longer of it, and of others not all rows.
fn refuse_files_of_tables(root: &Path, files: &[SourceFile]) -> Result<()> {
    let mut looked_at = BTreeSet::new();
    for file in files {
        for folder in Path::new(&file.path).ancestors().skip(1) {
            if !looked_at.insert(folder) {
                break;
            }
            if root.join(folder).join(DELTA_LOG).is_dir() {
                return Err(is_of_table(&file.shown, &folder.to_string_lossy()));
            }
        }
    }
    Ok(())
}

/// The Delta table whose log a file is of.
fn table_of_log(path: &str) -> Option<&str> {
    let (table, log) = path.split_once(DELTA_LOG)?;
    let is_folder = log.starts_with('/') && (table.is_empty() || table.ends_with('/'));
    is_folder.then(|| table.trim_end_matches('/'))
}

fn is_of_table(shown: &str, table: &str) -> Error {
    let table = match table {
        "" => ".",
        table => table,
    };
    let message = format!(
        "is a file of a Delta table, whose log says which files and rows count: write `path: {table}` and `format: delta`"
    );
    Error::input(shown, message)
}

fn is_table(shown: &str) -> Error {
    Error::input(shown, "is a Delta table: write `format: delta`")
}

/// Where a path leads, which is below its root.
pub(super) fn local_below(
    root: &Path,
    name: Option<&Name>,
    path: &Path,
    shown: &str,
) -> Result<PathBuf> {
    let real = path.canonicalize();
    let real = real.map_err(|e| Error::unreadable(shown, &e))?;
    if real.starts_with(root) {
        return Ok(real);
    }
    let root = match name {
        Some(name) => format!("root `{name}`"),
        None => "the project's root".to_owned(),
    };
    let message = format!("leads out of {root}, where sources may not be");
    Err(Error::input(shown, message))
}

fn is_empty(shown: &str) -> Error {
    Error::input(shown, "is empty (0 bytes)")
}

fn is_folder(shown: &str) -> Error {
    let message = format!("is a folder: write `{shown}/*.parquet` for the files in it");
    Error::input(shown, message)
}

fn no_file(root: Option<&Name>, pattern: &str) -> Error {
    let message = match root {
        Some(root) => format!("no file has this path below root `{root}`"),
        None => "no file has this path; paths of sources start at the project's folder".to_owned(),
    };
    Error::input(shown(root, pattern), message)
}

/// A path below a root, for messages.
pub(super) fn shown(root: Option<&Name>, path: &str) -> String {
    root.map_or_else(|| path.to_owned(), |root| format!("{root}: {path}"))
}

const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

fn no_pattern(pattern: &str, error: &PatternError) -> Error {
    let message = format!("is no path with wildcards that can be read: {}", error.msg);
    Error::input(pattern, message)
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(WILDCARDS)
}

fn matches(root: &Path, name: Option<&Name>, pattern: &str) -> Result<Vec<PathBuf>> {
    if !has_wildcard(pattern) {
        let path = root.join(pattern);
        return Ok(if path.exists() {
            vec![path]
        } else {
            Vec::new()
        });
    }
    let whole = format!("{}/{pattern}", Pattern::escape(&root.to_string_lossy()));
    let paths = glob::glob_with(&whole, MATCHING).map_err(|e| no_pattern(pattern, &e))?;
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |e: glob::GlobError| {
            Error::unreadable(shown(name, &relative(root, e.path())), e.error())
        };
        let path = path.map_err(unreadable)?;
        if !is_beside_data(&relative(root, &path), pattern) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Whether a part of the path is none of the data, and not named by the pattern either. A folder `_year=2024` is a
/// partition.
fn is_beside_data(path: &str, pattern: &str) -> bool {
    let is_named = |part: &str| pattern.split('/').any(|named| named == part);
    let mut parts = path.split('/');
    parts.any(|part| {
        let starts_so = part.starts_with('.') || (part.starts_with('_') && !part.contains('='));
        starts_so && !is_named(part)
    })
}

fn relative(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    relative.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, pattern: &str) -> Vec<String> {
        let files = find_local(root, None, pattern).expect("files");
        files.into_iter().map(|file| file.shown).collect()
    }

    #[test]
    fn globs_find_files_by_path_and_pass_over_hidden_ones() {
        let dir = tempfile::tempdir().expect("dir");
        let root = dir.path();
        std::fs::create_dir_all(root.join("data/b")).expect("dir");
        std::fs::create_dir_all(root.join("data/_temporary/_k=1")).expect("dir");
        std::fs::create_dir_all(root.join("data/_k=1")).expect("dir");
        for name in [
            "z.csv",
            "a.csv",
            ".a.csv",
            "_a.csv",
            "b/c.csv",
            "a.txt",
            "_temporary/_k=1/d.csv",
            "_k=1/e.csv",
        ] {
            std::fs::write(root.join("data").join(name), "x").expect("file");
        }
        assert_eq!(names(root, "data/*.csv"), ["data/a.csv", "data/z.csv"]);
        assert_eq!(
            names(root, "data/**/*.csv"),
            [
                "data/_k=1/e.csv",
                "data/a.csv",
                "data/b/c.csv",
                "data/z.csv"
            ]
        );
        assert_eq!(
            names(root, "data/_temporary/*/*.csv"),
            ["data/_temporary/_k=1/d.csv"]
        );
        assert_eq!(names(root, "data/_a.csv"), ["data/_a.csv"]);
    }

    #[test]
    fn absent_empty_and_escaping_files_are_refused_by_name() {
        let dir = tempfile::tempdir().expect("dir");
        let root = dir.path().join("project");
        std::fs::create_dir(&root).expect("dir");
        std::fs::write(dir.path().join("secret.csv"), "x").expect("file");
        std::fs::write(root.join("nothing.csv"), "").expect("file");
        std::os::unix::fs::symlink("../secret.csv", root.join("link.csv")).expect("link");
        let refused = |pattern| {
            find_local(&root, None, pattern)
                .expect_err("refused")
                .to_string()
        };
        assert_eq!(
            refused("gone/*.csv"),
            "`gone/*.csv`: no file has this path; paths of sources start at the project's folder"
        );
        assert_eq!(refused("nothing.csv"), "`nothing.csv`: is empty (0 bytes)");
        assert!(refused("link.csv").starts_with("`link.csv`: leads out"));
        assert!(refused("../secret.csv").contains("leads out"));
    }
}
