//! The verbs, as a person or a script calls them.

mod broken_files;
mod changes;
mod checks;
mod demo;
mod drop;
mod init;
mod lineage;
mod nights;
mod rollback;
mod servers;
mod training_sets;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringArray};
use serde_json::{Value, json};

use crate::harness::{Project, finish, nightfill, parquet, shop, stderr, stdout};

#[test]
fn check_warns_of_sources_without_files() {
    let project = shop();
    std::fs::remove_file(project.root().join("data/purchases.csv")).expect("removed");
    let output = finish(project.command(&["check"]));
    assert!(output.status.success());
    assert_eq!(
        stderr(&output),
        "warning: source `purchases`: `data/purchases.csv`: no file has this path; paths of sources start at the project's folder\n"
    );
    let warnings = &project.json(&["check"])["warnings"];
    assert_eq!(warnings.as_array().map(Vec::len), Some(1));
}

#[test]
fn check_and_apply_warn_of_files_that_are_not_as_declared() {
    let project = shop();
    let folder = project.root().join("data");
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["2026-02-01"]));
    let columns = || vec![("customer_id", ints.clone()), ("at", texts.clone())];
    for name in ["a.parquet", "b.parquet"] {
        parquet::write(&folder.join(name), columns());
    }
    let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let definitions = definitions.expect("readable");
    let parquet = definitions.replace("data/purchases.csv", "data/*.parquet");
    project.write("features/customer.yaml", parquet);
    for verb in ["check", "apply"] {
        let output = finish(project.command(&[verb]));
        assert!(output.status.success());
        assert_eq!(
            stderr(&output),
            "warning: source `purchases`: `data/a.parquet`: column `at` is `string`, which does not widen to the declared `timestamp` without loss: declare it as the file has it, or convert the file; has no column `amount`, which source `purchases` declares (it has: customer_id, at); another file of the source does not fit either\n"
        );
    }
    project.write("data/purchases.csv", "customer_id;at\n");
    project.write("features/customer.yaml", definitions);
    let warnings = &project.json(&["check"])["warnings"];
    let warning = warnings[0].as_str().unwrap_or_default();
    assert!(
        warning.contains("has no column `customer_id`, `at`, `amount`")
            && warning.contains(r#"does the source need `delimiter: ";"`?"#),
        "{warnings}"
    );
}

#[test]
fn check_warns_of_rows_that_are_taken_by_no_order() {
    let project = shop();
    let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let definitions = definitions.expect("readable");
    for (sql, warned) in [
        (
            "FROM (SELECT * FROM purchases LIMIT 5) AS p GROUP BY customer_id",
            true,
        ),
        ("FROM purchases GROUP BY customer_id LIMIT 5", true),
        (
            "FROM purchases GROUP BY customer_id ORDER BY customer_id LIMIT 5",
            false,
        ),
        (
            "FROM (SELECT * FROM purchases ORDER BY at LIMIT 5) AS p GROUP BY customer_id",
            false,
        ),
    ] {
        let sql = definitions.replace("FROM purchases GROUP BY customer_id", sql);
        project.write("features/customer.yaml", sql);
        let warnings = project.json(&["check"])["warnings"].to_string();
        let told = warnings.contains("view `largest`: `LIMIT` without `ORDER BY`");
        assert_eq!(told, warned, "{warnings}");
    }
}

#[test]
fn the_schema_is_one_document() {
    let schema: Value =
        serde_json::from_str(&stdout(&finish(nightfill(&["schema"])))).expect("JSON");
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(schema["properties"]["views"]["additionalProperties"]["anyOf"].is_array());
}

#[test]
fn a_project_goes_through_its_whole_life() {
    let folder = tempfile::tempdir().expect("a folder");
    let shop = folder.path().join("corner-shop");
    let shop = shop.to_str().expect("UTF-8");
    let run = |arguments: &[&str]| {
        let mut command = nightfill(arguments);
        if arguments[0] != "init" {
            command.args(["--project", shop]);
        }
        let output = finish(command);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    };
    assert!(run(&["init", shop]).contains("nightfill check"));
    assert!(run(&["check"]).contains("`corner_shop` is fine: 1 entity, 1 source, 2 feature views"));
    assert!(run(&["apply"]).contains("applied version 1"));
    assert!(run(&["apply"]).contains("nothing to do: version 1"));
    assert!(run(&["run"]).contains("release 1"));
    let asked = [
        "features",
        "--service",
        "customer_v1",
        "--entity",
        "customer_id=1",
    ];
    let shown = run(&[&asked[..], &["--request", "amount=50.00"]].concat());
    let spend = shown.lines().find(|line| line.contains("spend_lifetime"));
    let spend: Vec<&str> = spend.unwrap_or(&shown).split_whitespace().collect();
    assert_eq!(
        spend[..3],
        ["customer_spend.spend_lifetime", "127.60", "present"],
        "{shown}"
    );
    assert!(run(&["run"]).contains("release 2"));
    assert!(run(&["release", "list"]).contains("served"));
    assert!(run(&["release", "show", "1"]).contains("customer_spend"));
    assert!(run(&["release", "rollback"]).contains("serving 1 again (was 2)"));
    let status = run(&["status"]);
    assert!(
        status.contains("release 1") && status.contains("published release 2"),
        "{status}"
    );
}

