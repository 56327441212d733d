//! Lists, vectors and structs from files and queries.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, Int64Array, ListArray, MapBuilder,
    RecordBatch, StringArray, StringBuilder, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Float32Type, Int64Type};
use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Ttl;
use feature_defs::value::Value;
use serde_json::{Value as Json, json};

use crate::testing::*;

fn of(text: &str) -> DataType {
    DataType::parse(text).expect(text)
}

/// A column of a view as JSON, a row an entry.
fn column(batch: &RecordBatch, name: &str, data_type: DataType) -> Vec<Json> {
    let column = batch.column_by_name(name).expect(name);
    assert_eq!(column.data_type(), &data_type.to_arrow());
    let json = |row| {
        let mut text = Vec::new();
        Value::from_array(column, row).write_json(data_type, &mut text);
        serde_json::from_slice(&text).expect("JSON")
    };
    (0..column.len()).map(json).collect()
}

/// A list of structs: for each row the fields' values of its elements.
fn legs(fields: Vec<(&str, ArrayRef)>, lengths: &[usize], there: &[bool]) -> ArrayRef {
    let fields = fields.into_iter().map(|(name, values)| {
        let field = Field::new(name, values.data_type().clone(), true);
        (Arc::new(field), values)
    });
    let structs = StructArray::from(fields.collect::<Vec<_>>());
    let item = Arc::new(Field::new("element", structs.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    let nulls = Some(NullBuffer::from(there.to_vec()));
    Arc::new(ListArray::new(item, offsets, Arc::new(structs), nulls))
}

/// Columns that no definition names: a map, a list of lists, and a struct that is null where its field is not.
fn undeclared(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for _ in 0..rows {
        map.keys().append_value("k");
        map.values().append_null();
        map.append(true).expect("an entry");
    }
    let inner = ListArray::from_iter_primitive::<Int64Type, _, _>(vec![Some(vec![Some(1)]); rows]);
    let item = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(vec![1; rows]);
    let lists = ListArray::new(item, offsets, Arc::new(inner), None);
    let field = Arc::new(Field::new("x", ArrowType::Int64, true));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![7; rows]));
    let nulls = NullBuffer::new_null(rows);
    let structs = StructArray::new(vec![field].into(), vec![values], Some(nulls));
    vec![
        ("map", Arc::new(map.finish())),
        ("lists", Arc::new(lists)),
        ("behind_null", Arc::new(structs)),
    ]
}

fn write(root: &Path, file: &str, ids: &[i64], at: &[&str], legs: ArrayRef) {
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(ids.to_vec()))),
        ("at", times(at)),
        ("legs", legs),
    ];
    columns.extend(undeclared(ids.len()));
    write_parquet(&root.join(file), columns);
}

fn trips(root: &Path, legs: DataType) -> Definitions {
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "trip", &[("id", DataType::Int64)]);
    let columns = [
        ("id", DataType::Int64),
        ("at", DataType::Timestamp),
        ("legs", legs),
    ];
    add_source(&mut definitions, "trips", "*.parquet", &columns, "at", None);
    add_latest(
        &mut definitions,
        "latest",
        "trip",
        "trips",
        Ttl::Unlimited,
        &["legs"],
    );
    definitions
}

/// One day without the field `b`, the next with it and with `c`, which is not declared.
fn two_days(root: &Path) {
    let a: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let first = legs(vec![("a", a)], &[2, 0, 0], &[true, true, false]);
    write(root, "d1.parquet", &[1, 2, 3], &["2024-01-01"; 3], first);
    let a: ArrayRef = Arc::new(Int64Array::from(vec![5]));
    let b: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let c: ArrayRef = Arc::new(StringArray::from(vec!["y"]));
    let second = legs(vec![("c", c), ("b", b), ("a", a)], &[1], &[true]);
    write(root, "d2.parquet", &[2], &["2024-01-02"], second);
}

