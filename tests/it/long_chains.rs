//! Long chains of operators: what `check` accepts never brings a later step down, and what it refuses has a place.

use serde_json::json;

use crate::harness::server::Server;
use crate::harness::{Project, shop};

/// The shop with a SQL view and a request view of this many operators each.
fn with_chains(operators: usize) -> Project {
    let project = shop();
    let sql = vec!["amount > 0"; operators.div_ceil(2)].join(" OR ");
    let request = format!("x{}", " + 1".repeat(operators));
    project.write(
        "features/long.yaml",
        format!(
            "views:
  long:
    entity: customer
    ttl: none
    sql_file: long.sql
    features: {{ n: int64 }}
request_views:
  sums:
    inputs: {{ x: int64 }}
    features:
      s: {request}
services:
  long_v1: {{ features: [long.n, sums.s] }}
"
        ),
    );
    let text = format!(
        "SELECT customer_id, count(*) AS n\nFROM purchases\nWHERE {sql}\nGROUP BY customer_id\n"
    );
    project.write("features/long.sql", text);
    project
}

#[test]
fn chains_up_to_the_limit_run_and_serve() {
    let project = with_chains(300);
    project.apply_and_run(&["2026-03-01"]);
    let server = Server::start(&project);
    let body = json!({ "entities": { "customer_id": [1] }, "request": { "x": [1] } });
    let answer = server.ask("/v1/features/long_v1", &body);
    let features = &answer["results"][0]["features"];
    assert_eq!(features["long.n"]["value"], json!(2));
    assert_eq!(features["sums.s"]["value"], json!(301));
}

#[test]
fn longer_chains_are_refused_at_their_place() {
    let project = with_chains(2_500);
    let refused = project.fail(&["check"]);
    assert!(refused.contains("features/long.sql:3:"), "{refused}");
    assert!(refused.contains("features/long.yaml:11:"), "{refused}");
    assert_eq!(
        refused
            .matches("more than 300 operators in one chain")
            .count(),
        2
    );
}
