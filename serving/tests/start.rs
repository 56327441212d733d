//! A whole server over HTTP: starts without a release, answers once one is flipped by somebody else, ends.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use feature_defs::time::SystemClock;
use feature_defs::value::Value;
use serving::{Limits, ServerSettings, open_predictor, start};
use support::Project;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const YAML: &str = "
entities:
  customer:
    keys: { customer_id: int64 }
sources:
  purchases:
    path: purchases.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, total: float64 }
views:
  spend:
    entity: customer
    source: purchases
    ttl: none
    latest: [total]
services:
  spend_v1:
    features: [spend.total]
";

const BODY: &str = r#"{"entities": {"customer_id": [2, 7]}}"#;

async fn send(address: SocketAddr, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_server_without_a_release_becomes_ready_once_one_is_flipped() {
    let project = Project::new(YAML, None).await;
    let settings = ServerSettings {
        listen: ([127, 0, 0, 1], 0).into(),
        release_poll: Duration::from_millis(1),
        ..ServerSettings::default()
    };
    let components = project.components(Arc::new(SystemClock));
    let server = start(settings, components.clone()).await.unwrap();
    let address = server.address();
    let answer = send(address, "GET /readyz", "").await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let answer = send(address, "POST /v1/features/spend_v1", BODY).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");

    let value = |_: &str, _: usize, id: i64| Value::Float(id as f64 / 4.0);
    project.register(1, 5, value).await;
    project.flip(1).await;
    while !send(address, "GET /readyz", "")
        .await
        .starts_with("HTTP/1.1 200 ")
    {}
    let answer = send(address, "POST /v1/features/spend_v1", BODY).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("\r\nserver-timing: parse;dur="), "{head}");
    let over_http: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        over_http["results"][0]["features"]["spend.total"]["value"],
        0.5
    );
    assert_eq!(
        over_http["results"][1]["degraded"],
        serde_json::json!(["spend"])
    );

    let predictor = open_predictor(&components, Limits::default())
        .await
        .unwrap();
    let mut out = Vec::new();
    let answered = predictor
        .features("spend_v1", BODY.as_bytes(), &mut out)
        .await
        .unwrap();
    assert_eq!(answered.release.0, 1);
    server.shut_down().await;
    assert!(TcpStream::connect(address).await.is_err());
}
