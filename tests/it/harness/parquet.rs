//! Parquet files in tests: read whole, column by column; written from columns.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::util::display::array_value_to_string;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// All rows of a file.
pub(crate) fn read(path: &Path) -> RecordBatch {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    let schema = Arc::clone(builder.schema());
    let batches: Result<Vec<RecordBatch>, _> = builder.build().expect("a reader").collect();
    concat_batches(&schema, &batches.expect("readable rows")).expect("one schema")
}

/// Writes columns as a file.
pub(crate) fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn column(batch: &RecordBatch, name: &str, data_type: &DataType) -> ArrayRef {
    let column = batch
        .column_by_name(name)
        .unwrap_or_else(|| panic!("no column `{name}` in {:?}", batch.schema()));
    cast(column, data_type).expect("castable")
}

/// An integer (or date, as days) column.
pub(crate) fn integers(batch: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    let raw = batch.column_by_name(name).expect("a column");
    let days = raw.data_type() == &DataType::Date32;
    let whole = if days {
        cast(raw, &DataType::Int32).expect("days")
    } else {
        Arc::clone(raw)
    };
    let whole = cast(&whole, &DataType::Int64).expect("castable");
    whole.as_primitive::<Int64Type>().iter().collect()
}

/// A column as floats; decimals and integers included.
pub(crate) fn floats(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    let column = column(batch, name, &DataType::Float64);
    column.as_primitive::<Float64Type>().iter().collect()
}

/// A value as text; none for null.
pub(crate) fn text(column: &ArrayRef, row: usize) -> Option<String> {
    let shown = array_value_to_string(column, row).expect("a text");
    column.is_valid(row).then_some(shown)
}
