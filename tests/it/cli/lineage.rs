//! `lineage`: what is made from what.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Project, finish, shop, stderr, stdout};

/// Compares with a text that is kept beside the tests. `UPDATE_EXPECTED=1` writes it anew.
fn expect(name: &str, shown: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli/expected");
    let path = folder.join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, shown).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, expected, "{name}");
}

#[test]
fn the_example_is_followed_from_columns_to_the_model_and_back() {
    let project = Project::example_definitions();
    let shown = project.run(&["lineage", "model:buys_again_90d", "--upstream"]);
    expect("lineage_of_the_model.txt", &shown);
    let shown = project.run(&["lineage", "purchases", "--downstream"]);
    expect("lineage_of_the_source.txt", &shown);
    let shown = project.run(&["lineage", "customer_ltv", "--mermaid"]);
    expect("lineage_of_a_view.mmd", &shown);
}

#[test]
fn both_directions_are_shown_unless_one_is_asked_for() {
    let project = shop();
    let both = "\
feature largest.amount
made from
├─ column purchases.amount
├─ rows by purchases.{customer_id, at}
└─ entity customer
used by
└─ feature service spend_v1
";
    assert_eq!(project.run(&["lineage", "largest.amount"]), both);
    let (up, down) = both.split_once("used by").expect("both");
    assert_eq!(
        project.run(&["lineage", "largest.amount", "--upstream"]),
        up
    );
    let down = format!("feature largest.amount\nused by{down}");
    assert_eq!(
        project.run(&["lineage", "largest.amount", "--downstream"]),
        down
    );
    assert_eq!(
        project.run(&["lineage", "spend_v1", "--downstream"]),
        "feature service spend_v1\nused by: nothing\n"
    );
}

#[test]
fn a_document_has_nodes_and_edges() {
    let project = shop();
    let document = project.json(&["lineage", "largest.amount", "--downstream"]);
    assert_eq!(
        document,
        json!({
            "found": ["feature:largest.amount"],
            "nodes": [
                { "id": "feature_view:largest", "kind": "feature_view", "name": "largest", "of": null },
                { "id": "feature:largest.amount", "kind": "feature", "name": "largest.amount", "of": "feature_view:largest" },
                { "id": "feature_service:spend_v1", "kind": "feature_service", "name": "spend_v1", "of": null },
            ],
            "edges": [
                { "from": "feature:largest.amount", "to": "feature_service:spend_v1", "role": "value" },
            ],
        })
    );
    let whole = project.json(&["lineage", "purchases"]);
    let ids = |list: &Value| list.as_array().map_or(0, Vec::len);
    assert_eq!(
        (ids(&whole["nodes"]), ids(&whole["edges"])),
        (12, 18),
        "{whole}"
    );
}

#[test]
fn a_name_of_two_things_shows_both_and_an_unknown_one_says_what_is_near() {
    let project = shop();
    let path = project.root().join("features/customer.yaml");
    let text = fs::read_to_string(&path).expect("definitions");
    let text = text + "models:\n  spend_v1: { service: spend_v1 }\n";
    project.write("features/customer.yaml", text);
    let both = project.run(&["lineage", "spend_v1", "--downstream"]);
    assert_eq!(
        both,
        "\
feature service spend_v1
used by
└─ model spend_v1

model spend_v1
used by: nothing
"
    );
    let one = project.run(&["lineage", "model:spend_v1", "--downstream"]);
    assert_eq!(one, "model spend_v1\nused by: nothing\n");
    for (name, said) in [
        (
            "spend.amuont_7d",
            "nothing is named `spend.amuont_7d`: did you mean `spend.amount_7d`?",
        ),
        (
            "larges",
            "nothing is named `larges`: did you mean `largest`?",
        ),
        (
            "purchases.x",
            "nothing is named `purchases.x`: `purchases` has customer_id, at, amount",
        ),
        (
            "model:spend",
            "nothing is named `model:spend`: write the name of",
        ),
    ] {
        let refused = project.fail(&["lineage", name]);
        assert!(refused.starts_with(&format!("error: {said}")), "{refused}");
    }
}

#[test]
fn files_count_unless_the_applied_definitions_are_asked_for() {
    let project = shop();
    let refused = project.fail(&["lineage", "largest", "--applied"]);
    assert!(
        refused.contains("no definitions are applied yet"),
        "{refused}"
    );
    project.run(&["apply"]);
    let path = project.root().join("features/customer.yaml");
    let text = fs::read_to_string(&path).expect("definitions");
    let edited = text.replace(
        "max(amount)",
        "max(CASE WHEN customer_id > 0 THEN amount END)",
    );
    project.write("features/customer.yaml", &edited);
    let files = project.run(&["lineage", "largest", "--upstream"]);
    assert!(
        files.contains("column purchases.{customer_id, amount}"),
        "{files}"
    );
    let output = finish(project.command(&["lineage", "largest", "--upstream", "--applied"]));
    assert!(
        stdout(&output).contains("column purchases.amount\n"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("differ from version 1"),
        "{}",
        stderr(&output)
    );

    project.write(
        "features/customer.yaml",
        text.replace("max(amount)", "max(amuont)"),
    );
    let refused = project.fail(&["lineage", "largest"]);
    assert!(refused.contains("did you mean `amount`"), "{refused}");
}
