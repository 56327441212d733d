use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Float64Type, Int64Type};
use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Ttl;

use crate::testing::*;

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).expect("column")
}

fn total(batch: &RecordBatch, name: &str) -> i64 {
    column(batch, name)
        .as_primitive::<Int64Type>()
        .iter()
        .flatten()
        .sum()
}

#[tokio::test]
async fn cdnow_totals_are_the_published_ones() {
    let mut definitions = cdnow();
    let aggregates = [
        ("orders", F::Count, None),
        ("spend", F::Sum, Some("amount_cents")),
        ("days", F::DistinctCount, Some("purchase_date")),
    ];
    add_windows(
        &mut definitions,
        "spend",
        "customer",
        "purchases",
        &aggregates,
        &["lifetime", "30d"],
    );
    let text = "select customer_id, count(*) as orders, sum(amount_cents) as spend from purchases group by customer_id";
    let features = [("orders", DataType::Int64), ("spend", DataType::Int64)];
    add_sql(
        &mut definitions,
        "plain",
        "customer",
        &["purchases"],
        text,
        &features,
    );

    let windows = rows(&session(2), &definitions, "spend", "1997-10-01")
        .await
        .expect("rows");
    assert_eq!(windows.num_rows(), 23_570);
    assert_eq!(total(&windows, "orders_lifetime"), 49_086);
    assert_eq!(total(&windows, "spend_lifetime"), 172_335_450);
    let sql = rows(&session(2), &definitions, "plain", "1997-10-01")
        .await
        .expect("rows");
    for (ours, theirs) in [("orders_lifetime", "orders"), ("spend_lifetime", "spend")] {
        assert_eq!(column(&windows, ours), column(&sql, theirs));
    }
    let keys = column(&sql, "customer_id").as_primitive::<Int64Type>();
    assert!(keys.values().is_sorted());
}

#[tokio::test]
async fn the_same_bytes_come_from_any_number_of_threads_and_little_memory() {
    let mut definitions = cdnow();
    let text = "select customer_id, sum(amount_cents / 7.0) as odd, avg(amount_cents * 0.1) as mean, \
                stddev(amount_cents / 3.0) as spread, date_part('day', $as_of - max(purchase_date)) as age \
                from purchases group by customer_id";
    let features = [
        ("odd", DataType::Float64),
        ("mean", DataType::Float64),
        ("spread", DataType::Float64),
        ("age", DataType::Int32),
    ];
    add_sql(
        &mut definitions,
        "odd",
        "customer",
        &["purchases"],
        text,
        &features,
    );
    let aggregates = [
        ("last", F::Last, Some("amount_cents")),
        ("mean", F::Mean, Some("amount_cents")),
    ];
    add_windows(
        &mut definitions,
        "recent",
        "customer",
        "purchases",
        &aggregates,
        &["90d", "lifetime"],
    );
    for (view, little) in [("odd", 48 << 20), ("recent", 12 << 20)] {
        let one = rows(&session(1), &definitions, view, "1997-10-01")
            .await
            .expect("rows");
        for session in [session(2), session(8), session_with(2, little)] {
            let other = rows(&session, &definitions, view, "1997-10-01")
                .await
                .expect("rows");
            assert!(one == other, "{view}");
        }
    }
}

/// A project with one table of numbers: key, event time, created time, value.
fn small(rows: &[(i64, &str, &str, Option<f64>)]) -> (tempfile::TempDir, Definitions) {
    let dir = tempfile::tempdir().expect("dir");
    write_rows(dir.path(), "a", rows);
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("known", DataType::Timestamp),
        ("v", DataType::Float64),
        ("w", DataType::String),
    ];
    add_source(
        &mut definitions,
        "facts",
        "data/*.parquet",
        &columns,
        "at",
        Some("known"),
    );
    (dir, definitions)
}

