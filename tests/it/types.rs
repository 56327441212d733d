//! Every type from Parquet to training sets and answers: the same values, to the last bit.

use arrow::array::{Array, ArrayRef, RecordBatch};
use feature_defs::data_type::DataType;
use feature_defs::value::Value;
use serde_json::{Value as Json, json};

use crate::harness::server::Server;
use crate::harness::{Project, parquet};

const IDS: [&str; 3] = [
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-4fff-bfff-ffffffffffff",
];

/// Each type with a value for each thing, in its JSON form as answers write it.
fn columns() -> Vec<(&'static str, [Json; 3])> {
    vec![
        ("bool", [json!(true), json!(false), json!(null)]),
        ("int8", [json!(-128), json!(127), json!(null)]),
        ("int16", [json!(-32_768), json!(32_767), json!(null)]),
        ("int32", [json!(i32::MIN), json!(i32::MAX), json!(null)]),
        (
            "int64",
            [
                json!(i64::MIN),
                json!(9_007_199_254_740_993_i64),
                json!(null),
            ],
        ),
        ("uint8", [json!(0), json!(255), json!(null)]),
        ("uint16", [json!(0), json!(65_535), json!(null)]),
        ("uint32", [json!(0), json!(u32::MAX), json!(null)]),
        ("uint64", [json!(u64::MAX), json!(1), json!(null)]),
        ("float16", [json!(0.1), json!("NaN"), json!(-0.0)]),
        ("float32", [json!(0.1), json!("-Infinity"), json!(-0.0)]),
        ("float64", [json!(5e-324), json!(f64::MAX), json!(-0.0)]),
        (
            "decimal(38,2)",
            [
                json!("999999999999999999999999999999999999.99"),
                json!("-0.01"),
                json!(null),
            ],
        ),
        ("string", [json!("né\"\n"), json!(""), json!(null)]),
        ("bytes", [json!("AP8="), json!(""), json!(null)]),
        ("uuid", [json!(IDS[2]), json!(IDS[1]), json!(null)]),
        (
            "date",
            [json!("1969-12-31"), json!("2026-02-28"), json!(null)],
        ),
        (
            "timestamp",
            [
                json!("1969-12-31T23:59:59.999999Z"),
                json!("2026-02-28T22:00:00Z"),
                json!(null),
            ],
        ),
        (
            "list<int64>",
            [
                json!([1, null, 9_007_199_254_740_993_i64]),
                json!([]),
                json!(null),
            ],
        ),
        (
            "vector<float32, 3>",
            [
                json!([0.1, "NaN", -0.0]),
                json!([1.0, 2.0, "Infinity"]),
                json!(null),
            ],
        ),
        (
            "struct<a: int64, b: list<uuid>>",
            [
                json!({"a": null, "b": [IDS[0], null]}),
                json!({"a": 7, "b": null}),
                json!(null),
            ],
        ),
        (
            "list<struct<at: timestamp, amount: decimal(12,2)>>",
            [
                json!([{"at": "2026-01-01T00:00:00Z", "amount": "12.50"}, null]),
                json!([{"at": null, "amount": null}]),
                json!(null),
            ],
        ),
        (
            "list<float16>",
            [
                json!([0.1, "Infinity", null]),
                json!([65500.0]),
                json!(null),
            ],
        ),
        (
            "vector<float16, 2>",
            [json!([0.1, 1.0]), json!([6e-8, -3.0]), json!(null)],
        ),
    ]
}

fn of(text: &str) -> DataType {
    DataType::parse(text).expect(text)
}

fn array(json: &[Json], data_type: &str) -> ArrayRef {
    let value = |json| Value::from_json(json, of(data_type)).expect(data_type);
    Value::array(&json.iter().map(value).collect::<Vec<_>>(), of(data_type))
}

/// A column of a file in the JSON form of its type, as text, so that -0.0 is not 0.0.
fn written(batch: &RecordBatch, name: &str, data_type: DataType) -> Vec<String> {
    let column = batch
        .column_by_name(name)
        .unwrap_or_else(|| panic!("no column `{name}`"));
    assert_eq!(column.data_type(), &data_type.to_arrow(), "{name}");
    let text = |row| {
        let mut text = Vec::new();
        Value::from_array(column, row).write_json(data_type, &mut text);
        let json: Json = serde_json::from_slice(&text).expect("JSON");
        json.to_string()
    };
    (0..column.len()).map(text).collect()
}

