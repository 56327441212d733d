//! Delta tables as sources, in folders and in object storage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use store::conformance::servers::s3_bucket;

use crate::harness::{self, Project};

/// The tables of `tests/data/delta/make.py`.
fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/delta")
}

fn output(project: &Project, arguments: &[&str]) -> Output {
    harness::finish(project.command(arguments))
}

/// The last column of `deleted` gives each row a weight of its own among those of the same key; in `mapped`, two columns
/// have each other's names in the file.
const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  events:
    root: lake
    path: events
    format: delta
    event_time: at
    columns: { id: int64, at: timestamp, amount: 'decimal(12,2)', city: string, day: date, channel: string }
  deleted: { root: lake, path: deleted/, format: delta, event_time: at, columns: { id: int64, at: timestamp, v: int64 } }
  mapped:
    root: lake
    path: ./mapped
    format: delta
    event_time: at
    columns: { id: int64, at: timestamp, v: int64, w: int64, new: string }
views:
  events:
    entity: thing
    source: events
    ttl: none
    windows: [lifetime]
    aggregate:
      amount: sum(amount)
      cities: last(city, 9)
      days: last(day, 9)
      channels: last(channel, 9)
  deleted:
    entity: thing
    source: deleted
    ttl: none
    windows: [lifetime]
    aggregate: { rows: count(), v: sum(v), first: min(at), last: max(at) }
  newest:
    entity: thing
    source: deleted
    ttl: none
    latest: [v, at]
  mapped:
    entity: thing
    source: mapped
    ttl: none
    windows: [lifetime]
    aggregate: { v: sum(v), w: sum(w), new: count(new) }
services:
  all: { features: [events.*, deleted.*, newest.*, mapped.*] }
";

/// What delta-rs reads of a table, from the CSV beside it: rows of fields as text.
fn oracle(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(tables().join(format!("{name}.csv"))).expect("an oracle");
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

/// The rows of a key, newest first.
fn rows_of(name: &str, id: &str) -> Vec<Vec<String>> {
    let mut rows = oracle(name);
    rows.retain(|row| row[0] == id);
    rows.sort_by(|a, b| b[1].cmp(&a[1]));
    rows
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    let values = value.as_array().expect("a list");
    values.iter().map(text).collect()
}

fn check_answers(answer: &str) {
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    let results = answer["results"].as_array().expect("results");
    assert_eq!(results.len(), 5);
    for (id, result) in results.iter().enumerate() {
        let id = id.to_string();
        let value = |feature: &str| &result["features"][feature]["value"];
        let events = rows_of("events", &id);
        let amounts = events.iter().filter_map(|row| row[2].parse::<f64>().ok());
        let amount: f64 = amounts.sum();
        let told = text(value("events.amount_lifetime"));
        assert_eq!(told.parse().unwrap_or(0.0), amount, "amount of {id}");
        for (feature, column) in [("cities", 3), ("days", 4), ("channels", 5)] {
            let expected: Vec<&str> = events.iter().map(|row| row[column].as_str()).collect();
            let told = match value(&format!("events.{feature}_lifetime")) {
                Value::Null => Vec::new(),
                told => texts(told),
            };
            assert_eq!(told, expected, "{feature} of {id}");
        }
        let deleted = rows_of("deleted", &id);
        let number = |row: &[String]| row[2].parse::<i64>().expect("a number");
        let sum: i64 = deleted.iter().map(|row| number(row)).sum();
        for (feature, expected) in [
            ("deleted.rows_lifetime", deleted.len().to_string()),
            ("deleted.v_lifetime", sum.to_string()),
            (
                "deleted.first_lifetime",
                deleted[deleted.len() - 1][1].clone(),
            ),
            ("deleted.last_lifetime", deleted[0][1].clone()),
            ("newest.v", deleted[0][2].clone()),
            ("newest.at", deleted[0][1].clone()),
        ] {
            assert_eq!(text(value(feature)), expected, "{feature} of {id}");
        }
        let mapped = match id.as_str() {
            "1" => ["3", "30", "0"],
            "2" => ["3", "30", "0"],
            _ => ["", "", ""],
        };
        for (feature, expected) in ["v", "w", "new"].into_iter().zip(mapped) {
            let feature = format!("mapped.{feature}_lifetime");
            assert_eq!(text(value(&feature)), expected, "{feature} of {id}");
        }
    }
}

const ASKED: [&str; 7] = [
    "features",
    "--service",
    "all",
    "--entities",
    "{\"id\": [0, 1, 2, 3, 4]}",
    "--format",
    "json",
];

#[test]
fn delta_tables_in_folders_and_buckets_hold_what_delta_rs_reads() {
    let project = Project::new(&[("all.yaml", DEFINITIONS)]);
    let settings = |root: &str| format!("version: 1\nproject: test\nroots: {{ lake: '{root}' }}\n");
    project.write("nightfill.yaml", settings(&tables().display().to_string()));
    assert_eq!(harness::stderr(&output(&project, &["check"])), "");
    project.apply_and_run(&["2026-02-01"]);
    check_answers(&project.run(&ASKED));

    let Some(bucket) = s3_bucket() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bucket.put_folder(&tables(), ""));
    let project = Project::new(&[("all.yaml", DEFINITIONS)]);
    project.write("nightfill.yaml", settings(&bucket.url));
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.envs(bucket.settings.iter().cloned());
        let output = harness::finish(command);
        let told = harness::stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {told}");
        harness::stdout(&output)
    };
    run(&["apply"]);
    run(&["run", "--as-of", "2026-02-01"]);
    check_answers(&run(&ASKED));
}

