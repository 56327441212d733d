use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, TimestampMicrosecondArray};
use feature_defs::aggregation::{AggregateFunction as F, ListLength, Portion};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::FeatureView;
use feature_defs::time::{Instant, TimeSpan, Ttl};
use feature_defs::value::Value;
use proptest::prelude::*;

use super::reference::{self, Row, Stated};
use super::{Questions, answer};
use crate::column::{Cell, Column};
use crate::keys;
use crate::progress::Silent;
use crate::testing::*;

const TWO: ListLength = ListLength::new(2).expect("a length");
const ALL: ListLength = ListLength::new(1000).expect("a length");
const MOST: Portion = Portion::billionths(800_000_000).expect("a portion");
const FUNCTIONS: [(&str, F, Option<&str>); 17] = [
    ("count", F::Count, Some("v")),
    ("sum", F::Sum, Some("v")),
    ("mean", F::Mean, Some("v")),
    ("min", F::Min, Some("v")),
    ("max", F::Max, Some("v")),
    ("first", F::First, Some("v")),
    ("last", F::Last, Some("v")),
    ("first_two", F::FirstValues(TWO), Some("v")),
    ("last_two", F::LastValues(TWO), Some("v")),
    ("variance", F::Variance, Some("v")),
    ("stddev", F::Stddev, Some("v")),
    ("variance_pop", F::VariancePop, Some("v")),
    ("stddev_pop", F::StddevPop, Some("v")),
    ("median", F::Quantile(Portion::HALF), Some("v")),
    ("most", F::Quantile(MOST), Some("v")),
    ("top", F::TopK(TWO), Some("v")),
    ("distinct", F::DistinctCount, Some("v")),
];
const WINDOWS: [&str; 3] = ["3us", "0s", "lifetime"];
const TTL: i64 = 4;

fn micros(column: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter(column).with_timezone("UTC"))
}

/// Rows in up to three files, and views of all kinds over them.
fn project(root: &std::path::Path, rows: &[Row]) -> Definitions {
    for (file, rows) in rows.chunks(rows.len().div_ceil(3).max(1)).enumerate() {
        let ints = |value: fn(&Row) -> Option<i64>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<Int64Array>())
        };
        let columns = vec![
            ("k", ints(|row| Some(row.key))),
            ("v", ints(|row| row.value)),
            (
                "at",
                micros(rows.iter().map(|row| Some(row.event_time.micros()))),
            ),
            (
                "known",
                micros(rows.iter().map(|row| row.created_time.map(Instant::micros))),
            ),
        ];
        write_parquet(&root.join(format!("data/{file}.parquet")), columns);
    }
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("known", DataType::Timestamp),
        ("v", DataType::Int64),
    ];
    add_source(
        &mut definitions,
        "facts",
        "data/*.parquet",
        &columns,
        "at",
        Some("known"),
    );
    add_windows(
        &mut definitions,
        "w",
        "thing",
        "facts",
        &FUNCTIONS,
        &WINDOWS,
    );
    add_windows(
        &mut definitions,
        "filtered",
        "thing",
        "facts",
        &FUNCTIONS,
        &WINDOWS,
    );
    let filter = filter("v > 0 OR known IS NULL", &["known", "v"]);
    add_filter(&mut definitions, "filtered", &filter);
    add_windows(
        &mut definitions,
        "apart",
        "thing",
        "facts",
        &FUNCTIONS,
        &WINDOWS,
    );
    tell_apart(&mut definitions, "apart", "v");
    let ttl = Ttl::AtMost(TimeSpan::from_micros(TTL).expect("span"));
    add_latest(&mut definitions, "newest", "thing", "facts", ttl, &["v"]);
    let text = "select k, sum(v) as sum, count(v) as count from facts group by k";
    let features = [("sum", DataType::Int64), ("count", DataType::Int64)];
    add_sql(&mut definitions, "s", "thing", &["facts"], text, &features);
    definitions
}