#[test]
fn bad_definitions_exit_with_1_and_point_at_file_line_and_column() {
    let project = shop();
    let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let definitions = definitions.expect("readable");
    let wrong = definitions
        .replace("largest.amount", "largest.amuont")
        .replace(
            "entity: customer\n    source",
            "entity: custommer\n    source",
        );
    project.write("features/customer.yaml", wrong);
    for verb in ["check", "apply"] {
        let said = project.fail(&[verb]);
        assert!(said.contains("features/customer.yaml:24:25"), "{said}");
        assert!(said.contains("features/customer.yaml:11:13"), "{said}");
        assert!(said.contains("did you mean `amount`"), "{said}");
        assert!(said.contains("2 problems in 1 file"), "{said}");
    }
    let output = finish(project.command(&["check", "--format", "json"]));
    let problems: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(output.status.code(), Some(1));
    let first = &problems["problems"][0];
    assert_eq!(
        (&first["line"], &first["column"]),
        (&json!(11), &json!(13)),
        "{problems}"
    );
}

#[test]
fn calls_that_are_wrong_exit_with_2() {
    for wrong in [
        &["nonsense"][..],
        &[],
        &["run", "--as-of", "yesterday"],
        &["features"],
        &["serve", "--listen", "nowhere"],
        &["check", "--format", "xml"],
        &["run", "--memory", "0"],
        &["run", "--lease", "0s"],
        &["training-set", "--lease", "30s"],
        &["lineage"],
        &["lineage", "x", "--upstream", "--downstream"],
        &["demo", "--project", "."],
        &["init", "shop", "--project", "."],
        &["features", "--service", "s", "--entity", "kunde=A,B"],
    ] {
        let output = finish(nightfill(wrong));
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert_eq!(stdout(&output), "", "{wrong:?}");
        assert!(!stderr(&output).is_empty(), "{wrong:?}");
    }
}

#[test]
fn values_of_the_wrong_form_are_told_with_what_to_write() {
    for (wrong, written) in [
        (&["run", "--memory", "2GB"][..], "`2GiB`"),
        (&["run", "--memory", "0"], "`2048`"),
        (&["run", "--threads", "0"], "a whole number from 1"),
        (&["schedule", "--threads", "x"], "a whole number from 1"),
        (&["run", "--lease", "1x"], "`30s`"),
        (&["run", "--as-of", "2026-13-02"], "there is no month 13"),
        (
            &["run", "--as-of", "2026-02-03 10:30"],
            "`2026-02-03 10:30Z`",
        ),
        (&["run", "--views", "Foo-B"], "lower-case letters"),
        (&["serve", "--listen", "nowhere"], "`8080`"),
        (
            &["serve", "--listen", "no.such.host.invalid:80"],
            "the host is not found",
        ),
        (&["apply", "--against", "x"], "`nightfill log`"),
        (&["diff", "x"], "`nightfill log`"),
        (&["release", "show", "x"], "`nightfill release list`"),
        (
            &["release", "rollback", "--to", "1.5"],
            "`nightfill release list`",
        ),
        (&["features", "--service", "s"], "--entities <JSON|FILE>"),
        (&["predict", "--model", "m"], "--body <JSON|FILE>"),
        (&["serve", "--port", "18211"], "`--listen 127.0.0.1:18211`"),
        (&["release", "rollback", "3"], "`--to 3`"),
        (&["release", "drop", "--keep", "1"], "from 2, like `14`"),
    ] {
        let output = finish(nightfill(wrong));
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        let said = stderr(&output);
        assert!(said.contains(written), "{wrong:?}: {said}");
        for raw in [
            "invalid digit",
            "found in string",
            "non-zero type",
            "cannot parse",
            "out of range",
            "lookup",
            "os error",
        ] {
            assert!(!said.contains(raw), "{wrong:?}: {said}");
        }
    }
}

#[test]
fn files_that_cannot_be_had_are_told_in_our_words() {
    let project = shop();
    project.apply_and_run(&["2026-03-02"]);
    project.write("pickle.txt", [0xff, 0xfe, 0]);
    project.write("frame.parquet", "customer_id,as_of\n1,2026-03-01\n");
    project.write("half.json", "{\"customer_id\": [1");
    project.write("model.yaml.txt", "no model");
    let path = |name: &str| project.root().join(name).display().to_string();
    let features = ["features", "--service", "spend_v1", "--entities"];
    let frame = |file: &str| {
        let output = path("out.parquet");
        let call = crate::harness::training_set("spend_v1", file, &output);
        project.fail(&call)
    };
    let half = path("half.json");
    for (said, expected) in [
        (
            project.fail(&[&features[..], &["gone.json"]].concat()),
            "there is no such file or folder",
        ),
        (
            project.fail(&[&features[..], &[half.as_str()]].concat()),
            "the JSON ends too early",
        ),
        (
            project.fail(&[&features[..], &["{\"customer\": [1]}"]].concat()),
            "did you mean `customer_id`?",
        ),
        (
            frame(&path("gone.csv")),
            "cannot be read: there is no such file or folder",
        ),
        (
            frame(&path("frame.parquet")),
            "is not a Parquet file, or is cut off: write it again, or give its name the ending `.csv` if it is CSV",
        ),
        (frame(&path("")), "it is a folder and no file"),
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
        for raw in [
            "os error",
            "EOF",
            "orrupt footer",
            "valid UTF-8",
            "No such file",
        ] {
            assert!(!said.contains(raw), "{said}");
        }
    }
}

