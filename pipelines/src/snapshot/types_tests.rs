//! Types that files hold in more than one way: each view sees the same values whatever the file.

use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, Float16Array, RecordBatch, StringArray};
use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::float16::nearest;
use feature_defs::time::Ttl;
use feature_defs::value::uuid;

use crate::testing::*;

const ONE: &str = "0b9d2c3e-0000-4000-8000-000000000001";
const TWO: &str = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

/// A project of things by uuid, whose rows are in `file`.
fn things(root: &std::path::Path, file: &str) -> Definitions {
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("id", DataType::Uuid)]);
    let columns = [
        ("id", DataType::Uuid),
        ("at", DataType::Timestamp),
        ("other", DataType::Uuid),
        ("score", DataType::Float16),
    ];
    add_source(&mut definitions, "facts", file, &columns, "at", None);
    definitions
}

const ROWS: [(&str, &str, Option<&str>, Option<f64>); 4] = [
    (TWO, "2024-01-01T00:00:00Z", Some(ONE), Some(0.1)),
    (TWO, "2024-01-02T00:00:00Z", Some(TWO), Some(65_504.0)),
    (ONE, "2024-01-01T00:00:00Z", None, None),
    (ONE, "2024-01-03T00:00:00Z", Some(TWO), Some(-2.5)),
];

fn csv(root: &std::path::Path) -> Definitions {
    let mut text = "id,at,other,score\n".to_owned();
    for (id, at, other, score) in ROWS {
        let score = score.map(|score| score.to_string()).unwrap_or_default();
        let id = id.to_uppercase();
        text.push_str(&format!(
            "{id},{at},{},{score}\n",
            other.unwrap_or_default()
        ));
    }
    std::fs::write(root.join("facts.csv"), text).expect("file");
    things(root, "facts.csv")
}

fn parquet(root: &std::path::Path, uuids_as_text: bool) -> Definitions {
    let uuids = |texts: Vec<Option<&str>>| -> ArrayRef {
        if uuids_as_text {
            return Arc::new(StringArray::from(texts));
        }
        let bytes = texts.into_iter().map(|text| text.and_then(uuid::parse));
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, 16).expect("uuids"))
    };
    let times: Vec<&str> = ROWS.iter().map(|row| row.1).collect();
    let scores: Float16Array = ROWS.iter().map(|row| row.3.map(nearest)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", uuids(ROWS.iter().map(|row| Some(row.0)).collect())),
        ("at", crate::testing::times(&times)),
        ("other", uuids(ROWS.iter().map(|row| row.2).collect())),
        ("score", Arc::new(scores)),
    ];
    let file = if uuids_as_text {
        "text.parquet"
    } else {
        "facts.parquet"
    };
    write_parquet(&root.join(file), columns);
    things(root, file)
}

async fn views(mut definitions: Definitions) -> [RecordBatch; 3] {
    let aggregates = [
        ("sum", F::Sum, Some("score")),
        ("mean", F::Mean, Some("score")),
        ("max", F::Max, Some("score")),
        ("last", F::Last, Some("other")),
        ("least", F::Min, Some("other")),
        ("others", F::DistinctCount, Some("other")),
    ];
    add_windows(
        &mut definitions,
        "windows",
        "thing",
        "facts",
        &aggregates,
        &["lifetime"],
    );
    add_latest(
        &mut definitions,
        "latest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["other", "score"],
    );
    let text = "select id, max(other) as other, sum(score) as total, max(score) as score, \
                count(distinct other) as others from facts group by id";
    let features = [
        ("other", DataType::Uuid),
        ("total", DataType::Float64),
        ("score", DataType::Float16),
        ("others", DataType::Int64),
    ];
    add_sql(
        &mut definitions,
        "sql",
        "thing",
        &["facts"],
        text,
        &features,
    );
    let mut found = Vec::new();
    for view in ["windows", "latest", "sql"] {
        found.push(
            rows(&session(2), &definitions, view, "2024-02-01")
                .await
                .expect(view),
        );
    }
    found.try_into().expect("three views")
}

