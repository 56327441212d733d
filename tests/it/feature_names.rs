//! What a service calls its features, and what it is called itself: the same in answers, training sets and documents.

use serde_json::json;

use crate::harness::server::Server;
use crate::harness::{Project, parquet, shop};

const SERVICES: &str = "\
services:
  short_v1:
    full_names: false
    aliases: [short, short_latest]
    features:
      - spend.amount_lifetime
      - largest.amount: { as: dearest, default: 0 }
";

fn project() -> Project {
    let project = shop();
    project.write("features/short.yaml", SERVICES);
    project.apply_and_run(&["2026-03-01"]);
    project
}

#[test]
fn an_answer_calls_features_as_the_service_does_under_each_of_its_names() {
    let project = project();
    let server = Server::start(&project);
    let body = json!({"entities": {"customer_id": [1, 404]}});
    let expected = project.json(&[
        "features",
        "--service",
        "spend_v1",
        "--entity",
        "customer_id=1",
    ]);
    let expected = &expected["results"][0]["features"];
    for name in ["short_v1", "short", "short_latest"] {
        let answer = server.ask(&format!("/v1/features/{name}"), &body);
        assert_eq!(answer["service"], "short_v1");
        let known = &answer["results"][0]["features"];
        assert_eq!(known.as_object().expect("features").len(), 2);
        assert_eq!(
            known["amount_lifetime"]["value"],
            expected["spend.amount_lifetime"]["value"]
        );
        assert_eq!(
            known["dearest"]["value"],
            expected["largest.amount"]["value"]
        );
        let unknown = &answer["results"][1]["features"];
        assert_eq!(unknown["dearest"]["defaulted"], true);
        assert_eq!(unknown["amount_lifetime"]["state"], "missing");
    }
    let (status, document) = server.get("/openapi.json");
    assert_eq!(status, 200);
    assert!(document.contains("/v1/features/short_latest"));
    let by_command = project.json(&[
        "features",
        "--service",
        "short",
        "--entity",
        "customer_id=1",
    ]);
    assert_eq!(by_command["service"], "short_v1");
}

#[test]
fn a_training_set_calls_its_columns_as_the_service_does() {
    let project = project();
    project.write(
        "frame.csv",
        "customer_id,as_of\n1,2026-03-01\n404,2026-03-01\n",
    );
    let frame = project.root().join("frame.csv");
    let out = project.root().join("out.parquet");
    let (frame, out) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    project.run(&crate::harness::training_set("short", frame, out));
    let rows = parquet::read(out.as_ref());
    let schema = rows.schema();
    let names: Vec<&str> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(
        names,
        ["customer_id", "as_of", "amount_lifetime", "dearest"]
    );
}
