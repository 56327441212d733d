use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::app::App;
use crate::release_watch::Failure;
use crate::testing::fixture::Fixture;

/// A server over the fixture's predictor, on a free port.
async fn serving(fixture: &Fixture) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
    let address = listener.local_addr().expect("address");
    let settings = fixture.settings.clone();
    let failure = Arc::new(Failure::default());
    let app = App::new(
        Arc::clone(&fixture.predictor),
        failure,
        settings.concurrent_requests,
        settings.request_deadline,
    );
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    tasks.spawn(accept(listener, app.router(), settings, stopped));
    Server {
        address,
        predictor: Arc::clone(&fixture.predictor),
        stop,
        tasks,
    }
}

const BODY: &str = r#"{"entities": {"customer_id": [1]}}"#;

fn head(length: usize) -> String {
    format!("POST /v1/predict/churn HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n")
}

/// Reads until the server ends the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.expect("read");
    String::from_utf8(text).expect("utf-8")
}

#[tokio::test]
async fn requests_in_flight_end_and_new_connections_are_refused_once_the_server_stops() {
    let fixture = Fixture::served();
    let server = serving(&fixture).await;
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.expect("connect");
    let half = format!("{}{}", head(BODY.len()), &BODY[..10]);
    stream.write_all(half.as_bytes()).await.expect("write");
    // The request is in flight once it is counted.
    while !metrics(&fixture).contains("nightfill_requests_in_flight 1\n") {
        tokio::task::yield_now().await;
    }
    let ending = tokio::spawn(server.shut_down());
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!ending.is_finished());
    stream
        .write_all(&BODY.as_bytes()[10..])
        .await
        .expect("write");
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    ending.await.expect("ended");
}

fn metrics(fixture: &Fixture) -> String {
    let text = fixture
        .predictor
        .metrics()
        .text(crate::testing::fixture::as_of());
    String::from_utf8(text.expect("metrics")).expect("utf-8")
}

#[tokio::test]
async fn bodies_that_do_not_arrive_are_a_408_and_the_connection_ends() {
    let mut fixture = Fixture::served();
    fixture.settings.request_deadline = Duration::from_millis(20);
    let server = serving(&fixture).await;
    let mut stream = TcpStream::connect(server.address()).await.expect("connect");
    stream.write_all(head(100).as_bytes()).await.expect("write");
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.ends_with(
        r#"{"error":{"code":"slow_body","message":"the body did not arrive within 20 ms","path":null}}"#
    ), "{answer}");
    server.shut_down().await;
}

#[tokio::test]
async fn connections_without_a_request_end_after_the_header_timeout() {
    let mut fixture = Fixture::served();
    fixture.settings.header_timeout = Duration::from_millis(20);
    let server = serving(&fixture).await;
    let mut stream = TcpStream::connect(server.address()).await.expect("connect");
    stream.write_all(b"POST /v1/pre").await.expect("write");
    rest(&mut stream).await;
    server.shut_down().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_though_the_caller_still_sends() {
    let fixture = Fixture::served();
    let server = serving(&fixture).await;
    let mut stream = TcpStream::connect(server.address()).await.expect("connect");
    let length = 200 << 10;
    stream
        .write_all(head(length).as_bytes())
        .await
        .expect("write");
    stream.write_all(&vec![b' '; length]).await.expect("write");
    let mut start = [0; 20];
    stream.read_exact(&mut start).await.expect("read");
    assert!(start.starts_with(b"HTTP/1.1 413 "), "{start:?}");
    drop(stream);
    server.shut_down().await;
}

#[tokio::test]
async fn one_connection_answers_many_requests_in_order() {
    let fixture = Fixture::served();
    let server = serving(&fixture).await;
    let mut stream = TcpStream::connect(server.address()).await.expect("connect");
    let one = format!("{}{BODY}", head(BODY.len()));
    let close = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let all = format!("{one}{one}{one}{close}");
    stream.write_all(all.as_bytes()).await.expect("write");
    let answers = rest(&mut stream).await;
    assert_eq!(answers.matches("\"model\":\"churn\"").count(), 3);
    assert!(answers.ends_with(r#"{"healthy":true}"#), "{answers}");
    server.shut_down().await;
}
