//! The whole product on Redis and Valkey servers: what the embedded store answers, they answer.

use std::time::Duration;

use feature_defs::time::Stopwatch;
use serde_json::{Value, json};
use store::conformance::servers::{OwnRedis, redis_places};

use crate::harness::server::Server;
use crate::harness::{self, Project, shop};

const CUSTOMERS: u64 = 23_570;
const CUSTOMERS_A_REQUEST: u64 = 500;

/// The example after two nights, the second of which is gone back from and served again.
fn example(online: &str) -> Project {
    let project = Project::example();
    project.serve_from(online);
    project.run(&["apply"]);
    let model = harness::example().join("model/buys_again_90d.txt");
    let model = model.to_str().expect("UTF-8");
    project.run(&["model", "import", "buys_again_90d", model]);
    for as_of in ["1997-10-01", "1997-10-02"] {
        project.run(&["run", "--as-of", as_of]);
    }
    project
}

/// What is predicted for everybody, and for some who are not there.
fn predictions(server: &Server) -> Vec<Value> {
    let mut answers = Vec::new();
    let mut first = 1;
    while first <= CUSTOMERS {
        let customers: Vec<u64> = (first..first + CUSTOMERS_A_REQUEST).collect();
        let count = customers.len();
        let body = json!({
            "entities": { "customer_id": customers },
            "request": { "amount_cents": vec![2_597; count], "cds": vec![2; count] },
            "as_of": "1997-10-02T09:00:00Z",
            "explain": true,
        });
        let mut answer = server.ask("/v1/predict/buys_again_90d", &body);
        answer.as_object_mut().expect("an object").remove("timings");
        answers.push(answer);
        first += CUSTOMERS_A_REQUEST;
    }
    answers
}

#[test]
fn the_example_on_redis_answers_as_the_embedded_store_does_and_goes_back() {
    let places = redis_places();
    if places.is_empty() {
        return;
    }
    let embedded = example("embedded://.nightfill/online");
    let newest = predictions(&Server::start(&embedded));
    embedded.run(&["release", "rollback"]);
    let earlier = predictions(&Server::start(&embedded));
    assert_ne!(newest, earlier);
    for online in places {
        let project = example(&online);
        let server = Server::start(&project);
        assert_eq!(predictions(&server), newest, "{online}");
        drop(server);
        project.run(&["release", "rollback"]);
        assert_eq!(predictions(&Server::start(&project)), earlier, "{online}");
        let back = |project: &Project| {
            let status = project.json(&["status"]);
            (
                status["served"]["number"].clone(),
                status["rolled_back"].clone(),
            )
        };
        assert_eq!(back(&project), (json!(1), json!([2])), "{online}");
        assert_eq!(back(&embedded), back(&project));
    }
}

fn release(server: &Server) -> Value {
    let body = json!({ "entities": { "customer_id": [1] } });
    server.ask("/v1/features/spend_v1", &body)["release"].clone()
}

#[test]
fn a_flip_on_redis_is_served_within_a_second_without_a_restart() {
    for online in redis_places() {
        let project = shop();
        project.serve_from(&online);
        project.apply_and_run(&["2026-03-01"]);
        let server = Server::start(&project);
        assert_eq!(release(&server), json!(1));
        for (arguments, expected) in [
            (&["run", "--as-of", "2026-03-02"] as &[&str], 2),
            (&["release", "rollback"], 1),
            (&["release", "rollback", "--to", "2"], 2),
        ] {
            project.run(arguments);
            let stopwatch = Stopwatch::start();
            while release(&server) != json!(expected) {
                let took = stopwatch.elapsed();
                assert!(took < Duration::from_secs(1), "{online}: {arguments:?}");
            }
        }
    }
}

/// Of seven releases, of which an early one is served again.
#[test]
fn old_releases_are_dropped_and_what_is_served_stays() {
    let embedded = "embedded://.nightfill/online".to_owned();
    for online in std::iter::once(embedded).chain(redis_places()) {
        let project = shop();
        project.serve_from(&online);
        let nights = [
            "02-20", "02-26", "02-28", "03-01", "03-02", "03-03", "03-04",
        ];
        let nights = nights.map(|day| format!("2026-{day}"));
        project.apply_and_run(&nights.each_ref().map(String::as_str));
        project.run(&["release", "rollback", "--to", "2"]);
        let server = Server::start(&project);
        let body =
            json!({ "entities": { "customer_id": [1, 2, 3, 4] }, "as_of": "2026-03-05T00:00:00Z" });
        let answer = |server: &Server| {
            let mut answer = server.ask("/v1/features/spend_v1", &body);
            answer.as_object_mut().expect("an object").remove("timings");
            answer
        };
        let before = answer(&server);
        let dropped = project.json(&["release", "drop", "--keep", "3"]);
        assert_eq!(dropped["dropped"], json!([1, 3, 4]), "{online}");
        let left = project.json(&["release", "list"]);
        let left = left["releases"].as_array().expect("a list").iter();
        let left: Vec<&Value> = left.map(|release| &release["number"]).collect();
        assert_eq!(left, [7, 6, 5, 2], "{online}");
        assert_eq!(answer(&server), before, "{online}");
        let again = project.run(&["release", "drop", "--keep", "3"]);
        assert_eq!(again, "nothing to drop\n", "{online}");
        project.run(&["release", "rollback", "--to", "6"]);
        let fresh = Server::start(&project);
        assert_eq!(answer(&fresh)["release"], 6, "{online}");
    }
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_and_no_password_is_shown() {
    let project = shop();
    project.serve_from("redis://night@127.0.0.1:1/0");
    project.run(&["apply"]);
    let mut command = project.command(&["run", "--as-of", "2026-03-01"]);
    command.env("NIGHTFILL_ONLINE_PASSWORD", "hunter2");
    let output = harness::finish(command);
    assert_eq!(output.status.code(), Some(1));
    let said = harness::stderr(&output);
    assert!(
        said.contains("the online store's server cannot be reached"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_server_is_spoken_to_by_tls_when_its_authority_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((_server, port)) = OwnRedis::start_with_tls(folder.path()) else {
        return;
    };
    let project = shop();
    project.serve_from(&format!("rediss://localhost:{port}/0"));
    project.run(&["apply"]);
    let said = project.fail(&["run", "--as-of", "2026-03-01"]);
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(said.contains("certificate"), "{said}");

    let trusting = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("SSL_CERT_FILE", folder.path().join("ca.crt"));
        let output = harness::finish(command);
        assert!(output.status.success(), "{}", harness::stderr(&output));
        harness::stdout(&output)
    };
    trusting(&["run", "--as-of", "2026-03-01"]);
    let status = trusting(&["status", "--format", "json"]);
    let status: Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["served"]["number"], 1);
}
