//! The files of a source: found by path or glob, below the project's root, in the order of their paths.

use std::fs::File;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::error::{Error, Result};

/// A file, and how messages name it: its path relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) shown: String,
}

impl SourceFile {
    pub(crate) fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(|e| Error::unreadable(&self.shown, &e))
    }
}

/// Finds the files that `pattern` (relative to `root`) names. What is hidden, or starts with `_` as what a writer leaves
/// beside its data does (`_SUCCESS`, `_temporary/`), is found by its whole name, never by a wildcard.
pub(crate) fn find(root: &Path, pattern: &str) -> Result<Vec<SourceFile>> {
    let root = root.canonicalize().map_err(|e| Error::io(root, e))?;
    if Path::new(pattern).is_absolute() {
        return Err(Error::input(
            pattern,
            "a source's path is relative to the project's root",
        ));
    }
    let mut files = Vec::new();
    for path in matches(&root, pattern)? {
        let shown = shown(&root, &path);
        let real = path
            .canonicalize()
            .map_err(|e| Error::unreadable(&shown, &e))?;
        if !real.starts_with(&root) {
            return Err(Error::input(
                shown,
                "leads out of the project's root, where sources may not be",
            ));
        }
        let metadata = real.metadata().map_err(|e| Error::unreadable(&shown, &e))?;
        if metadata.is_dir() {
            if has_wildcard(pattern) {
                continue;
            }
            return Err(Error::input(
                &shown,
                format!("is a folder: write `{shown}/*.parquet` for the files in it"),
            ));
        }
        if metadata.len() == 0 {
            return Err(Error::input(shown, "is empty (0 bytes)"));
        }
        files.push(SourceFile { path: real, shown });
    }
    files.sort_by(|a, b| a.shown.cmp(&b.shown));
    if files.is_empty() {
        return Err(Error::input(
            pattern,
            "no file has this path; paths of sources start at the project's folder",
        ));
    }
    Ok(files)
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '['])
}

fn matches(root: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    if !has_wildcard(pattern) {
        let path = root.join(pattern);
        return Ok(if path.exists() {
            vec![path]
        } else {
            Vec::new()
        });
    }
    let whole = format!("{}/{pattern}", Pattern::escape(&root.to_string_lossy()));
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let paths = glob::glob_with(&whole, options).map_err(|e| {
        let message = format!("is no path with wildcards that can be read: {}", e.msg);
        Error::input(pattern, message)
    })?;
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|e| Error::unreadable(shown(root, e.path()), e.error()))?;
        if !is_beside_data(&shown(root, &path), pattern) {
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

fn shown(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    relative.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, pattern: &str) -> Vec<String> {
        let files = find(root, pattern).expect("files");
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
        let refused = |pattern| find(&root, pattern).expect_err("refused").to_string();
        assert_eq!(
            refused("gone/*.csv"),
            "`gone/*.csv`: no file has this path; paths of sources start at the project's folder"
        );
        assert_eq!(refused("nothing.csv"), "`nothing.csv`: is empty (0 bytes)");
        assert!(refused("link.csv").starts_with("`link.csv`: leads out"));
        assert!(refused("../secret.csv").contains("leads out"));
    }
}
