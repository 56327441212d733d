//! Delta tables: which files and which of their rows a table consists of, as its log says.
//!
//! The log is read by the Delta project's own kernel; the files are read by whoever asks for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use delta_kernel::engine::arrow_conversion::TryIntoArrow;
use delta_kernel::scan::state::ScanFile;
use delta_kernel::schema::{ColumnMetadataKey, MetadataValue, StructField, StructType};
use delta_kernel::table_features::ColumnMappingMode;
use delta_kernel::{Engine, KernelError, Snapshot};
use delta_kernel_default_engine::DefaultEngine;
use feature_defs::time::Instant;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use url::Url;

use crate::error::{Error, ErrorKind, Result};
use crate::objects::Objects;

/// A table, as of its newest version.
#[derive(Debug, Clone, PartialEq)]
pub struct DeltaTable {
    /// The number of that version.
    pub version: u64,
    /// Its columns, in its order.
    pub columns: Vec<DeltaColumn>,
    /// Its files, in the order of their paths.
    pub files: Vec<DeltaFile>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DeltaColumn {
    /// Its name.
    pub name: String,
    /// Its type as Arrow has it; where Arrow has none, or files name its fields otherwise, what Delta calls it.
    pub data_type: std::result::Result<DataType, String>,
    /// Where its values are.
    pub values: DeltaValues,
}

/// Where the values of a column are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaValues {
    /// In the files, under this name; a file that lacks it has nulls.
    InFiles(String),
    /// In the log, one a file, under this name.
    InLog(String),
}

/// A Parquet file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaFile {
    /// Its path below the table's folder.
    pub path: String,
    /// Its size in bytes.
    pub length: u64,
    /// When it was written, as the log says.
    pub modified: Instant,
    /// Values of columns that the log holds, as text; a column that is not here is null.
    pub values: BTreeMap<String, String>,
    /// Numbers, from 0 and ascending, of the rows that are no longer of the table.
    pub deleted: Vec<u64>,
}

impl DeltaTable {
    /// Reads the log of the table in a folder on local disk. `shown` is how messages name it.
    ///
    /// # Errors
    /// `NotFound` when no table is there, `Unsupported` when it uses what is not read, `Corrupt` when its log makes no
    /// sense, `Unavailable` when it cannot be read.
    pub async fn in_folder(folder: &Path, shown: &str) -> Result<Self> {
        let invalid = || Error::new(ErrorKind::Invalid, format!("`{shown}` is no folder"));
        // The kernel takes no `..`.
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = Url::from_directory_path(real).map_err(|()| invalid())?;
        Self::read(Arc::new(LocalFileSystem::new()), root, shown).await
    }

    /// Reads the log of the table in a folder of object storage.
    ///
    /// # Errors
    /// As [`DeltaTable::in_folder`].
    pub async fn in_objects(objects: &Objects, folder: &str, shown: &str) -> Result<Self> {
        let root = Url::parse(objects.url());
        let mut root = root.map_err(|error| Fault::from(KernelError::from(error)).told(shown))?;
        // Only the path counts, which starts where those of the store do.
        root.set_path(&match folder {
            "" => "/".to_owned(),
            folder => format!("/{folder}/"),
        });
        Self::read(objects.store(), root, shown).await
    }

    /// The kernel blocks, and runs what waits on a thread of its own.
    async fn read(store: Arc<dyn ObjectStore>, root: Url, shown: &str) -> Result<Self> {
        let read = tokio::task::spawn_blocking(move || {
            let engine = DefaultEngine::builder(store).build();
            read_log(&engine, &root)
        });
        let read = read.await.map_err(|error| {
            let message = format!("the log of `{shown}` cannot be read");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        })?;
        read.map_err(|fault| fault.told(shown))
    }
}

/// Why a log could not be read.
enum Fault {
    Kernel(KernelError),
    /// A file that is not below the table's folder.
    Outside(String),
}

impl From<KernelError> for Fault {
    fn from(error: KernelError) -> Self {
        Self::Kernel(error)
    }
}