#[tokio::test]
async fn inp_09_fields_that_files_gained_are_null_before_and_others_left_out() {
    let dir = tempfile::tempdir().expect("dir");
    two_days(dir.path());
    let declared = of("list<struct<a: int64, b: string>>");
    let mut definitions = trips(dir.path(), declared);
    let aggregates = [
        ("trips", F::Count, Some("legs")),
        ("legs", F::Last, Some("legs")),
    ];
    add_windows(
        &mut definitions,
        "windows",
        "trip",
        "trips",
        &aggregates,
        &["lifetime"],
    );
    let expected = [
        json!([{"a": 1, "b": null}, {"a": null, "b": null}]),
        json!([{"a": 5, "b": "x"}]),
        Json::Null,
    ];
    for (view, feature) in [("latest", "legs"), ("windows", "legs_lifetime")] {
        let found = rows(&session(2), &definitions, view, "2024-02-01")
            .await
            .expect(view);
        assert_eq!(column(&found, feature, declared), expected, "{view}");
    }
    let earlier = rows(&session(2), &definitions, "latest", "2024-01-01T12:00:00Z").await;
    let earlier = column(&earlier.expect("rows"), "legs", declared);
    assert_eq!(earlier[1], json!([]));
}

#[tokio::test]
async fn inp_09_nested_columns_that_are_not_declared_stop_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    two_days(dir.path());
    let mut definitions = trips(dir.path(), of("list<struct<a: int64>>"));
    let columns = [("id", DataType::Int64), ("at", DataType::Timestamp)];
    add_source(&mut definitions, "trips", "*.parquet", &columns, "at", None);
    let count = [("n", F::Count, None)];
    add_windows(
        &mut definitions,
        "counts",
        "trip",
        "trips",
        &count,
        &["lifetime"],
    );
    let found = rows(&session(2), &definitions, "counts", "2024-02-01")
        .await
        .expect("rows");
    assert_eq!(found.num_rows(), 3);
}

#[tokio::test]
async fn inp_09_types_that_differ_inside_are_refused_by_their_path() {
    for (declared, message) in [
        (
            "list<struct<a: int16>>",
            "column `legs[].a` is `int32`, which does not widen to the declared `int16` without loss",
        ),
        (
            "list<struct<a: struct<x: int64>>>",
            "column `legs[].a` is `int32`, which does not widen to the declared `struct<x: int64>` without loss",
        ),
        (
            "struct<a: int64>",
            "column `legs` is `list<struct<a: int32>>`, which does not widen to the declared `struct<a: int64>` without loss",
        ),
        (
            "list<int64>",
            "column `legs[]` is `struct<a: int32>`, which does not widen to the declared `int64` without loss",
        ),
    ] {
        let dir = tempfile::tempdir().expect("dir");
        two_days(dir.path());
        let definitions = trips(dir.path(), of(declared));
        let refused = rows(&session(1), &definitions, "latest", "2024-02-01").await;
        let refused = refused.expect_err(declared).to_string();
        assert!(
            refused.starts_with(&format!("`d1.parquet`: {message}")),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_map_is_named_when_it_is_declared_as_something_else() {
    let dir = tempfile::tempdir().expect("dir");
    two_days(dir.path());
    let mut definitions = trips(dir.path(), of("list<struct<a: int64>>"));
    let columns = [
        ("id", DataType::Int64),
        ("at", DataType::Timestamp),
        ("map", of("list<struct<key: string, value: string>>")),
    ];
    add_source(&mut definitions, "trips", "*.parquet", &columns, "at", None);
    add_latest(
        &mut definitions,
        "latest",
        "trip",
        "trips",
        Ttl::Unlimited,
        &["map"],
    );
    let refused = rows(&session(1), &definitions, "latest", "2024-02-01").await;
    let refused = refused.expect_err("a map").to_string();
    assert!(
        refused.contains("column `map` is a map, which does not widen"),
        "{refused}"
    );
}

/// Values inside that do not convert: the path and the row of the file.
#[tokio::test]
async fn values_inside_that_are_none_are_refused_by_path_and_row() {
    let dir = tempfile::tempdir().expect("dir");
    let text = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    let a: ArrayRef = Arc::new(StringArray::from(vec![text, text, "7"]));
    let list = legs(vec![("a", a)], &[1, 0, 2], &[true; 3]);
    write(
        dir.path(),
        "d1.parquet",
        &[1, 2, 3],
        &["2024-01-01"; 3],
        list,
    );
    let definitions = trips(dir.path(), of("list<struct<a: uuid>>"));
    let refused = rows(&session(1), &definitions, "latest", "2024-02-01").await;
    let refused = refused.expect_err("no uuid").to_string();
    let said = "`d1.parquet`: column `legs[].a`, row 3: `7` is no uuid";
    assert!(refused.starts_with(said), "{refused}");
}

#[tokio::test]
async fn vectors_come_from_lists_of_their_length_alone() {
    let vector = of("vector<float64, 2>");
    let lists = |rows: Vec<Option<Vec<Option<f32>>>>| -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows))
    };
    let whole = vec![
        Some(vec![Some(0.5), Some(-0.0)]),
        None,
        Some(vec![Some(1.0), Some(2.0)]),
    ];
    let fixed: ArrayRef =
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(whole.clone(), 2));
    for column_of_file in [lists(whole), fixed] {
        let dir = tempfile::tempdir().expect("dir");
        write(
            dir.path(),
            "d1.parquet",
            &[1, 2, 3],
            &["2024-01-01"; 3],
            column_of_file,
        );
        let definitions = trips(dir.path(), vector);
        let found = rows(&session(1), &definitions, "latest", "2024-02-01")
            .await
            .expect("rows");
        let expected = [json!([0.5, -0.0]), Json::Null, json!([1.0, 2.0])];
        assert_eq!(column(&found, "legs", vector), expected);
    }
    for (row, message) in [
        (
            vec![Some(1.0)],
            "column `legs`, row 2: 1 elements are not the declared 2",
        ),
        (
            vec![Some(1.0), None],
            "column `legs[]`, row 2: a vector has no null elements",
        ),
    ] {
        let dir = tempfile::tempdir().expect("dir");
        let column = lists(vec![None, Some(row)]);
        write(
            dir.path(),
            "d1.parquet",
            &[1, 2],
            &["2024-01-01"; 2],
            column,
        );
        let definitions = trips(dir.path(), vector);
        let refused = rows(&session(1), &definitions, "latest", "2024-02-01").await;
        assert_eq!(
            refused.expect_err(message).to_string(),
            format!("`d1.parquet`: {message}")
        );
    }
}

