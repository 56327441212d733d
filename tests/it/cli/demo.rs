//! `nightfill demo`.

use serde_json::Value;

use crate::harness::{finish, nightfill, shop, stderr, stdout};

#[test]
fn the_demo_answers_at_once_and_a_second_start_reuses_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = || {
        let mut command = nightfill(&["demo", "--once"]);
        command.current_dir(folder.path());
        let output = finish(command);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let first = demo();
    assert!(
        first.contains("release 1 as of 1997-10-01T00:00:00Z: 3 views, 70710 rows"),
        "{first}"
    );
    let second = demo();
    assert!(
        second.contains("release 1 as of 1997-10-01T00:00:00Z is served already"),
        "{second}"
    );
    for shown in [first, second] {
        assert!(
            shown.contains("200 in ") && shown.contains("Server-Timing: parse;dur="),
            "{shown}"
        );
        assert!(
            shown.contains("\"release\": 1") && shown.contains("\"timings\""),
            "{shown}"
        );
        let spend =
            "\"customer_spend.spend_cents_lifetime\": {\"value\": 12669, \"state\": \"present\"";
        assert!(shown.contains(spend), "{shown}");
    }
    assert!(
        folder
            .path()
            .join(".nightfill-demo/nightfill.yaml")
            .is_file()
    );
}

#[test]
fn the_demo_for_scripts_prints_the_answer_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = nightfill(&["demo", "--once", "--format", "json"]);
    command.current_dir(folder.path());
    let output = finish(command);
    let answer: Value = serde_json::from_str(&stdout(&output)).expect("one JSON document");
    assert_eq!(answer["release"], 1);
    let steps = stderr(&output);
    assert!(
        steps.contains("night") && steps.contains("first answer"),
        "{steps}"
    );
}

#[test]
fn the_demo_changes_nothing_in_a_folder_of_another_project() {
    let project = shop();
    let files = || {
        let entries = std::fs::read_dir(project.root()).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    };
    let before = files();
    let folder = project.root().to_str().expect("UTF-8");
    let output = finish(nightfill(&["demo", "--once", "--dir", folder]));
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("holds project `test`") && said.contains("`--dir`"),
        "{said}"
    );
    assert_eq!(files(), before);
}
