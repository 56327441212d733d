//! ODF-02, ODF-05, ODF-07, ODF-08: request-time features over HTTP, on the command line and in training sets.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::harness::Project;
use crate::harness::parquet::{floats, integers, text};
use crate::harness::server::Server;

const TWO_VIEWS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, one: int64, hundred: int64 }
views:
  a: { entity: thing, sql: 'SELECT id, max(one) AS x FROM rows GROUP BY id', ttl: none, features: { x: { type: int64 } } }
  b: { entity: thing, sql: 'SELECT id, max(hundred) AS x FROM rows GROUP BY id', ttl: none, features: { x: { type: int64 } } }
request_views:
  r: { inputs: {}, features: { y: a.x + 1 } }
services:
  b_first: { features: [b.x, r.y] }
  y_first: { features: [r.y, b.x] }
  all: { features: [b.x, a.x, r.y] }
  renamed: { features: [b.x: { as: x }, r.y: { as: y }] }
";

#[test]
fn odf_02_an_expression_reads_the_view_that_it_names() {
    let rows = "id,at,one,hundred\n7,2026-01-01T00:00:00Z,1,100\n";
    let project = Project::new(&[("features/all.yaml", TWO_VIEWS), ("data/rows.csv", rows)]);
    project.apply_and_run(&["2026-02-01"]);
    let server = Server::start(&project);
    for (service, x, y) in [
        ("b_first", "b.x", "r.y"),
        ("y_first", "b.x", "r.y"),
        ("all", "b.x", "r.y"),
        ("renamed", "x", "y"),
    ] {
        let asked = json!({ "entities": { "id": [7] } });
        let answer = server.ask(&format!("/v1/features/{service}"), &asked);
        let features = &answer["results"][0]["features"];
        assert_eq!(features[x]["value"], 100, "{answer}");
        assert_eq!(features[y]["value"], 2, "{answer}");
        let trained = project.train(service, "id,as_of\n7,2026-02-01\n");
        assert_eq!(integers(&trained, x), [Some(100)]);
        assert_eq!(integers(&trained, y), [Some(2)]);
    }
}

const EXPRESSIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, m: int64, mean: float64 }
views:
  of: { entity: thing, source: rows, ttl: none, latest: [m, mean] }
request_views:
  guarded:
    inputs: { s: { type: int64, nullable: true }, n: { type: int64, nullable: true } }
    features:
      a: case when n > 0 then s / n else 0 end
      b: case when n > 0 and of.m > 0 then s / n else 0 end
      float_a: case when n > 0 then cast(s as double) / cast(n as double) else 0.0 end
      unguarded: s / n
  twins:
    inputs:
      amount: { type: float64, nullable: true }
      ts: { type: timestamp, nullable: true }
      channel: { type: string, nullable: true }
    features:
      y: round(amount / of.mean, 2)
      night: date_part('hour', ts) IN (0, 1, 2, 3, 4, 5)
      s: lower(trim(channel))
  order:
    inputs:
      paid: float64
      way: { type: string, default: web }
    features:
      paid: paid
      way: way
services:
  guarded: { features: [guarded.a, guarded.b, guarded.float_a, guarded.unguarded] }
  twins: { features: [twins.*] }
  order: { features: [order.*] }
";

fn expressions(rows: &str) -> Project {
    let rows = format!("id,at,m,mean\n{rows}");
    let project = Project::new(&[
        ("features/all.yaml", EXPRESSIONS),
        ("data/rows.csv", rows.as_str()),
    ]);
    project.apply_and_run(&["2026-02-01"]);
    project
}

fn column(answer: &Value, feature: &str) -> Vec<Value> {
    let results = answer["results"].as_array().expect("results").iter();
    results
        .map(|result| result["features"][feature]["value"].clone())
        .collect()
}

#[test]
fn odf_05_request_fields_are_required_defaulted_and_never_cast() {
    let project = expressions("1,2026-01-01T00:00:00Z,1,1\n");
    let server = Server::start(&project);
    let ask = |request: Value| {
        let body = json!({ "entities": { "id": [1] }, "request": request });
        server.post("/v1/features/order", &body)
    };
    for (request, named) in [
        (json!({}), "paid"),
        (json!({ "paid": [null] }), "paid"),
        (json!({ "paid": ["12"] }), "paid"),
        (json!({ "paid": [12], "wey": ["app"] }), "wey"),
    ] {
        let (status, refused) = ask(request.clone());
        assert_eq!(status, 400, "{request}: {refused}");
        assert!(refused.to_string().contains(named), "{request}: {refused}");
    }
    let (status, answer) = ask(json!({ "paid": [12] }));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(column(&answer, "order.paid"), [json!(12.0)]);
    assert_eq!(column(&answer, "order.way"), [json!("web")]);
}

