//! Parquet files of a source, a row group at a time.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema, TimeUnit};
use feature_defs::source::Source;
use feature_defs::time::{Instant, TimeSpan};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;

use super::Cut;
use super::columns::Columns;
use super::convert::{Conversion, no_column, not_widening, to_instants};
use super::files::{FilePlace, SourceFile};
use super::fixed::FixedColumns;
use super::kept::KeptRows;
use super::object_file::ObjectChunks;
use super::partitions;
use crate::error::{Error, Result};
use crate::session::BATCH_ROWS;

type FileColumns = Vec<Option<(usize, Conversion)>>;

/// A Parquet file whose declared columns are all there and widen to their declared types.
#[derive(Debug)]
pub(super) struct ParquetFile {
    file: SourceFile,
    metadata: ArrowReaderMetadata,
    fixed: FixedColumns,
    /// For each declared column its place in the file, and how it converts, unless it is fixed.
    columns: FileColumns,
    /// For each row group what deletions leave of it, where there are any.
    kept: Vec<Option<KeptRows>>,
}

/// A row group, and the number of its first row in the file, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowGroup {
    pub(super) index: usize,
    pub(super) first_row: u64,
}

/// What a row group's statistics say of a column: an array of one.
type Bound = std::result::Result<ArrayRef, parquet::errors::ParquetError>;

const IF_CSV: &str = "say `format: csv` in the source";

/// Local times that clocks shift are out of order by less than this.
const ZONE_SHIFT: Option<TimeSpan> = TimeSpan::from_micros(86_400_000_000);

impl ParquetFile {
    pub(super) fn open(file: SourceFile, source: &Source) -> Result<Self> {
        let metadata = read_metadata(&file)?;
        let fixed = fixed_columns(&file, metadata.schema(), source)?;
        let (columns, faults) = read_columns(&file, metadata.schema(), source, &fixed);
        if !faults.is_empty() {
            return Err(Error::input(&file.shown, faults.join("; ")));
        }
        let kept = kept_rows(&file, metadata.metadata().row_groups());
        Ok(Self {
            file,
            metadata,
            fixed,
            columns,
            kept,
        })
    }

    /// The row groups that may hold rows which `cut` sees, by the files' statistics of event times.
    pub(super) fn row_groups(&self, source: &Source, cut: Cut) -> Vec<RowGroup> {
        let may_hold = |group| {
            self.earliest_event(source, group)
                .is_none_or(|t| cut.may_see(t))
        };
        self.row_groups_where(may_hold)
    }

    /// The same without those whose rows are all older than `oldest`.
    pub(super) fn row_groups_since(
        &self,
        source: &Source,
        cut: Cut,
        oldest: Option<Instant>,
    ) -> Vec<RowGroup> {
        let may_hold = |group| {
            let latest = || self.latest_event(source, group);
            self.earliest_event(source, group)
                .is_none_or(|t| cut.may_see(t))
                && oldest.is_none_or(|oldest| latest().is_none_or(|latest| latest >= oldest))
        };
        self.row_groups_where(may_hold)
    }

    fn row_groups_where(&self, may_hold: impl Fn(usize) -> bool) -> Vec<RowGroup> {
        let mut first_row = 1;
        let mut groups = Vec::new();
        for (index, metadata) in self.metadata.metadata().row_groups().iter().enumerate() {
            let group = RowGroup { index, first_row };
            if self.rows_in(group) > 0 && may_hold(index) {
                groups.push(group);
            }
            first_row += metadata.num_rows().unsigned_abs();
        }
        groups
    }

    /// A time that no event of the row group precedes, if the file or its path says one.
    fn earliest_event(&self, source: &Source, row_group: usize) -> Option<Instant> {
        if let Some(fixed) = self.fixed_event(source) {
            return Some(fixed);
        }
        let least = self.event_bound(source, row_group, |statistics, group| {
            statistics.row_group_mins([group])
        })?;
        Some(ZONE_SHIFT.map_or(least, |shift| least.saturating_sub(shift)))
    }

    /// A time that no event of the row group follows, if the file or its path says one.
    fn latest_event(&self, source: &Source, row_group: usize) -> Option<Instant> {
        if let Some(fixed) = self.fixed_event(source) {
            return Some(fixed);
        }
        let most = self.event_bound(source, row_group, |statistics, group| {
            statistics.row_group_maxes([group])
        })?;
        let shift = ZONE_SHIFT.map_or(0, TimeSpan::micros);
        Some(Instant::from_micros(most.micros().saturating_add(shift)))
    }

    /// The time of all events, where it does not stand in the file.
    fn fixed_event(&self, source: &Source) -> Option<Instant> {
        let column = source.columns.get_index_of(&source.event_time)?;
        let time = self.fixed.column(column, 1)?;
        let time = to_instants(&time, source.timezone).ok()?;
        time.iter().next()?.map(Instant::from_micros)
    }