#[test]
fn stores_that_cannot_be_had_are_told_in_our_words() {
    for (place, expected) in [
        ("registry.db", "registry"),
        ("offline", "offline"),
        ("online", "online"),
        ("online/data.mdb", "move it away and run a night"),
    ] {
        let project = shop();
        project.write(".nightfill/README", "");
        match place {
            "registry.db" => project.write(
                ".nightfill/registry.db",
                "this is no database, but a text of some length",
            ),
            place => project.write(&format!(".nightfill/{place}"), "a file"),
        }
        let said = project.fail(&["apply"]);
        assert!(said.contains(expected), "{said}");
        for raw in ["os error", "(code: ", "File exists", "MDB_"] {
            assert!(!said.contains(raw), "{said}");
        }
    }
}

#[test]
fn work_that_fails_exits_with_1_and_says_why() {
    let nowhere = tempfile::tempdir().expect("a folder");
    let mut command = nightfill(&["check"]);
    command.current_dir(nowhere.path());
    let output = finish(command);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("nightfill init DIR"),
        "{}",
        stderr(&output)
    );

    let project = shop();
    let said = project.fail(&["run", "--as-of", "2026-03-01"]);
    assert!(said.contains("nightfill apply"), "{said}");
    project.run(&["apply"]);
    let said = project.fail(&["release", "rollback"]);
    assert!(said.contains("no release is served yet"), "{said}");
    let said = project.fail(&[
        "features",
        "--service",
        "spend_v1",
        "--entity",
        "customer_id=1",
    ]);
    assert!(said.contains("no release is served yet"), "{said}");
    project.run(&["run", "--as-of", "2026-03-01"]);
    let said = project.fail(&[
        "features",
        "--service",
        "spend_v2",
        "--entity",
        "customer_id=1",
    ]);
    assert!(said.contains("spend_v1"), "{said}");
    let said = project.fail(&[
        "features",
        "--service",
        "spend_v1",
        "--entity",
        "customer_id=x",
    ]);
    assert!(said.contains("customer_id"), "{said}");
}

#[test]
fn every_verb_has_help_with_an_example() {
    let verbs: [&[&str]; 19] = [
        &["demo"],
        &["init"],
        &["check"],
        &["apply"],
        &["lineage"],
        &["run"],
        &["schedule"],
        &["serve"],
        &["features"],
        &["predict"],
        &["training-set"],
        &["release", "list"],
        &["release", "show"],
        &["release", "rollback"],
        &["release", "drop"],
        &["drop"],
        &["model", "import"],
        &["model", "list"],
        &["status"],
    ];
    for verb in verbs {
        let output = finish(nightfill(&[verb, &["--help"]].concat()));
        assert_eq!(output.status.code(), Some(0), "{verb:?}");
        let help = stdout(&output);
        let example = format!("nightfill {}", verb.join(" "));
        assert!(
            help.contains("Example") && help.contains(&example),
            "{help}"
        );
    }
}

#[test]
fn scripts_read_one_json_document() {
    let project = shop();
    assert_eq!(project.json(&["check"])["problems"], json!([]));
    assert_eq!(project.json(&["apply"])["version"], json!(1));
    let run = project.json(&["run", "--as-of", "2026-03-01"]);
    assert_eq!(run["release"], json!(1), "{run}");
    assert_eq!(project.json(&["release", "list"])["served"], json!(1));
    assert_eq!(project.json(&["model", "list"])["models"], json!([]));
    let status = project.json(&["status"]);
    assert_eq!(status["served"]["number"], json!(1));
    assert_eq!(
        status["runs"][0]["outcome"]["release"],
        json!(1),
        "{status}"
    );
    let asked = [
        "features",
        "--service",
        "spend_v1",
        "--entities",
        r#"{"customer_id": [2, 9]}"#,
    ];
    let answer = project.json(&asked);
    let value = |row: usize, feature: &str| answer["results"][row]["features"][feature].clone();
    assert_eq!(
        value(0, "largest.amount")["value"],
        json!("5.50"),
        "{answer}"
    );
    assert_eq!(
        value(1, "largest.amount")["state"],
        json!("missing"),
        "{answer}"
    );
}

#[test]
fn the_project_is_found_from_a_folder_below_it() {
    let project: Project = shop();
    let mut command = nightfill(&["check"]);
    command.current_dir(project.root().join("features"));
    assert_eq!(finish(command).status.code(), Some(0));
}
