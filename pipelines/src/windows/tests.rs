//! Events of several sources, held to views over one source each.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use feature_defs::aggregation::{
    Aggregate, AggregateFunction as F, ListLength, Portion, output_type,
};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::{Computation, Windows};
use feature_defs::time::{Instant, Ttl};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::keys;
use crate::point_in_time::{Questions, answer};
use crate::progress::Silent;
use crate::testing::*;

const TWO: ListLength = ListLength::new(2).expect("a length");
const FUNCTIONS: [(&str, F, Option<&str>, Option<&str>); 17] = [
    ("rows", F::Count, None, None),
    ("count", F::Count, Some("v"), None),
    ("sum", F::Sum, Some("v"), None),
    ("mean", F::Mean, Some("v"), None),
    ("min", F::Min, Some("v"), None),
    ("max", F::Max, Some("v"), None),
    ("first", F::First, Some("v"), None),
    ("last", F::Last, Some("v"), None),
    ("last_two", F::LastValues(TWO), Some("v"), None),
    ("variance", F::Variance, Some("v"), None),
    ("stddev_pop", F::StddevPop, Some("v"), None),
    ("median", F::Quantile(Portion::HALF), Some("v"), None),
    ("top", F::TopK(TWO), Some("v"), None),
    ("distinct", F::DistinctCount, Some("v"), None),
    ("large", F::Sum, Some("v"), Some("v > 0")),
    ("large_rows", F::Count, None, Some("v > 0")),
    ("last_other", F::Last, Some("v"), Some("v <> 1")),
];
const SPANS: [&str; 3] = ["2us", "5us", "lifetime"];
const KEYS: i64 = 9;

/// Of `source`, whose key is in `key`.
type Events<'a> = (&'a str, &'a str);

