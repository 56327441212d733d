//! A cut source as a table of the engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, TimestampMicrosecondArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use chrono_tz::Tz;
use datafusion::catalog::{Session as EngineSession, TableProvider};
use datafusion::error::Result as EngineResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::source::Source;
use feature_defs::time::Instant;

use super::Cut;
use super::convert::{for_sql, to_instants};
use super::files::SourceFile;
use super::ordered::in_total_order;
use super::pieces::{Piece, pieces};
use crate::error::{Error, Result};
use crate::nested::Failure;

/// The column with each row's event time as an instant, where [`CutSource::with_times`] asked for it.
pub(crate) const EVENT_TIME: &str = "__event_time";
/// The column with each row's created time as an instant, likewise; null without one.
pub(crate) const CREATED_TIME: &str = "__created_time";

/// The rows of a source that are seen as of an instant.
#[derive(Debug, Clone)]
pub(crate) struct CutSource {
    source: Arc<Source>,
    cut: Cut,
    schema: SchemaRef,
    pieces: Vec<Piece>,
    rows_read: Arc<RowCount>,
    order: Order,
    /// Whether values come as SQL sees them.
    for_sql: bool,
}

/// In which order a scan gives rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// As they are found, over several partitions.
    Any,
    /// By all columns of the scan, in one partition: rows that are equal in them cannot be told apart.
    Total,
}

/// How many rows of a source or a view were seen; a query that scans it twice sees the same rows twice and counts them once.
#[derive(Debug, Default)]
pub(crate) struct RowCount {
    scans: Mutex<Vec<Arc<AtomicU64>>>,
}

impl RowCount {
    /// A count for one more scan.
    pub(crate) fn scan(&self) -> Arc<AtomicU64> {
        let count = Arc::default();
        let mut scans = self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        scans.push(Arc::clone(&count));
        count
    }

    /// The count so far.
    pub(crate) fn get(&self) -> u64 {
        let scans = self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        scans
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .max()
            .unwrap_or(0)
    }
}

impl CutSource {
    /// Finds the source's files and checks their columns against the declared ones.
    pub(crate) async fn open(definitions: &Definitions, source: &Source, cut: Cut) -> Result<Self> {
        let root = definitions.project.root.clone();
        let source = Arc::new(source.clone());
        let for_pieces = Arc::clone(&source);
        let pieces = tokio::task::spawn_blocking(move || pieces(&root, &for_pieces, cut))
            .await
            .map_err(|e| Error::view(&source.name, e.to_string()))??;
        let fields: Vec<Field> = source
            .columns
            .iter()
            .map(|(name, column)| Field::new(name, column.data_type.to_arrow(), true))
            .collect();
        Ok(Self {
            source,
            cut,
            schema: Arc::new(Schema::new(fields)),
            pieces,
            rows_read: Arc::default(),
            order: Order::Any,
            for_sql: false,
        })
    }

    /// The same with [`EVENT_TIME`] and [`CREATED_TIME`] after the declared columns.
    pub(crate) fn with_times(mut self) -> Self {
        let mut fields = self.schema.fields().to_vec();
        let instant = DataType::Timestamp.to_arrow();
        fields.push(Arc::new(Field::new(EVENT_TIME, instant.clone(), false)));
        fields.push(Arc::new(Field::new(CREATED_TIME, instant, true)));
        self.schema = Arc::new(Schema::new(fields));
        self
    }

    /// The same as SQL sees it: types as [`DataType::in_sql`] has them, and floats with 0 for -0 and one NaN for all,
    /// because queries group and count by bits, and only sometimes by value.
    pub(crate) fn for_sql(mut self) -> Self {
        let columns = self.source.columns.iter();
        let fields = columns
            .map(|(name, column)| Field::new(name, column.data_type.in_sql().to_arrow(), true));
        self.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        self.for_sql = true;
        self
    }

    /// The same in an order that only the rows decide, whatever files they are in: for queries whose result the order of
    /// their rows can show in.
    pub(crate) fn in_total_order(mut self) -> Self {
        self.order = Order::Total;
        self
    }

    /// Grows with the rows that are seen.
    pub(crate) fn rows_read(&self) -> Arc<RowCount> {
        Arc::clone(&self.rows_read)
    }
}

#[async_trait]
impl TableProvider for CutSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn EngineSession,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let plan = Arc::new(ReadPlan::new(self, Arc::clone(&schema)));
        let partitions = state
            .config()
            .target_partitions()
            .min(self.pieces.len())
            .max(1);
        let each = self.pieces.len().div_ceil(partitions).max(1);
        let mut streams: Vec<Arc<dyn PartitionStream>> = Vec::with_capacity(partitions);
        for partition in 0..partitions {
            let start = (partition * each).min(self.pieces.len());
            let end = (start + each).min(self.pieces.len());
            streams.push(Arc::new(Partition {
                pieces: self.pieces[start..end].to_vec(),
                plan: Arc::clone(&plan),
            }));
        }
        let found =
            StreamingTableExec::try_new(Arc::clone(&schema), streams, None, [], false, None)?;
        match self.order {
            Order::Any => Ok(Arc::new(found)),
            Order::Total => in_total_order(Arc::new(found), schema),
        }
    }
}

/// The pieces that one partition of a plan reads, in order.
#[derive(Debug)]
struct Partition {
    pieces: Vec<Piece>,
    plan: Arc<ReadPlan>,
}

