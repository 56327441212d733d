//! TYP-02 to TYP-04: numbers survive JSON, or are refused.

use serde_json::json;

use crate::harness::Project;
use crate::harness::server::Server;

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, ratio: float64, last_txn_id: int64 }
views:
  of: { entity: thing, source: rows, ttl: none, latest: [ratio, last_txn_id] }
request_views:
  asked:
    inputs: { amount: float64, count: int64 }
    features: { amount: amount + 0, next: count + 1 }
services:
  s: { features: [of.*] }
  request: { features: [asked.*] }
";

/// The rows of a project, each with a ratio and an id of a transaction.
fn serve(rows: &[(i64, &str, i64)]) -> Server {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS)]);
    let line =
        |(id, ratio, txn): &(i64, &str, i64)| format!("{id},2026-01-01T00:00:00Z,{ratio},{txn}\n");
    let lines: String = rows.iter().map(line).collect();
    project.write("data/rows.csv", format!("id,at,ratio,last_txn_id\n{lines}"));
    project.apply_and_run(&["2026-02-01"]);
    Server::start(&project)
}

#[test]
fn typ_02_nan_and_infinities_are_valid_json_and_no_null() {
    let ratios = [
        ("NaN", json!("NaN"), "present"),
        ("inf", json!("Infinity"), "present"),
        ("-inf", json!("-Infinity"), "present"),
        ("", json!(null), "null"),
        ("0.0", json!(0.0), "present"),
        ("-0.0", json!(-0.0), "present"),
        ("5e-324", json!(5e-324), "present"),
        ("1.7976931348623157e308", json!(f64::MAX), "present"),
    ];
    let rows: Vec<(i64, &str, i64)> = (0..)
        .zip(&ratios)
        .map(|(id, ratio)| (id, ratio.0, 0))
        .collect();
    let server = serve(&rows);
    let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let answer = server.ask("/v1/features/s", &json!({ "entities": { "id": ids } }));
    for (place, (text, value, state)) in ratios.iter().enumerate() {
        let told = &answer["results"][place]["features"]["of.ratio"];
        assert_eq!(told["value"].to_string(), value.to_string(), "{text}");
        assert_eq!(told["state"], json!(state), "{text}");
    }
}

#[test]
fn typ_03_numbers_that_do_not_fit_are_refused_and_never_missing() {
    let server = serve(&[(1, "1", 1)]);
    for (amount, count, path) in [
        ("1e400", "1", "$.request.amount[0]"),
        ("-1e400", "1", "$.request.amount[0]"),
        ("NaN", "1", "$.request.amount"),
        ("1", "12345678901234567890", "$.request.count[0]"),
        ("1", "1e3", "$.request.count[0]"),
    ] {
        let body = format!(
            r#"{{"entities": {{"id": [1]}}, "request": {{"amount": [{amount}], "count": [{count}]}}}}"#
        );
        let (status, answer) = server.post_text("/v1/features/request", &body);
        assert_eq!(status, 400, "{body}: {answer}");
        let told = answer["error"]["path"].as_str().expect("a path");
        assert!(told.starts_with(path), "{body}: {answer}");
    }
    let body = r#"{"entities": {"id": [1]}, "request": {"amount": [1e-400], "count": [1]}}"#;
    let (status, answer) = server.post_text("/v1/features/request", body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        answer["results"][0]["features"]["asked.amount"]["value"],
        json!(0.0)
    );
}

#[test]
fn typ_04_no_digit_of_an_int64_is_lost() {
    let ids = [
        9_007_199_254_740_993,
        1_285_704_473_650_888_702,
        i64::MAX,
        i64::MIN,
        2_512_292_042_121_000_001,
    ];
    let rows: Vec<(i64, &str, i64)> = ids.iter().map(|id| (*id, "1", *id)).collect();
    let server = serve(&rows);
    let texts: Vec<String> = ids.iter().map(i64::to_string).collect();
    for entities in [json!({ "id": ids }), json!({ "id": texts })] {
        let answer = server.ask("/v1/features/s", &json!({ "entities": entities }));
        for (place, id) in ids.iter().enumerate() {
            let told = &answer["results"][place]["features"]["of.last_txn_id"];
            assert_eq!(told["value"], json!(id));
        }
    }
    let counts = [9_007_199_254_740_993_i64, i64::MAX - 1];
    let body =
        json!({ "entities": { "id": [1, 2] }, "request": { "amount": [1, 1], "count": counts } });
    let answer = server.ask("/v1/features/request", &body);
    for (place, count) in counts.iter().enumerate() {
        let told = &answer["results"][place]["features"]["asked.next"];
        assert_eq!(told["value"], json!(count + 1));
    }
}
