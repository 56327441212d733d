//! Case REG-06: optional parts may be left out, and faults of SQL are told at the user's own line and column.

use std::path::Path;

use crate::definitions::{DefinitionFile, Definitions};
use crate::error::Problems;
use crate::parse::parse;

const SHAPE: &str = "entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: data/*.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, cents: int32 }
views:
  spend:
    entity: customer
    sql_file: spend.sql
    features: { cents: int64 }
";

fn file(path: &str, text: &str) -> DefinitionFile {
    DefinitionFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn with_sql(sql: &str) -> Result<Definitions, Problems> {
    let project = file("nightfill.yaml", "version: 1\nproject: shop\n");
    parse(
        Path::new("/"),
        vec![
            project,
            file("f/shop.yaml", SHAPE),
            file("f/spend.sql", sql),
        ],
    )
}

/// The first problem as `file:line:column message`, and what stands there.
fn refused(sql: &str) -> (String, String) {
    let problems = with_sql(sql).expect_err(sql);
    let problem = &problems.problems[0];
    let source = problems
        .files
        .iter()
        .find(|file| file.path == problem.span.file)
        .expect("file");
    let before = &source.text[..problem.span.bytes.start];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let rendered = problems.to_string();
    assert!(
        !rendered.to_lowercase().contains("datafusion"),
        "{rendered}"
    );
    (
        format!("{}:{line}:{column} {}", problem.span.file, problem.message),
        source.text[problem.span.bytes.clone()].to_owned(),
    )
}

#[test]
fn reg_06_optional_parts_and_trailing_marks_are_fine() {
    for sql in [
        "SELECT customer_id, sum(cents) AS cents FROM purchases GROUP BY customer_id",
        "SELECT customer_id, sum(cents) AS cents FROM purchases GROUP BY customer_id;",
        "-- about\nSELECT customer_id, sum(cents) AS cents FROM purchases GROUP BY customer_id ; -- the end",
        "SELECT customer_id, sum(cents) AS cents FROM purchases GROUP BY customer_id /* the end */",
        "WITH p AS (SELECT * FROM purchases WHERE at < $as_of) SELECT customer_id, sum(cents) AS cents FROM p GROUP BY customer_id",
        "SELECT customer_id, max(cents) AS cents FROM purchases WHERE at >= $as_of - INTERVAL '7 days' GROUP BY customer_id",
    ] {
        let definitions = with_sql(sql).unwrap_or_else(|problems| panic!("{problems}"));
        let crate::feature_view::Computation::Sql(view) = &definitions.views["spend"].computation
        else {
            panic!("a SQL view");
        };
        assert_eq!((view.file.as_str(), view.sources.len()), ("f/spend.sql", 1));
        super::bind(&view.text, crate::time::Instant::from_micros(1))
            .expect("binds what was checked");
    }
}

#[test]
fn reg_06_faults_point_to_the_users_line_and_column() {
    for (sql, problem, place) in [
        (
            "SELECT customer_id,\n  sum(cents AS cents\nFROM purchases",
            "f/spend.sql:2:13 this is not SQL: expected: ), found: AS",
            "AS",
        ),
        (
            "SELECT customer_id,\n  sum(cent) AS cents\nFROM purchases GROUP BY customer_id",
            "f/spend.sql:2:7 unknown column `cent`",
            "cent",
        ),
        (
            "SELECT 'é', customer_id, p.cent AS cents\nFROM purchases p",
            "f/spend.sql:1:26 unknown column `p.cent`",
            "p.cent",
        ),
        (
            "SELECT customer_id, cents FROM purchases;\nSELECT 2",
            "f/spend.sql:2:1 a second statement",
            "SELECT",
        ),
        (
            "SELECT customer_id, cents\nFROM purchase",
            "f/spend.sql:2:6 unknown source or view `purchase`",
            "purchase",
        ),
        (
            "SELECT customer_id, summ(cents) AS cents FROM purchases",
            "f/spend.sql:1:21 unknown function `summ`",
            "summ",
        ),
        (
            "SELECT customer_id, cents FROM purchases WHERE at < $asof",
            "f/spend.sql:1:53 unknown parameter `$asof`",
            "$asof",
        ),
        (
            "SELECT customer_id, cents FROM purchases WHERE",
            "f/spend.sql:1:46 this is not SQL: expected: an expression, found the end of the text",
            "E",
        ),
    ] {
        let (message, found) = refused(sql);
        assert_eq!(
            (message.as_str(), found.as_str()),
            (problem, place),
            "{sql}"
        );
    }
}

#[test]
fn reg_06_sql_inside_yaml_points_into_the_yaml() {
    let shape = SHAPE.replace(
        "    sql_file: spend.sql\n",
        "    sql: |\n      -- é\n      SELECT customer_id,\n        sum(cent) AS cents\n      FROM purchases GROUP BY customer_id\n",
    );
    let project = file("nightfill.yaml", "version: 1\nproject: shop\n");
    let problems = parse(Path::new("/"), vec![project, file("shop.yaml", &shape)])
        .expect_err("unknown column");
    let rendered = problems.to_string();
    assert!(rendered.contains("--> shop.yaml:14:13"), "{rendered}");
}

#[test]
fn nothing_but_one_select_over_declared_sources_is_accepted() {
    for sql in [
        "COPY (SELECT 1) TO 'canary.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
        "CREATE TABLE t AS SELECT 1",
        "INSERT INTO purchases VALUES (1)",
        "DROP TABLE purchases",
        "SET batch_size = 1",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM \"data/x.parquet\"",
        "SELECT * FROM read_csv('/canary')",
        "SELECT * FROM generate_series(1, 2)",
        "SELECT * FROM information_schema.tables",
        "SELECT customer_id, cents INTO t FROM purchases",
        "TABLE purchases",
        "VALUES (1, 2)",
        "SELECT customer_id, (SELECT max(x) FROM other) AS cents FROM purchases",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT customer_id, cents FROM purchases",
        "",
        ";",
        "-- nothing",
    ] {
        let (message, _) = refused(sql);
        assert!(message.starts_with("f/spend.sql:1:"), "{sql}: {message}");
    }
}

#[test]
fn functions_that_are_not_decided_by_their_arguments_are_refused_with_the_reason() {
    for name in [
        "now()",
        "random()",
        "uuid()",
        "current_date",
        "current_date()",
        "current_timestamp",
        "approx_distinct(cents)",
    ] {
        let sql = format!("SELECT customer_id, {name} AS cents FROM purchases");
        let (message, _) = refused(&sql);
        assert!(
            message.starts_with("f/spend.sql:1:21 `")
                && message.contains("is not accepted: its value")
                || message.contains("it reads the clock"),
            "{message}"
        );
    }
}

#[test]
fn output_columns_must_be_keys_and_declared_features_of_their_types() {
    for (sql, expected) in [
        (
            "SELECT cents FROM purchases",
            "f/spend.sql:1:1 the SQL of `spend` gives no column `customer_id`, a key of `customer`",
        ),
        (
            "SELECT customer_id FROM purchases",
            "f/shop.yaml:12:17 the SQL of `spend` gives no column `cents`",
        ),
        (
            "SELECT customer_id, 1.5 AS cents FROM purchases",
            "f/shop.yaml:12:24 `cents` is declared int64, and the SQL gives float64",
        ),
        (
            "SELECT customer_id, cents, at FROM purchases",
            "f/spend.sql:1:28 the SQL of `spend` gives a column `at` that is neither a key nor a declared feature",
        ),
        ("SELECT customer_id, cents, 1 AS cents FROM purchases", ""),
    ] {
        let (message, _) = refused(sql);
        assert!(message.starts_with(expected), "{sql}: {message}");
    }
}

#[test]
fn functions_know_their_names_and_settings_keep_places() {
    assert!(
        super::functions()
            .aggregate
            .iter()
            .any(|udf| udf.name() == "sum")
    );
    assert!(super::settings().sql_parser.collect_spans);
}

#[test]
fn what_other_dialects_write_has_an_expression_here_that_plans() {
    use super::dialects::{AGGREGATE, RENAMED, SCALAR};
    use super::functions::names;

    let known = names();
    let is_known = |name: &str| {
        known.scalar.contains_key(name)
            || known.aggregate.contains_key(name)
            || known.window.contains_key(name)
    };
    let shape = SHAPE.replace(
        "cents: int32 }",
        "time: timestamp, other_time: timestamp, number: int64, text: string }",
    );
    let plan = |expression: &str, ending: &str| {
        let sql = format!("SELECT customer_id, {expression} AS cents FROM purchases {ending}");
        let project = file("nightfill.yaml", "version: 1\nproject: shop\n");
        let shape = file("shop.yaml", &shape);
        let files = vec![project, shape, file("spend.sql", &sql)];
        parse(Path::new("/"), files)
    };
    let scalar = SCALAR.iter().map(|row| (row, ""));
    let aggregate = AGGREGATE.iter().map(|row| (row, "GROUP BY customer_id"));
    for ((names, ours), ending) in scalar.chain(aggregate) {
        // It may have another type than the feature, which is told once it is planned.
        let told =
            plan(ours, ending).map_or_else(|problems| problems.to_string(), |_| String::new());
        assert!(
            told.is_empty() || told.contains("the SQL gives"),
            "{ours}: {told}"
        );
        let taken = names.iter().find(|name| is_known(name));
        assert_eq!(taken, None, "a function of ours");
    }
    for (names, ours) in RENAMED {
        assert!(is_known(ours), "{ours}");
        assert!(names.iter().all(|name| !is_known(name)), "{names:?}");
    }
}

#[test]
fn texts_that_are_written_out_are_values_of_the_other_side() {
    for condition in [
        "at >= '2026-01-01'",
        "at >= '2026-01-01T10:00:00Z'",
        "at BETWEEN '2026-01-01' AND $as_of",
        "cast(at AS date) = '2026-01-01'",
        "cents > '5'",
        "cents IN (1, '2')",
        "cents <> NULL",
        "coalesce(cents, '0') > 1",
        "concat(cents, 'x') = '5x'",
        "cents || 'x' IN ('5x', NULL)",
        "try_cast(concat(cents, 'x') AS bigint) > 5",
        "CASE WHEN cents > 1 THEN 'much' ELSE NULL END = 'much'",
        "nullif(cents, '0') IS NULL",
    ] {
        let sql = format!(
            "SELECT customer_id, max(cents) AS cents FROM purchases WHERE {condition} GROUP BY customer_id"
        );
        with_sql(&sql).unwrap_or_else(|problems| panic!("{problems}"));
    }
}
