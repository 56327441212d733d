use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;

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
