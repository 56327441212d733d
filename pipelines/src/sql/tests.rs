use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Instant;

use crate::testing::*;

/// A source `big` with a row of keys 1 and 2: the given integers.
fn project(first: i64, second: i64) -> (tempfile::TempDir, Definitions) {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let text = format!("k,at,n\n1,2024-01-01,{first}\n2,2024-01-02,{second}\n");
    std::fs::write(dir.path().join("big.csv"), text).expect("file");
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("n", DataType::Int64),
    ];
    add_source(&mut definitions, "big", "big.csv", &columns, "at", None);
    (dir, definitions)
}

async fn totals(definitions: &mut Definitions, text: &str) -> crate::error::Result<Vec<i64>> {
    let features = [("total", DataType::Int64)];
    add_sql(definitions, "s", "thing", &["big"], text, &features);
    let rows = rows(&session(2), definitions, "s", "2024-02-01").await?;
    let totals = rows.column_by_name("total").expect("column");
    Ok(totals.as_primitive::<Int64Type>().values().to_vec())
}

#[tokio::test]
async fn integer_arithmetic_that_does_not_fit_is_refused_wherever_it_stands() {
    for text in [
        "select k, n + 1 as total from big",
        "select k, 1 - (0 - n) as total from big",
        "select k, n * 2 as total from big",
        "select k, sum(n + 1) as total from big group by k",
        "select k, 5 as total from big where n + k > 0",
        "select k, 5 as total from (select k, n + 1 as m from big) as inner_rows where m <> 0",
        "select k, max(n + 1) over (partition by k) as total from big",
        "select a.k, 5 as total from big as a join big as b on a.k = b.k and a.n + 1 <> b.k",
    ] {
        let (_dir, mut definitions) = project(4, i64::MAX);
        let refused = totals(&mut definitions, text).await.expect_err(text);
        let refused = refused.to_string();
        assert!(refused.contains("verflow"), "{text}: {refused}");
    }
}

#[tokio::test]
async fn integer_arithmetic_that_fits_is_that_of_integers() {
    let (_dir, mut definitions) = project(40, i64::MAX);
    for (text, expected) in [
        ("select k, n - 1 as total from big", [39, i64::MAX - 1]),
        ("select k, k * 3 + 1 as total from big", [4, 7]),
        (
            "select k * 2 / 2 as k, count(*) - 1 as total from big group by k * 2 / 2",
            [0, 0],
        ),
        (
            "select k, sum(n - k) as total from big group by k",
            [39, i64::MAX - 2],
        ),
        (
            "select k, cast(n - n * 1.0 as bigint) + 2 as total from big",
            [2, 2],
        ),
    ] {
        let totals = totals(&mut definitions, text).await.expect(text);
        assert_eq!(totals, expected, "{text}");
    }
}

/// Rows of key 1 with ties in time, of which some are equal: in files as they are parted.
const TIED: [&str; 6] = [
    "1,2024-01-01,3",
    "1,2024-01-01,1",
    "1,2024-01-02,2",
    "1,2024-01-02,2",
    "1,2024-01-02,7",
    "1,2023-12-31,5",
];

async fn answer(text: &str, files: &[Vec<&str>], threads: usize) -> i64 {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    for (number, rows) in files.iter().enumerate() {
        let file = dir.path().join(format!("rows-{number}.csv"));
        std::fs::write(file, format!("k,at,n\n{}\n", rows.join("\n"))).expect("file");
    }
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("n", DataType::Int64),
    ];
    add_source(&mut definitions, "big", "rows-*.csv", &columns, "at", None);
    let features = [("total", DataType::Int64)];
    add_sql(&mut definitions, "s", "thing", &["big"], text, &features);
    let rows = rows(&session(threads), &definitions, "s", "2024-02-01").await;
    let rows = rows.expect(text);
    let totals = rows.column_by_name("total").expect("column");
    totals.as_primitive::<Int64Type>().value(0)
}

#[tokio::test]
async fn ties_of_queries_go_the_same_way_whatever_the_files_and_threads() {
    let backwards: Vec<&str> = TIED.iter().rev().copied().collect();
    let parted = [TIED[3..].to_vec(), TIED[..3].to_vec()];
    let queries = [
        "select k, first_value(n) as total from big group by k",
        "select k, last_value(n order by at) as total from big group by k",
        "select k, n as total from (select k, n, row_number() over (partition by k order by at desc) as r from big) as ranked where r = 1",
        "select k, n as total from (select k, n, lag(n) over (partition by k order by at) as before from big) as shifted where before = 2 and n <> 2",
        "select distinct on (k) k, n as total from big order by k, at desc",
        "select k, n as total from big limit 1",
        "select k, cast(string_agg(cast(n as string), '') as bigint) as total from big group by k",
        "select k, arrow_cast(stddev(n * 0.1) * 1e15, 'Int64') as total from big group by k",
        "select k, s as total from (select k, at, n, sum(n) over (partition by k order by at rows 1 preceding) as s from big) as sums order by at desc, n limit 1",
    ];
    for text in queries {
        let expected = answer(text, &[TIED.to_vec()], 1).await;
        for (files, threads) in [
            (&[backwards.clone()][..], 1),
            (&parted[..], 2),
            (&parted[..], 3),
        ] {
            assert_eq!(answer(text, files, threads).await, expected, "{text}");
        }
    }
}