impl Fault {
    fn told(self, shown: &str) -> Error {
        let error = match self {
            Self::Outside(path) => {
                let message = format!(
                    "the Delta table `{shown}` has the file `{path}`, which is not in its folder: shallow clones are not read"
                );
                return Error::new(ErrorKind::Unsupported, message);
            }
            Self::Kernel(KernelError::Backtraced { source, .. }) => *source,
            Self::Kernel(error) => error,
        };
        let (kind, message) = match &error {
            KernelError::EmptyLog | KernelError::FileNotFound(_) => {
                let message = format!("`{shown}` is no Delta table: it has no log (`_delta_log`)");
                return Error::new(ErrorKind::NotFound, message);
            }
            KernelError::Unsupported(_) => (
                ErrorKind::Unsupported,
                "uses what is not read of Delta tables",
            ),
            KernelError::ObjectStore(_) | KernelError::IOError(_) | KernelError::Reqwest(_) => {
                (ErrorKind::Unavailable, "has a log that cannot be read")
            }
            _ => (ErrorKind::Corrupt, "has a log that makes no sense"),
        };
        Error::new(kind, format!("the Delta table `{shown}` {message}")).with_source(error)
    }
}

fn read_log(engine: &dyn Engine, root: &Url) -> std::result::Result<DeltaTable, Fault> {
    let snapshot = Snapshot::builder_for(root.as_str()).build(engine)?;
    let version = snapshot.version();
    let mapping = snapshot.table_properties().column_mapping_mode;
    let is_mapped = matches!(
        mapping,
        Some(ColumnMappingMode::Name | ColumnMappingMode::Id)
    );
    let scan = snapshot.scan_builder().build()?;
    let in_files = scan.physical_schema();
    let columns = scan.logical_schema().fields();
    let columns = columns
        .map(|field| column(field, in_files, is_mapped))
        .collect();

    let mut found: Vec<ScanFile> = Vec::new();
    for metadata in scan.scan_metadata(engine)? {
        found = metadata?.visit_scan_files(found, |found, file| found.push(file))?;
    }
    let mut files = Vec::with_capacity(found.len());
    for file in found {
        let path = below(root, &file.path).ok_or_else(|| Fault::Outside(file.path.clone()))?;
        let deleted = file.dv_info.get_row_indexes(engine, root)?;
        let mut deleted = deleted.unwrap_or_default();
        deleted.sort_unstable();
        files.push(DeltaFile {
            path,
            length: u64::try_from(file.size).unwrap_or_default(),
            modified: Instant::from_micros(file.modification_time.saturating_mul(1_000)),
            values: file.partition_values.into_iter().collect(),
            deleted,
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(DeltaTable {
        version,
        columns,
        files,
    })
}

fn column(field: &StructField, in_files: &StructType, is_mapped: bool) -> DeltaColumn {
    let name = field.name().clone();
    let mapped = field.get_config_value(&ColumnMetadataKey::ColumnMappingPhysicalName);
    let physical = match mapped {
        Some(MetadataValue::String(physical)) if is_mapped => physical.clone(),
        _ => name.clone(),
    };
    let called = || field.data_type().to_string();
    let held = in_files.field(&physical);
    let arrow: std::result::Result<Field, _> = field.try_into_arrow();
    let data_type = match (arrow, held) {
        (Ok(arrow), None) => Ok(arrow.data_type().clone()),
        // Fields of structs have other names in the files, too.
        (Ok(arrow), Some(held)) if held.data_type() == field.data_type() => {
            Ok(arrow.data_type().clone())
        }
        _ => Err(called()),
    };
    DeltaColumn {
        data_type,
        values: match held {
            Some(_) => DeltaValues::InFiles(physical),
            None => DeltaValues::InLog(physical),
        },
        name,
    }
}

/// The path of a file below the table's folder, without the encoding that the log writes it in.
fn below(root: &Url, path: &str) -> Option<String> {
    let file = root.join(path).ok()?;
    let is_same_place = (file.scheme(), file.host_str()) == (root.scheme(), root.host_str());
    let below = file.path().strip_prefix(root.path())?;
    let below = percent_encoding::percent_decode_str(below)
        .decode_utf8()
        .ok()?;
    let leaves = below.split('/').any(|part| part == "..");
    (is_same_place && !leaves && !below.is_empty()).then(|| below.into_owned())
}

#[cfg(test)]
mod tests;