/// Rows of one instant go by their values, lists and structs among them, whatever files they are in.
#[tokio::test]
async fn ties_go_by_what_is_inside_whatever_the_files() {
    let declared = of("list<struct<a: int64>>");
    let of_value = |value| {
        let a: ArrayRef = Arc::new(Int64Array::from(vec![value]));
        legs(vec![("a", a)], &[1], &[true])
    };
    let mut found = Vec::new();
    for files in [
        ["1.parquet", "2.parquet", "3.parquet"],
        ["3.parquet", "1.parquet", "2.parquet"],
    ] {
        let dir = tempfile::tempdir().expect("dir");
        for (file, value) in files.iter().zip([Some(1), Some(7), None]) {
            write(dir.path(), file, &[1], &["2024-01-01"], of_value(value));
        }
        let definitions = trips(dir.path(), declared);
        let batch = rows(&session(3), &definitions, "latest", "2024-02-01")
            .await
            .expect("rows");
        found.push(column(&batch, "legs", declared));
    }
    assert_eq!(found, [[json!([{"a": 7}])], [json!([{"a": 7}])]]);
}

/// Events of two things, one line each, in files of their own.
fn events(root: &Path, files: &[&[(i64, &str, i64)]]) -> Definitions {
    for (number, events) in files.iter().enumerate() {
        let ids: Vec<i64> = events.iter().map(|event| event.0).collect();
        let at: Vec<&str> = events.iter().map(|event| event.1).collect();
        let n: Vec<i64> = events.iter().map(|event| event.2).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from(ids))),
            ("at", times(&at)),
            ("n", Arc::new(Int64Array::from(n))),
        ];
        write_parquet(&root.join(format!("{number}.parquet")), columns);
    }
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("id", DataType::Int64)]);
    let columns = [
        ("id", DataType::Int64),
        ("at", DataType::Timestamp),
        ("n", DataType::Int64),
    ];
    add_source(
        &mut definitions,
        "events",
        "*.parquet",
        &columns,
        "at",
        None,
    );
    definitions
}

