//! Definition files that are being edited while what is applied goes on.

use serde_json::json;

use crate::harness::server::Server;
use crate::harness::{Project, finish, shop, stderr};

/// A project with two releases whose definition files have problems.
fn half_edited() -> Project {
    let project = shop();
    project.apply_and_run(&["2026-03-01", "2026-03-02"]);
    project.write("features/new.yaml", "views:\n  half: [edi");
    project
}

const NOTE: &str = "the definition files have problems (`nightfill check` shows them); version 1, which is applied, is used";

#[test]
fn verbs_that_read_no_files_work_from_what_is_applied() {
    let project = half_edited();
    let entity = ["--entity", "customer_id=1"];
    let features = [&["features", "--service", "spend_v1"][..], &entity].concat();
    for verb in [
        &["status"][..],
        &["release", "list"],
        &["release", "show"],
        &["model", "list"],
        &features,
        &[&features[..], &["--as-of", "2026-03-01"]].concat(),
        &["run", "--as-of", "2026-03-03"],
        &["release", "rollback"],
    ] {
        let output = finish(project.command(verb));
        let said = stderr(&output);
        assert!(output.status.success(), "{verb:?}: {said}");
        assert_eq!(said.matches(NOTE).count(), 1, "{verb:?}: {said}");
    }
    let said = project.fail(&[&["predict", "--model", "m"][..], &entity].concat());
    assert!(said.contains("declare no model `m`"), "{said}");
    let server = Server::start(&project);
    let body = json!({ "entities": { "customer_id": [1] } });
    assert_eq!(
        server.ask("/v1/features/spend_v1", &body)["release"],
        json!(2)
    );
    let status = project.json(&["status"]);
    assert_eq!(status["definitions"]["files_have_problems"], json!(true));
}

#[test]
fn verbs_that_read_the_files_show_their_problems() {
    let project = half_edited();
    for verb in ["check", "apply"] {
        let said = project.fail(&[verb]);
        assert!(said.contains("features/new.yaml:"), "{said}");
    }
}

#[test]
fn nothing_applied_is_still_said_where_files_have_problems() {
    let project = shop();
    project.write("features/new.yaml", "views: [");
    let said = project.fail(&["run"]);
    assert!(said.contains("none are applied yet"), "{said}");
    assert!(said.contains("run `nightfill apply` first"), "{said}");
}

#[test]
fn settings_with_problems_stop_every_verb() {
    let project = half_edited();
    project.write(
        "nightfill.yaml",
        "version: 1\nproject: test\nonline: memcached://x\n",
    );
    let said = project.fail(&["status"]);
    assert!(said.contains("nightfill.yaml:3:9"), "{said}");
}
