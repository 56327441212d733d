//! SEC-06, SEC-07: SQL in definitions reads declared sources, and does nothing else.

use crate::harness::Project;

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
services:
  s: { features: [of.v] }
";

const CANARY: &str = "id,at,v\n1,2026-01-01T00:00:00Z,424242\n";

fn project(sql: &str) -> Project {
    let rows = "id,at,v\n1,2026-01-01T00:00:00Z,5\n";
    let project = Project::new(&[
        ("features/all.yaml", DEFINITIONS),
        ("features/of.sql", sql),
        ("data/rows.csv", rows),
    ]);
    project.write("canary/rows.csv", CANARY);
    project
}

#[test]
fn sec_06_statements_that_are_not_one_select_are_refused_and_do_nothing() {
    for statement in [
        "COPY (SELECT 1) TO 'written.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'canary/rows.csv'",
        "CREATE TABLE t AS SELECT id, v FROM rows",
        "CREATE VIEW t AS SELECT id, v FROM rows",
        "INSERT INTO rows VALUES (1, now(), 2)",
        "UPDATE rows SET v = 1",
        "DELETE FROM rows",
        "DROP TABLE rows",
        "TRUNCATE TABLE rows",
        "SET datafusion.execution.batch_size = 1000000000",
        "SHOW ALL",
        "SELECT id, v FROM rows; SELECT id, v FROM rows",
        "SELECT id, v FROM rows; COPY (SELECT 1) TO 'written.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'written.csv'",
        "EXPLAIN SELECT id, v FROM rows",
        "WITH t AS (SELECT 1) INSERT INTO rows SELECT * FROM t",
        "PREPARE p AS SELECT id, v FROM rows",
        "BEGIN",
        "CALL something()",
        "SELECT id, v INTO written FROM rows",
    ] {
        let project = project(statement);
        let refused = project.fail(&["apply"]);
        assert!(refused.contains("of.sql:1:"), "{statement}: {refused}");
        assert!(
            refused.contains("SELECT"),
            "{statement} is not told what is expected: {refused}"
        );
        let files = std::fs::read_dir(project.root()).expect("a folder");
        let names = files.map(|entry| entry.expect("an entry").file_name());
        let names: Vec<_> = names.filter(|name| name != ".nightfill").collect();
        assert_eq!(names.len(), 4, "{statement} left something: {names:?}");
    }
}

#[test]
fn sec_07_only_declared_sources_are_read() {
    let outside = tempfile::tempdir().expect("a folder");
    let canary = outside.path().join("rows.csv");
    std::fs::write(&canary, CANARY).expect("a canary");
    let canary = canary.to_str().expect("UTF-8");
    for table in [
        "'/etc/passwd'".to_owned(),
        "\"/etc/passwd\"".to_owned(),
        format!("'{canary}'"),
        format!("\"{canary}\""),
        format!("read_csv('{canary}')"),
        format!("read_parquet('{canary}')"),
        "\"canary/rows.csv\"".to_owned(),
        "information_schema.tables".to_owned(),
        "generate_series(1, 3)".to_owned(),
        "\"http://169.254.169.254/\"".to_owned(),
    ] {
        let project = project(&format!("SELECT id, v FROM {table}"));
        let refused = project.fail(&["apply"]);
        assert!(refused.contains("of.sql:1:"), "{table}: {refused}");
        assert!(!refused.contains("424242"), "{table}: {refused}");
    }
    for path in [
        "../rows.csv",
        "data/../../rows.csv",
        canary,
        "/**",
        "http://169.254.169.254/rows.csv",
        "file:///etc/passwd",
    ] {
        let project = project("SELECT id, v FROM rows");
        let definitions = DEFINITIONS.replace("data/rows.csv", &format!("\"{path}\""));
        project.write("features/all.yaml", definitions);
        let refused = project.fail(&["apply"]);
        assert!(refused.contains("all.yaml:5:11"), "{path}: {refused}");
    }
    // A link looks like a file of the project until it is followed.
    let project = project("SELECT id, v FROM rows");
    std::fs::remove_file(project.root().join("data/rows.csv")).expect("removed");
    std::os::unix::fs::symlink(canary, project.root().join("data/rows.csv")).expect("a link");
    let applied = crate::harness::finish(project.command(&["apply"]));
    let warned = crate::harness::stderr(&applied);
    assert!(
        warned.contains("leads out of the project's root"),
        "{warned}"
    );
    let refused = project.fail(&["run", "--as-of", "2026-02-01"]);
    assert!(
        refused.contains("leads out of the project's root"),
        "{refused}"
    );
    assert!(project.snapshots("of").is_empty());
}
