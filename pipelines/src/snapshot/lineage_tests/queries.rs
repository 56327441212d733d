//! Queries that give one row a key `k`, with two integers `x` and `y`.

use rand::Rng;
use rand::rngs::StdRng;

/// Each shows one way in which a column can matter.
pub(super) const BY_HAND: [&str; 32] = [
    "SELECT k, sum(a) AS x, count(*) AS y FROM orders GROUP BY k",
    "SELECT k, sum(a) FILTER (WHERE b > 1) AS x, min(c) AS y FROM orders GROUP BY k",
    "SELECT k, sum(a + b) AS x, count(c) AS y FROM orders WHERE c > 0 OR b IS NULL GROUP BY k",
    "SELECT k, sum(a) AS x, max(b) AS y FROM orders GROUP BY k HAVING min(c) > 0",
    "SELECT k, sum(CASE WHEN a > 1 THEN b ELSE c END) AS x, count(DISTINCT a) AS y FROM orders GROUP BY k",
    "SELECT k + a AS k, count(*) AS x, sum(b) AS y FROM orders GROUP BY k + a",
    "SELECT k, first_value(a) AS x, max(b) AS y FROM orders GROUP BY k",
    "SELECT k, first_value(a ORDER BY b) AS x, last_value(b ORDER BY at) AS y FROM orders GROUP BY k",
    "SELECT k, a AS x, c AS y FROM (SELECT k, a, c, row_number() OVER (PARTITION BY k ORDER BY b DESC) AS nth FROM orders) AS q WHERE nth = 1",
    "SELECT k, a AS x, b AS y FROM orders QUALIFY row_number() OVER (PARTITION BY k ORDER BY at) = 1",
    "SELECT DISTINCT ON (k) k, a AS x, b AS y FROM orders ORDER BY k, c",
    "SELECT k, sum(x) AS x, sum(a) AS y FROM (SELECT k, a, lag(b) OVER (PARTITION BY k ORDER BY at) AS x FROM orders) AS q GROUP BY k",
    "SELECT k, sum(x) AS x, max(y) AS y FROM (SELECT k, sum(a) OVER (PARTITION BY b) AS x, cast(rank() OVER (ORDER BY c) AS bigint) AS y FROM orders) AS q GROUP BY k",
    "SELECT k, max(x) AS x, min(x) AS y FROM (SELECT k, sum(a) OVER (PARTITION BY k ORDER BY b ROWS 1 PRECEDING) AS x FROM orders) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT * FROM orders ORDER BY b DESC LIMIT 5) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT * FROM orders LIMIT 5) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT DISTINCT k, a FROM orders) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, sum(n) AS y FROM orders JOIN refunds ON k = rk GROUP BY k",
    "SELECT k, sum(a) AS x, sum(n) AS y FROM orders LEFT JOIN refunds ON k = rk AND n > b GROUP BY k",
    "SELECT coalesce(k, rk) AS k, sum(a) AS x, sum(n) AS y FROM orders FULL JOIN refunds ON k = rk GROUP BY coalesce(k, rk)",
    "SELECT o.k, sum(p.a) AS x, count(*) AS y FROM orders AS o JOIN orders AS p ON o.k = p.k AND o.b < p.c GROUP BY o.k",
    "SELECT k, sum(a) AS x, max(m) AS y FROM (SELECT k, a, (SELECT max(n) FROM refunds WHERE rk = k) AS m FROM orders) AS q GROUP BY k",
    "SELECT k, sum(a) + (SELECT count(*) FROM refunds WHERE n > 0) AS x, max(b) AS y FROM orders GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM orders WHERE b IN (SELECT n FROM refunds) GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM orders WHERE b NOT IN (SELECT n FROM refunds WHERE n IS NOT NULL) GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM orders WHERE EXISTS (SELECT 1 FROM refunds WHERE rk = k AND n > c) GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT k, a FROM orders UNION ALL SELECT rk, n FROM refunds) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT k, a FROM orders EXCEPT SELECT rk, n FROM refunds) AS q GROUP BY k",
    "SELECT k, sum(a) AS x, count(*) AS y FROM (SELECT k, a FROM orders INTERSECT SELECT rk, n FROM refunds) AS q GROUP BY k",
    "WITH r AS (SELECT rk, sum(n) AS n FROM refunds GROUP BY rk), o AS (SELECT k, max(a) AS a FROM orders WHERE b > 0 GROUP BY k) SELECT k, a - n AS x, n AS y FROM o JOIN r ON rk = k",
    "SELECT coalesce(k, -1) AS k, max(a) AS x, sum(c) AS y FROM orders GROUP BY GROUPING SETS ((k), ()) HAVING grouping(k) = 0 AND k IS NOT NULL",
    "SELECT o.k, max(o.a) AS x, max(l.m) AS y FROM orders AS o, LATERAL (SELECT max(n) AS m FROM refunds WHERE rk = o.b) AS l GROUP BY o.k",
];

/// A query of queries.
pub(super) fn by_chance(random: &mut StdRng) -> String {
    let depth = random.random_range(1..4);
    let rows = relation(random, depth);
    let (first, second) = (aggregate(random), aggregate(random));
    format!("SELECT k, {first} AS x, {second} AS y FROM {rows} AS q GROUP BY k")
}

fn one_of<'t>(random: &mut StdRng, texts: &[&'t str]) -> &'t str {
    texts[random.random_range(0..texts.len())]
}

