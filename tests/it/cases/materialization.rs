//! MAT-02, MAT-12, MAT-13, MAT-15: late rows, drifted types, threads, and keys that are not there yet.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Decimal128Array, Int32Array, Int64Array, TimestampMicrosecondArray,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::harness::{Project, parquet};

const EVENTS: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  events:
    path: data/*.csv
    event_time: ev
    created_time: cr
    columns: { id: string, ev: timestamp, cr: timestamp, v: int64 }
views:
  newest: { entity: thing, source: events, ttl: none, latest: [v] }
  sums: { entity: thing, source: events, ttl: none, windows: [lifetime], aggregate: { v: sum(v) } }
services:
  s: { features: [newest.v, sums.v_lifetime] }
";

/// `(value, state)` of both features of an entity, from the served release.
fn served(project: &Project, id: &str) -> [(Value, Value); 2] {
    let entity = format!("id={id}");
    let answer = project.json(&["features", "--service", "s", "--entity", &entity]);
    ["newest.v", "sums.v_lifetime"].map(|feature| {
        let told = &answer["results"][0]["features"][feature];
        (told["value"].clone(), told["state"].clone())
    })
}

#[test]
fn mat_02_rows_that_arrive_late_are_loaded() {
    let first = "id,ev,cr,v\nK,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,1\n";
    let late = "id,ev,cr,v\nK,2026-01-01T01:30:00Z,2026-01-01T03:10:00Z,7\n";
    let project = Project::new(&[("features/all.yaml", EVENTS), ("data/1.csv", first)]);
    project.apply_and_run(&["2026-01-01T02:00:00Z"]);
    let present = json!("present");
    let of = |newest: i64, sum: i64| [newest, sum].map(|value| (json!(value), present.clone()));
    assert_eq!(served(&project, "K"), of(1, 1));
    project.write("data/2.csv", late);
    project.run(&["run", "--as-of", "2026-01-01T04:00:00Z"]);
    assert_eq!(served(&project, "K"), of(7, 8));
    let frame = "id,as_of\nK,2026-01-01T04:00:00Z\nK,2026-01-01T02:00:00Z\n";
    let trained = project.train("s", frame);
    assert_eq!(parquet::integers(&trained, "newest.v"), [Some(7), Some(1)]);
    assert_eq!(
        parquet::integers(&trained, "sums.v_lifetime"),
        [Some(8), Some(1)]
    );
}

#[test]
fn mat_15_keys_that_are_not_there_yet_are_missing() {
    let rows = "\
id,ev,cr,v
K1,2026-06-01T00:00:00Z,2026-06-01T00:00:00Z,1
K2,2026-06-05T00:00:00Z,2026-06-05T00:00:00Z,2
";
    let project = Project::new(&[("features/all.yaml", EVENTS), ("data/1.csv", rows)]);
    project.apply_and_run(&["2026-06-02"]);
    for view in ["newest", "sums"] {
        let [snapshot] = project.snapshots(view).try_into().expect("one snapshot");
        let rows = parquet::read(&snapshot);
        let ids = rows.column_by_name("id").expect("the key");
        assert_eq!(
            (rows.num_rows(), parquet::text(ids, 0).as_deref()),
            (1, Some("K1"))
        );
    }
    let missing = (Value::Null, json!("missing"));
    assert_eq!(served(&project, "K2"), [missing.clone(), missing]);
    assert_eq!(served(&project, "K1")[0], (json!(1), json!("present")));
}

const TYPED: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.parquet
    event_time: ts
    columns: { id: int64, ts: timestamp, n: int64, d: 'decimal(10,2)' }
    timezone: Europe/Vienna
views:
  large: { entity: thing, sql: 'SELECT id, max(n) AS n FROM rows WHERE n > 3000000000 GROUP BY id', ttl: none, features: { n: { type: int64 } } }
  newest: { entity: thing, source: rows, ttl: none, latest: [n, d] }
services:
  s: { features: [newest.n, newest.d, large.n] }
";

#[test]
fn mat_12_types_widen_without_loss_or_the_file_is_refused() {
    let id: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let noon = 1_780_315_200_000_000_i64; // 2026-06-01T12:00:00Z
    let instant: ArrayRef =
        Arc::new(TimestampMicrosecondArray::from(vec![noon]).with_timezone("UTC"));
    let wide: ArrayRef = Arc::new(Int64Array::from(vec![2_147_483_647]));
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![2_147_483_647]));
    let decimal = |units: i128, precision, scale| -> ArrayRef {
        let units = Decimal128Array::from(vec![units]);
        Arc::new(
            units
                .with_precision_and_scale(precision, scale)
                .expect("a decimal"),
        )
    };
    let cents = decimal(125, 10, 2);
    let project = |ts: &ArrayRef, n: &ArrayRef, d: &ArrayRef| {
        let project = Project::new(&[("features/all.yaml", TYPED)]);
        let columns = [("id", &id), ("ts", ts), ("n", n), ("d", d)];
        let columns = columns.map(|(name, column)| (name, Arc::clone(column)));
        parquet::write(&project.root().join("data/rows.parquet"), columns.into());
        project.run(&["apply"]);
        project
    };

    // Bytes are no instants, and fractions of cents no cents.
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&noon.to_le_bytes()[..]]));
    let fractions = decimal(12_345, 12, 4);
    for (ts, d, column) in [(&bytes, &cents, "`ts`"), (&instant, &fractions, "`d`")] {
        let project = project(ts, &wide, d);
        let refused = project.fail(&["run", "--as-of", "2026-06-02"]);
        assert!(
            refused.contains("data/rows.parquet") && refused.contains(column),
            "{refused}"
        );
        assert!(project.run(&["status"]).contains("no release yet"));
    }

    // A narrower integer is widened, and nothing in it is above three thousand million.
    let project_of_narrow = project(&instant, &narrow, &cents);
    project_of_narrow.run(&["run", "--as-of", "2026-06-02"]);
    let asked = ["features", "--service", "s", "--entity", "id=1"];
    let answer = project_of_narrow.json(&asked);
    let features = &answer["results"][0]["features"];
    assert_eq!(features["newest.n"]["value"], 2_147_483_647_i64);
    assert_eq!(features["newest.d"]["value"], "1.25");
    assert_eq!(features["large.n"]["state"], "missing");

    // Without a zone a time is meant in the source's: noon in Vienna is ten in UTC.
    let naive: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![noon]));
    let project = project(&naive, &wide, &cents);
    let trained = project.train(
        "s",
        "id,as_of\n1,2026-06-01T10:00:00Z\n1,2026-06-01T09:59:59Z\n",
    );
    assert_eq!(
        parquet::integers(&trained, "newest.n"),
        [Some(2_147_483_647), None]
    );
}

const MANY_WINDOWS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  events:
    path: data/*.parquet
    event_time: ev
    columns: { id: int64, ev: timestamp, whole: int64, real: float64 }
views:
  windows:
    entity: thing
    source: events
    ttl: none
    windows: [1h, 1d, 7d, lifetime]
    aggregate: { n: count(), whole: sum(whole), real: sum(real), mean: mean(real), last: last(real) }
services:
  s: { features: [windows.*] }
";

#[test]
fn mat_13_the_number_of_threads_and_files_never_shows() {
    const ROWS: usize = 100_000;
    let mut random = StdRng::seed_from_u64(1629);
    let start = 1_767_225_600_000_000_i64; // 2026-01-01
    let rows: Vec<(i64, i64, i64, f64)> = (0..ROWS)
        .map(|_| {
            let at = start + random.random_range(0..10 * 86_400) * 1_000_000;
            let real = random.random_range(-1.0..1.0) * 10_f64.powi(random.random_range(-9..15));
            (
                random.random_range(0..500),
                at,
                random.random_range(-1_000..1_000),
                real,
            )
        })
        .collect();
    let mut first: Option<Vec<u8>> = None;
    for (threads, files) in [("1", 1), ("2", 5), ("8", 16), ("16", 3)] {
        let project = Project::new(&[("features/all.yaml", MANY_WINDOWS)]);
        for (number, rows) in rows.chunks(ROWS.div_ceil(files)).enumerate() {
            let integers = |of: fn(&(i64, i64, i64, f64)) -> i64| -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
            };
            let at = TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| row.1));
            let real = arrow::array::Float64Array::from_iter_values(rows.iter().map(|row| row.3));
            let columns: Vec<(&str, ArrayRef)> = vec![
                ("id", integers(|row| row.0)),
                ("ev", Arc::new(at.with_timezone("UTC"))),
                ("whole", integers(|row| row.2)),
                ("real", Arc::new(real)),
            ];
            let file = project.root().join(format!("data/{number}.parquet"));
            parquet::write(&file, columns);
        }
        project.run(&["apply"]);
        project.run(&["run", "--as-of", "2026-01-11", "--threads", threads]);
        let [snapshot] = project
            .snapshots("windows")
            .try_into()
            .expect("one snapshot");
        let bytes = std::fs::read(snapshot).expect("a snapshot");
        let first = first.get_or_insert_with(|| bytes.clone());
        assert!(*first == bytes, "{threads} threads and {files} files show");
    }
}
