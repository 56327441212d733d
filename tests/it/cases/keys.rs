//! KEY-02, KEY-03, KEY-05, KEY-06, KEY-09: key bytes come from all parts in the order of the definition, keep them apart, and
//! no value of a part is special.

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

/// Pairs of texts that run into each other where parts are joined with a separator, without lengths or as a set.
fn adversarial_pairs() -> Vec<(String, String)> {
    let mut texts: Vec<String> = ["", "a", "b", "ab", "ba", "a|b", "|"]
        .map(str::to_owned)
        .into();
    texts.extend([":", "/", "#", "{", "}", "\n", "\0"].map(|sign| format!("a{sign}b")));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for first in &texts {
        pairs.extend(texts.iter().map(|second| (first.clone(), second.clone())));
    }
    for (first, second) in [
        ("ab", "c"),
        ("a", "bc"),
        ("a|b", "c"),
        ("a", "b|c"),
        ("", "abc"),
        ("abc", ""),
    ] {
        pairs.push((first.to_owned(), second.to_owned()));
    }
    pairs
}

fn write_visits(project: &Project, path: &str, visits: &[(&str, &str, &str, i64)]) {
    use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;
    let text = |part: fn(&(&str, &str, &str, i64)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(visits.iter().map(part)))
    };
    let at = |visit: &(&str, &str, &str, i64)| {
        let at = feature_defs::time::Instant::parse(visit.2);
        at.expect("an instant").micros()
    };
    let at = TimestampMicrosecondArray::from_iter_values(visits.iter().map(at));
    let values = Int64Array::from_iter_values(visits.iter().map(|visit| visit.3));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("user", text(|visit| visit.0.to_owned())),
        ("merchant", text(|visit| visit.1.to_owned())),
        ("at", Arc::new(at.with_timezone("UTC"))),
        ("v", Arc::new(values)),
    ];
    crate::harness::parquet::write(&project.root().join(path), columns);
}

fn visits_in_parquet() -> Project {
    let definitions = PAIRS.replace("data/*.csv", "data/*.parquet");
    Project::new(&[("features/all.yaml", definitions.as_str())])
}

/// What each interface answers for these pairs: the server, the command line, and a training set.
fn answers(project: &Project, pairs: &[(String, String)]) -> [Vec<Option<i64>>; 3] {
    let users: Vec<&str> = pairs.iter().map(|pair| pair.0.as_str()).collect();
    let merchants: Vec<&str> = pairs.iter().map(|pair| pair.1.as_str()).collect();
    let entities = json!({ "user": users, "merchant": merchants });
    let values = |answer: &Value| -> Vec<Option<i64>> {
        let results = answer["results"].as_array().expect("results").iter();
        let value = |result: &Value| result["features"]["visit.v_lifetime"]["value"].as_i64();
        results.map(value).collect()
    };
    let server = Server::start(project);
    let over_http = values(&server.ask("/v1/features/s", &json!({ "entities": entities })));
    let typed = project.json(&[
        "features",
        "--service",
        "s",
        "--entities",
        &entities.to_string(),
    ]);
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let frame: String = pairs
        .iter()
        .map(|(user, merchant)| format!("{},{},2026-03-01\n", field(user), field(merchant)))
        .collect();
    let trained = project.train("s", &format!("user,merchant,as_of\n{frame}"));
    let trained = crate::harness::parquet::integers(&trained, "visit.v_lifetime");
    [over_http, values(&typed), trained]
}

#[test]
fn key_02_parts_of_a_key_never_run_into_each_other() {
    let project = visits_in_parquet();
    let pairs = adversarial_pairs();
    assert!(pairs.len() > 200);
    let mut distinct = std::collections::BTreeMap::new();
    for pair in &pairs {
        let next = distinct.len() as i64;
        distinct.entry(pair.clone()).or_insert(next);
    }
    let visits: Vec<_> = distinct
        .iter()
        .map(|((user, merchant), v)| (user.as_str(), merchant.as_str(), "2026-01-01", *v))
        .collect();
    write_visits(&project, "data/1.parquet", &visits);
    project.apply_and_run(&["2026-02-01"]);
    let shown = project.json(&["release", "show"]);
    assert_eq!(shown["release"]["views"][0]["rows"], json!(distinct.len()));
    let expected: Vec<Option<i64>> = pairs
        .iter()
        .map(|pair| distinct.get(pair).copied())
        .collect();
    for (way, found) in answers(&project, &pairs).iter().enumerate() {
        assert_eq!(*found, expected, "way {way}");
    }
}

#[test]
fn key_05_every_part_of_a_key_counts() {
    let project = visits_in_parquet();
    let at = "2026-01-01";
    let visits = [
        ("1", "10", at, 110),
        ("1", "20", at, 120),
        ("2", "10", at, 210),
    ];
    write_visits(&project, "data/1.parquet", &visits);
    project.apply_and_run(&["2026-02-01"]);
    let asked = [("1", "20"), ("1", "10"), ("2", "10"), ("2", "20")];
    let asked = asked.map(|(user, merchant)| (user.to_owned(), merchant.to_owned()));
    for found in answers(&project, &asked) {
        assert_eq!(found, [Some(120), Some(110), Some(210), None]);
    }
}

#[test]
fn key_09_keys_are_lists_of_parts_and_no_sets() {
    let project = visits_in_parquet();
    let at = "2026-01-02";
    let visits = [
        ("X", "Y", at, 1),
        ("Y", "X", at, 2),
        ("X", "X", at, 3),
        // A real duplicate of an older event.
        ("X", "Y", "2026-01-01", 9),
    ];
    write_visits(&project, "data/1.parquet", &visits);
    project.apply_and_run(&["2026-02-01"]);
    let asked = [("X", "Y"), ("Y", "X"), ("X", "X"), ("Y", "Y")];
    let asked = asked.map(|(source, target)| (source.to_owned(), target.to_owned()));
    for found in answers(&project, &asked) {
        assert_eq!(found, [Some(1), Some(2), Some(3), None]);
    }
    let shown = project.json(&["release", "show"]);
    assert_eq!(shown["release"]["views"][0]["rows"], json!(3));
}