    fn event_bound(
        &self,
        source: &Source,
        row_group: usize,
        bound: impl Fn(&StatisticsConverter<'_>, &RowGroupMetaData) -> Bound,
    ) -> Option<Instant> {
        let (_, conversion) = self.columns[source.columns.get_index_of(&source.event_time)?]?;
        let statistics = StatisticsConverter::try_new(
            self.file.name_in_file(&source.event_time),
            self.metadata.schema(),
            self.metadata.parquet_schema(),
        )
        .ok()?;
        let row_group = self.metadata.metadata().row_group(row_group);
        let found = bound(&statistics, row_group).ok()?;
        let found = conversion.apply(&found, source.timezone).ok()?;
        let found = to_instants(&found, source.timezone).ok()?;
        Some(Instant::from_micros(found.iter().next()??))
    }

    /// Reads some columns of rows of a row group in their declared types, batch by batch with the number of its first
    /// row in the file (from 1; of rows that are picked, in what was picked), until `take` says false.
    pub(super) fn read(
        &self,
        row_group: RowGroup,
        rows: &Rows<'_>,
        wanted: &Columns,
        take: &mut dyn FnMut(u64, Vec<ArrayRef>) -> Result<bool>,
    ) -> Result<()> {
        let broken =
            |e: &(dyn std::error::Error + 'static)| Error::not_parquet(&self.file.shown, e, IF_CSV);
        let in_file = wanted.read().iter();
        let in_file = in_file.filter_map(|column| self.columns[*column]);
        let roots = in_file.map(|(place, _)| place);
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots);
        let reader = match &self.file.place {
            FilePlace::Local(path) => {
                let file = self.file.open_local(path)?;
                self.reader(file, row_group, rows, mask)
            }
            FilePlace::Object(object) => {
                let chunks = ObjectChunks::new(object);
                let needed = self.byte_ranges(row_group, &mask);
                chunks.fetch(&needed).map_err(|e| broken(&e))?;
                self.reader(chunks, row_group, rows, mask)
            }
        };
        let reader = reader.map_err(|e| broken(&e))?;
        let kept = self.kept(row_group);
        let mut read = 0;
        for batch in reader {
            let batch = batch.map_err(|e| broken(&e))?;
            let number = |row: usize| row_group.first_row + rows.place(read + row, kept);
            let mut columns: Vec<ArrayRef> = Vec::with_capacity(wanted.read().len());
            for column in wanted.read() {
                let fixed = self.fixed.column(*column, batch.num_rows());
                columns.push(match fixed {
                    Some(fixed) => fixed,
                    None => self.converted(&batch, *column, wanted, number)?,
                });
            }
            if !take(number(0), columns)? {
                return Ok(());
            }
            read += batch.num_rows();
        }
        Ok(())
    }

    fn reader<C: ChunkReader + 'static>(
        &self,
        chunks: C,
        row_group: RowGroup,
        rows: &Rows<'_>,
        mask: ProjectionMask,
    ) -> ParquetResult<ParquetRecordBatchReader> {
        let metadata = self.metadata.clone();
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata)
            .with_projection(mask)
            .with_row_groups(vec![row_group.index])
            .with_batch_size(BATCH_ROWS);
        let of = self.rows_of(row_group);
        if let Some(ranges) = rows.ranges(self.kept(row_group)) {
            let selection = RowSelection::from_consecutive_ranges(ranges.into_iter(), of);
            builder = builder.with_row_selection(selection);
        }
        builder.build()
    }

    /// Where the columns of a row group are in the file.
    fn byte_ranges(&self, row_group: RowGroup, mask: &ProjectionMask) -> Vec<Range<u64>> {
        let columns = self
            .metadata
            .metadata()
            .row_group(row_group.index)
            .columns();
        let wanted = columns.iter().enumerate();
        let wanted = wanted.filter(|(leaf, _)| mask.leaf_included(*leaf));
        wanted
            .map(|(_, column)| {
                let (start, length) = column.byte_range();
                start..start + length
            })
            .collect()
    }

    /// A declared column of a batch, in its declared type; `number` is that of a row of the batch in the file.
    fn converted(
        &self,
        batch: &RecordBatch,
        column: usize,
        wanted: &Columns,
        number: impl Fn(usize) -> u64,
    ) -> Result<ArrayRef> {
        let name = wanted.name(column);
        let in_file = batch.column_by_name(self.file.name_in_file(name));
        let values = in_file.zip(self.columns[column]);
        let (values, (_, conversion)) = values
            .ok_or_else(|| Error::input(&self.file.shown, format!("column `{name}` is gone")))?;
        conversion
            .apply(values, wanted.timezone())
            .map_err(|failure| wanted.refuse(&self.file, name, number(failure.row), &failure))
    }

    /// How many rows of a row group there are to read.
    pub(super) fn rows_in(&self, row_group: RowGroup) -> usize {
        let kept = self.kept(row_group);
        kept.map_or_else(|| self.rows_of(row_group), KeptRows::rows)
    }

    /// What deletions leave of a row group, where there are any.
    fn kept(&self, row_group: RowGroup) -> Option<&KeptRows> {
        self.kept[row_group.index].as_ref()
    }

    /// How many rows the file has in a row group.
    fn rows_of(&self, row_group: RowGroup) -> usize {
        rows_of(self.metadata.metadata().row_group(row_group.index))
    }

    pub(super) const fn file(&self) -> &SourceFile {
        &self.file
    }
}