#[tokio::test]
async fn lists_of_queries_are_in_their_order_whatever_the_files_and_threads() {
    let rows_of = [
        (1, "2024-01-01", 3),
        (1, "2024-01-02", 1),
        (1, "2024-01-02", 2),
        (2, "2024-01-01", 9),
    ];
    let text = "select id, array_agg(n order by at desc) as recent, \
                array_agg(distinct n order by n) as different, \
                array_agg(named_struct('n', n, 'at', at) order by at)[1] as first, \
                [cast(max(n) as double), 0.5] as pair \
                from events group by id";
    let features = [
        ("recent", of("list<int64>")),
        ("different", of("list<int64>")),
        ("first", of("struct<at: timestamp, n: int64>")),
        ("pair", of("vector<float64, 2>")),
    ];
    let mut reversed = rows_of;
    reversed.reverse();
    for files in [vec![&rows_of[..]], vec![&reversed[..2], &reversed[2..]]] {
        for threads in [1, 3] {
            let dir = tempfile::tempdir().expect("dir");
            let mut definitions = events(dir.path(), &files);
            add_sql(
                &mut definitions,
                "sql",
                "thing",
                &["events"],
                text,
                &features,
            );
            let found = rows(&session(threads), &definitions, "sql", "2024-02-01").await;
            let found = found.expect("rows");
            let first = json!({"at": "2024-01-01T00:00:00Z", "n": 3});
            assert_eq!(
                column(&found, "recent", features[0].1),
                [json!([2, 1, 3]), json!([9])]
            );
            assert_eq!(
                column(&found, "different", features[1].1),
                [json!([1, 2, 3]), json!([9])]
            );
            assert_eq!(column(&found, "first", features[2].1)[0], first);
            assert_eq!(column(&found, "pair", features[3].1)[1], json!([9.0, 0.5]));
        }
    }
}

#[tokio::test]
async fn queries_read_lists_and_structs_of_files() {
    let dir = tempfile::tempdir().expect("dir");
    two_days(dir.path());
    let mut definitions = trips(dir.path(), of("list<struct<a: int64, b: string>>"));
    let text = "select id, max(array_length(legs)) as legs, max(legs[1]['a']) as a, \
                max(legs[1].b) as b, last_value(legs order by at) as newest from trips group by id";
    let newest = of("list<struct<a: int64, b: string>>");
    let features = [
        ("legs", DataType::UInt64),
        ("a", DataType::Int64),
        ("b", DataType::String),
        ("newest", newest),
    ];
    add_sql(&mut definitions, "sql", "trip", &["trips"], text, &features);
    let found = rows(&session(2), &definitions, "sql", "2024-02-01")
        .await
        .expect("rows");
    assert_eq!(
        column(&found, "legs", DataType::UInt64),
        [json!(2), json!(1), Json::Null]
    );
    assert_eq!(
        column(&found, "a", DataType::Int64),
        [json!(1), json!(5), Json::Null]
    );
    assert_eq!(
        column(&found, "b", DataType::String),
        [Json::Null, json!("x"), Json::Null]
    );
    let expected = [
        json!([{"a": 1, "b": null}, {"a": null, "b": null}]),
        json!([{"a": 5, "b": "x"}]),
        Json::Null,
    ];
    assert_eq!(column(&found, "newest", newest), expected);
}

#[tokio::test]
async fn a_list_of_another_length_is_no_vector_of_a_query() {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = events(dir.path(), &[&[(1, "2024-01-01", 3), (2, "2024-01-01", 4)]]);
    let text = "select id, case when max(n) = 4 then [1.5] else [1.5, 2.5] end as pair \
                from events group by id";
    let features = [("pair", of("vector<float64, 2>"))];
    add_sql(
        &mut definitions,
        "sql",
        "thing",
        &["events"],
        text,
        &features,
    );
    let refused = rows(&session(1), &definitions, "sql", "2024-02-01").await;
    assert_eq!(
        refused.expect_err("too short").to_string(),
        "`sql.pair` of `id 2`: 1 elements are not the declared 2"
    );
}