fn write_rows(root: &std::path::Path, file: &str, rows: &[(i64, &str, &str, Option<f64>)]) {
    let keys: Int64Array = rows.iter().map(|row| Some(row.0)).collect();
    let values: Float64Array = rows.iter().map(|row| row.3).collect();
    let texts: StringArray = rows.iter().map(|row| Some(format!("w{}", row.1))).collect();
    let columns = vec![
        ("w", Arc::new(texts) as ArrayRef),
        ("v", Arc::new(values) as ArrayRef),
        (
            "at",
            times(&rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        ),
        (
            "known",
            times(&rows.iter().map(|row| row.2).collect::<Vec<_>>()),
        ),
        ("k", Arc::new(keys) as ArrayRef),
    ];
    write_parquet(&root.join(format!("data/{file}.parquet")), columns);
}

#[tokio::test]
async fn pit_02_exact_duplicates_give_one_row() {
    let again = [(
        1,
        "2024-01-01T09:00:00Z",
        "2024-01-01T09:05:00Z",
        Some(10.0),
    )];
    let (dir, mut definitions) = small(&again);
    write_rows(dir.path(), "b", &again);
    write_rows(dir.path(), "c", &again);
    write_rows(
        dir.path(),
        "d",
        &[(1, "2024-01-01T08:00:00Z", "2024-01-01T08:01:00Z", Some(9.0))],
    );
    add_latest(
        &mut definitions,
        "newest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["v"],
    );
    let rows = rows(&session(2), &definitions, "newest", "2024-01-01T10:00:00Z")
        .await
        .expect("rows");
    assert_eq!(shown(&rows), ["1 2024-01-01T09:00:00Z 10.0"]);
}

#[tokio::test]
async fn pit_06_a_null_is_observed_and_columns_come_from_one_row() {
    let (_dir, mut definitions) = small(&[
        (
            1,
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00Z",
            Some(42.0),
        ),
        (1, "2024-01-01T01:00:00Z", "2024-01-01T01:00:00Z", None),
    ]);
    add_latest(
        &mut definitions,
        "newest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["v", "w"],
    );
    let rows = rows(&session(2), &definitions, "newest", "2024-01-01T02:00:00Z")
        .await
        .expect("rows");
    assert_eq!(
        shown(&rows),
        ["1 2024-01-01T01:00:00Z null w2024-01-01T01:00:00Z"]
    );
}

#[tokio::test]
async fn latest_rows_are_visible_at_as_of_once_known_and_ties_go_by_created_time_then_value() {
    let (_dir, mut definitions) = small(&[
        (1, "2024-01-02", "2024-01-02", Some(1.0)),
        (1, "2024-01-02", "2024-01-03", Some(0.0)),
        (1, "2024-01-02", "2024-01-05", Some(9.0)),
        (2, "2024-01-04", "2024-01-04", Some(5.0)),
        (2, "2024-01-04", "2024-01-04", Some(6.0)),
        (2, "2024-01-04", "2024-01-04", None),
        (3, "2024-01-05", "2024-01-04", Some(1.0)),
    ]);
    add_latest(
        &mut definitions,
        "newest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["v"],
    );
    let rows = rows(&session(3), &definitions, "newest", "2024-01-04")
        .await
        .expect("rows");
    assert_eq!(
        shown(&rows),
        ["1 2024-01-02T00:00:00Z 0.0", "2 2024-01-04T00:00:00Z 6.0"]
    );
}

#[tokio::test]
async fn win_03_counts_of_nothing_are_zero_and_other_aggregates_null() {
    let (_dir, mut definitions) = small(&[
        (2, "2024-01-09", "2024-01-09", None),
        (2, "2024-01-09", "2024-01-09", None),
        (3, "2024-01-09", "2024-01-09", Some(1.0)),
        (3, "2024-01-09", "2024-01-09", Some(1.0)),
        (3, "2024-01-08", "2024-01-08", None),
        (3, "2024-01-03", "2024-01-03", Some(2.0)),
        (4, "2024-01-02", "2024-01-02", Some(2.0)),
        (5, "2024-01-10", "2024-01-10", Some(2.0)),
    ]);
    let aggregates = [
        ("values", F::Count, Some("v")),
        ("rows", F::Count, None),
        ("distinct", F::DistinctCount, Some("v")),
        ("sum", F::Sum, Some("v")),
        ("mean", F::Mean, Some("v")),
        ("least", F::Min, Some("v")),
        ("last", F::Last, Some("v")),
    ];
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "facts",
        &aggregates,
        &["7d"],
    );
    let rows = rows(&session(2), &definitions, "w", "2024-01-10")
        .await
        .expect("rows");
    let expected = [
        "2 2024-01-10T00:00:00Z 0 2 0 null null null null",
        "3 2024-01-10T00:00:00Z 3 4 2 4.0 1.3333333333333333 1.0 1.0",
        "4 2024-01-10T00:00:00Z 0 0 0 null null null null",
    ];
    assert_eq!(shown(&rows), expected);
}

#[tokio::test]
async fn sums_beyond_their_type_are_errors_that_name_view_feature_and_key() {
    let (dir, mut definitions) = small(&[]);
    std::fs::write(
        dir.path().join("big.csv"),
        "k,at,n\n7,2024-01-01,9223372036854775807\n7,2024-01-02,1\n",
    )
    .expect("file");
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("n", DataType::Int64),
    ];
    add_source(&mut definitions, "big", "big.csv", &columns, "at", None);
    let aggregates = [("sum", F::Sum, Some("n")), ("mean", F::Mean, Some("n"))];
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "big",
        &aggregates,
        &["7d", "lifetime"],
    );
    let error = rows(&session(2), &definitions, "w", "2024-02-01")
        .await
        .expect_err("overflow");
    assert_eq!(
        error.to_string(),
        "`w.sum_lifetime` of `k 7`: the sum 9223372036854775808 does not fit `int64`"
    );
    let text = "select k, sum(n) as total from big group by k";
    add_sql(
        &mut definitions,
        "s",
        "thing",
        &["big"],
        text,
        &[("total", DataType::Int64)],
    );
    let error = rows(&session(2), &definitions, "s", "2024-02-01")
        .await
        .expect_err("overflow");
    assert!(
        error
            .to_string()
            .starts_with("`s`: the SQL in `s.sql` failed"),
        "{error}"
    );
    assert!(error.to_string().contains("9223372036854775808"), "{error}");
}

