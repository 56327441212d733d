//! The files of a Delta table, each with what the table's log says of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Schema};
use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::name::Name;
use feature_defs::project::Project;
use feature_defs::source::{Column, Source, SourceFiles};
use feature_defs::value::Value;
use store::delta::{DeltaFile, DeltaTable, DeltaValues};
use store::objects::{FoundObject, Objects};

use super::convert::{Conversion, no_column, not_widening};
use super::csv_values::{parse, refusal};
use super::files::{FilePlace, Folder, SourceFile, folder_of, local_below, shown};
use crate::error::{Error, Result};

/// What a table's log says of one of its files.
#[derive(Debug)]
pub(crate) struct LoggedFile {
    columns: Arc<LoggedColumns>,
    values: BTreeMap<String, String>,
    deleted: Vec<u64>,
}

/// Where the table has the declared columns.
type LoggedColumns = BTreeMap<String, (DeltaValues, ArrowType)>;

/// The files of a table in their order, and its version.
///
/// # Errors
/// Where no table is there, and where its columns do not widen to the declared ones; those of object storage.
pub(crate) async fn find(
    project: &Project,
    source: &Source,
    files: &SourceFiles,
) -> Result<(Vec<SourceFile>, u64)> {
    let root = files.root.as_ref();
    let parts = files.path.split('/');
    let parts = parts.filter(|part| !matches!(*part, "" | "."));
    let folder = parts.collect::<Vec<_>>().join("/");
    let shown_table = shown(root, &files.path);
    let place = match folder_of(project, files)? {
        Folder::Local(above) => {
            let above = above.canonicalize().map_err(|e| Error::io(&above, e))?;
            let real = local_below(&above, root, &above.join(&folder), &shown_table)?;
            TablePlace::Local { above, real }
        }
        Folder::Objects(objects) => TablePlace::Objects(objects),
    };
    let table = match &place {
        TablePlace::Local { real, .. } => DeltaTable::in_folder(real, &shown_table).await?,
        TablePlace::Objects(objects) => {
            DeltaTable::in_objects(objects, &folder, &shown_table).await?
        }
    };
    let columns = Arc::new(columns(&table, source, &shown_table)?);
    let root = root.cloned();
    let found = move || {
        let files = table.files.into_iter().map(|file| {
            let path = match folder.as_str() {
                "" => file.path.clone(),
                folder => format!("{folder}/{}", file.path),
            };
            let found = place.file(root.as_ref(), path, &file)?;
            Ok(SourceFile {
                logged: Some(Arc::new(LoggedFile {
                    columns: Arc::clone(&columns),
                    values: file.values,
                    deleted: file.deleted,
                })),
                ..found
            })
        });
        Ok((files.collect::<Result<_>>()?, table.version))
    };
    let found = tokio::task::spawn_blocking(found).await;
    found.map_err(|e| Error::Refused(e.to_string()))?
}

/// Where a table is.
enum TablePlace {
    /// In a folder, with all links followed, below the root of its source.
    Local {
        above: PathBuf,
        real: PathBuf,
    },
    Objects(Arc<Objects>),
}

impl TablePlace {
    /// A file of the table; `path` is the one below the root.
    fn file(&self, root: Option<&Name>, path: String, file: &DeltaFile) -> Result<SourceFile> {
        match self {
            Self::Local { above, real } => {
                let shown = shown(root, &path);
                let place = local_below(above, root, &real.join(&file.path), &shown)?;
                Ok(SourceFile {
                    place: FilePlace::Local(place),
                    path,
                    shown,
                    logged: None,
                })
            }
            Self::Objects(objects) => {
                // Files of a table are never written again, so the log's word is enough.
                let found = FoundObject {
                    path,
                    length: file.length,
                    modified: file.modified,
                    etag: None,
                };
                Ok(SourceFile::of_object(objects, found, root))
            }
        }
    }
}

/// The declared columns of a table.
///
/// # Errors
/// Where the table has none of a name, or one whose type does not widen to the declared one.
fn columns(table: &DeltaTable, source: &Source, shown: &str) -> Result<LoggedColumns> {
    let mut columns = LoggedColumns::new();
    let mut faults = Vec::new();
    for (name, declared) in &source.columns {
        let Some(column) = table.columns.iter().find(|column| column.name == *name) else {
            let held: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
            faults.push(no_column(name, source, &held));
            continue;
        };
        let data_type = match &column.data_type {
            Ok(data_type) => data_type,
            Err(called) => {
                faults.push(format!(
                    "column `{name}` is {called}, which is not read: leave it out"
                ));
                continue;
            }
        };
        if let Err(mismatch) = Conversion::new(data_type, declared.data_type) {
            faults.push(format!(
                "{}: declare it as the table has it",
                not_widening(name, &mismatch)
            ));
            continue;
        }
        let is_in_log = matches!(column.values, DeltaValues::InLog(_));
        if is_in_log && declared.data_type == DataType::Bytes {
            faults.push(format!(
                "column `{name}` is a partition of bytes, which is not read: leave it out"
            ));
        }
        columns.insert(name.clone(), (column.values.clone(), data_type.clone()));
    }
    if faults.is_empty() {
        return Ok(columns);
    }
    Err(Error::input(shown, faults.join("; ")))
}

impl LoggedFile {
    /// Numbers, from 0 and ascending, of the rows that are no longer of the table.
    pub(crate) fn deleted(&self) -> &[u64] {
        &self.deleted
    }

    /// What the files of the table call a column.
    pub(super) fn name_in_file<'a>(&'a self, column: &'a str) -> &'a str {
        match self.columns.get(column) {
            Some((DeltaValues::InFiles(name), _)) => name,
            _ => column,
        }
    }

    /// The value of a column for all rows of the file, of whose columns `schema` tells; `None` where it holds the column.
    pub(super) fn value(
        &self,
        column: &str,
        declared: &Column,
        schema: &Schema,
        timezone: Tz,
    ) -> std::result::Result<Option<Value>, String> {
        let Some((values, table_type)) = self.columns.get(column) else {
            return Ok(None);
        };
        let name = match values {
            DeltaValues::InFiles(name) => {
                let is_there = schema.column_with_name(name).is_some();
                return Ok((!is_there).then_some(Value::Null));
            }
            DeltaValues::InLog(name) => name,
        };
        // An empty text is null, too.
        let text = self.values.get(name).filter(|text| !text.is_empty());
        let Some(text) = text else {
            return Ok(Some(Value::Null));
        };
        let zone = match table_type {
            ArrowType::Timestamp(_, Some(_)) => Tz::UTC,
            _ => timezone,
        };
        let value = parse(text.as_bytes(), declared.data_type, zone);
        let refused = || {
            let why = refusal(text.as_bytes(), declared.data_type, zone);
            format!("column `{column}` of the table's log: {why}")
        };
        value.map(Some).ok_or_else(refused)
    }
}