fn row() -> impl Strategy<Value = Row> {
    let created = prop::option::of(0..12_i64);
    (0..3_i64, 0..10_i64, created, prop::option::of(-2..3_i64)).prop_map(
        |(key, at, created, value)| Row {
            key,
            event_time: Instant::from_micros(at),
            created_time: created.map(Instant::from_micros),
            value,
        },
    )
}

/// A value as the reference states it: a mean becomes its sum, a variance its numerator.
fn stated(function: F, value: &Value, count: &Stated) -> Stated {
    let whole = |value: &Value| match value {
        Value::Null => None,
        Value::Int(value) => Some(*value),
        other => panic!("{other:?}"),
    };
    match value {
        Value::Null => Stated::Null,
        Value::Int(value) => Stated::Whole(*value),
        Value::List(values) => Stated::List(values.iter().map(whole).collect()),
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // small numbers
        Value::Float(value) => {
            let Stated::Whole(count) = count else {
                panic!("{count:?}");
            };
            let (n, value) = (*count as f64, *value);
            let whole = match function {
                F::Mean => value * n,
                F::Variance => value * n * (n - 1.0),
                F::Stddev => value * value * n * (n - 1.0),
                F::VariancePop => value * n * n,
                F::StddevPop => value * value * n * n,
                F::Quantile(_) => value * 1e9,
                other => panic!("{other:?} is no float"),
            };
            assert!((whole - whole.round()).abs() < 1e-6, "{function:?} {value}");
            Stated::Whole(whole.round() as i64)
        }
        other => panic!("{other:?}"),
    }
}

/// A value for each category, as the reference states it.
fn stated_apart(function: F, value: &Value, count: impl Fn(Option<i64>) -> Stated) -> Apart {
    let Value::List(buckets) = value else {
        panic!("{value:?}");
    };
    let stated = |bucket: &Value| match bucket {
        Value::Struct(fields) => {
            let category = match fields[0] {
                Value::Null => None,
                Value::Int(category) => Some(category),
                ref other => panic!("{other:?}"),
            };
            (category, stated(function, &fields[1], &count(category)))
        }
        other => panic!("{other:?}"),
    };
    buckets.iter().map(stated).collect()
}

type Apart = Vec<(Option<i64>, Stated)>;

fn all(view: &FeatureView) -> Vec<usize> {
    (0..view.features.len()).collect()
}

