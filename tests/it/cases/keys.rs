//! KEY-03, KEY-06: key bytes come from the definition alone, and 0 is a key like any other.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::harness::server::Server;

const PAIRS: &str = "\
entities:
  pair:
    keys: { user: string, merchant: string }
sources:
  visits:
    path: data/*.csv
    event_time: at
    columns: { user: string, merchant: string, at: timestamp, v: int64 }
views:
  visit:
    entity: pair
    source: visits
    ttl: none
    windows: [lifetime]
    aggregate: { v: last(v) }
services:
  s:
    features: [visit.*]
";

fn last_v(server: &Server, entities: &str) -> Value {
    let body: Value =
        serde_json::from_str(&format!(r#"{{"entities": {entities}}}"#)).expect("JSON");
    server.ask("/v1/features/s", &body)["results"][0]["features"]["visit.v_lifetime"]["value"]
        .clone()
}

#[test]
fn key_03_composite_keys_do_not_depend_on_column_or_field_order() {
    let project = Project::new(&[("features/all.yaml", PAIRS)]);
    project.write(
        "data/1.csv",
        "merchant,user,user_1,at,v\nm,u,x,2026-01-01T00:00:00Z,1\n",
    );
    project.apply_and_run(&["2026-02-01"]);
    let server = Server::start(&project);
    for entities in [
        r#"{"user": ["u"], "merchant": ["m"]}"#,
        r#"{"merchant": ["m"], "user": ["u"]}"#,
    ] {
        assert_eq!(last_v(&server, entities), json!(1), "{entities}");
    }
    assert_eq!(
        last_v(&server, r#"{"user": ["m"], "merchant": ["u"]}"#),
        Value::Null
    );

    project.write(
        "data/2.csv",
        "user,at,v,merchant\nu,2026-02-01T12:00:00Z,2,m\n",
    );
    project.run(&["run", "--as-of", "2026-02-02"]);
    let shown = project.json(&["release", "show"]);
    assert_eq!(shown["release"]["number"], json!(2));
    assert_eq!(shown["release"]["views"][0]["rows"], json!(1), "{shown}");
    let asked = [
        "features",
        "--service",
        "s",
        "--entity",
        "merchant=m,user=u",
    ];
    let answer = project.json(&asked);
    assert_eq!(
        answer["results"][0]["features"]["visit.v_lifetime"]["value"],
        json!(2)
    );
}

#[test]
fn key_06_zero_and_the_empty_string_are_keys_like_any_other() {
    let definitions = "\
entities:
  number: { keys: { n: int64 } }
  text: { keys: { t: string } }
  both: { keys: { t: string, n: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { n: int64, t: string, at: timestamp, v: int64 }
views:
  of_number: { entity: number, source: rows, ttl: none, windows: [lifetime], aggregate: { v: sum(v) } }
  of_text: { entity: text, source: rows, ttl: none, windows: [lifetime], aggregate: { v: sum(v) } }
  of_both: { entity: both, source: rows, ttl: none, windows: [lifetime], aggregate: { v: sum(v) } }
services:
  s: { features: [of_number.*, of_text.*, of_both.*] }
";
    let rows = "\
n,t,at,v
0,0,2026-01-01T00:00:00Z,1
-0,\"\",2026-01-01T00:00:00Z,2
1,-0,2026-01-01T00:00:00Z,4
";
    let project = Project::new(&[("features/all.yaml", definitions), ("data/rows.csv", rows)]);
    project.apply_and_run(&["2026-02-01"]);
    let asked = r#"{"n": [0, 0, 1, 0], "t": ["0", "", "-0", "-0"]}"#;
    let answer = project.json(&["features", "--service", "s", "--entities", asked]);
    let column = |feature: &str| -> Vec<Value> {
        let results = answer["results"].as_array().expect("results").iter();
        results
            .map(|r| r["features"][feature]["value"].clone())
            .collect()
    };
    assert_eq!(
        column("of_number.v_lifetime"),
        [json!(3), json!(3), json!(4), json!(3)]
    );
    assert_eq!(
        column("of_text.v_lifetime"),
        [json!(1), json!(2), json!(4), json!(4)]
    );
    assert_eq!(
        column("of_both.v_lifetime"),
        [json!(1), json!(2), json!(4), Value::Null]
    );

    project.write(
        "features/all.yaml",
        definitions.replace("{ n: int64 }", "{ n: bool }"),
    );
    let said = project.fail(&["apply"]);
    assert!(
        said.contains("features/all.yaml:2:") && said.contains("bool"),
        "{said}"
    );
}
