//! Each answer comes from exactly one release, never from before it, and bundles bind by name (MOD-07).

use std::sync::Arc;

use feature_defs::model::Transform;
use feature_defs::value::Value;
use indexmap::IndexMap;
use serde_json::json;

use crate::predict::plan::{OpenBundle, ReleasePlan};
use crate::testing::fixture::{
    Digits, Fixture, as_of, customer, decimal, definitions, name, plan, put, release,
};

#[tokio::test]
async fn no_release_is_a_503_that_says_so() {
    let body = r#"{"entities": {"customer_id": [1]}}"#;
    let (status, answer) = Fixture::empty().post("/v1/predict/churn", body).await;
    assert_eq!(status.as_u16(), 503);
    assert_eq!(answer["error"]["code"], "no_release");
}

#[tokio::test]
async fn instants_before_the_release_are_refused() {
    let fixture = Fixture::served();
    for (as_of, status) in [
        ("1997-09-30T23:59:59.999999Z", 409),
        ("1997-10-01T00:00:00Z", 200),
        ("2050-01-01T00:00:00Z", 200),
        ("1997-10-01", 400),
    ] {
        let body = format!(r#"{{"entities": {{"customer_id": [1]}}, "as_of": "{as_of}"}}"#);
        let (found, answer) = fixture.post("/v1/predict/churn", &body).await;
        assert_eq!(found.as_u16(), status, "{answer}");
        if status == 409 {
            assert_eq!(answer["error"]["code"], "as_of_before_release");
            assert_eq!(answer["error"]["path"], "$.as_of");
        }
    }
}

#[tokio::test]
async fn a_clock_behind_the_release_looks_from_the_release() {
    let fixture = Fixture::served();
    fixture
        .clock
        .set(feature_defs::time::Instant::from_micros(0));
    let body = r#"{"entities": {"customer_id": [1]}}"#;
    let (_, answer) = fixture.post("/v1/predict/churn", body).await;
    assert_eq!(answer["as_of"], "1997-10-01T00:00:00Z");
}

#[tokio::test]
async fn unknown_models_and_services_suggest_what_there_is() {
    let fixture = Fixture::served();
    let (status, answer) = fixture.post("/v1/predict/chrun", "{}").await;
    assert_eq!(status.as_u16(), 404);
    let message = "unknown model `chrun` (did you mean `churn`?)";
    assert_eq!(answer["error"]["message"], message);
    let (status, answer) = fixture.post("/v1/features/zzz", "{}").await;
    assert_eq!(status.as_u16(), 404);
    let message = "unknown service `zzz` (there is: `churn_v1`, `everything`, `visits_v1`, `basket_v1`, `fits_v1`, `usual_v1`)";
    assert_eq!(answer["error"]["message"], message);
}

/// Reads while another task publishes releases one after another: all values of an answer carry its release's number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_during_flips_come_from_one_release_each() {
    const LAST: u64 = 60;
    let fixture = Arc::new(Fixture::served());
    for number in 1..=LAST {
        let value = i64::try_from(number).expect("small");
        for id in 0..4 {
            let values = [Value::Float(number as f64), Value::Int(value), Value::Null];
            put(
                &fixture.store,
                number,
                "spend",
                &customer(id),
                as_of(),
                &values,
            );
            let ltv = [decimal(i128::from(number) * 100)];
            put(
                &fixture.store,
                number,
                "worth",
                &customer(id),
                as_of(),
                &ltv,
            );
        }
    }
    let flipping = Arc::clone(&fixture);
    let flips = tokio::spawn(async move {
        for number in 2..=LAST {
            flipping.predictor.serve(Arc::new(plan(number)));
            tokio::task::yield_now().await;
        }
    });
    let mut seen = Vec::new();
    while seen.last() != Some(&LAST) {
        let body = r#"{"entities": {"customer_id": [0, 1, 2, 3]}, "explain": true}"#;
        let (_, answer) = fixture.post("/v1/predict/churn", body).await;
        let number = answer["release"].as_u64().expect("release");
        for result in answer["results"].as_array().expect("results") {
            assert_eq!(result["buys_again"], json!(number as f64 * 111.0));
            assert_eq!(result["features"]["spend.orders"]["value"], number);
        }
        seen.push(number);
        tokio::task::yield_now().await;
    }
    flips.await.expect("flips");
    assert!(seen.is_sorted());
}

#[test]
fn bundles_that_do_not_fit_their_service_are_refused_by_name() {
    let load = |inputs: &[&str], width: usize| {
        let definitions = definitions();
        let release = release(&definitions, 1);
        let bundle = OpenBundle {
            short: "0".to_owned(),
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            scorer: Arc::new(Digits(width)),
            transform: Transform::Identity,
        };
        ReleasePlan::new(
            definitions,
            release,
            IndexMap::from([(name("churn"), bundle)]),
        )
        .map_err(|error| error.to_string())
    };
    assert!(load(&["spend.orders", "worth.ltv", "spend.total"], 3).is_ok());
    let renamed = load(&["spend.orders", "worth.ltv2"], 2).expect_err("renamed");
    let message =
        "model `churn`: its bundle reads `worth.ltv2`, which service `churn_v1` does not have";
    assert_eq!(renamed, message);
    let wide = load(&["spend.orders"], 2).expect_err("width");
    assert_eq!(
        wide,
        "model `churn`: its bundle names 1 inputs and scores 2"
    );
}

#[test]
fn rows_of_another_definition_of_a_view_are_refused() {
    let definitions = definitions();
    let mut other = release(&definitions, 1);
    other.views[0].fingerprint = feature_defs::fingerprint::Fingerprint::of(["other"]);
    other.models.clear();
    let refused = ReleasePlan::new(definitions, other, IndexMap::new()).expect_err("other rows");
    let message = refused.to_string();
    assert!(
        message.contains("were computed by another definition"),
        "{message}"
    );
}

#[tokio::test]
async fn models_without_a_bundle_and_views_without_rows_are_not_served_and_say_why() {
    let definitions = definitions();
    let mut partial = release(&definitions, 1);
    partial.views.retain(|view| view.view.as_str() != "visits");
    partial.models.clear();
    let plan = ReleasePlan::new(definitions, partial, IndexMap::new()).expect("plan");
    let fixture = Fixture::empty();
    fixture.predictor.serve(Arc::new(plan));
    let (status, answer) = fixture.post("/v1/predict/churn", "{}").await;
    assert_eq!(status.as_u16(), 404);
    let message = "release 1 has no bundle of model `churn`: it was published before one was imported; `nightfill run` publishes one that has it";
    assert_eq!(answer["error"]["message"], message);
    let (status, answer) = fixture.post("/v1/features/visits_v1", "{}").await;
    assert_eq!(status.as_u16(), 404);
    let message = "release 1 has no rows of view `visits`, which service `visits_v1` reads";
    assert_eq!(answer["error"]["message"], message);
    let body = r#"{"entities": {"customer_id": [1]}}"#;
    let (status, _) = fixture.post("/v1/features/churn_v1", body).await;
    assert_eq!(status.as_u16(), 200);
}