async fn check(rows: Vec<Row>, frame: Vec<(i64, i64)>) {
    let dir = tempfile::tempdir().expect("dir");
    let definitions = project(dir.path(), &rows);
    let session = session(2);
    let parts: ArrayRef = Arc::new(frame.iter().map(|row| Some(row.0)).collect::<Int64Array>());
    let keys = keys::of_columns(&[parts], frame.len()).expect("keys");
    let as_ofs: Vec<Instant> = frame
        .iter()
        .map(|row| Instant::from_micros(row.1))
        .collect();
    let questions = Questions {
        keys: &keys,
        as_ofs: &as_ofs,
    };
    let columns = async |view: &'static str| -> Vec<ArrayRef> {
        let view = &definitions.views[&name(view)];
        let answers = answer(
            &session,
            &definitions,
            view,
            &questions,
            &all(view),
            &Silent,
        )
        .await
        .expect("answers");
        (0..view.features.len())
            .map(|f| answers.column(f, Some(&Value::Null)).expect("column"))
            .collect()
    };
    let cells = |columns: &[ArrayRef]| -> Vec<Column> {
        columns
            .iter()
            .map(|column| Column::new(column).expect("column"))
            .collect()
    };
    let windows = cells(&columns("w").await);
    let filtered = cells(&columns("filtered").await);
    let apart = cells(&columns("apart").await);
    let sql = cells(&columns("s").await);
    let newest = cells(&columns("newest").await);
    for (question, (key, at)) in frame.iter().enumerate() {
        let as_of = Instant::from_micros(*at);
        let expected_of = |function, text, filter: &dyn Fn(&Row) -> bool| {
            let told = reference::aggregate(&rows, *key, as_of, function, window(text), filter);
            told.unwrap_or(Stated::Null)
        };
        let expected = |function, text| expected_of(function, text, &|_| true);
        let passing = |function, text| {
            expected_of(function, text, &|row| {
                row.created_time.is_none() || row.value.is_some_and(|value| value > 0)
            })
        };
        let of_category = |function, text, category: Option<i64>| {
            expected_of(function, text, &|row| row.value == category)
        };
        for (place, (feature, function, _)) in FUNCTIONS.iter().enumerate() {
            for (offset, text) in WINDOWS.iter().enumerate() {
                let cell = windows[place * WINDOWS.len() + offset].cell(question);
                let count = expected(F::Count, text);
                let told = stated(*function, &cell.to_value(), &count);
                assert_eq!(
                    told,
                    expected(*function, text),
                    "{feature}_{text} of {key} at {at}"
                );
                let cell = filtered[place * WINDOWS.len() + offset].cell(question);
                let told = stated(*function, &cell.to_value(), &passing(F::Count, text));
                assert_eq!(
                    told,
                    passing(*function, text),
                    "filtered {feature}_{text} of {key} at {at}"
                );
                let cell = apart[place * WINDOWS.len() + offset].cell(question);
                let Stated::List(mut categories) = expected(F::LastValues(ALL), text) else {
                    assert_eq!(cell, Cell::Null, "{feature}_{text} apart of {key} at {at}");
                    continue;
                };
                categories.sort_by_key(|category| (category.is_none(), *category));
                categories.dedup();
                let told = stated_apart(*function, &cell.to_value(), |category| {
                    of_category(F::Count, text, category)
                });
                let categories = categories.into_iter();
                let wanted: Apart = categories
                    .map(|category| (category, of_category(*function, text, category)))
                    .collect();
                assert_eq!(told, wanted, "{feature}_{text} apart of {key} at {at}");
            }
        }
        for (column, function) in sql.iter().zip([F::Sum, F::Count]) {
            let told = stated(function, &column.cell(question).to_value(), &Stated::Null);
            assert_eq!(
                told,
                expected(function, "lifetime"),
                "sql {function:?} of {key} at {at}"
            );
        }
        let ttl = Ttl::AtMost(TimeSpan::from_micros(TTL).expect("span"));
        let told = stated(F::Last, &newest[0].cell(question).to_value(), &Stated::Null);
        let latest = reference::latest(&rows, *key, as_of, ttl).flatten();
        assert_eq!(
            told,
            latest.map_or(Stated::Null, Stated::Whole),
            "newest of {key} at {at}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn answers_equal_the_reference(
        rows in prop::collection::vec(row(), 1..40),
        frame in prop::collection::vec((0..4_i64, 0..13_i64), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(check(rows, frame));
    }
}

#[tokio::test]
async fn missing_and_expired_rows_take_the_default_and_an_observed_null_does_not() {
    let dir = tempfile::tempdir().expect("dir");
    let at = Instant::from_micros;
    let row = |key, time, value| Row {
        key,
        event_time: at(time),
        created_time: None,
        value,
    };
    let definitions = project(
        dir.path(),
        &[row(1, 0, Some(5)), row(2, 8, None), row(3, 8, Some(7))],
    );
    let parts: ArrayRef = Arc::new(Int64Array::from(vec![
        Some(1),
        Some(1),
        Some(2),
        Some(3),
        Some(4),
        None,
    ]));
    let keys = keys::of_columns(&[parts], 6).expect("keys");
    let as_ofs = [at(4), at(5), at(9), at(7), at(9), at(9)];
    let questions = Questions {
        keys: &keys,
        as_ofs: &as_ofs,
    };
    let view = &definitions.views[&name("newest")];
    let answers = answer(
        &session(2),
        &definitions,
        view,
        &questions,
        &all(view),
        &Silent,
    )
    .await
    .expect("answers");
    let column = answers.column(0, Some(&Value::Int(-1))).expect("column");
    let expected = Int64Array::from(vec![Some(5), Some(-1), None, Some(-1), Some(-1), Some(-1)]);
    assert_eq!(column.as_ref(), &expected as &dyn Array);
}