#[tokio::test]
async fn sides_of_a_union_come_in_their_order_in_every_run() {
    let sides = "select k, n from big where n > 2 union all select k, n + 10 from big";
    for (text, expected) in [
        (
            format!("select k, first_value(n) as total from ({sides}) as q group by k"),
            3,
        ),
        (
            format!("select k, last_value(n) as total from ({sides}) as q group by k"),
            17,
        ),
        (
            format!("select k, n as total from ({sides}) as q limit 1"),
            3,
        ),
        (
            format!(
                "select k, n as total from (select k, n, row_number() over (order by k) as nth from ({sides}) as q) as r where nth = 4"
            ),
            11,
        ),
        (
            format!(
                "select a.k, last_value(a.n) as total from ({sides}) as a join big as b on a.k = b.k and b.n = 7 group by a.k"
            ),
            17,
        ),
    ] {
        // Side by side they would come in another order in one run in four.
        for _ in 0..12 {
            assert_eq!(answer(&text, &[TIED.to_vec()], 2).await, expected, "{text}");
        }
    }
}

#[tokio::test]
async fn zero_and_minus_zero_are_one_value_whatever_the_threads() {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    for file in 0..3 {
        let rows = (0..20_000).map(|row| {
            let zero = if row % 2 == 0 { "0.0" } else { "-0.0" };
            format!("{},2024-01-01,{zero}\n", row % 7)
        });
        let text = format!("k,at,f\n{}", rows.collect::<String>());
        std::fs::write(dir.path().join(format!("rows-{file}.csv")), text).expect("file");
    }
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("f", DataType::Float64),
    ];
    add_source(&mut definitions, "big", "rows-*.csv", &columns, "at", None);
    let features = [("total", DataType::Int64)];
    for (view, text) in [
        (
            "a",
            "select k, count(distinct f) as total from big where f = 0 group by k",
        ),
        (
            "b",
            "select k, count(*) as total from (select k, f from big group by k, f) as g group by k",
        ),
        (
            "c",
            "select k, count(distinct f) as total from big group by k",
        ),
    ] {
        add_sql(&mut definitions, view, "thing", &["big"], text, &features);
        for threads in [1, 2, 4] {
            let rows = rows(&session(threads), &definitions, view, "2024-02-01").await;
            let rows = rows.expect(text);
            let totals = rows.column_by_name("total").expect("column");
            assert_eq!(
                totals.as_primitive::<Int64Type>().values(),
                &[1; 7],
                "{text}, {threads}"
            );
        }
    }
}

#[tokio::test]
async fn a_division_by_zero_says_what_to_write() {
    let (_dir, mut definitions) = project(40, 0);
    let text = "select k, 10 / n as total from big";
    let refused = totals(&mut definitions, text).await.expect_err("refused");
    let said = refused.to_string();
    assert!(
        said.starts_with("`s`: the SQL in ")
            && said.ends_with(
                "failed: a division by zero: write `a / nullif(b, 0)`, which is null there"
            ),
        "{said}"
    );
}

#[tokio::test]
async fn times_of_any_unit_with_a_zone_become_instants_without_loss() {
    let (_dir, mut definitions) = project(1, 2);
    let features = [("total", DataType::Timestamp)];
    for (written, instant) in [
        (
            "cast('2026-02-03 10:30:00' as timestamp) at time zone 'Europe/Vienna'",
            "2026-02-03T09:30:00Z",
        ),
        (
            "cast('2026-02-03T10:30:00.000001Z' as timestamptz)",
            "2026-02-03T10:30:00.000001Z",
        ),
        (
            "cast('2026-02-03 10:30:00' as timestamp(0)) at time zone 'UTC'",
            "2026-02-03T10:30:00Z",
        ),
        ("date_trunc('month', $as_of)", "2024-02-01T00:00:00Z"),
    ] {
        let text = format!("select k, {written} as total from big");
        add_sql(&mut definitions, "s", "thing", &["big"], &text, &features);
        let rows = rows(&session(2), &definitions, "s", "2024-02-01").await;
        let rows = rows.expect(written);
        let times = rows.column_by_name("total").expect("column");
        let micros = times.as_primitive::<TimestampMicrosecondType>().value(1);
        assert_eq!(
            Instant::from_micros(micros).to_string(),
            instant,
            "{written}"
        );
    }
    let finer = "select k, cast('2026-02-03T10:30:00.000000001Z' as timestamptz) as total from big";
    add_sql(&mut definitions, "s", "thing", &["big"], finer, &features);
    let refused = rows(&session(2), &definitions, "s", "2024-02-01").await;
    let said = refused.expect_err("finer than microseconds").to_string();
    assert!(said.contains("does not fit `timestamp`"), "{said}");
}
