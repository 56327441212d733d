//! Queries over two sources, whose columns all have names of their own:
//!
//! ```text
//!   orders   k, at (event time), made (created time), a, b, c, s
//!   refunds  rk, rat (event time), n
//! ```
//!
//! A line says of an output what its values are computed from, then what decides rows, then what decides ties. The times
//! of a source that is read always decide rows: those of `orders`, which all queries read, are left out of the lines.

use std::collections::BTreeSet;

use super::definitions;
use crate::lineage::input::Input;
use crate::lineage::query::{Decided, InputPlace, decided};
use crate::name::Name;
use crate::source::Source;

const SOURCES: &str = "
entities:
  thing: { keys: { k: int64 } }
sources:
  orders:
    path: orders.csv
    event_time: at
    created_time: made
    columns: { k: int64, at: timestamp, made: timestamp, a: int64, b: int64, c: float64, s: string }
  refunds:
    path: refunds.csv
    event_time: rat
    columns: { rk: int64, rat: timestamp, n: int64 }
";

/// `x: a | k b | s`, of an output of a query. The times of `orders` must decide its rows, and are left out.
fn line(sources: &[&Source], name: &str, decided: &Decided) -> String {
    let names = |columns: &BTreeSet<InputPlace>| -> Vec<String> {
        let name = |place: &InputPlace| sources[place.input].columns.get_index(place.column);
        let columns = columns.iter().filter_map(name);
        columns.map(|(name, _)| name.clone()).collect()
    };
    let mut rows = names(&decided.rows);
    for time in ["at", "made"] {
        assert!(rows.iter().any(|row| row == time), "{name}: {rows:?}");
        rows.retain(|row| row != time);
    }
    let parts = [names(&decided.values), rows, names(&decided.ties)];
    let parts = parts.map(|columns| columns.join(" "));
    let text = format!("{name}: {}", parts.join(" | "));
    text.trim_end_matches([' ', '|']).to_owned()
}

/// Each query, and the lines of its outputs but the key.
#[track_caller]
fn check(queries: &[(&str, &[&str])]) {
    let definitions = definitions(SOURCES);
    let sources: Vec<&Source> = definitions.sources.values().collect();
    let inputs: Vec<Input<'_>> = sources.iter().map(|source| Input::source(source)).collect();
    let key = Name::parse("k").expect("a name");
    for (sql, lines) in queries {
        let outputs = decided(sql, &inputs, &[&key]).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let outputs = outputs.iter().filter(|(name, _)| name != "k");
        let found: Vec<String> = outputs.map(|(name, of)| line(&sources, name, of)).collect();
        assert_eq!(found, *lines, "{sql}");
    }
}

#[test]
fn expressions_are_computed_from_all_their_parts() {
    check(&[
        ("SELECT k, a AS x FROM orders", &["x: a | k"][..]),
        (
            "SELECT k, a + b AS x, 1 AS y FROM orders",
            &["x: a b | k", "y:  | k"],
        ),
        (
            "SELECT k, CASE WHEN a > 0 THEN b ELSE length(s) END AS x FROM orders",
            &["x: a b s | k"],
        ),
        (
            "SELECT k, coalesce(nullif(a, b), 3) AS x FROM orders",
            &["x: a b | k"],
        ),
        (
            "SELECT k, cast(c AS bigint) % 7 AS x FROM orders",
            &["x: c | k"],
        ),
        (
            "SELECT k, s LIKE 'a%' OR b BETWEEN a AND 9 AS x FROM orders",
            &["x: a b s | k"],
        ),
        ("SELECT k, a IN (1, b) AS x FROM orders", &["x: a b | k"]),
        (
            "SELECT k, $as_of - at > INTERVAL '1 day' AS x FROM orders",
            &["x: at | k"],
        ),
        ("SELECT k * 2 + a AS k, b AS x FROM orders", &["x: b | k a"]),
        (
            "SELECT k, a AS b, b AS a FROM orders",
            &["b: a | k", "a: b | k"],
        ),
    ]);
}

