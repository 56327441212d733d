//! Values and rows of a real server, against what was written into it.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::util::display::array_value_to_string;
use feature_defs::data_type::DataType;
use feature_defs::time::Instant;
use tokio::sync::mpsc;

use super::*;
use crate::conformance::servers::{FilledSchema, postgres_filled};
use crate::error::Result;

async fn begin(filled: &FilledSchema) -> DatabaseSnapshot {
    let snapshot = DatabaseSnapshot::begin("shop", &filled.url).await;
    snapshot.expect("a snapshot")
}

/// All columns of a table, each declared as `declared` says or else as a text.
async fn plan(
    snapshot: &mut DatabaseSnapshot,
    filled: &FilledSchema,
    table: &str,
    declared: &[(&str, DataType)],
) -> TableRead {
    let found = snapshot.columns(&filled.name, table).await;
    let columns = found.expect("columns").into_iter().map(|column| {
        let mut types = declared.iter();
        let declared = types.find(|(name, _)| *name == column.name);
        ReadColumn {
            declared: declared.map_or(DataType::String, |(_, data_type)| *data_type),
            column_type: column.column_type.expect("a type that is read"),
            name: column.name,
        }
    });
    TableRead {
        schema: filled.name.clone(),
        table: table.to_owned(),
        columns: columns.collect(),
        bounds: Vec::new(),
    }
}

async fn read(snapshot: &mut DatabaseSnapshot, read: &TableRead) -> Result<RecordBatch> {
    let (sender, mut receiver) = mpsc::channel(1);
    let taken = tokio::spawn(async move {
        let mut batches = Vec::new();
        while let Some(batch) = receiver.recv().await {
            batches.push(batch);
        }
        batches
    });
    snapshot.read(read, sender).await?;
    let batches = taken.await.expect("batches");
    Ok(concat_batches(&DatabaseSnapshot::schema(read), &batches).expect("one batch"))
}

fn column(batch: &RecordBatch, name: &str) -> ArrayRef {
    Arc::clone(batch.column_by_name(name).expect("the column"))
}

