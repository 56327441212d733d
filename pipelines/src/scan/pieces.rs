//! What of a source's files one thread reads at a time.

use std::sync::Arc;

use arrow::array::ArrayRef;
use feature_defs::source::{Source, SourceFormat};

use super::Cut;
use super::columns::Columns;
use super::csv::CsvFile;
use super::files::SourceFile;
use super::json_lines::{self, JsonLinesFile};
use super::parquet::{ParquetFile, RowGroup, Rows};
use crate::error::{Error, Result};

/// A part of a file, or all of it, read by one thread.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Parquet(Arc<ParquetFile>, RowGroup),
    Csv(Arc<CsvFile>),
    JsonLines(Arc<JsonLinesFile>),
}

impl Piece {
    /// Reads some columns of all its rows in their declared types, batch by batch with the number of its first row in the
    /// file (from 1), until `take` says false.
    pub(super) fn read(
        &self,
        wanted: &Columns,
        take: &mut dyn FnMut(u64, Vec<ArrayRef>) -> Result<bool>,
    ) -> Result<()> {
        match self {
            Self::Parquet(file, row_group) => file.read(*row_group, &Rows::All, wanted, take),
            Self::Csv(file) => file.read(wanted, take),
            Self::JsonLines(file) => file.read(wanted, take),
        }
    }

    /// The file that it is of.
    pub(super) fn file(&self) -> &SourceFile {
        match self {
            Self::Parquet(file, _) => file.file(),
            Self::Csv(file) => file.file(),
            Self::JsonLines(file) => file.file(),
        }
    }
}

/// The format of the files that a source is read from: tables of databases are copied as Parquet, those of Delta are kept
/// so.
pub(super) fn format(source: &Source) -> SourceFormat {
    let files = source.files();
    match files.map_or(SourceFormat::Parquet, |files| files.format) {
        SourceFormat::Delta => SourceFormat::Parquet,
        format => format,
    }
}

/// Whether a source is read from Parquet files.
pub(crate) fn is_parquet(source: &Source) -> bool {
    format(source) == SourceFormat::Parquet
}

/// The pieces of a source's files that may hold rows which `cut` sees.
pub(super) fn pieces(files: Vec<SourceFile>, source: &Source, cut: Cut) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    match format(source) {
        SourceFormat::Parquet | SourceFormat::Delta => {
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
    match format(source) {
        SourceFormat::Parquet | SourceFormat::Delta => {
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