/// A view over these sources: each function over each of them, and the events of all.
fn add_events(definitions: &mut Definitions, view: &str, sources: &[Events<'_>]) {
    let mut aggregates = vec![("all".to_owned(), F::Count, None, None, None)];
    for (source, _) in sources {
        for (function, f, column, condition) in FUNCTIONS {
            let named = format!("{source}_{function}");
            aggregates.push((named, f, Some(*source), column, condition));
        }
    }
    let mut features = Vec::new();
    for (aggregate, function, _, column, _) in &aggregates {
        let data_type = output_type(*function, column.map(|_| DataType::Int64)).expect("type");
        features.extend(SPANS.map(|span| (format!("{aggregate}_{span}"), data_type)));
    }
    let aggregates = aggregates.into_iter();
    let computation = Computation::Windows(Windows {
        sources: sources.iter().map(|(source, _)| name(source)).collect(),
        key_columns: sources
            .iter()
            .map(|(_, key)| vec![(*key).to_owned()])
            .collect(),
        aggregates: aggregates
            .map(
                |(aggregate, function, source, column, condition)| Aggregate {
                    name: name(&aggregate),
                    function,
                    source: source.map(name),
                    column: column.map(str::to_owned),
                    by: None,
                    filter: condition.map(|condition| filter(condition, &["v"])),
                },
            )
            .collect(),
        windows: SPANS.map(window).to_vec(),
    });
    add_view(
        definitions,
        view,
        "thing",
        Ttl::Unlimited,
        computation,
        &features,
    );
}

/// Random events, many at one instant: `bought` of the keys 0 to 5, `returned` of 3 to 8, where only the first says when
/// a row became known.
fn project(root: &std::path::Path, seed: u64) -> Definitions {
    let mut random = StdRng::seed_from_u64(seed);
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    for (source, key, first, known) in [("bought", "k", 0, true), ("returned", "who", 3, false)] {
        let mut text = format!("{key},at,v{}\n", if known { ",known" } else { "" });
        for _ in 0..40 {
            let micros = random.random_range(0..12_i64);
            let at = Instant::from_micros(micros);
            let value = match random.random_range(0..5) {
                0 => String::new(),
                value => (value - 2).to_string(),
            };
            text.push_str(&format!(
                "{},{at},{value}",
                random.random_range(first..first + 6)
            ));
            if known {
                let late = Instant::from_micros(micros + random.random_range(0..4));
                text.push_str(&format!(",{late}"));
            }
            text.push('\n');
        }
        std::fs::write(root.join(format!("{source}.csv")), text).expect("file");
        let mut columns = vec![
            (key, DataType::Int64),
            ("at", DataType::Timestamp),
            ("v", DataType::Int64),
        ];
        if known {
            columns.push(("known", DataType::Timestamp));
        }
        let created = known.then_some("known");
        let path = format!("{source}.csv");
        add_source(&mut definitions, source, &path, &columns, "at", created);
    }
    add_events(&mut definitions, "a", &[("bought", "k")]);
    add_events(&mut definitions, "b", &[("returned", "who")]);
    add_events(
        &mut definitions,
        "both",
        &[("bought", "k"), ("returned", "who")],
    );
    definitions
}

/// A snapshot's features by key and name.
async fn snapshot(definitions: &Definitions, view: &str, as_of: Instant) -> Snapshot {
    let rows = rows(&session(2), definitions, view, &as_of.to_string()).await;
    let rows = rows.expect("rows");
    let schema = rows.schema();
    let features: Vec<&String> = schema.fields()[2..].iter().map(|f| f.name()).collect();
    let mut found = Snapshot::new();
    for row in shown_cells(&rows) {
        let mut cells = row.into_iter();
        let key = cells.next().expect("a key").parse().expect("a key");
        let named = features.iter().map(|name| (*name).clone());
        let values = named.zip(cells.skip(1)).collect();
        found.insert(key, values);
    }
    found
}

type Snapshot = BTreeMap<i64, BTreeMap<String, String>>;

/// What two views over one source each say together: of nothing, counts are 0 and all else is null (rule 9).
fn together(a: &Snapshot, b: &Snapshot) -> Snapshot {
    let mut both = Snapshot::new();
    for key in a.keys().chain(b.keys()) {
        let mut values = BTreeMap::new();
        for (of, source) in [(a, "bought"), (b, "returned")] {
            for (function, f, ..) in FUNCTIONS {
                for span in SPANS {
                    let feature = format!("{source}_{function}_{span}");
                    let nothing = match f {
                        F::Count | F::DistinctCount => "0",
                        F::LastValues(_) | F::TopK(_) => "[]",
                        _ => "null",
                    };
                    let value = of.get(key).map_or(nothing, |row| row[&feature].as_str());
                    values.insert(feature, value.to_owned());
                }
            }
        }
        for span in SPANS {
            let all = |of: &Snapshot| -> i64 {
                let row = of.get(key);
                row.map_or(0, |row| {
                    row[&format!("all_{span}")].parse().expect("a count")
                })
            };
            values.insert(format!("all_{span}"), (all(a) + all(b)).to_string());
        }
        both.insert(*key, values);
    }
    both
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_over_two_sources_say_what_one_view_over_each_says() {
    for seed in 0..6 {
        let dir = tempfile::tempdir().expect("dir");
        let definitions = project(dir.path(), seed);
        for as_of in [0, 1, 5, 9, 30].map(Instant::from_micros) {
            let a = snapshot(&definitions, "a", as_of).await;
            let b = snapshot(&definitions, "b", as_of).await;
            let both = snapshot(&definitions, "both", as_of).await;
            assert_eq!(both, together(&a, &b), "seed {seed} as of {as_of}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn training_rows_over_two_sources_are_those_of_the_night_as_of_each_row() {
    let dir = tempfile::tempdir().expect("dir");
    let definitions = project(dir.path(), 7);
    let frame: Vec<(i64, i64)> = (0..KEYS + 1)
        .flat_map(|key| [1, 4, 8, 30].map(|as_of| (key, as_of)))
        .collect();
    let parts: ArrayRef = Arc::new(frame.iter().map(|row| Some(row.0)).collect::<Int64Array>());
    let keys = keys::of_columns(&[parts], frame.len()).expect("keys");
    let as_ofs = frame.iter().map(|row| Instant::from_micros(row.1));
    let as_ofs: Vec<Instant> = as_ofs.collect();
    let view = &definitions.views[&name("both")];
    let questions = Questions {
        keys: &keys,
        as_ofs: &as_ofs,
    };
    let wanted: Vec<usize> = (0..view.features.len()).collect();
    let answers = answer(
        &session(2),
        &definitions,
        view,
        &questions,
        &wanted,
        &Silent,
    )
    .await;
    let answers = answers.expect("answers");
    let mut present = 0;
    for (row, (key, _)) in frame.iter().enumerate() {
        let night = snapshot(&definitions, "both", as_ofs[row]).await;
        for (place, feature) in view.features.iter().enumerate() {
            let column = answers.column(place, None).expect("a column");
            let trained = match column.is_null(row) {
                true => "null".to_owned(),
                false => arrow::util::display::array_value_to_string(&column, row).expect("text"),
            };
            let served = night
                .get(key)
                .map_or("null", |row| &row[feature.name.as_str()]);
            assert_eq!(
                trained, served,
                "{} of {key} as of {}",
                feature.name, as_ofs[row]
            );
            present += usize::from(served != "null");
        }
    }
    assert!(present > 500, "{present} values are present");
}