/// A project over a file of all types, which ends in `format`.
fn project(format: &str) -> Project {
    let declared = columns().into_iter().enumerate();
    let declared: Vec<String> = declared
        .map(|(place, (data_type, _))| format!("      f{place}: \"{data_type}\"\n"))
        .collect();
    let names: Vec<String> = (0..declared.len())
        .map(|place| format!("f{place}"))
        .collect();
    let (columns_of_file, names) = (declared.concat(), names.join(", "));
    let definitions = format!(
        "\
entities:
  thing: {{ keys: {{ id: uuid }} }}
sources:
  facts:
    path: data/facts.{format}
    event_time: at
    columns:
      id: uuid
      at: timestamp
{columns_of_file}views:
  newest: {{ entity: thing, source: facts, latest: [{names}] }}
  passed:
    entity: thing
    sql: SELECT id, {names}, array_agg(f4 ORDER BY at) AS seen FROM facts GROUP BY id, {names}
    features:
      seen: list<int64>
{columns_of_file}request_views:
  basket:
    inputs:
      recent: \"list<struct<at: timestamp, amount: decimal(12,2)>>\"
      near: {{ type: \"vector<float32, 3>\", default: [1, 0, 0.5] }}
    features:
      count: array_length(recent)
      first: recent[1].amount
      echo: recent
      likeness: inner_product(near, newest.f19)
      same: newest.f15 = newest.f15
services:
  all: {{ features: [newest.*, passed.*, basket.*, ] }}
"
    );
    let project = Project::new(&[("features/all.yaml", &definitions)]);
    let times = ["2026-03-01T00:00:00Z"; 3].map(|at| json!(at));
    if format == "jsonl" {
        project.write("data/facts.jsonl", json_lines(&times));
        return project;
    }
    let mut file = vec![
        ("id".to_owned(), array(&IDS.map(|id| json!(id)), "uuid")),
        ("at".to_owned(), array(&times, "timestamp")),
    ];
    for (place, (data_type, values)) in columns().into_iter().enumerate() {
        file.push((format!("f{place}"), array(&values, data_type)));
    }
    let file = file
        .iter()
        .map(|(name, column)| (name.as_str(), column.clone()));
    parquet::write(&project.root().join("data/facts.parquet"), file.collect());
    project
}

/// The rows as JSON lines. The last of them leaves out what is null.
fn json_lines(times: &[Json; 3]) -> String {
    let row = |row: usize| {
        let mut members = serde_json::Map::new();
        members.insert("id".to_owned(), json!(IDS[row]));
        members.insert("at".to_owned(), times[row].clone());
        for (place, (_, values)) in columns().into_iter().enumerate() {
            if row < 2 || !values[row].is_null() {
                members.insert(format!("f{place}"), values[row].clone());
            }
        }
        format!("{}\n", Json::Object(members))
    };
    (0..3).map(row).collect()
}

const RECENT: &str = "list<struct<at: timestamp, amount: decimal(12,2)>>";

fn recent() -> [Json; 3] {
    [
        json!([{"at": "2026-01-01T00:00:00Z", "amount": "0.10"}, {"at": null, "amount": "3.00"}]),
        json!([]),
        json!([null]),
    ]
}

fn training_set(project: &Project) -> RecordBatch {
    let frame = project.root().join("frame.parquet");
    let as_of = ["2026-03-02T00:00:00Z"; 3].map(|at| json!(at));
    let near = ["x"; 3].map(|_| json!([1, 0, 0.5]));
    let columns = vec![
        ("id", array(&IDS.map(|id| json!(id)), "string")),
        ("as_of", array(&as_of, "timestamp")),
        ("recent", array(&recent(), RECENT)),
        ("near", array(&near, "vector<float32, 3>")),
    ];
    parquet::write(&frame, columns);
    let out = project.root().join("out.parquet");
    let (frame, path) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    project.run(&crate::harness::training_set("all", frame, path));
    parquet::read(&out)
}

#[test]
fn every_type_is_trained_and_served_as_it_is_in_parquet() {
    are_trained_and_served(&project("parquet"));
}

#[test]
fn every_type_is_trained_and_served_as_it_is_in_json_lines() {
    are_trained_and_served(&project("jsonl"));
}

fn are_trained_and_served(project: &Project) {
    project.apply_and_run(&["2026-03-02"]);
    let set = training_set(project);
    let body = json!({
        "entities": { "id": [IDS[0].to_uppercase(), IDS[1], IDS[2]] },
        "request": { "recent": recent() },
    });
    let served = Server::start(project).ask("/v1/features/all", &body);
    let asked = [
        "features",
        "--service",
        "all",
        "--as-of",
        "2026-03-02",
        "--body",
    ];
    let computed = project.json(&[&asked[..], &[&body.to_string()]].concat());
    let told = |answer: &Json, feature: &str| -> Vec<String> {
        let results = answer["results"].as_array().expect("results").iter();
        results
            .map(|result| result["features"][feature]["value"].to_string())
            .collect()
    };
    for (place, (data_type, values)) in columns().into_iter().enumerate() {
        for view in ["newest", "passed"] {
            let feature = format!("{view}.f{place}");
            let mut expected = values.clone().map(|json| json.to_string());
            if view == "passed" && expected[2] == "-0.0" {
                // SQL has one zero.
                "0.0".clone_into(&mut expected[2]);
            }
            if view == "passed" && data_type.starts_with("vector") {
                expected[0] = expected[0].replace("-0.0", "0.0");
            }
            assert_eq!(
                told(&served, &feature),
                expected,
                "served {feature}: {data_type}"
            );
            assert_eq!(
                told(&computed, &feature),
                expected,
                "computed {feature}: {data_type}"
            );
            let trained = written(&set, &feature, of(data_type));
            assert_eq!(trained, expected, "trained {feature}: {data_type}");
        }
    }
    for (feature, data_type, values) in [
        (
            "passed.seen",
            "list<int64>",
            [
                json!([i64::MIN]),
                json!([9_007_199_254_740_993_i64]),
                json!([null]),
            ],
        ),
        ("basket.count", "uint64", [json!(2), json!(0), json!(1)]),
        (
            "basket.first",
            "decimal(12,2)",
            [json!("0.10"), json!(null), json!(null)],
        ),
        ("basket.echo", RECENT, recent()),
        (
            "basket.likeness",
            "float64",
            [json!("NaN"), json!("Infinity"), json!(null)],
        ),
        (
            "basket.same",
            "bool",
            [json!(true), json!(true), json!(null)],
        ),
    ] {
        let expected = values.map(|json| json.to_string());
        assert_eq!(told(&served, feature), expected, "served {feature}");
        assert_eq!(told(&computed, feature), expected, "computed {feature}");
        assert_eq!(
            written(&set, feature, of(data_type)),
            expected,
            "trained {feature}"
        );
    }
}

#[test]
fn wrong_values_inside_request_fields_are_refused_by_their_path() {
    let project = project("parquet");
    project.apply_and_run(&["2026-03-02"]);
    let server = Server::start(&project);
    for (recent, path, message) in [
        (
            json!([{"at": "2026-01-01", "amount": 1}]),
            "$.request.recent[0][0].at",
            "is no timestamp",
        ),
        (
            json!([{"amount": 1}, {"amount": "1.005"}]),
            "$.request.recent[0][1].amount",
            "is no decimal(12,2)",
        ),
        (
            json!([{"amuont": 1}]),
            "$.request.recent[0][0]",
            "did you mean `amount`?",
        ),
        (
            json!({"amount": 1}),
            "$.request.recent[0]",
            "expected an array",
        ),
        (
            json!(null),
            "$.request.recent[0]",
            "null is not a value of `recent`",
        ),
    ] {
        let body = json!({ "entities": { "id": [IDS[0]] }, "request": { "recent": [recent] } });
        let (status, answer) = server.post("/v1/features/all", &body);
        assert_eq!(status, 400, "{answer}");
        assert_eq!(answer["error"]["path"], json!(path), "{answer}");
        let told = answer["error"]["message"].as_str().expect("a message");
        assert!(told.contains(message), "{told}");
    }
    let near = json!({
        "entities": { "id": [IDS[0]] },
        "request": { "recent": [[]], "near": [[1, 2]] },
    });
    let (status, answer) = server.post("/v1/features/all", &near);
    assert_eq!(
        (status, &answer["error"]["path"]),
        (400, &json!("$.request.near[0]"))
    );
    let key = json!({ "entities": { "id": ["f81d4fae"] }, "request": { "recent": [[]] } });
    let (status, answer) = server.post("/v1/features/all", &key);
    assert_eq!(
        (status, &answer["error"]["path"]),
        (400, &json!("$.entities.id[0]"))
    );
}
