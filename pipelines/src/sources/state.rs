//! What a source was when it was read, as manifests keep it.

use std::fs::Metadata;
use std::time::SystemTime;

use feature_defs::fingerprint::Fingerprint;
use feature_defs::time::Instant;
use store::objects::FoundObject;

use crate::error::{Error, Result};
use crate::scan::files::{FilePlace, SourceFile};

/// A file or a table of a source.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum SourceState {
    /// A file.
    File(FileState),
    /// A table of a database.
    Table(TableState),
    /// A Delta table; its files stand beside it.
    Delta(DeltaState),
}

/// What changes when a file is replaced or written to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileState {
    /// Its size in bytes.
    pub length: u64,
    /// When it was written to last, where that is known.
    pub modified: Option<Instant>,
    /// What object storage gives another value whenever it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Hash of the numbers of rows that its table has deleted from it, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// Its place in the file system, where that has a number.
    #[serde(skip)]
    inode: u64,
}

/// Which version of a Delta table was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DeltaState {
    /// Its number.
    pub version: u64,
}

/// What was read of a table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TableState {
    /// How many of its rows.
    pub rows: u64,
    /// When, by the database's own clock.
    pub read_at: Instant,
}

impl FileState {
    pub(super) fn of(file: &SourceFile) -> Result<Self> {
        let path = match &file.place {
            FilePlace::Local(path) => path,
            FilePlace::Object(object) => {
                return Ok(Self {
                    deleted: deleted(file),
                    ..Self::of_object(&object.found)
                });
            }
        };
        let metadata = path.metadata();
        let metadata = metadata.map_err(|e| Error::unreadable(&file.shown, &e))?;
        Ok(Self {
            length: metadata.len(),
            modified: metadata.modified().ok().and_then(instant),
            etag: None,
            deleted: deleted(file),
            inode: inode(&metadata),
        })
    }

    fn of_object(object: &FoundObject) -> Self {
        Self {
            length: object.length,
            modified: Some(object.modified),
            etag: object.etag.clone(),
            deleted: None,
            inode: 0,
        }
    }
}

fn deleted(file: &SourceFile) -> Option<String> {
    let rows = file.logged.as_ref()?.deleted();
    let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
    (!rows.is_empty()).then(|| Fingerprint::of([bytes]).short())
}

/// A time of the file system, to the microsecond.
fn instant(time: SystemTime) -> Option<Instant> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let micros = i64::try_from(since.as_micros()).ok()?;
    Some(Instant::from_micros(micros))
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> u64 {
    0
}
