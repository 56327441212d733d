//! `nightfill release`: the way back, and what it leaves behind.

use serde_json::json;

use crate::harness::{Project, finish, shop, stderr};

#[test]
fn a_release_that_was_fled_from_is_not_gone_back_to() {
    let project = shop();
    project.apply_and_run(&["2026-03-01", "2026-03-02"]);
    project.run(&["release", "rollback"]);
    assert_eq!(
        project.json(&["release", "list"])["rolled_back"],
        json!([2])
    );
    assert!(project.run(&["release", "list"]).contains("rolled back"));
    assert!(
        project
            .run(&["status"])
            .contains("rolled back  release 2\n")
    );

    project.run(&["run", "--as-of", "2026-03-03"]);
    let back = project.json(&["release", "rollback"]);
    assert_eq!(
        back,
        json!({ "served": 1, "was": 3, "unserved_models": [] })
    );
    let status = project.json(&["status"]);
    assert_eq!(status["rolled_back"], json!([2, 3]));
    let said = project.fail(&["release", "rollback"]);
    assert!(said.contains("`--to NUMBER`"), "{said}");

    project.run(&["release", "rollback", "--to", "2"]);
    assert_eq!(
        project.json(&["release", "list"])["rolled_back"],
        json!([3])
    );
}

#[test]
fn a_rollback_names_the_models_that_are_not_served_any_more() {
    let project = Project::example();
    project.apply_and_run(&["1997-10-01"]);
    let file = project.root().join("model/buys_again_90d.txt");
    let file = file.to_str().expect("UTF-8");
    project.run(&["model", "import", "buys_again_90d", file]);
    project.run(&["run", "--as-of", "1997-10-01"]);
    let output = finish(project.command(&["release", "rollback"]));
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("warning: release 1 holds no bundle of `buys_again_90d`"),
        "{said}"
    );
    let back = project.json(&["release", "rollback", "--to", "2"]);
    assert_eq!(back["unserved_models"], json!([]));
    let again = project.json(&["release", "rollback", "--to", "1"]);
    assert_eq!(again["unserved_models"], json!(["buys_again_90d"]));
}
