//! A release flipped by another process reaches a running server.

use std::time::Duration;

use feature_defs::time::Stopwatch;
use serde_json::{Value, json};

use crate::harness::server::Server;
use crate::harness::shop;

fn release(server: &Server) -> Value {
    let body = json!({ "entities": { "customer_id": [1] } });
    server.ask("/v1/features/spend_v1", &body)["release"].clone()
}

/// How long it takes until `server` answers from `expected`.
fn time_until(server: &Server, expected: u64) -> Duration {
    let stopwatch = Stopwatch::start();
    while release(server) != json!(expected) {
        assert!(
            stopwatch.elapsed() < Duration::from_secs(5),
            "never served {expected}"
        );
    }
    stopwatch.elapsed()
}

#[test]
fn a_flip_by_another_process_is_served_within_a_second_without_a_restart() {
    let project = shop();
    project.apply_and_run(&["2026-03-01"]);
    let server = Server::start(&project);
    assert_eq!(release(&server), json!(1));

    project.run(&["run", "--as-of", "2026-03-02"]);
    let forward = time_until(&server, 2);
    project.run(&["release", "rollback"]);
    let back = time_until(&server, 1);
    project.run(&["release", "rollback", "--to", "2"]);
    let again = time_until(&server, 2);
    for took in [forward, back, again] {
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[test]
fn a_server_without_a_release_says_so_and_serves_the_first_one() {
    let project = shop();
    project.run(&["apply"]);
    let server = Server::start(&project);
    assert_eq!(server.get("/healthz").0, 200);
    assert_eq!(server.get("/readyz").0, 503);
    let body = json!({ "entities": { "customer_id": [1] } });
    assert_eq!(server.post("/v1/features/spend_v1", &body).0, 503);

    project.run(&["run", "--as-of", "2026-03-01"]);
    let stopwatch = Stopwatch::start();
    while server.get("/readyz").0 != 200 {
        assert!(stopwatch.elapsed() < Duration::from_secs(5), "never ready");
    }
    assert_eq!(release(&server), json!(1));
}

#[cfg(unix)]
#[test]
fn a_server_told_to_terminate_ends_well() {
    let project = shop();
    project.apply_and_run(&["2026-03-01"]);
    let server = Server::start(&project);
    let told = std::process::Command::new("kill")
        .arg(server.id().to_string())
        .status();
    assert!(told.expect("kill runs").success());
    assert!(server.wait(), "its exit code is not 0");
}
