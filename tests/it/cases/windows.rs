//! WIN-03: counts of nothing are 0, in a training set as in an answer.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::harness::parquet;

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: string, at: timestamp, v: string }
views:
  of:
    entity: thing
    source: rows
    ttl: none
    windows: [7d]
    aggregate: { all: count(), some: count(v), different: distinct_count(v) }
services:
  plain: { features: [of.*] }
  with_default: { features: [of.all_7d: { default: 0 }, of.some_7d: { default: 0 }] }
";

/// K0 was seen, but not in the window; K1 was never seen.
const ROWS: &str = "\
id,at,v
K0,2026-01-01T00:00:00Z,x
K2,2026-01-30T00:00:00Z,
K2,2026-01-30T01:00:00Z,
K3,2026-01-30T00:00:00Z,x
K3,2026-01-30T01:00:00Z,x
K3,2026-01-30T02:00:00Z,
K3,2026-01-30T03:00:00Z,y
";

#[test]
fn win_03_counts_of_nothing_are_zero_and_of_nobody_missing() {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS), ("data/rows.csv", ROWS)]);
    project.apply_and_run(&["2026-02-01"]);
    let ids = ["K0", "K1", "K2", "K3"];
    let entities = json!({ "id": ids }).to_string();
    let frame: String = ids
        .iter()
        .map(|id| format!("{id},2026-02-01T00:00:00Z\n"))
        .collect();
    project.write("frame.csv", format!("id,as_of\n{frame}"));
    let frame = project.root().join("frame.csv");
    let out = project.root().join("out.parquet");
    let (frame, out_text) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));

    let null: Option<i64> = None;
    let cases: [(&str, &str, [Option<i64>; 4]); 5] = [
        ("plain", "of.all_7d", [Some(0), null, Some(2), Some(4)]),
        ("plain", "of.some_7d", [Some(0), null, Some(0), Some(3)]),
        (
            "plain",
            "of.different_7d",
            [Some(0), null, Some(0), Some(2)],
        ),
        (
            "with_default",
            "of.all_7d",
            [Some(0), Some(0), Some(2), Some(4)],
        ),
        (
            "with_default",
            "of.some_7d",
            [Some(0), Some(0), Some(0), Some(3)],
        ),
    ];
    for (service, feature, expected) in cases {
        let asked = ["features", "--service", service, "--entities", &entities];
        let answer = project.json(&asked);
        let told = |row: usize| answer["results"][row]["features"][feature].clone();
        let served: Vec<Value> = (0..4).map(|row| told(row)["value"].clone()).collect();
        assert_eq!(
            served,
            expected.map(|value| json!(value)),
            "{service} {feature}"
        );
        assert_eq!(told(1)["state"], json!("missing"));

        project.run(&[
            "training-set",
            "--service",
            service,
            "--entities",
            frame,
            "-o",
            out_text,
        ]);
        let trained = parquet::integers(&parquet::read(&out), feature);
        assert_eq!(trained, expected, "{service} {feature}");
    }
}
