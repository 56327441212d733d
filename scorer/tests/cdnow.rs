//! The example's model scores what LightGBM scored: `feature_defs/examples/cdnow/train.py` trained it and stored 2,000 rows
//! of customers held out, nulls and NaN among them, with LightGBM's raw predictions.

use std::fs::{self, File};
use std::path::Path;

use arrow::array::{Array, AsArray, Float64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Float64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scorer::Scorer;
use scorer::import::lightgbm;
use scorer::kernels::fastest;
use scorer::trees::Quantized;

const MODEL: &str = "../feature_defs/examples/cdnow/model/buys_again_90d.txt";
const STORED: &str = "tests/data/buys_again_90d.parquet";
const TOLERANCE: f64 = 1e-9;

fn path(relative: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn stored() -> RecordBatch {
    let file = File::open(path(STORED)).expect("stored rows");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let schema = builder.schema().clone();
    let reader = builder.build().expect("reader");
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("batch")).collect();
    concat_batches(&schema, &batches).expect("one batch")
}

fn column<'a>(rows: &'a RecordBatch, name: &str) -> &'a Float64Array {
    let column = rows.column_by_name(name).expect(name);
    column.as_primitive::<Float64Type>()
}

#[test]
fn example_model_scores_what_lightgbm_scored() {
    let text = fs::read_to_string(path(MODEL)).expect("model file");
    let ensemble = lightgbm::read(&text).expect("model");
    let scorer = fastest(&Quantized::new(&ensemble).expect("bins"));
    let rows = stored();
    let (mut nulls, mut nans) = (0, 0);
    let mut matrix = vec![f64::NAN; rows.num_rows() * scorer.width()];
    for (at, name) in ensemble.feature_names.iter().enumerate() {
        for (row, value) in column(&rows, name).iter().enumerate() {
            nulls += usize::from(value.is_none());
            nans += usize::from(value.is_some_and(f64::is_nan));
            matrix[row * scorer.width() + at] = value.unwrap_or(f64::NAN);
        }
    }
    let mut scores = vec![0.0; rows.num_rows()];
    scorer.score(&matrix, &mut scores);
    let expected = column(&rows, "raw_score");
    assert_eq!((expected.len(), expected.null_count()), (2000, 0));
    assert!(nulls > 1000 && nans > 1000, "{nulls} nulls, {nans} NaN");
    let mut equal_bits = 0;
    for (row, (found, expected)) in scores.iter().zip(expected.values()).enumerate() {
        assert!(
            (found - expected).abs() <= TOLERANCE,
            "row {row}: {found} for {expected}"
        );
        equal_bits += usize::from(found.to_bits() == expected.to_bits());
    }
    assert_eq!(equal_bits, 2000, "rows with equal bits");
}
