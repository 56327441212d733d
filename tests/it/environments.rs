//! Environments: the same definitions, state of their own.

use serde_json::Value;

use crate::harness::{self, Project, shop};

fn project() -> Project {
    let project = shop();
    project.write(
        "nightfill.yaml",
        "version: 1\nproject: test\nenvironments:\n  dev: {}\n  prod: { online: embedded://served }\n",
    );
    project
}

#[test]
fn what_is_done_in_one_environment_is_not_seen_in_another() {
    let project = project();
    project.run(&["apply", "--env", "dev"]);
    project.run(&["run", "--as-of", "2026-03-01", "--env", "dev"]);
    let in_dev = project.json(&["status", "--env", "dev"]);
    assert_eq!(in_dev["environment"], "dev");
    assert_eq!(in_dev["served"]["number"], 1);
    for other in [&["status", "--env", "prod"][..], &["status"]] {
        let status = project.json(other);
        assert_eq!(status["definitions"]["version"], Value::Null);
        assert_eq!(status["served"], Value::Null);
    }
    assert!(project.root().join(".nightfill/dev/registry.db").is_file());

    project.run(&["apply", "--env", "prod"]);
    project.run(&["run", "--as-of", "2026-02-26", "--env", "prod"]);
    assert!(project.root().join("served").is_dir());
    let versions = |environment| project.json(&["log", "--env", environment]);
    assert_eq!(
        versions("dev")[0]["fingerprint"],
        versions("prod")[0]["fingerprint"]
    );
    let dev = project.json(&["status", "--env", "dev"]);
    assert_eq!(dev["served"], in_dev["served"]);
}

#[test]
fn the_environment_may_come_from_a_variable_and_must_be_declared() {
    let project = project();
    let mut command = project.command(&["status", "--format", "json"]);
    command.env("NIGHTFILL_ENV", "prod");
    let output = harness::finish(command);
    let status: Value = serde_json::from_str(&harness::stdout(&output)).expect("JSON");
    assert_eq!(status["environment"], "prod");
    assert_eq!(
        project.fail(&["status", "--env", "prd"]),
        "error: there is no environment `prd`: did you mean `prod`? accepted: dev, prod\n"
    );
    assert_eq!(
        shop().fail(&["status", "--env", "prod"]),
        "error: there is no environment `prod`: `nightfill.yaml` declares none: add `environments: { prod: {} }`\n"
    );
}
