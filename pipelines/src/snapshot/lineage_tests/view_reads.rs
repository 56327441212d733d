//! Views that read other views, and windows over several sources.

use feature_defs::aggregation::{Aggregate, Window, buckets_type};
use feature_defs::feature_view::{Computation, Windows};
use feature_defs::time::TimeSpan;

use super::*;

/// Queries over `w` (windows), `l` (latest rows of at most 20 days), `s` (SQL) and a source, each with what it reads.
const READERS: [(&[&str], &str); 9] = [
    (
        &["w"],
        "select k, sum_20d as x, count_lifetime + 1 as y from w",
    ),
    (
        &["w", "l"],
        "select w.k, l.a as x, w.sum_lifetime as y from w join l on w.k = l.k",
    ),
    (
        &["l"],
        "select k, count(*) as x, max(to_unixtime(event_time)) as y from l group by k",
    ),
    (
        &["w"],
        "select k, row_number() over (order by last_20d) as x, 1 as y from w",
    ),
    (
        &["l", "s"],
        "select l.k, s.x, l.b as y from l left join s on l.k = s.k",
    ),
    (
        &["orders", "w"],
        "select o.k, max(o.a - w.sum_lifetime) as x, count(*) as y from orders o join w on o.k = w.k group by o.k",
    ),
    (&["s"], "select k, x, y from s"),
    (
        &["w"],
        "select min(k) as k, sum(sum_20d) as x, count(*) as y from w",
    ),
    (
        &["s"],
        "select min(k) as k, max(y) as x, count(*) as y from s",
    ),
];

/// What is read.
fn below(root: &Path) -> Definitions {
    let mut definitions = project(root);
    let aggregates = [
        ("sum", F::Sum, Some("a")),
        ("count", F::Count, None),
        ("last", F::Last, Some("b")),
    ];
    let windows = ["20d", "lifetime"];
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "orders",
        &aggregates,
        &windows,
    );
    let ttl = Ttl::AtMost(TimeSpan::parse("20d").expect("span"));
    add_latest(&mut definitions, "l", "thing", "orders", ttl, &["a", "b"]);
    let text = "select k, max(a) as x, count(*) as y from (select k, a from orders where b > 0 order by c limit 6) as some group by k";
    let features = [("x", DataType::Int64), ("y", DataType::Int64)];
    add_sql(&mut definitions, "s", "thing", &["orders"], text, &features);
    definitions
}

#[tokio::test]
async fn a_column_that_changes_a_feature_through_a_view_is_named_by_lineage() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = StdRng::seed_from_u64(11);
    let mut tried = Tried::default();
    let features = [("x", DataType::Int64), ("y", DataType::Int64)];
    for (read, text) in READERS {
        let mut definitions = below(folder.path());
        add_sql(&mut definitions, "v", "thing", read, text, &features);
        tried.view(&definitions, "v", 3, &mut random).await;
        // And through two of them.
        let text = "select k, y as x, x + 1 as y from v";
        add_sql(&mut definitions, "above", "thing", &["v"], text, &features);
        tried.view(&definitions, "above", 1, &mut random).await;
    }
    assert!(tried.failed.is_empty(), "{tried:?}");
    assert!(tried.seen * 10 > tried.named * 4, "{tried:?}");
}

#[tokio::test]
async fn lineage_of_windows_over_two_sources_names_what_changes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = StdRng::seed_from_u64(12);
    let mut tried = Tried::default();
    let mut definitions = project(folder.path());
    let of = |aggregate: &str, function, source: Option<&str>, column: Option<&str>| Aggregate {
        name: name(aggregate),
        function,
        source: source.map(name),
        column: column.map(str::to_owned),
        by: None,
        filter: None,
    };
    let aggregates = vec![
        of("sum", F::Sum, Some("orders"), Some("a")),
        of("last", F::Last, Some("refunds"), Some("n")),
        Aggregate {
            filter: Some(filter("b > c", &["b", "c"])),
            ..of("filtered", F::Sum, Some("orders"), Some("a"))
        },
        Aggregate {
            by: Some("c".to_owned()),
            ..of("apart", F::Sum, Some("orders"), Some("a"))
        },
        of("all", F::Count, None, None),
    ];
    let features: Vec<(String, DataType)> = aggregates
        .iter()
        .map(|one| {
            let apart = buckets_type(("c", DataType::Int64), DataType::Int64).expect("a type");
            let data_type = if one.by.is_some() {
                apart
            } else {
                DataType::Int64
            };
            (format!("{}_lifetime", one.name), data_type)
        })
        .collect();
    let computation = Computation::Windows(Windows {
        sources: vec![name("orders"), name("refunds")],
        key_columns: vec![vec!["k".to_owned()], vec!["rk".to_owned()]],
        aggregates,
        windows: vec![Window::Lifetime],
    });
    add_view(
        &mut definitions,
        "both",
        "thing",
        Ttl::Unlimited,
        computation,
        &features,
    );
    tried.view(&definitions, "both", 6, &mut random).await;
    assert_eq!(tried.views, 1, "{tried:?}");
    assert!(tried.seen * 10 > tried.named * 6, "{tried:?}");
}