#[test]
fn odf_07_guarded_divisions_agree_in_batches_alone_and_in_training() {
    let rows = [
        (Some(1), Some(1), 1),
        (Some(4), Some(0), 2),
        (Some(0), Some(0), 0),
        (Some(5), Some(2), 0),
        (None, Some(0), 1),
        (Some(3), None, 1),
    ];
    let source: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(id, (_, _, m))| format!("{id},2026-01-01T00:00:00Z,{m},1\n"))
        .collect();
    let project = expressions(&source.concat());
    let server = Server::start(&project);
    let ask = |ids: std::ops::Range<usize>| {
        let of = &rows[ids.clone()];
        let s: Vec<Option<i64>> = of.iter().map(|row| row.0).collect();
        let n: Vec<Option<i64>> = of.iter().map(|row| row.1).collect();
        let ids: Vec<usize> = ids.collect();
        let body = json!({ "entities": { "id": ids }, "request": { "s": s, "n": n } });
        server.ask("/v1/features/guarded", &body)
    };
    let together = ask(0..rows.len());
    let a = [1, 0, 0, 2, 0, 0].map(|value| json!(value));
    let b = [1, 0, 0, 0, 0, 0].map(|value| json!(value));
    let float_a = [1.0, 0.0, 0.0, 2.5, 0.0, 0.0].map(|value| json!(value));
    assert_eq!(column(&together, "guarded.a"), a);
    assert_eq!(column(&together, "guarded.b"), b);
    assert_eq!(column(&together, "guarded.float_a"), float_a);
    for id in 0..rows.len() {
        let alone = ask(id..id + 1);
        for feature in [
            "guarded.a",
            "guarded.b",
            "guarded.float_a",
            "guarded.unguarded",
        ] {
            let one = &column(&together, feature)[id];
            assert_eq!(
                column(&alone, feature),
                std::slice::from_ref(one),
                "{feature} of row {id}"
            );
        }
    }
    // A division by zero fails its own rows: 0, 3 divide, 4 and 5 have a null.
    assert_eq!(
        column(&together, "guarded.unguarded"),
        [
            json!(1),
            Value::Null,
            Value::Null,
            json!(2),
            Value::Null,
            Value::Null
        ]
    );

    let field = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
    let frame: String = rows
        .iter()
        .enumerate()
        .map(|(id, (s, n, _))| format!("{id},2026-02-01,{},{}\n", field(*s), field(*n)))
        .collect();
    let trained = project.train("guarded", &format!("id,as_of,s,n\n{frame}"));
    let told = |feature| -> Vec<Value> {
        let values = floats(&trained, feature).into_iter();
        values
            .map(|value| value.map_or(Value::Null, |value| json!(value)))
            .collect()
    };
    let as_floats = |values: Vec<Value>| -> Vec<Value> {
        let values = values.into_iter();
        values
            .map(|value| value.as_f64().map_or(Value::Null, |value| json!(value)))
            .collect()
    };
    for feature in [
        "guarded.a",
        "guarded.b",
        "guarded.float_a",
        "guarded.unguarded",
    ] {
        assert_eq!(
            told(feature),
            as_floats(column(&together, feature)),
            "{feature}"
        );
    }
}

const PAIRS: usize = 1_000;

#[test]
fn odf_08_a_request_time_expression_is_its_own_offline_twin() {
    let mut random = StdRng::seed_from_u64(4490);
    let source: Vec<String> = (0..20)
        .map(|id| {
            let mean: f64 = random.random_range(-50.0..50.0);
            format!("{id},2026-01-01T00:00:00Z,1,{mean}\n")
        })
        .collect();
    let project = expressions(&source.concat());
    let channels = [
        " Web ",
        "ÄPFEL",
        "İstanbul",
        "\u{3000}ＡＢ",
        "straße ",
        "Σίσυφος",
        "x\u{301}",
    ];
    // Around the hours that summer time skips and repeats in many zones, among others.
    let instants = [
        "2025-03-30T00:30:00Z",
        "2025-10-26T01:30:00Z",
        "2025-03-09T07:15:00Z",
        "1969-12-31T23:59:59Z",
    ];
    let mut ids = Vec::new();
    let (mut amounts, mut times, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        ids.push(random.random_range(0..25));
        let amount: f64 = random.random_range(-1e4..1e4);
        amounts.push(random.random_bool(0.9).then_some(amount));
        let time = match random.random_range(0..6) {
            0 => None,
            1 => {
                let hour = random.random_range(0..24);
                Some(format!("2026-01-15T{hour:02}:59:59.999999Z"))
            }
            known => Some(instants[known - 2].to_owned()),
        };
        times.push(time);
        let channel = channels[random.random_range(0..channels.len())];
        texts.push(random.random_bool(0.9).then(|| channel.to_owned()));
    }
    let server = Server::start(&project);
    let body = json!({
        "entities": { "id": ids },
        "request": { "amount": amounts, "ts": times, "channel": texts },
    });
    let answer = server.ask("/v1/features/twins", &body);

    let mut frame = "id,as_of,amount,ts,channel\n".to_owned();
    for row in 0..PAIRS {
        let amount = amounts[row]
            .map(|amount| amount.to_string())
            .unwrap_or_default();
        let time = times[row].clone().unwrap_or_default();
        let channel = texts[row]
            .as_ref()
            .map(|text| format!("\"{text}\""))
            .unwrap_or_default();
        frame.push_str(&format!(
            "{},2026-02-01,{amount},{time},{channel}\n",
            ids[row]
        ));
    }
    let trained = project.train("twins", &frame);
    let served = column(&answer, "twins.y");
    for (row, trained) in floats(&trained, "twins.y").into_iter().enumerate() {
        let served = served[row].as_f64();
        assert_eq!(
            served.map(f64::to_bits),
            trained.map(f64::to_bits),
            "row {row}"
        );
    }
    for feature in ["twins.night", "twins.s"] {
        let values = trained.column_by_name(feature).expect("a column");
        for (row, served) in column(&answer, feature).iter().enumerate() {
            let served = match served {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            assert_eq!(served, text(values, row), "{feature} of row {row}");
        }
    }
    let known = served.iter().filter(|value| !value.is_null()).count();
    assert!(
        (600..800).contains(&known),
        "{known} of {PAIRS} rows have a value"
    );
}
