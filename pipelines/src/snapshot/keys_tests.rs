//! Rows without a key describe nobody: every kind of view passes over them, and says how many.

use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::time::Ttl;
use futures::TryStreamExt;

use super::compute;
use crate::testing::*;

#[tokio::test]
async fn rows_without_a_key_are_passed_over_and_counted() {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = definitions(dir.path());
    let parts = [("k", DataType::Int64), ("shop", DataType::String)];
    add_entity(&mut definitions, "thing", &parts);
    let text = "k,shop,at,n\n1,a,2024-01-01,5\n,a,2024-01-01,6\n1,,2024-01-02,7\n2,b,2024-01-03,8\n,,2024-01-03,8\n";
    std::fs::write(dir.path().join("facts.csv"), text).expect("file");
    let columns = [
        ("k", DataType::Int64),
        ("shop", DataType::String),
        ("at", DataType::Timestamp),
        ("n", DataType::Int64),
    ];
    add_source(&mut definitions, "facts", "facts.csv", &columns, "at", None);
    let aggregates = [("n", F::Sum, Some("n"))];
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
        &["n"],
    );
    let text = "select k, shop, sum(n) as n from facts group by k, shop";
    let features = [("n", DataType::Int64)];
    add_sql(
        &mut definitions,
        "sql",
        "thing",
        &["facts"],
        text,
        &features,
    );
    for view in ["windows", "latest", "sql"] {
        let view = &definitions.views[&name(view)];
        let snapshot = compute(&session(2), &definitions, view, at("2024-02-01")).await;
        let snapshot = snapshot.expect("snapshot");
        let batches: Vec<_> = snapshot.batches.try_collect().await.expect("rows");
        let rows: Vec<String> = batches.iter().flat_map(shown).collect();
        let rows: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| {
                (
                    row.split(' ').next().expect("key"),
                    row.rsplit(' ').next().expect("n"),
                )
            })
            .collect();
        assert_eq!(rows, [("1", "5"), ("2", "8")], "{}", view.name);
        let counts = (snapshot.counts.read(), snapshot.counts.without_key());
        assert_eq!(counts, (5, 3), "{}", view.name);
    }
}
