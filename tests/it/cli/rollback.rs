//! `nightfill release`: the way back, and what it leaves behind.

use serde_json::json;

use crate::harness::shop;

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
    assert_eq!(back, json!({ "served": 1, "was": 3 }));
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
