//! An answer has the length and order of its request, repeats included (rule 8; SRV-02, SRV-15).

use std::fmt::Write;

use feature_defs::value::Value;
use serde_json::Value as Json;

use crate::testing::fixture::{Fixture, as_of, customer};

/// Customers 0 to 259 with their number as `spend.orders`, 1,000 and up without rows.
fn numbered() -> Fixture {
    let fixture = Fixture::served();
    for id in 0..260 {
        let values = [Value::Null, Value::Int(id), Value::Null];
        fixture.put("spend", &customer(id), as_of(), &values);
    }
    fixture
}

async fn ask(fixture: &Fixture, ids: &[i64]) -> String {
    let list: Vec<String> = ids.iter().map(i64::to_string).collect();
    let body = format!(r#"{{"entities": {{"customer_id": [{}]}}}}"#, list.join(","));
    let mut out = Vec::new();
    let answered = fixture
        .predictor
        .predict("churn", body.as_bytes(), &mut out);
    answered.await.expect("answer");
    String::from_utf8(out).expect("utf-8")
}

/// The results that the answer must hold: the score is 10 orders, -100 for the total, which is null, and 7 for the
/// default of `worth.ltv`, which is why `worth` degrades nothing; a missing row counts -1 orders.
fn expected(ids: &[i64]) -> String {
    let mut results = String::from("\"results\":[");
    for (position, id) in ids.iter().enumerate() {
        let separator = if position > 0 { "," } else { "" };
        let (score, degraded, total) = if *id < 1_000 {
            (id * 10 - 93, "", r#""spend.total":"null""#)
        } else {
            let missing = r#""spend.total":"missing","spend.orders":"missing""#;
            (-103, "\"spend\"", missing)
        };
        write!(
            results,
            r#"{separator}{{"buys_again":{score}.0,"degraded":[{degraded}],"states":{{{total},"worth.ltv":"missing"}},"defaulted":["worth.ltv"]}}"#
        )
        .expect("to a string");
    }
    results + "],"
}

#[tokio::test]
async fn missing_rows_at_any_position_shift_nothing() {
    let fixture = numbered();
    for size in [99, 100, 101, 200, 201, 250] {
        let all: Vec<i64> = (0..size).collect();
        for missing in 0..all.len() {
            let mut ids = all.clone();
            ids[missing] += 1_000;
            let answer = ask(&fixture, &ids).await;
            assert!(
                answer.contains(&expected(&ids)),
                "{size}, {missing}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn all_missing_all_repeated_and_none_keep_their_length() {
    let fixture = numbered();
    let absent: Vec<i64> = (1_000..1_250).collect();
    for ids in [absent.as_slice(), &[7, 3, 7, 1_000, 3, 7], &[]] {
        let answer = ask(&fixture, ids).await;
        assert!(answer.contains(&expected(ids)), "{answer}");
    }
}

#[tokio::test]
async fn all_rows_of_all_views_are_one_read() {
    let fixture = numbered();
    let ids: Vec<i64> = (0..250).collect();
    ask(&fixture, &ids).await;
    assert_eq!(fixture.store.reads(), 1);
}

#[tokio::test]
async fn more_entities_than_the_limit_are_refused() {
    let fixture = numbered();
    let ids = vec!["1"; 301].join(",");
    let body = format!(r#"{{"entities": {{"customer_id": [{ids}]}}}}"#);
    let (status, answer) = fixture.post("/v1/predict/churn", &body).await;
    assert_eq!(status.as_u16(), 413);
    assert_eq!(answer["error"]["code"], "too_large");
    assert_eq!(
        answer["error"]["path"],
        Json::from("$.entities.customer_id")
    );
}