impl PartitionStream for Partition {
    fn schema(&self) -> &SchemaRef {
        &self.plan.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&self.plan.schema), 2);
        let sender = builder.tx();
        let pieces = self.pieces.clone();
        let plan = Arc::clone(&self.plan);
        builder.spawn_blocking(move || {
            let mut reader_is_there = true;
            let mut take = |batch| {
                reader_is_there = sender.blocking_send(Ok(batch)).is_ok();
                reader_is_there
            };
            for piece in &pieces {
                piece.read(&plan, &mut take)?;
            }
            Ok(())
        });
        builder.build()
    }
}

/// Which declared columns are read, and how they become the rows that are seen.
#[derive(Debug)]
pub(super) struct ReadPlan {
    source: Arc<Source>,
    cut: Cut,
    schema: SchemaRef,
    /// Places of the columns to read among the declared ones.
    read: Vec<usize>,
    event_time: usize,
    created_time: Option<usize>,
    for_sql: bool,
    /// For each column of the output, where it comes from.
    output: Vec<From>,
    rows_read: Arc<AtomicU64>,
}

/// Where a column of the output comes from.
#[derive(Debug, Clone, Copy)]
enum From {
    Read(usize),
    EventTime,
    CreatedTime,
}

impl ReadPlan {
    fn new(table: &CutSource, schema: SchemaRef) -> Self {
        let source = &table.source;
        let mut read = Vec::new();
        let mut place = |name: &str| {
            let column = source.columns.get_index_of(name).unwrap_or_default();
            read.iter().position(|c| *c == column).unwrap_or_else(|| {
                read.push(column);
                read.len() - 1
            })
        };
        let event_time = place(&source.event_time);
        let created_time = source.created_time.as_deref().map(&mut place);
        let output = schema
            .fields()
            .iter()
            .map(|field| match field.name().as_str() {
                EVENT_TIME => From::EventTime,
                CREATED_TIME => From::CreatedTime,
                name => From::Read(place(name)),
            })
            .collect();
        Self {
            source: Arc::clone(source),
            cut: table.cut,
            schema,
            read,
            event_time,
            created_time,
            for_sql: table.for_sql,
            output,
            rows_read: table.rows_read.scan(),
        }
    }

    pub(super) fn read(&self) -> &[usize] {
        &self.read
    }

    pub(super) fn is_event_time(&self, column: usize) -> bool {
        self.read[self.event_time] == column
    }

    pub(super) fn timezone(&self) -> Tz {
        self.source.timezone
    }

    pub(super) fn column_name(&self, column: usize) -> &str {
        self.source
            .columns
            .get_index(column)
            .map_or("", |(name, _)| name)
    }

    pub(super) fn column_type(&self, column: usize) -> DataType {
        self.source.columns[column].data_type
    }

    /// The error for a value of a file; `first_row` is the number of the batch's first row, from 1.
    pub(super) fn refuse(
        &self,
        file: &SourceFile,
        column: &str,
        first_row: u64,
        failure: &Failure,
    ) -> Error {
        let row = first_row + failure.row as u64;
        let Failure { path, message, .. } = failure;
        let message = format!("column `{column}{path}`, row {row}: {message}");
        Error::input(&file.shown, message)
    }

    /// The rows that are seen, of columns of declared types in the order of [`ReadPlan::read`].
    pub(super) fn cut(
        &self,
        file: &SourceFile,
        first_row: u64,
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        let zone = self.source.timezone;
        let instants = |place: usize| -> Result<TimestampMicrosecondArray> {
            to_instants(&columns[place], zone)
                .map_err(|f| self.refuse(file, self.column_name(self.read[place]), first_row, &f))
        };
        let event_times = instants(self.event_time)?;
        if event_times.null_count() > 0 {
            let row = (0..event_times.len()).find(|row| event_times.is_null(*row));
            let failure = Failure::new(row.unwrap_or(0), "the event time is null");
            return Err(self.refuse(file, &self.source.event_time, first_row, &failure));
        }
        let created_times = self.created_time.map(instants).transpose()?;
        let seen: BooleanArray = (0..event_times.len())
            .map(|row| {
                let created = created_times
                    .as_ref()
                    .filter(|times| times.is_valid(row))
                    .map(|times| Instant::from_micros(times.value(row)));
                Some(
                    self.cut
                        .sees(Instant::from_micros(event_times.value(row)), created),
                )
            })
            .collect();
        let event_times: ArrayRef = Arc::new(event_times.with_timezone("UTC"));
        let created_times: ArrayRef = match created_times {
            Some(times) => Arc::new(times.with_timezone("UTC")),
            None => arrow::array::new_null_array(event_times.data_type(), event_times.len()),
        };
        let mut output = Vec::with_capacity(self.output.len());
        for from in &self.output {
            output.push(match from {
                From::Read(place) if self.for_sql => {
                    let column = self.read[*place];
                    for_sql(&columns[*place], self.column_type(column)).map_err(|failure| {
                        self.refuse(file, self.column_name(column), first_row, &failure)
                    })?
                }
                From::Read(place) => Arc::clone(&columns[*place]),
                From::EventTime => Arc::clone(&event_times),
                From::CreatedTime => Arc::clone(&created_times),
            });
        }
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(seen.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), output, &options)
            .and_then(|batch| filter_record_batch(&batch, &seen))
            .map_err(|e| Error::input(&file.shown, e.to_string()))?;
        self.rows_read
            .fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        Ok(batch)
    }
}