#[test]
fn a_table_that_does_not_fit_or_is_read_as_files_is_refused_before_the_night() {
    let lake = tables().display().to_string();
    let refused = |source: &str| {
        let definitions = format!(
            "entities: {{ thing: {{ keys: {{ id: int64 }} }} }}\nsources:\n  s: {{ root: lake, {source} }}\nviews:\n  v: {{ entity: thing, source: s, ttl: none, windows: [lifetime], aggregate: {{ n: count() }} }}\n"
        );
        let project = Project::new(&[("all.yaml", &definitions)]);
        let settings = format!("version: 1\nproject: test\nroots: {{ lake: '{lake}' }}\n");
        project.write("nightfill.yaml", settings);
        let warned = harness::stderr(&output(&project, &["check"]));
        project.run(&["apply"]);
        let night = output(&project, &["run", "--as-of", "2026-02-01"]);
        assert!(!night.status.success());
        let night = harness::stderr(&night);
        (warned, night)
    };
    for (source, expected) in [
        (
            "path: mapped, format: delta, event_time: at, columns: { id: int64, at: timestamp, v: int32 }",
            "`lake: mapped`: column `v` is `int64`, which does not widen to the declared `int32` without loss: declare it as the table has it",
        ),
        (
            "path: mapped, format: delta, event_time: at, columns: { id: int64, at: timestamp, x: int64 }",
            "`lake: mapped`: has no column `x`, which source `s` declares (it has: id, at, v, w, pair, new)",
        ),
        (
            "path: mapped, format: delta, event_time: at, columns: { id: int64, at: timestamp, pair: 'struct<a: int64>' }",
            "column `pair` is",
        ),
        (
            "path: nowhere, format: delta, event_time: at, columns: { id: int64, at: timestamp }",
            "`lake: nowhere`",
        ),
        (
            "path: '*/*.parquet', event_time: at, columns: { id: int64, at: timestamp }",
            "is a file of a Delta table, whose log says which files and rows count: write `path: deleted` and `format: delta`",
        ),
        (
            "path: 'events/city=Basel/**/*.parquet', event_time: at, columns: { id: int64, at: timestamp }",
            "is a file of a Delta table, whose log says which files and rows count: write `path: events` and `format: delta`",
        ),
        (
            "path: deleted, format: parquet, event_time: at, columns: { id: int64, at: timestamp }",
            "`lake: deleted`: is a Delta table: write `format: delta`",
        ),
    ] {
        let (warned, night) = refused(source);
        assert!(warned.contains(expected), "{source}: {warned}");
        assert!(night.contains(expected), "{source}: {night}");
    }
}
