//! Keys: bound by name, in the order of the definition, typed, and no value of them is special (KEY-03, KEY-05, KEY-06).

use feature_defs::value::Value;
use serde_json::{Value as Json, json};

use crate::testing::fixture::{Fixture, as_of, customer, visit};

async fn counts(fixture: &Fixture, entities: &str) -> Json {
    let body = format!(r#"{{"entities": {entities}}}"#);
    let (status, answer) = fixture.post("/v1/features/visits_v1", &body).await;
    assert_eq!(status.as_u16(), 200, "{answer}");
    let results = answer["results"].as_array().expect("results");
    let values = results.iter().map(|result| {
        let count = &result["features"]["visits.count"];
        match count["state"].as_str() {
            Some("present") => count["value"].clone(),
            _ => count["state"].clone(),
        }
    });
    values.collect()
}

fn visits(rows: &[(&str, &str, i64)]) -> Fixture {
    let fixture = Fixture::served();
    for (user, merchant, count) in rows {
        let key = visit(user, merchant);
        fixture.put("visits", &key, as_of(), &[Value::Int(*count)]);
    }
    fixture
}

#[tokio::test]
async fn order_of_fields_and_extra_columns_do_not_change_the_key() {
    let fixture = visits(&[("u", "m", 1), ("m", "u", 2)]);
    for entities in [
        r#"{"user": ["u"], "merchant": ["m"]}"#,
        r#"{"merchant": ["m"], "user": ["u"]}"#,
        r#"{"user_1": ["x"], "merchant": ["m"], "user": ["u"], "zone": [null]}"#,
    ] {
        assert_eq!(counts(&fixture, entities).await, json!([1]), "{entities}");
    }
}

#[tokio::test]
async fn every_part_of_a_composite_key_counts() {
    let rows = [("1", "10", 110), ("1", "20", 120), ("2", "10", 210)];
    let fixture = visits(&rows);
    let asked = r#"{"user": ["1", "1", "2", "2"], "merchant": ["20", "10", "10", "20"]}"#;
    let expected = json!([120, 110, 210, "missing"]);
    assert_eq!(counts(&fixture, asked).await, expected);
    let swapped = visits(&[("X", "Y", 1), ("Y", "X", 2), ("X", "X", 3)]);
    let asked = r#"{"user": ["X", "Y", "X"], "merchant": ["Y", "X", "X"]}"#;
    assert_eq!(counts(&swapped, asked).await, json!([1, 2, 3]));
}

#[tokio::test]
async fn zero_and_empty_and_text_that_looks_like_zero_are_keys() {
    let fixture = visits(&[("", "0", 1), ("-0", "", 2), ("0", "-0", 3)]);
    let asked = r#"{"user": ["", "-0", "0", ""], "merchant": ["0", "", "-0", ""]}"#;
    let expected = json!([1, 2, 3, "missing"]);
    assert_eq!(counts(&fixture, asked).await, expected);

    let values = [Value::Float(0.5), Value::Int(4), Value::Null];
    fixture.put("spend", &customer(0), as_of(), &values);
    let body = r#"{"entities": {"customer_id": [0, "0"]}}"#;
    let (_, answer) = fixture.post("/v1/features/everything", body).await;
    for result in [0, 1] {
        let total = &answer["results"][result]["features"]["spend.total"];
        assert_eq!(total["value"], 0.5, "{answer}");
    }
}

#[tokio::test]
async fn keys_of_another_type_are_refused_with_their_place() {
    let fixture = visits(&[]);
    let body = r#"{"entities": {"user": ["a", 7], "merchant": ["a", "b"]}}"#;
    let (status, answer) = fixture.post("/v1/features/visits_v1", body).await;
    assert_eq!(status.as_u16(), 400);
    assert_eq!(answer["error"]["path"], "$.entities.user[1]");
    for key in [
        "1.5",
        "false",
        "1e3",
        "\"01\"",
        "null",
        "9223372036854775808",
    ] {
        let body = format!(r#"{{"entities": {{"customer_id": [{key}]}}}}"#);
        let (status, answer) = fixture.post("/v1/predict/churn", &body).await;
        assert_eq!(status.as_u16(), 400, "{key}");
        assert_eq!(answer["error"]["path"], "$.entities.customer_id[0]");
    }
}