#[tokio::test]
async fn uuids_and_halves_are_the_same_from_every_file() {
    let dir = tempfile::tempdir().expect("dir");
    let from_csv = views(csv(dir.path())).await;
    for uuids_as_text in [false, true] {
        let from_parquet = views(parquet(dir.path(), uuids_as_text)).await;
        assert_eq!(from_parquet, from_csv);
    }
    let [windows, latest, sql] = from_csv;
    let one = "0b9d2c3e000040008000000000000001";
    let two = "f81d4fae7dec11d0a76500a0c91e6bf6";
    assert_eq!(
        shown(&windows),
        [
            format!("{one} 2024-02-01T00:00:00Z -2.5 -2.5 -2.5 {two} {two} 1"),
            format!(
                "{two} 2024-02-01T00:00:00Z 65504.09997558594 32752.04998779297 65504 {two} {one} 2"
            ),
        ]
    );
    assert_eq!(
        shown(&latest),
        [
            format!("{one} 2024-01-03T00:00:00Z {two} -2.5"),
            format!("{two} 2024-01-02T00:00:00Z {two} 65504"),
        ]
    );
    assert_eq!(
        shown(&sql),
        [
            format!("{one} 2024-02-01T00:00:00Z {two} -2.5 -2.5 1"),
            format!("{two} 2024-02-01T00:00:00Z {two} 65504.09997558594 65504 2"),
        ]
    );
}

#[tokio::test]
async fn a_text_that_is_no_uuid_is_refused_by_file_column_and_row() {
    let dir = tempfile::tempdir().expect("dir");
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec![ONE, "7"]))),
        ("at", crate::testing::times(&["2024-01-01", "2024-01-02"])),
    ];
    for (name, values) in [("other", vec![ONE, TWO]), ("score", vec!["1", "2"])] {
        columns.push((name, Arc::new(StringArray::from(values))));
    }
    columns[3].1 = Arc::new(Float16Array::from(vec![nearest(1.0), nearest(2.0)]));
    write_parquet(&dir.path().join("facts.parquet"), columns);
    let mut definitions = things(dir.path(), "facts.parquet");
    add_latest(
        &mut definitions,
        "latest",
        "thing",
        "facts",
        Ttl::Unlimited,
        &["score"],
    );
    let refused = rows(&session(1), &definitions, "latest", "2024-02-01").await;
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "`facts.parquet`: column `id`, row 2: `7` is no uuid, like `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`"
    );
}

#[tokio::test]
async fn what_a_half_cannot_hold_is_refused_by_view_feature_and_key() {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = csv(dir.path());
    let text = "select id, max(score) + 100 as score from facts group by id";
    let features = [("score", DataType::Float16)];
    add_sql(
        &mut definitions,
        "sql",
        "thing",
        &["facts"],
        text,
        &features,
    );
    let refused = rows(&session(1), &definitions, "sql", "2024-02-01").await;
    let refused = refused.expect_err("refused").to_string();
    let said = format!("`sql.score` of `id {TWO}`: 65604.0 does not fit `float16`");
    assert_eq!(refused, said);
}

#[tokio::test]
async fn queries_compare_uuids_with_their_digits() {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = csv(dir.path());
    let text = "select id, count(*) as n from facts \
                where id = X'f81d4fae7dec11d0a76500a0c91e6bf6' and other <= id group by id";
    add_sql(
        &mut definitions,
        "sql",
        "thing",
        &["facts"],
        text,
        &[("n", DataType::Int64)],
    );
    let found = rows(&session(1), &definitions, "sql", "2024-02-01").await;
    let two = "f81d4fae7dec11d0a76500a0c91e6bf6";
    assert_eq!(
        shown(&found.expect("rows")),
        [format!("{two} 2024-02-01T00:00:00Z 2")]
    );
}
