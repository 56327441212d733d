//! Parquet files of a source, a row group at a time.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema, TimeUnit};
use feature_defs::source::Source;
use feature_defs::time::{Instant, TimeSpan};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;

use super::Cut;
use super::convert::{Conversion, shown_type, to_instants};
use super::files::SourceFile;
use super::partitions::{self, PathColumns};
use super::table::ReadPlan;
use crate::error::{Error, Result};
use crate::session::BATCH_ROWS;

type Columns = Vec<Option<(usize, Conversion)>>;

/// A Parquet file whose declared columns are all there and widen to their declared types.
#[derive(Debug)]
pub(super) struct ParquetFile {
    file: SourceFile,
    metadata: ArrowReaderMetadata,
    path_columns: PathColumns,
    /// For each declared column its place in the file, and how it converts, unless the path holds it.
    columns: Columns,
}

/// A row group, and the number of its first row in the file, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowGroup {
    pub(super) index: usize,
    pub(super) first_row: u64,
}

const IF_CSV: &str = "say `format: csv` in the source";

/// Local times that clocks shift are out of order by less than this.
const ZONE_SHIFT: Option<TimeSpan> = TimeSpan::from_micros(86_400_000_000);

impl ParquetFile {
    pub(super) fn open(file: SourceFile, source: &Source) -> Result<Self> {
        let metadata = read_metadata(&file)?;
        let path_columns = PathColumns::read(&file, source)?;
        let (columns, faults) = read_columns(&file, metadata.schema(), source, &path_columns);
        if !faults.is_empty() {
            return Err(Error::input(&file.shown, faults.join("; ")));
        }
        Ok(Self {
            file,
            metadata,
            path_columns,
            columns,
        })
    }

    /// The row groups that may hold rows which `cut` sees, by the files' statistics of event times.
    pub(super) fn row_groups(&self, source: &Source, cut: Cut) -> Vec<RowGroup> {
        let mut first_row = 1;
        let mut groups = Vec::new();
        for (index, metadata) in self.metadata.metadata().row_groups().iter().enumerate() {
            let earliest = self.earliest_event(source, index);
            if metadata.num_rows() > 0 && earliest.is_none_or(|time| cut.may_see(time)) {
                groups.push(RowGroup { index, first_row });
            }
            first_row += metadata.num_rows().unsigned_abs();
        }
        groups
    }

    /// A time that no event of the row group precedes, if the file or its path says one.
    fn earliest_event(&self, source: &Source, row_group: usize) -> Option<Instant> {
        let column = source.columns.get_index_of(&source.event_time)?;
        if let Some(in_path) = self.path_columns.column(column, 1) {
            let time = to_instants(&in_path, source.timezone).ok()?;
            return time.iter().next()?.map(Instant::from_micros);
        }
        let (_, conversion) = self.columns[column]?;
        let statistics = StatisticsConverter::try_new(
            &source.event_time,
            self.metadata.schema(),
            self.metadata.parquet_schema(),
        )
        .ok()?;
        let row_group = self.metadata.metadata().row_group(row_group);
        let least = statistics.row_group_mins([row_group]).ok()?;
        let least = conversion.apply(&least, source.timezone).ok()?;
        let least = to_instants(&least, source.timezone).ok()?;
        let least = Instant::from_micros(least.iter().next()??);
        Some(ZONE_SHIFT.map_or(least, |shift| least.saturating_sub(shift)))
    }

