//! REG-06: what is optional may be left out, and errors point into the user's own SQL.

use crate::harness::{Project, finish, stdout};

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: int64, at: timestamp, v: int64 }
views:
  of:
    entity: thing
    sql_file: of.sql
    ttl: none
    features: { v: { type: int64 } }
request_views:
  nothing_asked:
    inputs: {}
    features: { twice: of.v * 2 }
services:
  s: { features: [of.v, nothing_asked.twice] }
";

fn project(sql: &str) -> Project {
    let rows = "id,at,v\n1,2026-01-01T00:00:00Z,5\n";
    Project::new(&[
        ("features/all.yaml", DEFINITIONS),
        ("features/of.sql", sql),
        ("data/rows.csv", rows),
    ])
}

#[test]
fn reg_06_without_created_time_filter_and_request_fields_all_works() {
    for sql in [
        "SELECT id, sum(v) AS v FROM rows GROUP BY id",
        "SELECT id, sum(v) AS v FROM rows GROUP BY id;",
        "SELECT id, sum(v) AS v FROM rows GROUP BY id -- the end",
        "-- all of it\nSELECT id, sum(v) AS v\nFROM rows\nGROUP BY id; -- the end\n",
    ] {
        let project = project(sql);
        project.apply_and_run(&["2026-02-01"]);
        let answer = project.json(&["features", "--service", "s", "--entity", "id=1"]);
        let features = &answer["results"][0]["features"];
        assert_eq!(features["of.v"]["value"], 5, "{answer}");
        assert_eq!(features["nothing_asked.twice"]["value"], 10, "{answer}");
    }
}

#[test]
fn reg_06_errors_in_sql_point_at_its_own_file_line_and_column() {
    for (sql, place, word) in [
        (
            "SELECT id, sum(v) AS v\nFROM rows\nGROUP BYE id",
            "of.sql:3:1",
            "GROUP",
        ),
        (
            "SELECT id,\n  sum(w) AS v\nFROM rows GROUP BY id",
            "of.sql:2:7",
            "`w`",
        ),
        (
            "SELECT id, sum(v) AS v\nFROM raws GROUP BY id",
            "of.sql:2:6",
            "`raws`",
        ),
        (
            "SELECT id, v FROM rows;\nSELECT id, v FROM rows",
            "of.sql:2:1",
            "one",
        ),
        ("SELECT id, v FROM rows\nWHERE , v > 1", "of.sql:2:7", ","),
        ("DROP TABLE rows", "of.sql:1:1", "SELECT"),
    ] {
        let project = project(sql);
        let said = project.fail(&["apply"]);
        assert!(said.contains(&format!("features/{place}")), "{sql}\n{said}");
        assert!(said.contains(word), "{sql}\n{said}");
        project.write("features/of.sql", "SELECT id, v FROM rows");
        assert!(project.json(&["status"])["definitions"]["version"].is_null());
    }
}

#[test]
fn places_in_json_are_those_in_text() {
    for sql in [
        "\n\n-- nothing\n",
        "\n-- about\n\n  SELECT v FROM rows",
        "SELECT id, v, v AS v FROM rows",
        "SELECT id,\tw AS v FROM rows",
        "SELECT 'é', id,\r\n w AS v FROM rows\r\n",
    ] {
        let project = project(sql);
        let text = project.fail(&["check"]);
        let output = finish(project.command(&["check", "--format", "json"]));
        let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let problems = json["problems"].as_array().expect("a list");
        assert!(!problems.is_empty(), "{sql:?}");
        for problem in problems {
            let file = problem["file"].as_str().expect("a file");
            let place = format!("--> {file}:{}:{}", problem["line"], problem["column"]);
            let shown = text.lines().any(|line| line.trim_start() == place);
            assert!(shown, "{sql:?}: {place} is not in\n{text}");
        }
    }
}

#[test]
fn a_file_that_is_not_text_is_one_problem_among_others() {
    let project = project("SELECT id, w AS v FROM rows");
    project.write(
        "more.yaml",
        b"entities:\n  # gr\xf6\xdfe\n  shopper: { keys: { id: int64 } }\n",
    );
    let said = project.fail(&["check"]);
    for place in ["--> more.yaml:2:7", "--> features/of.sql:1:12"] {
        assert!(said.contains(place), "{said}");
    }
}