/// Which rows of a row group are read; they are counted from 0 in it, without those that are deleted.
#[derive(Debug)]
pub(super) enum Rows<'a> {
    All,
    Span(Range<usize>),
    /// These, ascending, each once.
    Picked(&'a [u32]),
}

impl Rows<'_> {
    /// The rows by their numbers in the row group; `None` for all of it.
    fn ranges(&self, kept: Option<&KeptRows>) -> Option<Vec<Range<usize>>> {
        let in_group = |rows: Range<usize>| match kept {
            Some(kept) => kept.ranges(&rows),
            None => vec![rows],
        };
        match self {
            Self::All => kept.map(|kept| kept.ranges(&(0..kept.rows()))),
            Self::Span(rows) => Some(in_group(rows.clone())),
            Self::Picked(rows) => {
                let runs = rows.chunk_by(|one, next| one + 1 == *next);
                let runs = runs.map(|run| run[0] as usize..run[run.len() - 1] as usize + 1);
                Some(runs.flat_map(in_group).collect())
            }
        }
    }

    /// The number in the row group of the `nth` row that is read.
    fn place(&self, nth: usize, kept: Option<&KeptRows>) -> u64 {
        let nth = match self {
            Self::All => nth,
            Self::Span(rows) => rows.start + nth,
            Self::Picked(rows) => rows.get(nth).map_or(0, |row| *row as usize),
        };
        kept.map_or(nth, |kept| kept.place(nth)) as u64
    }
}

fn rows_of(row_group: &RowGroupMetaData) -> usize {
    usize::try_from(row_group.num_rows()).unwrap_or_default()
}

/// For each row group what deletions leave of it.
fn kept_rows(file: &SourceFile, row_groups: &[RowGroupMetaData]) -> Vec<Option<KeptRows>> {
    let deleted = file.logged.as_ref().map_or(&[][..], |file| file.deleted());
    let mut first_row = 0;
    let kept = row_groups.iter().map(|row_group| {
        let rows = rows_of(row_group);
        let kept = KeptRows::new(deleted, first_row, rows);
        first_row += rows as u64;
        kept
    });
    kept.collect()
}

/// The columns that the file does not hold: they stand in its path, or in the log of its table.
fn fixed_columns(file: &SourceFile, schema: &Schema, source: &Source) -> Result<FixedColumns> {
    let Some(logged) = &file.logged else {
        return partitions::in_path(file, source);
    };
    FixedColumns::of(source, |name, column| {
        let value = logged.value(name, column, schema, source.timezone);
        value.map_err(|fault| Error::input(&file.shown, fault))
    })
}

/// Places and conversions of the declared columns, and why some have none.
fn read_columns(
    file: &SourceFile,
    schema: &Schema,
    source: &Source,
    fixed: &FixedColumns,
) -> (FileColumns, Vec<String>) {
    let mut columns = Vec::with_capacity(source.columns.len());
    let mut faults = Vec::new();
    for (declared, (name, column)) in source.columns.iter().enumerate() {
        if fixed.has(declared) {
            columns.push(None);
            continue;
        }
        let in_file = file.name_in_file(name);
        let Some((index, field)) = schema.column_with_name(in_file) else {
            let held: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            let hint = partitions::hint(file, &[name]);
            faults.push(no_column(name, source, &held) + &hint);
            continue;
        };
        match Conversion::new(field.data_type(), column.data_type) {
            Ok(conversion) => columns.push(Some((index, conversion))),
            Err(mismatch) => faults.push(format!(
                "{}: declare it as the file has it, or convert the file",
                not_widening(name, &mismatch)
            )),
        }
    }
    (columns, faults)
}

/// The file's metadata. Times in the old 96-bit form are read as microseconds, so that none of them wraps.
fn read_metadata(file: &SourceFile) -> Result<ArrowReaderMetadata> {
    let broken = |e: parquet::errors::ParquetError| Error::not_parquet(&file.shown, &e, IF_CSV);
    let options = ArrowReaderOptions::new();
    let metadata = match &file.place {
        FilePlace::Local(path) => ArrowReaderMetadata::load(&file.open_local(path)?, options),
        FilePlace::Object(object) => ArrowReaderMetadata::load(&ObjectChunks::new(object), options),
    };
    let metadata = metadata.map_err(broken)?;
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
