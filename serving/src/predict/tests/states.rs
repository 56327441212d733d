//! The five states (rule 6), TTL at the request's instant (rule 5), defaults, and what a score may be made of.

use axum::http::StatusCode;
use feature_defs::value::Value;
use serde_json::{Value as Json, json};

use crate::testing::fixture::{Fixture, after, as_of, customer, decimal};

/// Customers: 1 has all values, 2 nulls, 3 no row, 4 a `spend` row older than its TTL, 5 is refused by the store.
fn five_customers() -> Fixture {
    let fixture = Fixture::served();
    let shop = |name: &str| Value::String(name.to_owned());
    let spend = [Value::Float(1.0), Value::Int(2), shop("a \"quoted\" shop")];
    fixture.put("spend", &customer(1), as_of(), &spend);
    fixture.put("worth", &customer(1), as_of(), &[decimal(300)]);
    let nulls = [Value::Null, Value::Null, Value::Null];
    fixture.put("spend", &customer(2), as_of(), &nulls);
    fixture.put("worth", &customer(2), as_of(), &[Value::Null]);
    let old = after(as_of(), "0s")
        .saturating_sub(feature_defs::time::TimeSpan::parse("4d").expect("span"));
    let spend = [Value::Float(8.0), Value::Int(9), shop("old")];
    fixture.put("spend", &customer(4), old, &spend);
    fixture.put("worth", &customer(4), old, &[decimal(400)]);
    fixture.put("worth", &customer(5), as_of(), &[decimal(500)]);
    fixture.store.refuse(customer(5).as_bytes());
    fixture
}

const FIVE: &str = r#"{"entities": {"customer_id": [1, 2, 3, 4, 5]}}"#;

fn features(total: Json, orders: Json, shop: Json, ltv: Json) -> Json {
    json!({"spend.total": total, "spend.orders": orders, "spend.shop": shop, "worth.ltv": ltv})
}

#[tokio::test]
async fn each_state_is_told_apart_and_only_declared_defaults_fill_in() {
    let (status, answer) = five_customers().post("/v1/features/everything", FIVE).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["service"], "everything");
    assert_eq!(answer["release"], 1);
    assert_eq!(answer["as_of"], "1997-10-01T02:00:00Z");
    let present = |value: Json| json!({"value": value, "state": "present", "age": "2h"});
    let null = json!({"value": null, "state": "null", "age": "2h"});
    let missing = json!({"value": null, "state": "missing"});
    let expired = json!({"value": null, "state": "expired", "age": "4d2h"});
    let unavailable = json!({"value": null, "state": "unavailable"});
    let expected = json!([
        {"degraded": [], "features": features(
            present(json!(1.0)), present(json!(2)), present(json!("a \"quoted\" shop")), present(json!("3.00")),
        )},
        {"degraded": [], "features": features(null.clone(), null.clone(), null.clone(), null)},
        {"degraded": ["spend", "worth"], "features": features(
            missing.clone(), json!({"value": 0, "state": "missing", "defaulted": true}), missing.clone(), missing,
        )},
        {"degraded": ["spend"], "features": features(
            expired.clone(), json!({"value": 0, "state": "expired", "age": "4d2h", "defaulted": true}), expired,
            json!({"value": "4.00", "state": "present", "age": "4d2h"}),
        )},
        {"degraded": ["spend", "worth"], "features": features(
            unavailable.clone(), unavailable.clone(), unavailable.clone(), unavailable,
        )},
    ]);
    assert_eq!(answer["results"], expected);
}