#[tokio::test]
async fn values_of_every_type_are_what_was_written() {
    let filled = postgres_filled(
        "CREATE TYPE channel AS ENUM ('web', 'shop');
         CREATE DOMAIN money2 AS numeric(12, 2) CHECK (VALUE >= 0);
         CREATE TABLE every (
            id int8, b bool, i2 int2, i4 int4, f4 float4, f8 float8, t text, v varchar(9), c char(4), n name,
            j json, jb jsonb, e channel, by bytea, u uuid, d date, ts timestamp, tz timestamptz,
            num numeric(12, 2), m money2, free numeric, li int4[], lt text[]);
         INSERT INTO every VALUES
            (1, true, -32768, 2147483647, 1.5, 0.1, 'ä', 'vc', 'c', 'nm', '{\"a\": 1}', '{\"b\":2}', 'shop',
             '\\x00ff', '123e4567-e89b-12d3-a456-426614174000', '2024-02-29', '2024-01-01 12:00:00.000001',
             '1969-12-31 23:59:59.5+00', 12345.67, 0.05, -1234567890123456789.5, '{1,NULL,3}', '{}'),
            (9223372036854775807, false, 0, 0, 'NaN', '-Infinity', '', '', '', '', '[]', '[]', 'web', '', NULL,
             '0001-01-01', '1999-12-31', '2000-01-01', -0.01, 9999999999.99, 0, NULL, '{x,\"a b\",\"\"}'),
            (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    let Some(filled) = filled.await else {
        return;
    };
    let mut snapshot = begin(&filled).await;
    let free = DataType::parse("decimal(20,1)").expect("a type");
    let plan = plan(&mut snapshot, &filled, "every", &[("free", free)]).await;
    let batch = read(&mut snapshot, &plan).await.expect("rows");
    let expect =
        |name: &str, expected: ArrayRef| assert_eq!(&column(&batch, name), &expected, "{name}");
    let decimals = |values: [Option<i128>; 3], precision, scale| -> ArrayRef {
        let array = Decimal128Array::from(values.to_vec());
        let typed = array.with_precision_and_scale(precision, scale);
        Arc::new(typed.expect("a decimal"))
    };
    let texts =
        |values: [Option<&str>; 3]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    expect(
        "id",
        Arc::new(Int64Array::from(vec![Some(1), Some(i64::MAX), None])),
    );
    expect(
        "b",
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
    );
    expect(
        "i2",
        Arc::new(Int16Array::from(vec![Some(i16::MIN), Some(0), None])),
    );
    expect(
        "i4",
        Arc::new(Int32Array::from(vec![Some(i32::MAX), Some(0), None])),
    );
    let float4 = column(&batch, "f4");
    let float4 = float4
        .as_any()
        .downcast_ref::<Float32Array>()
        .expect("float32");
    assert!((float4.value(0) - 1.5).abs() < f32::EPSILON && float4.value(1).is_nan());
    expect(
        "f8",
        Arc::new(Float64Array::from(vec![
            Some(0.1),
            Some(f64::NEG_INFINITY),
            None,
        ])),
    );
    expect("t", texts([Some("ä"), Some(""), None]));
    expect("v", texts([Some("vc"), Some(""), None]));
    expect("c", texts([Some("c"), Some(""), None]));
    expect("n", texts([Some("nm"), Some(""), None]));
    expect("j", texts([Some("{\"a\": 1}"), Some("[]"), None]));
    expect("jb", texts([Some("{\"b\": 2}"), Some("[]"), None]));
    expect("e", texts([Some("shop"), Some("web"), None]));
    let bytes: Vec<Option<&[u8]>> = vec![Some(&[0, 255]), Some(&[]), None];
    expect("by", Arc::new(BinaryArray::from(bytes)));
    let uuid = 0x123e_4567_e89b_12d3_a456_4266_1417_4000_u128.to_be_bytes();
    let uuids = [Some(uuid), None, None].into_iter();
    let uuids = FixedSizeBinaryArray::try_from_sparse_iter_with_size(uuids, 16);
    expect("u", Arc::new(uuids.expect("uuids")));
    expect(
        "d",
        Arc::new(Date32Array::from(vec![Some(19_782), Some(-719_162), None])),
    );
    let micros = |values: [Option<&str>; 3]| {
        let micros =
            values.map(|text| text.map(|text| Instant::parse(text).expect("an instant").micros()));
        TimestampMicrosecondArray::from(micros.to_vec())
    };
    let local = micros([
        Some("2024-01-01T12:00:00.000001Z"),
        Some("1999-12-31T00:00:00Z"),
        None,
    ]);
    expect("ts", Arc::new(local));
    let instants = micros([
        Some("1969-12-31T23:59:59.5Z"),
        Some("2000-01-01T00:00:00Z"),
        None,
    ]);
    expect("tz", Arc::new(instants.with_timezone("UTC")));
    expect("num", decimals([Some(1_234_567), Some(-1), None], 12, 2));
    expect("m", decimals([Some(5), Some(999_999_999_999), None], 12, 2));
    expect(
        "free",
        decimals([Some(-12_345_678_901_234_567_895), Some(0), None], 20, 1),
    );
    let shown = |name: &str| {
        let values = column(&batch, name);
        [0, 1].map(|row| array_value_to_string(&values, row).expect("shown"))
    };
    assert_eq!(shown("li"), ["[1, , 3]", ""]);
    assert_eq!(shown("lt"), ["[]", "[x, a b, ]"]);
}

#[tokio::test]
async fn values_that_do_not_fit_are_refused_by_column_and_row() {
    let filled = postgres_filled(
        "CREATE TABLE far (id int8, who text, at timestamptz, free numeric, grid int4[]);
         INSERT INTO far VALUES (1, 'a', now(), 1, '{1}'), (2, 'b', 'infinity', 1, '{1}');
         CREATE TABLE wide (id int8, free numeric); INSERT INTO wide VALUES (7, 0.001);
         CREATE TABLE nan (id int8, free numeric(5, 2)); INSERT INTO nan VALUES (8, 'NaN');
         CREATE TABLE grid (id int8, grid int4[]); INSERT INTO grid VALUES (9, '{{1},{2}}')",
    );
    let Some(filled) = filled.await else {
        return;
    };
    let mut refused = Vec::new();
    for table in ["far", "wide", "nan", "grid"] {
        let mut snapshot = begin(&filled).await;
        let free = DataType::parse("decimal(10,2)").expect("a type");
        let plan = plan(&mut snapshot, &filled, table, &[("free", free)]).await;
        let error = read(&mut snapshot, &plan).await.expect_err("refused");
        refused.push(error.to_string().replace(&filled.name, "shop"));
    }
    assert_eq!(
        refused,
        [
            "column `at` of table `shop.far` in database `shop` is infinity, which is no instant (the row with `id` 2, `who` b)",
            "column `free` of table `shop.wide` in database `shop` does not fit decimal(10,2) (the row with `id` 7)",
            "column `free` of table `shop.nan` in database `shop` is NaN, which no decimal is (the row with `id` 8)",
            "column `grid` of table `shop.grid` in database `shop` has 2 dimensions, and lists have one (the row with `id` 9)",
        ]
    );
}

#[tokio::test]
async fn bounds_keep_every_row_that_may_count() {
    let filled = postgres_filled(
        "CREATE TABLE \"Odd \"\"name\" (id int8, \"At Time\" timestamptz, local timestamp, day date);
         INSERT INTO \"Odd \"\"name\" VALUES
            (1, '2024-01-01 00:00:00+00', '2024-01-01', '2024-01-01'),
            (2, '2024-01-01 00:00:00.000001+00', '2024-01-01', '2024-01-01'),
            (3, NULL, '2024-01-02', '2024-01-02'),
            (4, '2023-01-01', '2024-01-09', '2024-01-09')",
    );
    let Some(filled) = filled.await else {
        return;
    };
    let mut snapshot = begin(&filled).await;
    let mut plan = plan(&mut snapshot, &filled, "Odd \"name", &[]).await;
    let mut ids = async |columns: &[&str], until: &str| {
        let until = Instant::parse(until).expect("an instant");
        let bounds = columns.iter().map(|column| TimeBound {
            column: (*column).to_owned(),
            until,
        });
        plan.bounds = bounds.collect();
        let batch = read(&mut snapshot, &plan).await.expect("rows");
        let ids = column(&batch, "id");
        let ids = ids.as_any().downcast_ref::<Int64Array>().expect("int64");
        let mut ids: Vec<i64> = ids.values().to_vec();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&[], "2024-01-01T00:00:00Z").await, [1, 2, 3, 4]);
    // The edge is wanted, one microsecond later is not; a row without a time is for the reader to refuse.
    assert_eq!(ids(&["At Time"], "2024-01-01T00:00:00Z").await, [1, 3, 4]);
    // Local times may be of any zone, so that two days more are read.
    assert_eq!(ids(&["local"], "2024-01-01T00:00:00Z").await, [1, 2, 3]);
    assert_eq!(
        ids(&["day", "At Time"], "2024-01-01T00:00:00Z").await,
        [1, 3]
    );
    // Times that no database writes bound nothing.
    assert_eq!(
        ids(&["At Time"], "9999-12-31T00:00:00Z").await,
        [1, 2, 3, 4]
    );
}

#[tokio::test]
async fn a_snapshot_does_not_see_what_is_written_after_it() {
    let filled = postgres_filled("CREATE TABLE rows (id int8); INSERT INTO rows VALUES (1)").await;
    let Some(filled) = filled else {
        return;
    };
    let mut before = begin(&filled).await;
    let at = before.read_at().await.expect("an instant");
    let plan = plan(&mut before, &filled, "rows", &[]).await;
    let insert = format!("INSERT INTO {}.rows VALUES (2)", filled.name);
    postgres_filled(&insert).await.expect("a server");
    let mut after = begin(&filled).await;
    assert_eq!(read(&mut before, &plan).await.expect("rows").num_rows(), 1);
    assert_eq!(read(&mut after, &plan).await.expect("rows").num_rows(), 2);
    assert!(at < after.read_at().await.expect("an instant"));
}

#[tokio::test]
async fn what_is_not_there_is_said_without_secrets() {
    let Some(filled) = postgres_filled("CREATE TABLE rows (id int8, place point)").await else {
        return;
    };
    let mut snapshot = begin(&filled).await;
    let missing = snapshot.columns(&filled.name, "Rows").await;
    let missing = missing.expect_err("missing").to_string();
    assert!(
        missing.starts_with("database `shop` has no table"),
        "{missing}"
    );
    let found = snapshot
        .columns(&filled.name, "rows")
        .await
        .expect("columns");
    let types: Vec<_> = found
        .iter()
        .map(|c| (c.shown.as_str(), c.column_type.is_some()))
        .collect();
    assert_eq!(types, [("bigint", true), ("point", false)]);

    let nobody = "postgres://nightfill:secret@127.0.0.1:1/nothing";
    let error = DatabaseSnapshot::begin("shop", nobody)
        .await
        .expect_err("refused");
    assert_eq!(error.to_string(), "database `shop` does not answer");
    assert!(!format!("{error:?}").contains("secret"));
    let stranger = filled.url.replace("nightfill@", "stranger@");
    let error = DatabaseSnapshot::begin("shop", &stranger)
        .await
        .expect_err("refused");
    let told = error.to_string();
    assert!(
        told.starts_with("database `shop` does not let its user in"),
        "{told}"
    );
}
