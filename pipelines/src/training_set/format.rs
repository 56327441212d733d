//! The formats of entity frames and training sets, by the endings of their names.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::compute::concat_batches;
use arrow::error::{ArrowError, Result as ArrowResult};
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use feature_defs::foreign;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};

/// A format of files with typed columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Parquet, also of names without an ending.
    Parquet,
    /// Arrow's IPC format as a file that is read from any place, as Feather is too.
    ArrowFile,
    /// Arrow's IPC format as a stream.
    ArrowStream,
}

const ENDINGS: [(&str, Format); 5] = [
    ("parquet", Format::Parquet),
    ("pq", Format::Parquet),
    ("arrow", Format::ArrowFile),
    ("feather", Format::ArrowFile),
    ("arrows", Format::ArrowStream),
];

impl Format {
    /// By how a name ends; `None` for an ending of no such format.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let Some(ending) = path.extension() else {
            return Some(Self::Parquet);
        };
        let mut endings = ENDINGS.iter();
        let known = endings.find(|(known, _)| ending.eq_ignore_ascii_case(known));
        known.map(|(_, format)| *format)
    }

    /// Reads all rows of a file; `shown` is what messages call it.
    pub(super) fn read(self, path: &Path, shown: &str) -> Result<RecordBatch> {
        let file = File::open(path).map_err(|e| Error::unreadable(shown, &e))?;
        match self {
            Self::Parquet => {
                let broken = |e: &(dyn std::error::Error + 'static)| {
                    Error::not_parquet(shown, e, "give its name the ending `.csv`")
                };
                let builder = ParquetRecordBatchReaderBuilder::try_new(file);
                let reader = builder.and_then(ParquetRecordBatchReaderBuilder::build);
                all_rows(reader.map_err(|e| broken(&e))?).map_err(|e| broken(&e))
            }
            Self::ArrowFile => {
                let reader = FileReader::try_new(BufReader::new(file), None);
                reader.and_then(all_rows).map_err(|e| not_arrow(shown, &e))
            }
            Self::ArrowStream => {
                let reader = StreamReader::try_new(BufReader::new(file), None);
                reader.and_then(all_rows).map_err(|e| not_arrow(shown, &e))
            }
        }
    }

    /// Writes rows.
    pub(super) fn write(
        self,
        rows: &RecordBatch,
        to: impl Write + Send,
    ) -> std::result::Result<(), WriteFault> {
        match self {
            Self::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build();
                let mut writer = ArrowWriter::try_new(to, rows.schema(), Some(properties))?;
                writer.write(rows)?;
                writer.close()?;
            }
            Self::ArrowFile => {
                let mut writer = FileWriter::try_new(BufWriter::new(to), &rows.schema())?;
                writer.write(rows)?;
                writer.finish()?;
            }
            Self::ArrowStream => {
                let mut writer = StreamWriter::try_new(BufWriter::new(to), &rows.schema())?;
                writer.write(rows)?;
                writer.finish()?;
            }
        }
        Ok(())
    }
}

fn all_rows(reader: impl RecordBatchReader) -> ArrowResult<RecordBatch> {
    let schema = reader.schema();
    let batches = reader.collect::<ArrowResult<Vec<_>>>()?;
    concat_batches(&schema, &batches)
}

fn not_arrow(shown: &str, error: &ArrowError) -> Error {
    // A file that is too short is read from before its start, which the system calls an invalid argument.
    if let Some(system) = foreign::system_cause(error)
        && system.raw_os_error().is_some()
        && system.kind() != ErrorKind::InvalidInput
    {
        return Error::unreadable(shown, system);
    }
    Error::input(
        shown,
        "is no file of Arrow's IPC format, or is cut off or damaged: `.arrow` and `.feather` are files of it (Feather of version 2), `.arrows` is a stream of it",
    )
}

/// Why rows could not be written, after the name of where.
#[derive(Debug)]
pub(super) struct WriteFault(pub(super) String);

impl From<ParquetError> for WriteFault {
    fn from(error: ParquetError) -> Self {
        Self(format!("it {}", store::offline::parquet_fault(&error)))
    }
}

impl From<ArrowError> for WriteFault {
    fn from(error: ArrowError) -> Self {
        Self(match foreign::system_cause(&error) {
            Some(system) => foreign::system(system).to_string(),
            None => error.to_string(),
        })
    }
}
