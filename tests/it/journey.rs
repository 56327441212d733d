//! The second example, a year of groceries: its features against a computation in DuckDB and Python, and its model
//! against LightGBM.

use std::fs;

use arrow::array::{ArrayRef, RecordBatch};
use serde_json::json;

use crate::harness::{Project, journey, parquet};

/// A training set of the project's service over a frame.
fn training_set(project: &Project, service: &str, frame: &str) -> RecordBatch {
    let (frame, out) = (
        project.root().join(frame),
        project.root().join("out.parquet"),
    );
    let (frame, out) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    project.run(&crate::harness::training_set(service, frame, out));
    parquet::read(out.as_ref())
}

#[test]
fn every_stored_feature_is_the_one_that_duckdb_and_python_compute() {
    let project = Project::journey();
    project.run(&["apply"]);
    let rows = training_set(&project, "everything_v1", "expected/frame.csv");
    let expected = fs::read_to_string(journey().join("expected/values.csv")).expect("values");
    let mut lines = expected.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.num_rows(), names.len()), (78, 46));
    assert_eq!(lines.len(), rows.num_rows());
    for (column, name) in names.iter().enumerate() {
        let computed = rows
            .column_by_name(name)
            .unwrap_or_else(|| panic!("no `{name}`"));
        let floats = computed
            .data_type()
            .is_floating()
            .then(|| parquet::floats(&rows, name));
        for (row, line) in lines.iter().enumerate() {
            let same = match &floats {
                Some(floats) => close(floats[row], line[column]),
                None => parquet::text(computed, row).unwrap_or_default() == line[column],
            };
            assert!(same, "`{name}` in row {row}: expected {:?}", line[column]);
        }
    }
}

/// Equal to nine digits, which another order of adding up may cost; an empty text is null.
fn close(found: Option<f64>, expected: &str) -> bool {
    match (found, expected) {
        (None, "") => true,
        (Some(found), expected) => {
            let expected: f64 = expected.parse().unwrap_or(f64::NAN);
            (found - expected).abs() <= 1e-9 * expected.abs()
        }
        (None, _) => false,
    }
}

/// 268,385: "baskets of the same household in the previous 7 days", added up over all baskets, by DuckDB.
#[test]
fn the_baskets_of_the_week_before_each_basket_add_up_to_the_golden_number() {
    let project = Project::journey();
    project.write(
        "features/golden.yaml",
        "services:\n  golden: { features: [spend.baskets_7d], full_names: false }\n",
    );
    project.run(&["apply"]);
    let baskets = parquet::read(&project.root().join("data/baskets.parquet"));
    let column =
        |name: &str| -> ArrayRef { baskets.column_by_name(name).expect("a column").clone() };
    let frame = vec![
        ("household_id", column("household_id")),
        ("as_of", column("bought_at")),
    ];
    parquet::write(&project.root().join("frame.parquet"), frame);
    let rows = training_set(&project, "golden", "frame.parquet");
    let counts = parquet::integers(&rows, "baskets_7d");
    // A household's very first basket has no row before it, and so no count.
    let sum: i64 = counts.into_iter().map(Option::unwrap_or_default).sum();
    assert_eq!((rows.num_rows(), sum), (81_817, 268_385));
}

/// What LightGBM 4.7.0 gives for the same row, as the example's README shows it.
#[test]
fn the_model_scores_as_lightgbm_does() {
    let project = Project::journey();
    project.run(&["apply"]);
    let model = project.root().join("models/spends_200_30d.txt");
    let model = model.to_str().expect("UTF-8");
    project.run(&["model", "import", "spends_200_30d", model]);
    project.run(&["run", "--as-of", "2017-10-15T06:00:00Z"]);
    let answer = project.json(&[
        "predict",
        "--model",
        "spends_200_30d",
        "--entity",
        "household_id=1001",
        "--request",
        "basket_cents=5000",
        "--request",
        "basket_lines=14",
        "--as-of",
        "2017-10-15T18:30:00Z",
    ]);
    let result = &answer["results"][0];
    assert_eq!(result["probability"], json!(0.788_280_556_096_082_4));
    assert_eq!(result["degraded"], json!([]));
}
