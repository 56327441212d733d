//! No skew: a training set as of `t`, `features --as-of t`, and a brute-force reading of the raw rows agree bit for bit.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::DataType;
use feature_defs::time::Instant;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::brute_force::{Purchase, expected, purchases};
use crate::harness::{Project, example, parquet};

const INSTANTS: usize = 50;
const PAIRS: usize = 1_000;
const DAY: i64 = 86_400_000_000;

/// One row of the entity frame: who, as of when, and the basket at hand.
#[derive(Debug, Clone, Copy)]
struct Row {
    customer: i32,
    as_of: Instant,
    amount_cents: i64,
    cds: i32,
}

/// Random customers, some unknown, as of random instants, half of them midnights, where purchases lie on the edge.
/// Some baskets are empty.
fn frame() -> Vec<Row> {
    let mut random = StdRng::seed_from_u64(1997);
    let first = Instant::parse("1997-01-01").expect("a date").micros();
    let instants: Vec<Instant> = (0..INSTANTS)
        .map(|number| {
            let midnight = first + random.random_range(1..560) * DAY;
            let within = if number % 2 == 0 {
                0
            } else {
                random.random_range(0..DAY)
            };
            Instant::from_micros(midnight + within)
        })
        .collect();
    let row = |number: usize| Row {
        customer: random.random_range(-5..=23_600),
        as_of: instants[number % INSTANTS],
        amount_cents: random.random_range(0..20_000),
        cds: random.random_range(0..6),
    };
    (0..PAIRS).map(row).collect()
}

/// The training set of the frame, rows in the frame's order.
fn training_set(project: &Project, frame: &[Row]) -> RecordBatch {
    let as_ofs = frame.iter().map(|row| row.as_of.micros());
    let as_ofs = TimestampMicrosecondArray::from_iter_values(as_ofs).with_timezone("UTC");
    let integers = |column: fn(&Row) -> i32| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(frame.iter().map(column)))
    };
    let amounts = Int64Array::from_iter_values(frame.iter().map(|row| row.amount_cents));
    let path = project.root().join("frame.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("customer_id", integers(|row| row.customer)),
        ("as_of", Arc::new(as_ofs)),
        ("amount_cents", Arc::new(amounts)),
        ("cds", integers(|row| row.cds)),
    ];
    parquet::write(&path, columns);
    let out = project.root().join("out.parquet");
    let (frame, out_text) = (path.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    let service = ["training-set", "--service", "buys_again_v1"];
    project.run(&[&service[..], &["--entities", frame, "-o", out_text]].concat());
    parquet::read(&out)
}

/// What `features --as-of` says of the rows of one instant: one map from feature to value a row.
fn features(project: &Project, as_of: Instant, rows: &[Row]) -> Vec<Value> {
    let column = |value: fn(&Row) -> Value| rows.iter().map(value).collect::<Vec<_>>();
    let body = json!({
        "entities": { "customer_id": column(|row| json!(row.customer)) },
        "request": {
            "amount_cents": column(|row| json!(row.amount_cents)),
            "cds": column(|row| json!(row.cds)),
        },
    });
    let as_of = as_of.to_string();
    let asked = ["features", "--service", "buys_again_v1", "--body"];
    let answer = project.json(&[&asked[..], &[&body.to_string(), "--as-of", &as_of]].concat());
    answer["results"].as_array().expect("results").clone()
}

/// [`features`] for each instant, two at a time.
fn all_features(project: &Project, asked: &[(Instant, Vec<Row>)]) -> Vec<Vec<Value>> {
    let halves = asked.chunks(asked.len().div_ceil(2));
    thread::scope(|scope| {
        let workers: Vec<_> = halves
            .map(|half| {
                scope.spawn(move || -> Vec<Vec<Value>> {
                    half.iter()
                        .map(|(as_of, rows)| features(project, *as_of, rows))
                        .collect()
                })
            })
            .collect();
        let answers = workers.into_iter().map(|worker| worker.join());
        answers
            .flat_map(|half| half.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// A value of the training set, as JSON writes it.
fn trained(set: &RecordBatch, feature: &str) -> Vec<Value> {
    let column = set.column_by_name(feature);
    let column = column.unwrap_or_else(|| panic!("no column `{feature}` in {:?}", set.schema()));
    match column.data_type() {
        DataType::Float64 => parquet::floats(set, feature)
            .iter()
            .map(|v| json!(v))
            .collect(),
        _ => parquet::integers(set, feature)
            .iter()
            .map(|v| json!(v))
            .collect(),
    }
}

/// Equal to the last bit: JSON writes floats so that they read back as they were.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

#[test]
fn training_set_features_as_of_and_brute_force_agree_for_a_thousand_pairs() {
    let project = Project::example();
    project.run(&["apply"]);
    let frame = frame();
    let set = training_set(&project, &frame);
    assert_eq!(set.num_rows(), frame.len());
    let kept = parquet::integers(&set, "customer_id");
    assert!(
        kept.iter()
            .zip(&frame)
            .all(|(id, row)| *id == Some(row.customer.into()))
    );

    let raw = purchases(&example().join("data/purchases.parquet"));
    let none: Vec<Purchase> = Vec::new();
    let mut by_instant: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (number, row) in frame.iter().enumerate() {
        by_instant
            .entry(row.as_of.micros())
            .or_default()
            .push(number);
    }
    let columns: BTreeMap<String, Vec<Value>> = set
        .schema()
        .fields()
        .iter()
        .filter(|field| field.name().contains('.'))
        .map(|field| (field.name().clone(), trained(&set, field.name())))
        .collect();
    assert_eq!(columns.len(), 24 + 3 + 3 + 5, "{:?}", columns.keys());

    let rows_of = |numbers: &[usize]| numbers.iter().map(|number| frame[*number]).collect();
    let asked: Vec<(Instant, Vec<Row>)> = by_instant
        .iter()
        .map(|(as_of, numbers)| (Instant::from_micros(*as_of), rows_of(numbers)))
        .collect();
    let mut present = 0;
    for ((numbers, (_, rows)), answered) in by_instant
        .values()
        .zip(&asked)
        .zip(all_features(&project, &asked))
    {
        assert_eq!(answered.len(), rows.len());
        for ((number, row), result) in numbers.iter().zip(rows).zip(&answered) {
            let bought = raw.get(&row.customer).unwrap_or(&none);
            let brute = expected(bought, row.as_of, row.amount_cents, row.cds);
            for (feature, column) in &columns {
                let told = &result["features"][feature]["value"];
                let learnt = &column[*number];
                let context = format!("{feature} of {row:?}");
                assert!(
                    same(told, learnt),
                    "{context}: served {told}, trained {learnt}"
                );
                let counted = &brute[feature.as_str()];
                assert!(
                    same(told, counted),
                    "{context}: {told}, brute force {counted}"
                );
                present += usize::from(!told.is_null());
            }
        }
    }
    assert!(present > PAIRS * 20, "{present} values are present");
}