    /// Reads a row group, handing over each batch of rows that are seen, until `take` says false.
    pub(super) fn read(
        &self,
        row_group: RowGroup,
        plan: &ReadPlan,
        take: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let broken =
            |e: &(dyn std::error::Error + 'static)| Error::not_parquet(&self.file.shown, e, IF_CSV);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.open()?,
            self.metadata.clone(),
        );
        let in_file = plan
            .read()
            .iter()
            .filter_map(|column| self.columns[*column]);
        let roots = in_file.map(|(place, _)| place);
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let reader = builder
            .with_projection(mask)
            .with_row_groups(vec![row_group.index])
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|e| broken(&e))?;
        let mut first_row = row_group.first_row;
        for batch in reader {
            let batch = batch.map_err(|e| broken(&e))?;
            let mut columns: Vec<ArrayRef> = Vec::with_capacity(plan.read().len());
            for column in plan.read() {
                let in_path = self.path_columns.column(*column, batch.num_rows());
                columns.push(match in_path {
                    Some(in_path) => in_path,
                    None => self.converted(&batch, *column, first_row, plan)?,
                });
            }
            let seen = plan.cut(&self.file, first_row, columns)?;
            first_row += batch.num_rows() as u64;
            if seen.num_rows() > 0 && !take(seen) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A declared column of a batch, in its declared type.
    fn converted(
        &self,
        batch: &RecordBatch,
        column: usize,
        first_row: u64,
        plan: &ReadPlan,
    ) -> Result<ArrayRef> {
        let name = plan.column_name(column);
        let values = batch.column_by_name(name).zip(self.columns[column]);
        let (values, (_, conversion)) = values
            .ok_or_else(|| Error::input(&self.file.shown, format!("column `{name}` is gone")))?;
        conversion
            .apply(values, plan.timezone())
            .map_err(|failure| plan.refuse(&self.file, name, first_row, &failure))
    }
}

/// Places and conversions of the declared columns, and why some have none.
fn read_columns(
    file: &SourceFile,
    schema: &Schema,
    source: &Source,
    path_columns: &PathColumns,
) -> (Columns, Vec<String>) {
    let mut columns = Vec::with_capacity(source.columns.len());
    let mut faults = Vec::new();
    for (declared, (name, column)) in source.columns.iter().enumerate() {
        if path_columns.has(declared) {
            columns.push(None);
            continue;
        }
        let Some((index, field)) = schema.column_with_name(name) else {
            let held: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            faults.push(format!(
                "has no column `{name}`, which source `{}` declares (it has: {}){}",
                source.name,
                held.join(", "),
                partitions::hint(file, &[name])
            ));
            continue;
        };
        match Conversion::new(field.data_type(), column.data_type) {
            Ok(conversion) => columns.push(Some((index, conversion))),
            Err(mismatch) => faults.push(format!(
                "column `{name}{}` is {}, which does not widen to the declared `{}` without loss: declare it as the file has it, or convert the file",
                mismatch.path,
                shown_type(&mismatch.found),
                mismatch.declared
            )),
        }
    }
    (columns, faults)
}

/// The file's metadata. Times in the old 96-bit form are read as microseconds, so that none of them wraps.
fn read_metadata(file: &SourceFile) -> Result<ArrowReaderMetadata> {
    let broken = |e: parquet::errors::ParquetError| Error::not_parquet(&file.shown, &e, IF_CSV);
    let metadata =
        ArrowReaderMetadata::load(&file.open()?, ArrowReaderOptions::new()).map_err(broken)?;
    let leaves = metadata.parquet_schema().columns().iter();
    let mut is_96_bit = leaves.map(|leaf| leaf.physical_type() == PhysicalType::INT96);
    if !is_96_bit.clone().any(|is_96_bit| is_96_bit) {
        return Ok(metadata);
    }
    let fields = metadata.schema().fields().iter();
    let fields: Vec<_> = fields
        .map(|field| in_micros(field, &mut is_96_bit))
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(broken)
}

/// The field with microseconds in the place of 96-bit times; `is_96_bit` goes on by one for each of its leaves.
fn in_micros(field: &FieldRef, is_96_bit: &mut impl Iterator<Item = bool>) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::List(item) => ArrowType::List(in_micros(item, is_96_bit)),
        ArrowType::LargeList(item) => ArrowType::LargeList(in_micros(item, is_96_bit)),
        ArrowType::FixedSizeList(item, size) => {
            ArrowType::FixedSizeList(in_micros(item, is_96_bit), *size)
        }
        ArrowType::Map(entries, sorted) => ArrowType::Map(in_micros(entries, is_96_bit), *sorted),
        ArrowType::Struct(fields) => {
            let fields = fields.iter().map(|field| in_micros(field, is_96_bit));
            ArrowType::Struct(fields.collect())
        }
        leaf => match is_96_bit.next() {
            Some(true) => ArrowType::Timestamp(TimeUnit::Microsecond, None),
            _ => leaf.clone(),
        },
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}
