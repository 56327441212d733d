//! Lineage against the engine: where another value in a column of a source gives a feature another value, lineage names
//! that column. Over queries written by hand and by chance, and data by chance, with ties, nulls and rows after as-of.

mod queries;
mod view_reads;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::lineage::{Direction, Kind, Lineage};
use feature_defs::time::Ttl;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::session::Session;
use crate::testing::*;

/// The instant from which all views look.
const AS_OF: &str = "2024-02-01";

/// Each source, with its columns.
const SOURCES: [(&str, &[(&str, DataType)]); 2] = [
    (
        "orders",
        &[
            ("k", DataType::Int64),
            ("at", DataType::Timestamp),
            ("made", DataType::Timestamp),
            ("a", DataType::Int64),
            ("b", DataType::Int64),
            ("c", DataType::Int64),
            ("unread", DataType::Int64),
        ],
    ),
    (
        "refunds",
        &[
            ("rk", DataType::Int64),
            ("rat", DataType::Timestamp),
            ("n", DataType::Int64),
        ],
    ),
];

const ROWS: usize = 18;

/// The cells of each source, row by row.
type Data = BTreeMap<&'static str, Vec<Vec<String>>>;

fn cell(random: &mut StdRng, column: &str, data_type: DataType) -> String {
    match (column, data_type) {
        ("at" | "rat", _) => format!(
            "2024-0{}-1{}",
            random.random_range(1..3),
            random.random_range(0..4)
        ),
        (_, DataType::Timestamp) => format!("2024-0{}-02", random.random_range(1..4)),
        _ if random.random_range(0..12) == 0 => String::new(),
        ("k" | "rk", _) => random.random_range(0..4).to_string(),
        _ => random.random_range(-2..6).to_string(),
    }
}

fn data(random: &mut StdRng) -> Data {
    let mut data = Data::new();
    for (source, columns) in SOURCES {
        let rows = (0..ROWS).map(|_| {
            let columns = columns.iter();
            columns
                .map(|(name, data_type)| cell(random, name, *data_type))
                .collect()
        });
        data.insert(source, rows.collect());
    }
    data
}

fn write(root: &Path, data: &Data) {
    for (source, columns) in SOURCES {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let mut text = names.join(",");
        for row in &data[source] {
            text.push('\n');
            text.push_str(&row.join(","));
        }
        std::fs::write(root.join(format!("{source}.csv")), text + "\n").expect("written");
    }
}

fn project(root: &Path) -> Definitions {
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    for (source, columns) in SOURCES {
        let created = (source == "orders").then_some("made");
        let path = format!("{source}.csv");
        add_source(
            &mut definitions,
            source,
            &path,
            columns,
            columns[1].0,
            created,
        );
    }
    definitions
}

/// The features of each key, as texts; why there are none where the query fails.
async fn features(
    session: &Session,
    definitions: &Definitions,
    view: &str,
) -> Result<BTreeMap<String, Vec<String>>, String> {
    let batch = rows(session, definitions, view, AS_OF).await;
    let batch = batch.map_err(|error| error.to_string())?;
    let rows = shown_cells(&batch).into_iter().map(|row| {
        let mut cells = row.into_iter();
        let key = cells.next().unwrap_or_default();
        (key, cells.skip(1).collect())
    });
    Ok(rows.collect())
}

/// Which features differ for some key.
fn changed(
    before: &BTreeMap<String, Vec<String>>,
    after: &BTreeMap<String, Vec<String>>,
    count: usize,
) -> BTreeSet<usize> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |nth: &usize| {
        let of =
            |rows: &BTreeMap<String, Vec<String>>, key| rows.get(key).map(|row| row[*nth].clone());
        keys.iter().any(|key| of(before, *key) != of(after, *key))
    };
    (0..count).filter(differs).collect()
}

/// What was tried over views.
#[derive(Debug, Default)]
struct Tried {
    views: usize,
    /// Why others gave nothing to look at.
    failed: Vec<String>,
    /// Features and columns that lineage joins, and those of them where a change was seen.
    named: usize,
    seen: usize,
}

