//! A database that sources are tables of: they are copied into Parquet files of ours, which scans read as they read any.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result as EngineResult;
use datafusion::execution::SpillFile;
use feature_defs::name::Name;
use feature_defs::project::Project;
use feature_defs::source::{Source, SourceTable};
use feature_defs::time::Instant;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use store::tables::{DatabaseSnapshot, FoundColumn, ReadColumn, TableRead, TimeBound};
use tokio::sync::mpsc;

use super::open::OpenSource;
use super::state::{SourceState, TableState};
use crate::error::{Error, Result};
use crate::progress::{Event, Progress};
use crate::scan::Conversion;
use crate::scan::files::{FilePlace, SourceFile};
use crate::session::Session;

/// So that several threads have something to read.
const ROWS_A_GROUP: usize = 131_072;

/// A database, as of one instant of it.
pub(super) struct OpenDatabase {
    snapshot: DatabaseSnapshot,
    read_at: Instant,
}

impl OpenDatabase {
    /// Opens a database of the project.
    pub(super) async fn open(project: &Project, name: &Name) -> Result<Self> {
        let url = project.databases.get(name).map_or("", String::as_str);
        let mut snapshot = DatabaseSnapshot::begin(name.as_str(), url).await?;
        let read_at = snapshot.read_at().await?;
        Ok(Self { snapshot, read_at })
    }

    /// How a source's table is read.
    ///
    /// # Errors
    /// Where it has not the declared columns in types that widen to the declared ones.
    pub(super) async fn plan(&mut self, source: &Source, table: &SourceTable) -> Result<TableRead> {
        let found = self.snapshot.columns(&table.schema, &table.table).await?;
        let mut columns = Vec::new();
        let mut faults = Vec::new();
        for (name, column) in &source.columns {
            match read_column(&found, name, column.data_type) {
                Ok(column) => columns.push(column),
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(Error::input(shown(table), faults.join("; ")));
        }
        Ok(TableRead {
            schema: table.schema.clone(),
            table: table.table.clone(),
            columns,
            bounds: Vec::new(),
        })
    }

    /// Copies the rows of a source's table that are of times up to `until`.
    pub(super) async fn copy(
        &mut self,
        session: &Session,
        source: &Source,
        table: &SourceTable,
        until: Instant,
        progress: &dyn Progress,
    ) -> Result<OpenSource> {
        let mut read = self.plan(source, table).await?;
        let times = [Some(&source.event_time), source.created_time.as_ref()];
        let bound = |column: &String| TimeBound {
            column: column.clone(),
            until,
        };
        read.bounds = times.into_iter().flatten().map(bound).collect();

        progress.event(Event::CopyStarted {
            source: &source.name,
        });
        let copy = session.file_of_ours(&format!("a copy of `{}`", shown(table)))?;
        let (sender, batches) = mpsc::channel(1);
        let schema = DatabaseSnapshot::schema(&read);
        let file = Arc::clone(&copy);
        let writing = tokio::task::spawn_blocking(move || write(file.as_ref(), schema, batches));
        let reading = self.snapshot.read(&read, sender).await;
        let written = writing.await.map_err(|e| Error::Refused(e.to_string()))?;
        let failed = |e| Error::engine(format!("copying `{}`", shown(table)), &e);
        let rows = written.map_err(failed)?;
        reading?;
        progress.event(Event::Copied {
            source: &source.name,
            rows,
        });
        let path = copy.path().map(Path::to_owned).unwrap_or_default();
        let file = SourceFile {
            place: FilePlace::Local(path),
            path: String::new(),
            shown: shown(table),
            logged: None,
        };
        let state = TableState {
            rows,
            read_at: self.read_at,
        };
        Ok(OpenSource::copy(file, copy, SourceState::Table(state)))
    }
}

/// How messages name a table.
pub(super) fn shown(table: &SourceTable) -> String {
    format!("{}.{table}", table.database)
}

fn read_column(
    found: &[FoundColumn],
    name: &str,
    declared: feature_defs::data_type::DataType,
) -> std::result::Result<ReadColumn, String> {
    let Some(column) = found.iter().find(|column| column.name == name) else {
        let held: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
        return Err(format!(
            "has no column `{name}` (it has: {})",
            held.join(", ")
        ));
    };
    let shown = &column.shown;
    let Some(column_type) = column.column_type.clone() else {
        return Err(format!(
            "column `{name}` is {shown}, which is not read: leave it out, or make a view that casts it"
        ));
    };
    if Conversion::new(&column_type.to_arrow(declared), declared).is_err() {
        return Err(format!(
            "column `{name}` is {shown}, which does not widen to the declared `{declared}` without loss: declare it as the table has it, or make a view that casts it"
        ));
    }
    Ok(ReadColumn {
        name: name.to_owned(),
        column_type,
        declared,
    })
}

/// Writes batches as they come, and says how many rows.
fn write(
    file: &dyn SpillFile,
    schema: SchemaRef,
    mut batches: mpsc::Receiver<RecordBatch>,
) -> EngineResult<u64> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROWS_A_GROUP))
        .build();
    let mut writer = ArrowWriter::try_new(file.open_writer()?, schema, Some(properties))?;
    let mut rows = 0;
    while let Some(batch) = batches.blocking_recv() {
        writer.write(&batch)?;
        rows += batch.num_rows() as u64;
    }
    writer.into_inner()?.finish()?;
    Ok(rows)
}
