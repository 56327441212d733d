//! A cut source as a table of the engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
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

use super::Cut;
use super::columns::Columns;
use super::convert::for_sql;
use super::files::SourceFile;
use super::ordered::in_total_order;
use super::pieces::{Piece, pieces};
use super::timed::Timed;
use crate::error::{Error, Result};
use crate::session::Session;

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
    /// Checks the columns of the source's files against the declared ones.
    pub(crate) async fn open(
        session: &Session,
        definitions: &Definitions,
        source: &Source,
        cut: Cut,
    ) -> Result<Self> {
        let files = session.files_of(definitions, source).await?;
        let source = Arc::new(source.clone());
        let for_pieces = Arc::clone(&source);
        let pieces = tokio::task::spawn_blocking(move || pieces(files, &for_pieces, cut))
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
                piece.read(&plan.columns, &mut |first_row, columns| {
                    let seen = plan.cut(piece.file(), first_row, columns)?;
                    Ok(seen.num_rows() == 0 || take(seen))
                })?;
            }
            Ok(())
        });
        builder.build()
    }
}

/// Which declared columns are read, and how they become the rows that are seen.
#[derive(Debug)]
struct ReadPlan {
    columns: Columns,
    cut: Cut,
    schema: SchemaRef,
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
        let mut columns = Columns::new(Arc::clone(source));
        let event_time = columns.place(&source.event_time);
        let created_time = source.created_time.as_deref().map(|c| columns.place(c));
        let output = schema
            .fields()
            .iter()
            .map(|field| match field.name().as_str() {
                EVENT_TIME => From::EventTime,
                CREATED_TIME => From::CreatedTime,
                name => From::Read(columns.place(name)),
            })
            .collect();
        Self {
            columns,
            cut: table.cut,
            schema,
            event_time,
            created_time,
            for_sql: table.for_sql,
            output,
            rows_read: table.rows_read.scan(),
        }
    }

    /// The rows that are seen, of columns of declared types in the order of [`Columns::read`].
    fn cut(
        &self,
        file: &SourceFile,
        first_row: u64,
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        let timed = Timed::of(
            &self.columns,
            file,
            first_row,
            &columns[self.event_time],
            self.created_time.map(|place| &columns[place]),
        )?;
        let seen: BooleanArray = (0..timed.event_times.len())
            .map(|row| {
                Some(
                    self.cut
                        .sees(timed.event_time(row), timed.created_time(row)),
                )
            })
            .collect();
        let Timed {
            event_times,
            created_times,
        } = timed;
        let event_times: ArrayRef = Arc::new(event_times.with_timezone("UTC"));
        let created_times: ArrayRef = match created_times {
            Some(times) => Arc::new(times.with_timezone("UTC")),
            None => arrow::array::new_null_array(event_times.data_type(), event_times.len()),
        };
        let mut output = Vec::with_capacity(self.output.len());
        for from in &self.output {
            output.push(match from {
                From::Read(place) if self.for_sql => {
                    let column = self.columns.read()[*place];
                    let name = self.columns.name(column);
                    for_sql(&columns[*place], self.columns.data_type(column)).map_err(|f| {
                        let row = first_row + f.row as u64;
                        self.columns.refuse(file, name, row, &f)
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