#[tokio::test]
async fn keys_of_queries_are_single_and_values_fit() {
    let (_dir, mut definitions) = small(&[
        (1, "2024-01-01", "2024-01-01", Some(3e9)),
        (1, "2024-01-02", "2024-01-02", Some(2.0)),
    ]);
    let feature = [("v", DataType::Int32)];
    for (view, text, message) in [
        (
            "twice",
            "select k, 1 as v from facts",
            "more than one row for `k 1`",
        ),
        (
            "big",
            "select k, max(v) as v from facts group by k",
            "`big.v` of `k 1`: 3000000000.0 does not fit `int32`",
        ),
    ] {
        add_sql(&mut definitions, view, "thing", &["facts"], text, &feature);
        let error = rows(&session(2), &definitions, view, "2024-02-01")
            .await
            .expect_err(view);
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn float_sums_of_queries_do_not_depend_on_order() {
    let (_dir, mut definitions) = small(&[
        (1, "2024-01-01", "2024-01-01", Some(1e16)),
        (1, "2024-01-02", "2024-01-02", Some(1.0)),
        (1, "2024-01-03", "2024-01-03", Some(-1e16)),
        (1, "2024-01-04", "2024-01-04", Some(1.0)),
    ]);
    let text =
        "select k, sum(v) as total, avg(v) as mean, sum(distinct v) as once from facts group by k";
    let features = [
        ("total", DataType::Float64),
        ("mean", DataType::Float64),
        ("once", DataType::Float64),
    ];
    add_sql(&mut definitions, "s", "thing", &["facts"], text, &features);
    let rows = rows(&session(4), &definitions, "s", "2024-02-01")
        .await
        .expect("rows");
    let value = |name| column(&rows, name).as_primitive::<Float64Type>().value(0);
    assert_eq!(
        (value("total"), value("mean"), value("once")),
        (2.0, 0.5, 1.0)
    );
}

#[tokio::test]
async fn strings_are_sorted_by_canonical_key_bytes() {
    let (dir, mut definitions) = small(&[]);
    std::fs::write(
        dir.path().join("t.csv"),
        "at,s\n2024-01-01,b\n2024-01-01,aa\n2024-01-01,\"\"\n2024-01-01,\n",
    )
    .expect("file");
    add_entity(&mut definitions, "word", &[("s", DataType::String)]);
    add_source(
        &mut definitions,
        "words",
        "t.csv",
        &[("s", DataType::String), ("at", DataType::Date)],
        "at",
        None,
    );
    add_windows(
        &mut definitions,
        "w",
        "word",
        "words",
        &[("n", F::Count, None)],
        &["lifetime"],
    );
    let rows = rows(&session(2), &definitions, "w", "2024-01-02")
        .await
        .expect("rows");
    let time = "2024-01-02T00:00:00Z";
    assert_eq!(
        shown(&rows),
        [
            format!(" {time} 1"),
            format!("b {time} 1"),
            format!("aa {time} 1")
        ]
    );
}

#[tokio::test]
async fn wrong_files_are_refused_by_file_column_and_place() {
    let (dir, mut definitions) = small(&[]);
    add_latest(
        &mut definitions,
        "newest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["v"],
    );
    let refused = async |definitions: &Definitions, view: &'static str| {
        rows(&session(2), definitions, view, "2024-01-02")
            .await
            .expect_err("refused")
            .to_string()
    };
    std::fs::write(dir.path().join("data/z.parquet"), "PAR1 no more").expect("file");
    let message = refused(&definitions, "newest").await;
    assert!(
        message.starts_with("`data/z.parquet`: is not a Parquet file, or is cut off"),
        "{message}"
    );
    let narrow = vec![
        ("k", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("at", times(&["2024-01-01"])),
    ];
    write_parquet(&dir.path().join("data/z.parquet"), narrow);
    let message = refused(&definitions, "newest").await;
    assert!(
        message.contains("`data/z.parquet`: has no column `known`"),
        "{message}"
    );

    std::fs::write(
        dir.path().join("t.csv"),
        "k,at\n1,2024-01-01\nx,2024-01-01\n",
    )
    .expect("file");
    add_source(
        &mut definitions,
        "text",
        "t.csv",
        &[("k", DataType::Int64), ("at", DataType::Date)],
        "at",
        None,
    );
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "text",
        &[("n", F::Count, None)],
        &["lifetime"],
    );
    let message = refused(&definitions, "w").await;
    assert_eq!(
        message,
        "`t.csv`: line 3, column `k`: `x` is not an int64: write a whole number, like `42`"
    );
    std::fs::write(dir.path().join("t.csv"), "k,at\n1,2024-01-01\n1,\n").expect("file");
    let message = refused(&definitions, "w").await;
    assert_eq!(
        message,
        "`t.csv`: column `at`, row 2: the event time is null"
    );
}