#[tokio::test]
async fn scores_use_defaults_and_missing_values_and_never_an_unavailable_one() {
    let fixture = five_customers();
    let (status, answer) = fixture.post("/v1/predict/churn", FIVE).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["model"], "churn");
    assert_eq!(answer["bundle"], "churn@0123abcd");
    // The scorer adds ltv + 10 orders + 100 total; a missing value counts -1; the default of `worth.ltv` is 7.00.
    let expected = json!([
        {"buys_again": 123.0, "degraded": [], "states": {}, "defaulted": []},
        {"buys_again": -111.0, "degraded": [],
         "states": {"spend.total": "null", "spend.orders": "null", "worth.ltv": "null"}, "defaulted": []},
        {"buys_again": -103.0, "degraded": ["spend"],
         "states": {"spend.total": "missing", "spend.orders": "missing", "worth.ltv": "missing"},
         "defaulted": ["worth.ltv"]},
        {"buys_again": -106.0, "degraded": ["spend"],
         "states": {"spend.total": "expired", "spend.orders": "expired"}, "defaulted": []},
        {"buys_again": null, "degraded": ["spend", "worth"],
         "states": {"spend.total": "unavailable", "spend.orders": "unavailable", "worth.ltv": "unavailable"},
         "defaulted": []},
    ]);
    assert_eq!(answer["results"], expected);
    let text = fixture.predictor.metrics().text(as_of()).expect("metrics");
    let text = String::from_utf8(text).expect("utf-8");
    for line in [
        "nightfill_feature_states_total{state=\"present\"} 4",
        "nightfill_feature_states_total{state=\"null\"} 3",
        "nightfill_feature_states_total{state=\"missing\"} 3",
        "nightfill_feature_states_total{state=\"expired\"} 2",
        "nightfill_feature_states_total{state=\"unavailable\"} 3",
        "nightfill_defaulted_values_total 1",
        "nightfill_unscored_results_total 1",
        "nightfill_requests_total{route=\"predict\",status=\"200\"} 1",
        "nightfill_release_number 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn ttl_is_measured_from_the_requests_instant_edge_included() {
    let fixture = five_customers();
    let ask = async |as_of: &str| {
        let body = format!(r#"{{"entities": {{"customer_id": [1]}}, "as_of": "{as_of}"}}"#);
        let (_, answer) = fixture.post("/v1/features/everything", &body).await;
        answer["results"][0]["features"]["spend.total"]["state"].clone()
    };
    assert_eq!(ask("1997-10-04T00:00:00Z").await, "present");
    assert_eq!(ask("1997-10-04T00:00:00.000001Z").await, "expired");
    fixture.clock.set(after(as_of(), "30d"));
    let (_, answer) = fixture.post("/v1/predict/churn", FIVE).await;
    assert_eq!(answer["results"][0]["degraded"], json!(["spend"]));
}

#[tokio::test]
async fn explain_shows_what_the_score_was_made_of() {
    let body = r#"{"entities": {"customer_id": [4]}, "explain": true}"#;
    let (_, answer) = five_customers().post("/v1/predict/churn", body).await;
    let expected = json!([{
        "buys_again": -106.0,
        "degraded": ["spend"],
        "features": {
            "spend.total": {"value": null, "state": "expired", "age": "4d2h"},
            "spend.orders": {"value": null, "state": "expired", "age": "4d2h"},
            "worth.ltv": {"value": "4.00", "state": "present", "age": "4d2h"},
        },
    }]);
    assert_eq!(answer["results"], expected);
    let steps = ["parse", "fetch", "request", "assemble", "score", "respond"];
    let timings = answer["timings"].as_object().expect("timings");
    assert_eq!(timings.keys().map(String::as_str).collect::<Vec<_>>(), {
        let mut sorted = steps;
        sorted.sort_unstable();
        sorted
    });
}

#[tokio::test]
async fn nan_and_infinities_are_valid_json_and_no_null() {
    let fixture = Fixture::served();
    let numbers = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        5e-324,
        f64::MAX,
    ];
    for (id, number) in (0..).zip(numbers) {
        let values = [Value::Float(number), Value::Int(0), Value::Null];
        fixture.put("spend", &customer(id), as_of(), &values);
        fixture.put("worth", &customer(id), as_of(), &[decimal(0)]);
    }
    let body = r#"{"entities": {"customer_id": [0, 1, 2, 3, 4, 5]}}"#;
    let (_, answer) = fixture.post("/v1/features/everything", body).await;
    let values: Vec<&Json> = answer["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| &result["features"]["spend.total"])
        .collect();
    assert!(
        values.iter().all(|value| value["state"] == "present"),
        "{answer}"
    );
    let values: Vec<String> = values
        .iter()
        .map(|value| value["value"].to_string())
        .collect();
    let expected = [
        "\"NaN\"",
        "\"Infinity\"",
        "\"-Infinity\"",
        "-0.0",
        "5e-324",
        "1.7976931348623157e+308",
    ];
    assert_eq!(values, expected);
    let (_, answer) = fixture.post("/v1/predict/churn", body).await;
    assert_eq!(answer["results"][1]["buys_again"], "Infinity");
    assert_eq!(answer["results"][2]["buys_again"], "-Infinity");
}

#[tokio::test]
async fn store_that_does_not_answer_is_a_503_without_its_secrets() {
    let fixture = five_customers();
    fixture.store.set_down(true);
    let (status, answer) = fixture.post("/v1/predict/churn", FIVE).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let expected = json!({"error": {
        "code": "store_unavailable", "message": "the online store did not answer", "path": null,
    }});
    assert_eq!(answer, expected);
}

/// The whole text of an answer, pinned; only the timings differ from time to time.
#[tokio::test]
async fn whole_answer_reads_as_documented() {
    let mut out = Vec::new();
    let body = br#"{"entities": {"customer_id": [1, 3]}, "explain": true}"#;
    let fixture = five_customers();
    let answered = fixture.predictor.predict("churn", body, &mut out).await;
    answered.expect("answer");
    let text = String::from_utf8(out).expect("utf-8");
    let (answer, timings) = text.split_once("\"timings\":").expect("timings");
    let timings: Json = serde_json::from_str(&timings[..timings.len() - 1]).expect("json");
    assert_eq!(timings.as_object().map(serde_json::Map::len), Some(6));
    insta::assert_snapshot!(answer.replace(",\"", ",\n\""));
}
