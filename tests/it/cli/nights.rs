//! `nightfill run`, `schedule`, `status` and `features --as-of`: from which instant, and what is told of it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{finish, shop, stderr};

#[test]
fn a_night_as_of_the_future_is_refused() {
    let project = shop();
    project.run(&["apply"]);
    let said = project.fail(&["run", "--as-of", "9000-01-01"]);
    assert!(said.contains("is in the future"), "{said}");
    assert_eq!(project.json(&["status"])["runs"], json!([]));
}

#[test]
fn a_night_before_the_served_one_is_refused_unless_it_is_allowed() {
    let project = shop();
    project.apply_and_run(&["2026-03-02"]);
    let earlier = ["run", "--as-of", "2026-03-01"];
    let before = project.json(&["status"])["runs"].clone();
    let said = project.fail(&earlier);
    assert!(
        said.contains("release 1, which is served, is as of 2026-03-02T00:00:00Z"),
        "{said}"
    );
    for way_out in ["`nightfill features --as-of`", "`--allow-earlier`"] {
        assert!(said.contains(way_out), "{said}");
    }
    assert_eq!(project.json(&["status"])["runs"], before);
    let allowed = [&earlier[..], &["--allow-earlier"]].concat();
    let said = project.fail(&[&allowed[..], &["--views", "spend"]].concat());
    assert!(said.contains("view `largest` would be kept"), "{said}");
    // The purchase of 2026-03-01T10:00 is not known yet, so a customer vanishes.
    let told = project.run(&allowed);
    assert!(told.contains("3 rows -> 2 rows: 1 fewer"), "{told}");
}

#[test]
fn a_night_that_changes_nothing_says_so() {
    let project = shop();
    project.apply_and_run(&["2026-03-02"]);
    let told = project.run(&["run", "--as-of", "2026-03-02"]);
    assert!(told.contains("nothing changed: 1 keeps serving"), "{told}");
    let status = project.run(&["status"]);
    assert!(
        status.contains("nothing changed: release 1 stays served"),
        "{status}"
    );
    assert_eq!(status.matches("published release 1").count(), 1, "{status}");
    let runs = project.json(&["status"])["runs"].clone();
    let outcomes = [&runs[0]["outcome"], &runs[1]["outcome"]];
    assert_eq!(
        outcomes,
        [
            &json!({ "outcome": "unchanged", "release": 1 }),
            &json!({ "outcome": "published", "release": 1 }),
        ]
    );
}

#[test]
fn unknown_views_and_models_are_told_with_the_nearest_one() {
    let project = shop();
    project.apply_and_run(&["2026-03-02"]);
    let said = project.fail(&["run", "--views", "spent"]);
    assert!(
        said.contains("unknown view `spent` (did you mean `spend`?)"),
        "{said}"
    );
    let said = project.fail(&["predict", "--model", "m", "--entity", "customer_id=1"]);
    assert!(
        said.contains("declare no model `m`: there are none yet"),
        "{said}"
    );
}

#[test]
fn features_that_are_computed_name_no_release() {
    let project = shop();
    project.run(&["apply"]);
    let asked = [
        "features",
        "--service",
        "spend_v1",
        "--entity",
        "customer_id=1",
    ];
    let asked = [&asked[..], &["--as-of", "2026-03-01"]].concat();
    let told = project.run(&asked);
    assert!(
        told.starts_with("spend_v1, computed as of 2026-03-01T00:00:00Z\n"),
        "{told}"
    );
    assert_eq!(project.json(&asked)["release"], Value::Null);
    let misspelt: Vec<String> = asked
        .iter()
        .map(|argument| argument.replace("spend_v1", "spend_v"))
        .collect();
    let misspelt: Vec<&str> = misspelt.iter().map(String::as_str).collect();
    let said = project.fail(&misspelt);
    assert!(said.contains("did you mean `spend_v1`?"), "{said}");
}

#[test]
fn too_little_memory_is_one_sentence_that_names_view_and_option() {
    let project = crate::harness::Project::example();
    project.run(&["apply"]);
    let said = project.fail(&["run", "--as-of", "1997-10-01", "--memory", "1"]);
    let error = said.lines().last().expect("an error");
    assert!(
        error.starts_with("error: `customer_")
            && error.ends_with("takes more memory than 1 MiB: raise `--memory`"),
        "{said}"
    );
    assert!(!said.contains("runtime.memory_limit"), "{said}");
    let status = project.run(&["status"]);
    let failed = status.lines().filter(|line| line.contains("failed: "));
    assert_eq!(failed.count(), 1, "{status}");
}

#[test]
fn status_shows_views_that_no_release_holds_yet() {
    let project = shop();
    project.run(&["apply"]);
    assert_eq!(
        project
            .run(&["status"])
            .matches("in no release yet")
            .count(),
        2
    );
    project.run(&["run", "--as-of", "2026-03-02"]);
    let status = project.json(&["status"]);
    let age = status["views"][0]["age_seconds"].as_u64().expect("an age");
    assert!(
        age > 0 && status["views"][0]["state"] == "fresh",
        "{status}"
    );
    let status = project.run(&["status"]);
    let days = format!("  {}d", age / 86_400);
    assert!(
        status.contains(&days) && !status.contains("in no release yet"),
        "{status}"
    );
}

#[test]
fn a_schedule_tells_when_each_view_is_next_due() {
    let project = shop();
    let files = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let files = files.expect("readable");
    let files = files.replacen(
        "    ttl: none\n",
        "    ttl: none\n    schedule: '0 2 * * *'\n",
        1,
    );
    project.write("features/customer.yaml", files);
    project.run(&["apply"]);
    let mut child = project
        .command(&["schedule", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut line).expect("a line");
    child.kill().expect("a child");
    child.wait().expect("it ends");
    let plan: Value = serde_json::from_str(&line).expect("one JSON document a line");
    let [spend, largest] = [&plan["views"][0], &plan["views"][1]];
    assert_eq!(spend["view"], "spend", "{plan}");
    let next = spend["next"].as_str().expect("an instant");
    assert!(next.ends_with("T02:00:00Z"), "{plan}");
    assert_eq!(largest["next"], Value::Null);
}

#[test]
fn a_night_says_which_views_it_computes_unasked() {
    let project = shop();
    project.run(&["apply"]);
    let said = |as_of: &str| {
        stderr(&finish(
            project.command(&["run", "--views", "spend", "--as-of", as_of]),
        ))
    };
    let first = said("2026-03-02");
    assert!(
        first.contains(
            "note: `largest` is computed too: no release is served yet, and a release has all views\n"
        ),
        "{first}"
    );
    assert!(!said("2026-03-03").contains("computed too"));
    let path = "features/customer.yaml";
    let text = std::fs::read_to_string(project.root().join(path)).expect("definitions");
    project.write(path, text.replace("max(amount)", "min(amount)"));
    project.run(&["apply"]);
    let changed = said("2026-03-04");
    assert!(
        changed.contains(
            "note: `largest` is computed too: release 2, which is served, does not have it as it is defined now\n"
        ),
        "{changed}"
    );
}
