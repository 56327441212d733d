//! Every aggregate over windows, held to DuckDB on a year of a grocer's baskets: 10,000 random pairs of a household and an
//! instant, half of them at the edges of windows.

use std::path::Path;
use std::process::Command;

use crate::harness::{Project, finish, journey, stderr, stdout};

/// The baskets of the same household in the 7 days before each basket, added up. Over all 2,469 households, of which the
/// example has those 801 that answered a questionnaire, it is 450,314.
const GOLDEN: &str = "268385 baskets in the 7 days before each";

/// A Python that has DuckDB, where `tests/run` found one.
#[allow(clippy::print_stderr)] // a skipped test says so
fn python() -> Option<String> {
    let python = std::env::var("NIGHTFILL_TEST_DUCKDB").ok();
    if python.is_none() {
        let required = std::env::var_os("REQUIRE_BACKENDS").is_some();
        assert!(!required, "DuckDB is required: run with `tests/run`");
        eprintln!(
            "SKIPPED: no DuckDB (`NIGHTFILL_TEST_DUCKDB` is not set; `tests/run` installs it)"
        );
    }
    python
}

#[test]
fn aggregates_over_windows_agree_with_duckdb() {
    let Some(python) = python() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/windows.py");
    let oracle = |arguments: &[&Path]| {
        let mut command = Command::new(&python);
        command.arg(&script).args(arguments);
        let output = finish(command);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let project = Project::new(&[]);
    let root = project.root();
    let baskets = journey().join("data/baskets.parquet");
    oracle(&[Path::new("make"), &baskets, root]);
    project.run(&["apply"]);
    for (service, frame, out) in [
        ("everything", "frame.csv", "trained.parquet"),
        ("counted", "baskets.csv", "counted.parquet"),
    ] {
        let [frame, out] = [frame, out].map(|name| root.join(name));
        let [frame, out] = [&frame, &out].map(|path| path.to_str().expect("UTF-8"));
        project.run(&crate::harness::training_set(service, frame, out));
    }
    let told = oracle(&[Path::new("compare"), root]);
    assert!(told.contains(GOLDEN), "{told}");
}
