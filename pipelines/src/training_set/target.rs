//! Where a training set is written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;

use super::format::Format;
use super::manifest::{HashedFile, Manifest, hashed};
use crate::error::{Error, Result};

/// A file that a training set may be written to.
#[derive(Debug)]
pub(super) struct Target<'a> {
    path: &'a Path,
    format: Format,
}

impl<'a> Target<'a> {
    /// Refuses, before anything is computed, what cannot be written to or must not be.
    pub(super) fn new(path: &'a Path, frame: &Path) -> Result<Self> {
        let shown = path.display();
        let format = Format::of(path).ok_or_else(|| {
            Error::Refused(format!(
                "a training set is written as Parquet or in Arrow's IPC format, and not as `{shown}` says: write `{}`",
                path.with_extension("parquet").display()
            ))
        })?;
        if path.is_dir() {
            return Err(Error::Refused(format!(
                "`{shown}` is a folder: write `{}`",
                path.join("training.parquet").display()
            )));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::Refused(format!(
                "there is no folder `{}` to write `{shown}` in: make it first, or write elsewhere",
                folder.display()
            )));
        }
        if is_same_file(path, frame) {
            return Err(Error::Refused(format!(
                "`{shown}` is the entity frame itself, which writing would destroy: write to another file"
            )));
        }
        Ok(Self { path, format })
    }

    /// Writes beside the file first, so that a reader never finds a part.
    pub(super) fn write(&self, batch: &RecordBatch) -> Result<HashedFile> {
        let beside = ending_in(self.path, ".part");
        let file = File::create(&beside).map_err(|e| Error::io(self.path, e))?;
        self.format.write(batch, &file).map_err(|fault| {
            let path = self.path.display();
            Error::Refused(format!("`{path}` cannot be written: {}", fault.0))
        })?;
        file.sync_all().map_err(|e| Error::io(&beside, e))?;
        fs::rename(&beside, self.path).map_err(|e| Error::io(self.path, e))?;
        hashed(self.path, batch.num_rows())
    }

    /// Writes the manifest beside the training set; returns where.
    pub(super) fn write_manifest(&self, manifest: &Manifest) -> Result<PathBuf> {
        let path = ending_in(self.path, ".manifest.json");
        let beside = ending_in(&path, ".part");
        fs::write(&beside, manifest.to_json()?).map_err(|e| Error::io(&beside, e))?;
        fs::rename(&beside, &path).map_err(|e| Error::io(&path, e))?;
        Ok(path)
    }
}

/// The path with more at the end of its name.
fn ending_in(path: &Path, ending: &str) -> PathBuf {
    let mut longer = path.as_os_str().to_owned();
    longer.push(ending);
    PathBuf::from(longer)
}

/// Whether two paths lead to one file that is there.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, frame: &Path) -> String {
        let refused = Target::new(path, frame).expect_err("refused");
        refused.to_string()
    }

    #[test]
    fn the_frame_itself_is_no_target_however_it_is_written() {
        let folder = tempfile::tempdir().expect("folder");
        let frame = folder.path().join("frame.parquet");
        fs::write(&frame, "rows").expect("file");
        fs::create_dir(folder.path().join("below")).expect("folder");
        for path in [frame.clone(), folder.path().join("below/../frame.parquet")] {
            let said = refused(&path, &frame);
            assert!(said.contains("is the entity frame itself"), "{said}");
        }
        let other = folder.path().join("other.parquet");
        Target::new(&other, &frame).expect("another file");
    }

    #[test]
    fn names_of_other_formats_are_refused_with_the_right_one() {
        let frame = Path::new("frame.csv");
        for (name, right) in [
            ("out.csv", "write `out.parquet`"),
            ("out.JSON", "write `out.parquet`"),
            ("out.v2.orc", "write `out.v2.parquet`"),
        ] {
            let said = refused(Path::new(name), frame);
            assert!(said.contains(right), "{said}");
        }
        for name in [
            "out",
            "out.parquet",
            "out.PARQUET",
            "out.pq",
            "out.arrow",
            "out.Feather",
            "out.arrows",
        ] {
            Target::new(Path::new(name), frame).expect(name);
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let missing = folder.path().join("nodir");
        let said = refused(&missing.join("x.parquet"), Path::new("frame.csv"));
        let named = format!("there is no folder `{}`", missing.display());
        assert!(said.contains(&named), "{said}");
        let said = refused(folder.path(), Path::new("frame.csv"));
        assert!(said.contains("is a folder"), "{said}");
    }
}