#[test]
fn what_is_compared_to_find_rows_is_no_value() {
    check(&[
        (
            "SELECT k, a AS x FROM orders WHERE b > 0 AND s = 'x'",
            &["x: a | k b s"][..],
        ),
        (
            "SELECT k, a AS x FROM (SELECT k, a, b + 1 AS z FROM orders) AS q WHERE z > 0",
            &["x: a | k b"],
        ),
        (
            "SELECT k, sum(a) AS x FROM orders GROUP BY k HAVING max(b) > 0",
            &["x: a | k b"],
        ),
        ("SELECT k, a AS x FROM orders ORDER BY b", &["x: a | k"]),
        (
            "SELECT k, a AS x FROM orders ORDER BY b DESC LIMIT 3",
            &["x: a | k b | a"],
        ),
        ("SELECT k, a AS x FROM orders LIMIT 3", &["x: a | k | a"]),
        ("SELECT DISTINCT k, a AS x FROM orders", &["x: a | k a"]),
        (
            "SELECT DISTINCT ON (k) k, a AS x FROM orders ORDER BY k, b",
            &["x: a | k b | a"],
        ),
    ]);
}

#[test]
fn groups_are_decided_by_their_keys() {
    check(&[
        (
            "SELECT k, count(*) AS n, sum(a) AS x FROM orders GROUP BY k",
            &["n:  | k", "x: a | k"][..],
        ),
        (
            "SELECT k, max(x) AS x FROM (SELECT k, b, sum(a) AS x FROM orders GROUP BY k, b) AS q GROUP BY k",
            &["x: a | k b"],
        ),
        (
            "SELECT k, count(DISTINCT a) AS x, sum(a) FILTER (WHERE b > 0) AS y FROM orders GROUP BY k",
            &["x: a | k", "y: a | k b"],
        ),
        (
            "SELECT k % 10 AS k, min(a + b) AS x FROM orders GROUP BY k % 10",
            &["x: a b | k"],
        ),
        (
            "SELECT k, first_value(a ORDER BY b) AS x, max(c) AS y FROM orders GROUP BY k",
            &["x: a | k b | a c", "y: c | k"],
        ),
        (
            "SELECT k, corr(a, b) AS x FROM orders GROUP BY k",
            &["x: a b | k"],
        ),
        (
            "SELECT coalesce(k, 0) AS k, max(a) AS x FROM orders GROUP BY ROLLUP (k, b) HAVING grouping(b) = 1",
            &["x: a | k b"],
        ),
    ]);
}

#[test]
fn windows_are_decided_by_partition_and_order() {
    check(&[
        (
            "SELECT k, sum(a) OVER (PARTITION BY b) AS x, c AS y FROM orders",
            &["x: a | k b", "y: c | k"][..],
        ),
        (
            "SELECT k, row_number() OVER (PARTITION BY k ORDER BY b) AS x FROM orders",
            &["x:  | k b"],
        ),
        (
            "SELECT k, lag(a) OVER (PARTITION BY k ORDER BY b) AS x, c AS y FROM orders",
            &["x: a | k b | a c", "y: c | k"],
        ),
        (
            "SELECT k, rank() OVER (ORDER BY b, c) AS x, a AS y FROM orders",
            &["x:  | k b c", "y: a | k"],
        ),
        (
            "SELECT k, sum(a) OVER (ORDER BY b) AS x, sum(a) OVER (ORDER BY b ROWS 2 PRECEDING) AS y FROM orders",
            &["x: a | k b", "y: a | k b | a"],
        ),
        (
            "SELECT k, a AS x FROM (SELECT k, a, row_number() OVER (PARTITION BY k ORDER BY b) AS nth FROM orders) AS q WHERE nth = 1",
            &["x: a | k b | a"],
        ),
        (
            "SELECT k, a AS x FROM orders QUALIFY row_number() OVER (PARTITION BY k ORDER BY b) = 1",
            &["x: a | k b | a"],
        ),
    ]);
}

