//! SRV-02: answers have the length and order of their request, whatever is missing.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::harness::server::Server;

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, v: int64 }
views:
  of: { entity: thing, source: rows, ttl: none, windows: [lifetime], aggregate: { v: sum(v) } }
services:
  s: { features: [of.*] }
";

const KNOWN: i64 = 250;

/// Asks for `ids`; ids above [`KNOWN`] are missing, all others hold ten times their id.
fn check(server: &Server, ids: &[i64]) {
    let answer = server.ask("/v1/features/s", &json!({ "entities": { "id": ids } }));
    let results = answer["results"].as_array().expect("results");
    assert_eq!(results.len(), ids.len());
    for (position, (result, id)) in results.iter().zip(ids).enumerate() {
        let told = &result["features"]["of.v_lifetime"];
        let expected = if *id > KNOWN {
            (Value::Null, json!("missing"))
        } else {
            (json!(id * 10), json!("present"))
        };
        let seen = (told["value"].clone(), told["state"].clone());
        assert_eq!(seen, expected, "position {position} of {}", ids.len());
    }
}

#[test]
fn srv_02_missing_entities_at_any_place_shift_nothing() {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS)]);
    let rows = (1..=KNOWN).map(|id| format!("{id},2026-01-01T00:00:00Z,{}\n", id * 10));
    let rows: String = rows.collect();
    project.write("data/rows.csv", format!("id,at,v\n{rows}"));
    project.apply_and_run(&["2026-02-01"]);
    let server = Server::start(&project);

    for size in [99, 100, 101, 200, 201, 250_usize] {
        let whole: Vec<i64> = (1..).take(size).collect();
        check(&server, &whole);
        for missing in 0..size {
            let mut ids = whole.clone();
            ids[missing] = 1_000;
            check(&server, &ids);
        }
    }
    let mut ids: Vec<i64> = (1..=KNOWN).collect();
    for missing in [100, 101, 200, 250] {
        ids[missing - 1] = 1_000;
    }
    check(&server, &ids);
    check(&server, &[1_000; 250]);
    check(&server, &[7, 1_000, 7, 7, 1_000, 1]);
}
