//! What a training set was made from, written beside it, so that it can be built again and compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow::array::{Array, RecordBatch};
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;

use crate::error::{Error, Result};
use crate::scan::shown_type;
use crate::sources::SourceState;

/// What a training set was made from and what it holds, as JSON in `<output>.manifest.json`.
///
/// Two training sets of equal `content` are equal byte for byte. If it differs, `definitions`, `frame` and `sources` say
/// what else differs.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Manifest {
    /// The version of this format: 1.
    pub format: u32,
    /// The project.
    pub project: Name,
    /// The definitions that it was built with.
    pub definitions: BuiltWith,
    /// The service whose features were joined.
    pub service: Name,
    /// The frame's column with each row's as-of.
    pub as_of_column: String,
    /// The entity frame.
    pub frame: HashedFile,
    /// The files and tables of each source that was read, as they were.
    pub sources: BTreeMap<Name, BTreeMap<String, SourceState>>,
    /// The training set.
    pub output: HashedFile,
    /// Its columns, in order.
    pub columns: Vec<ColumnSummary>,
    /// When it was built.
    pub built_at: Instant,
}

/// Which version of the definitions.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BuiltWith {
    /// In the registry.
    pub version: u64,
    /// Hash of the objects.
    pub fingerprint: Fingerprint,
}

/// A file with rows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HashedFile {
    /// Its name, without folders.
    pub file: String,
    /// Its rows.
    pub rows: usize,
    /// The BLAKE3 hash of its bytes.
    pub content: Fingerprint,
}

/// One column of a training set.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its type.
    pub r#type: String,
    /// How many values are null.
    pub nulls: usize,
    /// Their share of all rows, from 0 to 1; 0 without rows.
    pub null_rate: f64,
}

impl Manifest {
    /// The version of the format that is written.
    pub(super) const FORMAT: u32 = 1;

    /// As it stands in its file.
    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec_pretty(self);
        let mut json = json.map_err(|e| Error::Refused(format!("a manifest is no JSON: {e}")))?;
        json.push(b'\n');
        Ok(json)
    }
}

/// A file of `rows` rows, with the hash of its bytes.
pub(super) fn hashed(path: &Path, rows: usize) -> Result<HashedFile> {
    let file = File::open(path).map_err(|e| Error::unreadable(path.display().to_string(), &e))?;
    let content = Fingerprint::of_reader(file);
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(HashedFile {
        file: name.to_string_lossy().into_owned(),
        rows,
        content: content.map_err(|e| Error::unreadable(path.display().to_string(), &e))?,
    })
}

/// The columns of a training set.
pub(super) fn summaries(rows: &RecordBatch) -> Vec<ColumnSummary> {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns());
    let summary = columns.map(|(field, column)| {
        let nulls = column.logical_null_count();
        #[allow(clippy::cast_precision_loss)] // a share
        let null_rate = match rows.num_rows() {
            0 => 0.0,
            rows => nulls as f64 / rows as f64,
        };
        ColumnSummary {
            name: field.name().clone(),
            r#type: shown_type(field.data_type()).trim_matches('`').to_owned(),
            nulls,
            null_rate,
        }
    });
    summary.collect()
}
