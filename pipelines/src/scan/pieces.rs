//! What of a source's files one thread reads at a time.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use feature_defs::source::{Source, SourceFormat};

use super::Cut;
use super::csv::CsvFile;
use super::files::{self, SourceFile};
use super::json_lines::{self, JsonLinesFile};
use super::parquet::{ParquetFile, RowGroup};
use super::table::ReadPlan;
use crate::error::{Error, Result};

/// A part of a file, or all of it, read by one thread.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Parquet(Arc<ParquetFile>, RowGroup),
    Csv(Arc<CsvFile>),
    JsonLines(Arc<JsonLinesFile>),
}

impl Piece {
    /// Reads it, handing over each batch of rows that are seen, until `take` says false.
    pub(super) fn read(
        &self,
        plan: &ReadPlan,
        take: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        match self {
            Self::Parquet(file, row_group) => file.read(*row_group, plan, take),
            Self::Csv(file) => file.read(plan, take),
            Self::JsonLines(file) => file.read(plan, take),
        }
    }
}

/// The pieces of a source's files that may hold rows which `cut` sees.
pub(super) fn pieces(root: &Path, source: &Source, cut: Cut) -> Result<Vec<Piece>> {
    let files = files::find(root, &source.path)?;
    let mut pieces = Vec::new();
    match source.format {
        SourceFormat::Parquet => {
            for file in files {
                let file = Arc::new(ParquetFile::open(file, source)?);
                for row_group in file.row_groups(source, cut) {
                    pieces.push(Piece::Parquet(Arc::clone(&file), row_group));
                }
            }
        }
        SourceFormat::Csv { delimiter } => {
            for file in files {
                let file = CsvFile::open(file, source, delimiter)?;
                pieces.push(Piece::Csv(Arc::new(file)));
            }
        }
        SourceFormat::JsonLines => {
            let opened = json_lines::open(files, source)?.into_iter();
            pieces.extend(opened.map(|file| Piece::JsonLines(Arc::new(file))));
        }
    }
    Ok(pieces)
}

/// Why files have not the declared columns, as far as that shows without reading their rows.
pub(crate) fn misfits(files: Vec<SourceFile>, source: &Source) -> Vec<Error> {
    match source.format {
        SourceFormat::Parquet => {
            let misfit = |file| ParquetFile::open(file, source).err();
            files.into_iter().filter_map(misfit).collect()
        }
        SourceFormat::Csv { delimiter } => {
            let misfit = |file| CsvFile::open(file, source, delimiter).err();
            files.into_iter().filter_map(misfit).collect()
        }
        SourceFormat::JsonLines => json_lines::open(files, source).err().into_iter().collect(),
    }
}