#[test]
fn joins_are_decided_by_what_both_sides_compare() {
    check(&[
        (
            "SELECT k, a AS x, n AS y FROM orders JOIN refunds ON k = rk",
            &["x: a | k rk rat", "y: n | k rk rat"][..],
        ),
        (
            "SELECT k, a + n AS x FROM orders LEFT JOIN refunds ON k = rk AND n > b",
            &["x: a n | k b rk rat n"],
        ),
        (
            "SELECT k, n AS x FROM orders CROSS JOIN refunds",
            &["x: n | k rat"],
        ),
        (
            "SELECT o.k, max(p.a) AS x FROM orders AS o JOIN orders AS p ON o.k = p.k AND p.b < o.b JOIN refunds ON rk = o.k GROUP BY o.k",
            &["x: a | k b rk rat"],
        ),
        (
            "SELECT k, total AS x FROM orders JOIN (SELECT rk AS k, sum(n) AS total FROM refunds GROUP BY rk) AS r USING (k)",
            &["x: n | k rk rat"],
        ),
        (
            "SELECT coalesce(k, rk) AS k, n AS x FROM orders FULL JOIN refunds ON k = rk AND b = n",
            &["x: n | k b rk rat n"],
        ),
        (
            "SELECT k, x FROM orders, LATERAL (SELECT max(n) AS x FROM refunds WHERE rk = b) AS l",
            &["x: n | k b rk rat"],
        ),
    ]);
}

#[test]
fn queries_inside_queries_are_followed() {
    check(&[
        (
            "WITH r AS (SELECT rk, sum(n) AS n FROM refunds GROUP BY rk) SELECT k, a - n AS x FROM orders JOIN r ON rk = k",
            &["x: a n | k rk rat"][..],
        ),
        (
            "SELECT k, a - (SELECT max(n) FROM refunds) AS x, b AS y FROM orders",
            &["x: a n | k rat", "y: b | k"],
        ),
        (
            "SELECT k, (SELECT max(n) FROM refunds WHERE rk = k AND n < b) AS x, a AS y FROM orders",
            &["x: n | k b rk rat n", "y: a | k"],
        ),
        (
            "SELECT k, a AS x FROM orders WHERE b IN (SELECT n FROM refunds)",
            &["x: a | k b rat n"],
        ),
        (
            "SELECT k, a AS x FROM orders WHERE NOT EXISTS (SELECT 1 FROM refunds WHERE rk = k AND n > c)",
            &["x: a | k c rk rat n"],
        ),
        (
            "SELECT k, EXISTS (SELECT 1 FROM refunds WHERE rk = k) AS x FROM orders",
            &["x:  | k rk rat"],
        ),
        (
            "SELECT k, (SELECT max(n) FROM refunds WHERE n < (SELECT max(rk) FROM refunds WHERE rk < b)) AS x FROM orders",
            &["x: n | k b rk rat n"],
        ),
        (
            "SELECT k, a AS x FROM orders WHERE a > (SELECT avg(n) FROM refunds)",
            &["x: a | k a rat n"],
        ),
    ]);
}

#[test]
fn rows_of_several_queries_are_followed_side_by_side() {
    check(&[
        (
            "SELECT k, a AS x FROM orders WHERE b > 0 UNION ALL SELECT rk, n FROM refunds",
            &["x: a n | k b rk rat"][..],
        ),
        (
            "SELECT k, a AS x FROM orders UNION SELECT rk, n FROM refunds",
            &["x: a n | k a rk rat n"],
        ),
        (
            "SELECT k, a AS x FROM orders EXCEPT SELECT rk, n FROM refunds",
            &["x: a | k a rk rat n"],
        ),
        (
            "SELECT k, a AS x FROM orders INTERSECT SELECT rk, n FROM refunds",
            &["x: a | k a rk rat n"],
        ),
        (
            "SELECT k, max(a + z) AS x FROM orders CROSS JOIN (SELECT 1 AS z UNION ALL SELECT 2) AS two GROUP BY k",
            &["x: a | k"],
        ),
    ]);
}
