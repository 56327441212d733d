//! `checks:` of a view, from the definition to the night.

use serde_json::json;

use crate::harness::{Project, shop};

const CHECKS: &str = "    checks:
      rows: { min: 4, change: 10% }
      features:
        amount_7d: { nulls: 0%, on_failure: warn }
        orders_lifetime: { min: 1, psi: 0.2 }
";

fn checked() -> Project {
    let project = shop();
    let path = project.root().join("features/customer.yaml");
    let plain = std::fs::read_to_string(path).expect("definitions");
    let with = plain.replacen("    windows:", &format!("{CHECKS}    windows:"), 1);
    project.write("features/customer.yaml", with);
    project
}

#[test]
fn checks_are_listed_planned_and_enforced() {
    let project = checked();
    let listed = project.json(&["list", "--checks"]);
    assert_eq!(
        listed,
        json!([
            { "view": "spend", "feature": null, "check": "min: 4", "on_failure": "block" },
            { "view": "spend", "feature": null, "check": "change: 10%", "on_failure": "block" },
            { "view": "spend", "feature": "amount_7d", "check": "nulls: 0%", "on_failure": "warn" },
            { "view": "spend", "feature": "orders_lifetime", "check": "min: 1", "on_failure": "block" },
            { "view": "spend", "feature": "orders_lifetime", "check": "psi: 0.2", "on_failure": "block" },
        ])
    );
    project.run(&["apply"]);
    let said = project.fail(&["run", "--as-of", "2026-03-02"]);
    assert!(said.contains("`spend`: 3 rows (min: 4)"), "{said}");
    let status = project.json(&["status"]);
    assert_eq!(
        status["runs"][0]["outcome"]["outcome"], "failed",
        "{status}"
    );
    let told = project.run(&["run", "--as-of", "2026-03-02", "--allow-failed-checks"]);
    // Nobody bought nothing in the last seven days of February: the sum of customer 1's week is not null.
    assert!(
        told.contains("  checks: 2 passed, 1 failed and was allowed to, 2 without anything to compare with\n    `spend`: 3 rows (min: 4)\n"),
        "{told}"
    );
    let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let relaxed = definitions
        .expect("definitions")
        .replace("min: 4", "min: 3");
    project.write("features/customer.yaml", relaxed);
    let planned = project.run(&["plan"]);
    assert!(
        planned.contains("check `rows min`: `min: 4`, else block -> `min: 3`, else block"),
        "{planned}"
    );
    project.run(&["apply"]);
    // Eight days on, nobody has bought within seven.
    let told = project.run(&["run", "--as-of", "2026-03-10"]);
    assert!(
        told.contains(
            "  checks: 4 passed, 1 warned\n    `spend.amount_7d`: null in 3 of 3 rows (nulls: 0%)\n"
        ),
        "{told}"
    );
}