/// A query in parentheses that gives integers `k`, `x`, `y` and `z`.
fn relation(random: &mut StdRng, depth: usize) -> String {
    if depth == 0 {
        return base(random);
    }
    let rows = relation(random, depth - 1);
    match random.random_range(0..12) {
        0 => {
            let values = [expression(random), expression(random), expression(random)];
            let [x, y, z] = values;
            format!("(SELECT k, {x} AS x, {y} AS y, {z} AS z FROM {rows} AS q)")
        }
        1 => format!("(SELECT * FROM {rows} AS q WHERE {})", predicate(random)),
        2 => {
            let (x, y) = (aggregate(random), aggregate(random));
            let having = one_of(random, &["", " HAVING max(z) > 1", " HAVING count(*) > 1"]);
            format!(
                "(SELECT k, {x} AS x, {y} AS y, count(*) AS z FROM {rows} AS q GROUP BY k{having})"
            )
        }
        3 => {
            let other = relation(random, depth / 2);
            let join = one_of(random, &["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            let on = one_of(random, &["", " AND l.x < r.y", " AND l.z = r.z"]);
            format!(
                "(SELECT coalesce(l.k, r.k) AS k, l.x, r.y, coalesce(l.z, 0) + r.z AS z FROM {rows} AS l {join} {other} AS r ON l.k = r.k{on})"
            )
        }
        4 => {
            let other = relation(random, depth / 2);
            let set = one_of(random, &["UNION ALL", "UNION", "EXCEPT", "INTERSECT"]);
            format!(
                "(SELECT k, x, y, z FROM {rows} AS l {set} SELECT k, x, y, z FROM {other} AS r)"
            )
        }
        5 => format!("(SELECT DISTINCT k, x, y % 2 AS y, z % 2 AS z FROM {rows} AS q)"),
        6 | 7 => {
            let window = window(random);
            format!("(SELECT k, x, cast({window} AS bigint) AS y, z FROM {rows} AS q)")
        }
        8 => {
            let order = one_of(random, &["", " ORDER BY x", " ORDER BY y DESC, k"]);
            format!("(SELECT * FROM {rows} AS q{order} LIMIT 4)")
        }
        9 => format!("(SELECT DISTINCT ON (k, z) k, x, y, z FROM {rows} AS q ORDER BY k, z, y)"),
        10 => {
            let other = relation(random, depth / 2);
            let function = one_of(random, &["max(i.y)", "count(*)", "sum(i.x)"]);
            let filter = one_of(random, &["i.k = q.k", "i.z = q.z AND i.y > 0", "i.x > 1"]);
            format!(
                "(SELECT k, x, (SELECT {function} FROM {other} AS i WHERE {filter}) AS y, z FROM {rows} AS q)"
            )
        }
        _ => {
            let other = relation(random, depth / 2);
            let test = [
                format!("EXISTS (SELECT 1 FROM {other} AS i WHERE i.k = q.k)"),
                format!("NOT EXISTS (SELECT 1 FROM {other} AS i WHERE i.k = q.k AND i.y > 1)"),
                format!("x IN (SELECT y FROM {other} AS i)"),
                format!("z > (SELECT min(z) FROM {other} AS i)"),
            ];
            let test = &test[random.random_range(0..test.len())];
            format!("(SELECT * FROM {rows} AS q WHERE {test})")
        }
    }
}

fn base(random: &mut StdRng) -> String {
    let rows = [
        "(SELECT k, a AS x, b AS y, c AS z FROM orders)",
        "(SELECT k, a AS x, b AS y, c AS z FROM orders)",
        "(SELECT k, c AS x, a AS y, 1 AS z FROM orders WHERE b > 0)",
        "(SELECT rk AS k, n AS x, n % 3 AS y, 2 AS z FROM refunds)",
    ];
    one_of(random, &rows).to_owned()
}

fn expression(random: &mut StdRng) -> &'static str {
    let expressions = [
        "x",
        "y",
        "z",
        "x + y",
        "y - z",
        "coalesce(x, z)",
        "CASE WHEN x > y THEN z ELSE x END",
        "nullif(x, y)",
        "7",
        "abs(y)",
        "CASE WHEN z IS NULL THEN 1 ELSE 0 END",
    ];
    one_of(random, &expressions)
}

fn predicate(random: &mut StdRng) -> &'static str {
    let predicates = [
        "x > 1",
        "y IS NOT NULL",
        "z BETWEEN 0 AND 3",
        "x <> y",
        "x IN (1, 2, y)",
        "NOT (z > 2 AND y < 3)",
    ];
    one_of(random, &predicates)
}

fn aggregate(random: &mut StdRng) -> &'static str {
    let aggregates = [
        "sum(x)",
        "sum(y)",
        "max(z)",
        "count(*)",
        "count(y)",
        "min(x + z)",
        "count(DISTINCT y)",
        "sum(x) FILTER (WHERE z > 0)",
        "first_value(x)",
        "last_value(y ORDER BY z)",
        "sum(z)",
    ];
    one_of(random, &aggregates)
}

fn window(random: &mut StdRng) -> String {
    let function = one_of(
        random,
        &[
            "row_number()",
            "rank()",
            "dense_rank()",
            "sum(x)",
            "max(y)",
            "count(*)",
            "lag(x)",
            "lead(y)",
            "first_value(z)",
            "ntile(3)",
            "nth_value(y, 2)",
        ],
    );
    let partition = one_of(random, &["", "PARTITION BY k ", "PARTITION BY k, z "]);
    let order = one_of(random, &["ORDER BY y", "ORDER BY z DESC, x", "ORDER BY x"]);
    let aggregate = function.starts_with("sum") || function.starts_with("max");
    let frames = [
        "",
        " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
        " ROWS UNBOUNDED PRECEDING",
    ];
    let frame = if aggregate {
        one_of(random, &frames)
    } else {
        ""
    };
    format!("{function} OVER ({partition}{order}{frame})")
}
