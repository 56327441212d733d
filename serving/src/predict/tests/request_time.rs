//! Request-time features: fields required, optional, defaulted (ODF-05); states of what they read; rows that fail alone
//! (ODF-07); what a model makes of them.

use feature_defs::value::Value;
use serde_json::{Value as Json, json};

use crate::testing::fixture::{Fixture, as_of, customer};

/// Customers: 1 with total 2.0 and 4 orders, 2 with nulls, 3 with no orders, 4 without a row, 5 refused by the store.
fn five_customers() -> Fixture {
    let fixture = Fixture::served();
    for (id, total, orders) in [
        (1, Value::Float(2.0), Value::Int(4)),
        (2, Value::Null, Value::Null),
        (3, Value::Float(0.0), Value::Int(0)),
    ] {
        let values = [total, orders, Value::Null];
        fixture.put("spend", &customer(id), as_of(), &values);
    }
    fixture.store.refuse(customer(5).as_bytes());
    fixture
}

async fn results(path: &str, request: &str) -> Json {
    let body =
        format!(r#"{{"entities": {{"customer_id": [1, 2, 3, 4, 5]}}, "request": {request}}}"#);
    let (status, answer) = five_customers().post(path, &body).await;
    assert_eq!(status.as_u16(), 200, "{answer}");
    answer["results"].clone()
}

const REQUEST: &str = r#"{"amount": [5, 5, 5, 5, 5], "units": [9, 9, 9, 9, null]}"#;
const FAILED: &str = "`basket.units_each` has no value";

#[tokio::test]
async fn request_features_read_fields_and_stored_rows_and_fail_row_by_row() {
    let results = results("/v1/features/basket_v1", REQUEST).await;
    let tell = |value: Json, state: &str| json!({"value": value, "state": state});
    let web = tell(json!("web"), "present");
    let expected = [
        (tell(json!(2.5), "present"), tell(json!(2), "present")),
        (tell(Json::Null, "null"), tell(Json::Null, "null")),
        (
            tell(json!("Infinity"), "present"),
            tell(Json::Null, "unavailable"),
        ),
        (tell(Json::Null, "null"), tell(Json::Null, "null")),
        (
            tell(Json::Null, "unavailable"),
            tell(Json::Null, "unavailable"),
        ),
    ];
    for (customer, (to_usual, units_each)) in expected.into_iter().enumerate() {
        let features = &results[customer]["features"];
        assert_eq!(features["basket.to_usual"], to_usual, "{customer}");
        assert_eq!(features["basket.units_each"], units_each, "{customer}");
        assert_eq!(features["basket.channel_seen"], web, "{customer}");
        let error = results[customer]["error"].as_str();
        assert_eq!(
            error.is_some_and(|e| e.starts_with(FAILED)),
            customer == 2,
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn rows_that_cannot_be_computed_have_no_score_and_others_are_as_they_were() {
    let results = results("/v1/predict/fits", REQUEST).await;
    let scores: Vec<&Json> = (0..5).map(|customer| &results[customer]["fit"]).collect();
    // The scorer adds orders + 10 units_each; a missing value counts -1.
    let expected = [
        json!(24.0),
        json!(-11.0),
        Json::Null,
        json!(-11.0),
        Json::Null,
    ];
    assert_eq!(scores, expected.iter().collect::<Vec<_>>());
    let error = results[2]["error"].as_str().expect("error");
    assert!(error.starts_with(FAILED), "{error}");
    assert_eq!(results[2]["states"]["basket.units_each"], "unavailable");
}

#[tokio::test]
async fn fields_left_out_null_mistyped_or_unknown_are_told_apart() {
    let fixture = five_customers();
    let ask = async |request: &str| {
        let body = format!(r#"{{"entities": {{"customer_id": [1]}}, "request": {request}}}"#);
        let (status, answer) = fixture.post("/v1/features/basket_v1", &body).await;
        (status.as_u16(), answer)
    };
    for (request, path, part) in [
        ("{}", "$.request.amount", "missing field `amount`"),
        (
            r#"{"amount": [null]}"#,
            "$.request.amount[0]",
            "null is not a value of `amount`",
        ),
        (r#"{"amount": ["12"]}"#, "$.request.amount[0]", "float64"),
        (
            r#"{"amount": [12], "chanel": ["app"]}"#,
            "$.request",
            "did you mean `channel`?",
        ),
    ] {
        let (status, answer) = ask(request).await;
        assert_eq!(
            (status, answer["error"]["path"].as_str()),
            (400, Some(path)),
            "{request}"
        );
        let message = answer["error"]["message"].as_str().expect("message");
        assert!(message.contains(part), "{message}");
    }
    let (status, answer) = ask(r#"{"amount": [12]}"#).await;
    assert_eq!(status, 200);
    let features = &answer["results"][0]["features"];
    assert_eq!(features["basket.channel_seen"]["value"], "web");
    assert_eq!(features["basket.to_usual"]["value"], 6.0);
}

#[tokio::test]
async fn a_feature_that_fails_and_is_not_asked_for_spoils_nothing() {
    let results = results("/v1/features/usual_v1", REQUEST).await;
    assert_eq!(
        results[2]["features"]["basket.to_usual"]["value"],
        "Infinity"
    );
    assert!(results[2]["error"].is_null(), "{results}");
}

#[tokio::test]
async fn a_request_of_nobody_is_answered_with_nothing() {
    let body = r#"{"entities": {"customer_id": []}, "request": {"amount": []}}"#;
    let (status, answer) = five_customers().post("/v1/predict/fits", body).await;
    assert_eq!(status.as_u16(), 200, "{answer}");
    assert_eq!(answer["results"], json!([]));
}
