//! PIT-02, PIT-06: one feature row for each entity and instant, and a null is an observed value.

use serde_json::{Value, json};

use crate::harness::{Project, parquet};

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  rows:
    path: data/*.csv
    event_time: ev
    created_time: cr
    columns: { id: string, ev: timestamp, cr: timestamp, a: int64, b: int64 }
views:
  newest:
    entity: thing
    source: rows
    ttl: none
    latest: [a, b]
services:
  s: { features: [newest.*] }
";

fn project(files: &[&str]) -> Project {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS)]);
    for (number, rows) in files.iter().enumerate() {
        project.write(
            &format!("data/{number}.csv"),
            format!("id,ev,cr,a,b\n{rows}"),
        );
    }
    project
}

/// `(value, state)` of both features of `K`, as of `as_of`, from the served release.
fn served(project: &Project) -> [(Value, Value); 2] {
    let answer = project.json(&["features", "--service", "s", "--entity", "id=K"]);
    ["newest.a", "newest.b"].map(|feature| {
        let told = &answer["results"][0]["features"][feature];
        (told["value"].clone(), told["state"].clone())
    })
}

/// Both features of `K` in a training set with one row as of each instant.
fn trained(project: &Project, as_ofs: &[&str]) -> [Vec<Option<i64>>; 2] {
    let frame: String = as_ofs.iter().map(|as_of| format!("K,{as_of}\n")).collect();
    project.write("frame.csv", format!("id,as_of\n{frame}"));
    let out = project.root().join("out.parquet");
    let frame = project.root().join("frame.csv");
    let (frame, out_text) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    project.run(&[
        "training-set",
        "--service",
        "s",
        "--entities",
        frame,
        "-o",
        out_text,
    ]);
    let batch = parquet::read(&out);
    assert_eq!(batch.num_rows(), as_ofs.len());
    ["newest.a", "newest.b"].map(|feature| parquet::integers(&batch, feature))
}

#[test]
fn pit_02_rows_delivered_three_times_are_one() {
    let newest = "K,2026-01-01T09:00:00Z,2026-01-01T09:05:00Z,10,1\n";
    let older = "K,2026-01-01T08:00:00Z,2026-01-01T08:01:00Z,9,2\n";
    let project = project(&[newest, newest, &format!("{newest}{older}")]);
    project.run(&["apply"]);
    let as_ofs = ["2026-01-01T10:00:00Z", "2026-01-01T09:02:00Z"];
    // At 09:02 the row of 09:00 was not known yet: it was created at 09:05.
    assert_eq!(
        trained(&project, &as_ofs),
        [[Some(10), Some(9)], [Some(1), Some(2)]]
    );

    for release in 1..=2 {
        project.run(&["run", "--as-of", "2026-01-01T10:00:00Z"]);
        let shown = project.json(&["release", "show"]);
        assert_eq!(
            shown["release"]["views"][0]["rows"],
            json!(1),
            "night {release}: {shown}"
        );
        let present = json!("present");
        assert_eq!(
            served(&project),
            [(json!(10), present.clone()), (json!(1), present)]
        );
    }
}

#[test]
fn pit_06_a_newest_null_is_a_value_and_nothing_older_shows_through() {
    let project = project(&["\
K,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,42,1
K,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,,2
"]);
    project.apply_and_run(&["2026-01-01T02:00:00Z"]);
    assert_eq!(
        served(&project),
        [(Value::Null, json!("null")), (json!(2), json!("present"))]
    );
    let as_ofs = ["2026-01-01T02:00:00Z", "2026-01-01T00:30:00Z"];
    assert_eq!(
        trained(&project, &as_ofs),
        [[None, Some(42)], [Some(2), Some(1)]]
    );
}
