use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};

use crate::testing::fixture::{Fixture, after, as_of, json as whole};

#[tokio::test]
async fn readiness_says_release_and_freshness_or_why_not() {
    let (status, answer) = Fixture::empty().get("/readyz").await;
    assert_eq!(status.as_u16(), 503);
    assert_eq!(answer["ready"], false);
    assert!(
        answer["failure"]
            .as_str()
            .is_some_and(|why| why.starts_with("no release"))
    );

    let fixture = Fixture::served();
    fixture.clock.set(after(as_of(), "2d"));
    let (status, answer) = fixture.get("/readyz").await;
    assert_eq!(status.as_u16(), 200);
    let view = |freshness: &str| json!({"as_of": "1997-10-01T00:00:00Z", "rows": 0, "freshness": freshness});
    let expected = json!({
        "ready": true, "release": 1, "as_of": "1997-10-01T00:00:00Z", "age_seconds": 172_800,
        "definitions_version": 1, "failure": null,
        "models": [
            {"model": "churn", "bundle": "churn@0123abcd", "service": "churn_v1"},
            {"model": "fits", "bundle": "fits@0123abcd", "service": "fits_v1"},
        ],
        "views": {"spend": view("fresh"), "worth": view("fresh"), "visits": view("expired")},
    });
    assert_eq!(answer, expected);
    assert_eq!(
        Fixture::empty().get("/healthz").await.1,
        json!({"healthy": true})
    );
}

#[tokio::test]
async fn unknown_paths_and_methods_are_json_errors() {
    let fixture = Fixture::served();
    let (status, answer) = fixture.post("/v1/predikt/churn", "{}").await;
    assert_eq!(status.as_u16(), 404);
    assert_eq!(answer["error"]["code"], "unknown_path");
    for path in ["/v1/predict/%ff", "/v1/features/%ff"] {
        let (status, answer) = fixture.post(path, "{}").await;
        assert_eq!(status.as_u16(), 404);
        assert_eq!(answer["error"]["code"], "unknown_path");
    }
    let (status, answer) = fixture.get("/v1/predict/churn").await;
    assert_eq!(status.as_u16(), 405);
    assert_eq!(answer["error"]["message"], "this path takes POST, not GET");
}

#[tokio::test]
async fn bodies_are_taken_up_to_the_limit_and_refused_above() {
    let fixture = Fixture::served();
    let limit = 64 << 10;
    let body = |length: usize| {
        let start = r#"{"entities": {"customer_id": [1]}"#;
        format!("{start}{}}}", " ".repeat(length - start.len() - 1))
    };
    for (length, status) in [
        (limit - 1, 200),
        (limit, 200),
        (limit + 1, 413),
        (limit * 10, 413),
    ] {
        let (found, answer) = fixture.post("/v1/predict/churn", &body(length)).await;
        assert_eq!(found.as_u16(), status, "{length}: {answer}");
        if status == 413 {
            assert_eq!(
                answer["error"]["message"],
                "the body has more than 65536 bytes"
            );
        }
    }
}

#[tokio::test]
async fn a_full_server_refuses_at_once_and_says_when_to_retry() {
    let mut fixture = Fixture::served();
    fixture.settings.concurrent_requests = 0;
    let body = Body::from(r#"{"entities": {"customer_id": [1]}}"#);
    let request = Request::post("/v1/predict/churn")
        .body(body)
        .expect("request");
    let response = fixture.respond(request).await;
    assert_eq!(response.headers()["retry-after"], "1");
    let (status, answer) = whole(response).await;
    assert_eq!(status.as_u16(), 503);
    assert_eq!(answer["error"]["code"], "overloaded");
}

#[tokio::test]
async fn answers_carry_server_timing_and_metrics_are_text() {
    let fixture = Fixture::served();
    let body = Body::from(r#"{"entities": {"customer_id": [1]}}"#);
    let request = Request::post("/v1/predict/churn")
        .body(body)
        .expect("request");
    let response = fixture.respond(request).await;
    let timing = response.headers()["server-timing"].to_str().expect("text");
    let steps: Vec<&str> = timing
        .split(", ")
        .filter_map(|step| step.split(";dur=").next())
        .collect();
    assert_eq!(
        steps,
        ["parse", "fetch", "request", "assemble", "score", "respond"]
    );
    let request = Request::get("/metrics")
        .body(Body::empty())
        .expect("request");
    let response = fixture.respond(request).await;
    let text = response
        .into_body()
        .collect()
        .await
        .expect("body")
        .to_bytes();
    let text = String::from_utf8(text.to_vec()).expect("utf-8");
    assert!(
        text.contains("nightfill_release_age_seconds 7200\n"),
        "{text}"
    );
    assert!(
        text.contains("nightfill_step_duration_seconds_count{step=\"score\"} 1\n"),
        "{text}"
    );
}

/// Every `$ref` in the document leads somewhere, and each served model and service has its path and schemas.
#[tokio::test]
async fn openapi_describes_the_served_release() {
    let (_, empty) = Fixture::empty().get("/openapi.json").await;
    assert!(empty["paths"]["/v1/predict/churn"].is_null());
    let (_, document) = Fixture::served().get("/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let post = &document["paths"]["/v1/predict/churn"]["post"];
    assert_eq!(post["summary"], "Tells `buys_again`");
    let request = &post["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(request["required"], json!(["entities"]));
    assert_eq!(
        request["properties"]["entities"]["required"],
        json!(["customer_id"])
    );
    let answer = &post["responses"]["200"]["content"]["application/json"]["schema"];
    let result = &answer["properties"]["results"]["items"];
    assert_eq!(result["required"], json!(["buys_again", "degraded"]));
    assert!(result["properties"]["features"]["properties"]["worth.ltv"].is_object());
    assert!(document["paths"]["/v1/features/visits_v1"]["post"].is_object());
    let basket = &document["paths"]["/v1/features/basket_v1"]["post"]["requestBody"];
    let basket = &basket["content"]["application/json"]["schema"];
    assert_eq!(basket["required"], json!(["entities", "request"]));
    assert_eq!(
        basket["properties"]["request"]["required"],
        json!(["amount"])
    );
    for reference in references(&document) {
        let pointer = reference.strip_prefix('#').expect("within the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn references(json: &Json) -> Vec<String> {
    match json {
        Json::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value.as_str() {
                Some(text) if name == "$ref" => vec![text.to_owned()],
                _ => references(value),
            })
            .collect(),
        Json::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