impl Tried {
    /// Changes each column of each source in turn, `times` times each, and looks at what a view gives.
    async fn view(
        &mut self,
        definitions: &Definitions,
        view: &str,
        times: usize,
        random: &mut StdRng,
    ) {
        let session = session(2);
        let lineage = Lineage::of(definitions).expect("plans");
        let names: Vec<String> = definitions.views[&name(view)]
            .features
            .iter()
            .map(|feature| format!("{view}.{}", feature.name))
            .collect();
        // Also through other views.
        let made_from: Vec<BTreeSet<&str>> = names
            .iter()
            .map(|name| {
                let part = lineage.around(&lineage.find(name), &[Direction::Upstream]);
                let nodes = part.nodes.into_iter().map(|id| lineage.node(id));
                let columns = nodes.filter(|node| node.kind == Kind::Column);
                columns.map(|column| column.name.as_str()).collect()
            })
            .collect();
        let root = definitions.project.root.clone();
        let mut moved = BTreeSet::new();
        for _ in 0..times {
            let before = data(random);
            write(&root, &before);
            let rows = match features(&session, definitions, view).await {
                Ok(rows) => rows,
                Err(error) => {
                    assert!(!error.contains("more than one row"), "{error}");
                    self.failed.push(error);
                    return;
                }
            };
            for (source, columns) in SOURCES {
                for (place, (column, data_type)) in columns.iter().enumerate() {
                    let mut after = before.clone();
                    for row in after.get_mut(source).expect("a source") {
                        if random.random_bool(0.4) {
                            row[place] = cell(random, column, *data_type);
                        }
                    }
                    write(&root, &after);
                    let Ok(other) = features(&session, definitions, view).await else {
                        continue;
                    };
                    let full = format!("{source}.{column}");
                    for nth in changed(&rows, &other, names.len()) {
                        assert!(
                            made_from[nth].contains(full.as_str()),
                            "{full} changes {}, and lineage names {:?}: {:?}",
                            names[nth],
                            made_from[nth],
                            definitions.views[&name(view)].computation
                        );
                        moved.insert((nth, full.clone()));
                    }
                }
            }
        }
        self.views += 1;
        self.seen += moved.len();
        self.named += made_from.iter().map(BTreeSet::len).sum::<usize>();
    }
}

#[tokio::test]
async fn a_column_that_changes_a_feature_is_named_by_lineage() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = StdRng::seed_from_u64(7);
    let mut tried = Tried::default();
    let features = [("x", DataType::Int64), ("y", DataType::Int64)];
    for text in queries::BY_HAND {
        let mut definitions = project(folder.path());
        let read: Vec<&str> = ["orders", "refunds"]
            .into_iter()
            .filter(|s| text.contains(s))
            .collect();
        add_sql(&mut definitions, "v", "thing", &read, text, &features);
        tried.view(&definitions, "v", 1, &mut random).await;
    }
    assert!(tried.failed.is_empty(), "{tried:?}");
    // Naming everything would be right too, and of no use.
    assert!(tried.seen * 10 > tried.named * 5, "{tried:?}");
}

#[tokio::test]
async fn lineage_of_queries_by_chance_names_what_changes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = StdRng::seed_from_u64(8);
    let mut tried = Tried::default();
    let features = [("x", DataType::Int64), ("y", DataType::Int64)];
    for _ in 0..30 {
        let text = queries::by_chance(&mut random);
        let mut definitions = project(folder.path());
        add_sql(
            &mut definitions,
            "v",
            "thing",
            &["orders", "refunds"],
            &text,
            &features,
        );
        tried.view(&definitions, "v", 1, &mut random).await;
    }
    assert!(tried.views >= 25, "{tried:?}");
    assert!(tried.seen * 10 > tried.named * 2, "{tried:?}");
}

#[tokio::test]
async fn lineage_of_windows_and_latest_rows_names_what_changes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = StdRng::seed_from_u64(9);
    let mut tried = Tried::default();
    let mut definitions = project(folder.path());
    let aggregates = [
        ("sum", F::Sum, Some("a")),
        ("count", F::Count, None),
        ("last", F::Last, Some("b")),
        ("distinct", F::DistinctCount, Some("c")),
    ];
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "orders",
        &aggregates,
        &["20d", "lifetime"],
    );
    let aggregates = [("sum", F::Sum, Some("a")), ("most", F::Max, Some("b"))];
    add_windows(
        &mut definitions,
        "plain",
        "thing",
        "orders",
        &aggregates,
        &["20d"],
    );
    add_latest(
        &mut definitions,
        "l",
        "thing",
        "orders",
        Ttl::Unlimited,
        &["a", "b"],
    );
    for view in ["w", "plain", "l"] {
        tried.view(&definitions, view, 4, &mut random).await;
    }
    assert_eq!(tried.views, 3);
    assert!(tried.seen * 10 > tried.named * 6, "{tried:?}");
}
