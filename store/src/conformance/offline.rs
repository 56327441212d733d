//! What every [`OfflineStore`] must do. Each function takes an empty store.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema, SchemaRef};
use feature_defs::data_type::DataType;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use feature_defs::value::Value;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use serde_json::json;

use crate::error::{Error, ErrorKind, Result};
use crate::offline::{KeptSnapshots, OfflineStore, SnapshotIdentity, SnapshotManifest};

/// Runs the whole suite, each part on a store of its own from `empty_store`.
pub async fn all<S: OfflineStore, F: AsyncFn() -> S>(empty_store: F) {
    rows_come_back_in_their_order(&empty_store().await).await;
    bytes_do_not_depend_on_how_batches_are_cut(&empty_store().await, &empty_store().await).await;
    a_failing_stream_leaves_no_snapshot(&empty_store().await).await;
    manifests_come_by_ascending_as_of(&empty_store().await).await;
    statistics_count_what_is_there(&empty_store().await).await;
    a_replaced_file_is_corrupt(&empty_store().await).await;
    views_are_those_of_which_anything_is_kept(&empty_store().await).await;
    a_dropped_view_is_gone_and_others_stay(&empty_store().await).await;
}

/// A snapshot of `rows` rows with a null in every tenth `spend`, NaN in every tenth `score`.
#[must_use]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
pub fn sample(rows: usize) -> RecordBatch {
    let numbers = 0..rows as i64;
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers.clone()));
    let times = TimestampMicrosecondArray::from_iter_values(numbers.clone().map(|_| 7));
    let spend = Decimal128Array::from_iter(
        numbers
            .clone()
            .map(|n| (n % 10 != 3).then_some(i128::from(n) * 10)),
    );
    let score = numbers.clone().map(|n| match n % 10 {
        4 => f64::NAN,
        _ => n as f64 / 7.0,
    });
    let segment = numbers
        .clone()
        .map(|n| (n % 5 != 0).then(|| format!("segment {}", n % 3)));
    let code = numbers.clone().map(|n| match n % 10 {
        5 => Value::Null,
        n => Value::Uuid([u8::try_from(n).unwrap_or(0); 16]),
    });
    let visits = numbers.map(|n| match n % 10 {
        6 => Value::Null,
        n => Value::List(vec![
            Value::Struct(vec![Value::Int(n), Value::Float(f64::NAN)]),
            Value::Null,
        ]),
    });
    let columns: [ArrayRef; 7] = [
        keys,
        Arc::new(times.with_timezone("UTC")),
        Arc::new(spend.with_data_type(SPEND.to_arrow())),
        Arc::new(Float64Array::from_iter_values(score)),
        Arc::new(StringArray::from_iter(segment)),
        Value::array(&code.collect::<Vec<_>>(), DataType::Uuid),
        Value::array(&visits.collect::<Vec<_>>(), visits_type()),
    ];
    RecordBatch::try_new(schema(), columns.to_vec()).expect("a batch")
}

const SPEND: DataType = DataType::Decimal {
    precision: 12,
    scale: 2,
};

fn visits_type() -> DataType {
    DataType::parse("list<struct<n: int64, score: float16>>").expect("a type")
}

fn schema() -> SchemaRef {
    let field = |name: &str, data_type: DataType, nullable| {
        Field::new(name, data_type.to_arrow(), nullable)
    };
    Arc::new(Schema::new(vec![
        field("customer_id", DataType::Int64, false),
        field("event_time", DataType::Timestamp, false),
        field("spend", SPEND, true),
        field("score", DataType::Float64, false),
        field("segment", DataType::String, true),
        field("code", DataType::Uuid, true),
        field("visits", visits_type(), true),
    ]))
}

async fn rows_come_back_in_their_order(store: &dyn OfflineStore) {
    for rows in [0, 1, 20_000] {
        let identity = identity("spend", rows);
        assert_eq!(store.manifest(&identity).await.expect("manifest"), None);
        let batch = sample(usize::try_from(rows).expect("rows"));
        let written = store.append(&identity, schema(), cut(&batch, 777)).await;
        let manifest = written.expect("append");
        assert_eq!(manifest.rows, u64::try_from(rows).expect("rows"));
        let found = store.manifest(&identity).await.expect("manifest");
        assert_eq!(found.as_ref(), Some(&manifest));
        let batches = store.read(&manifest).await.expect("read");
        let batches: Vec<RecordBatch> = batches.try_collect().await.expect("batches");
        let back = concat_batches(&schema(), &batches).expect("one batch");
        assert_eq!(format!("{back:?}"), format!("{batch:?}"));
    }
}

async fn bytes_do_not_depend_on_how_batches_are_cut(
    store: &dyn OfflineStore,
    other: &dyn OfflineStore,
) {
    let batch = sample(150_000);
    let identity = identity("spend", 1);
    let whole = store
        .append(&identity, schema(), cut(&batch, 150_000))
        .await;
    let whole = whole.expect("append");
    let pieces = other.append(&identity, schema(), cut(&batch, 997)).await;
    assert_eq!(whole, pieces.expect("append"));
    let again = store.append(&identity, schema(), cut(&batch, 8_192)).await;
    assert_eq!(whole, again.expect("append"));
}

async fn a_failing_stream_leaves_no_snapshot(store: &dyn OfflineStore) {
    let identity = identity("spend", 1);
    let failing = stream::iter([
        Ok(sample(10)),
        Err(Error::new(ErrorKind::Internal, "the query failed")),
    ]);
    let error = store.append(&identity, schema(), failing.boxed()).await;
    assert_eq!(error.expect_err("fails").to_string(), "the query failed");
    assert_eq!(store.manifest(&identity).await.expect("manifest"), None);
    assert_eq!(
        store.manifests(&identity.view).await.expect("manifests"),
        []
    );
    let batch = sample(10);
    let after = store.append(&identity, schema(), cut(&batch, 10)).await;
    assert_eq!(after.expect("append").rows, 10);
}

async fn manifests_come_by_ascending_as_of(store: &dyn OfflineStore) {
    let batch = sample(3);
    for as_of in [5, -1, 1_000_000, 0] {
        let written = store
            .append(&identity("spend", as_of), schema(), cut(&batch, 3))
            .await;
        written.expect("append");
    }
    let other = store
        .append(&identity("spend_more", 9), schema(), cut(&batch, 3))
        .await;
    other.expect("append");
    let manifests = store.manifests(&name("spend")).await.expect("manifests");
    let as_ofs: Vec<i64> = manifests
        .iter()
        .map(|manifest| manifest.identity.as_of.micros())
        .collect();
    assert_eq!(as_ofs, [-1, 0, 5, 1_000_000]);
    assert_eq!(
        store.manifests(&name("absent")).await.expect("manifests"),
        []
    );
}

async fn statistics_count_what_is_there(store: &dyn OfflineStore) {
    let batch = sample(20);
    let written = store
        .append(&identity("spend", 1), schema(), cut(&batch, 7))
        .await;
    let columns = written.expect("append").columns;
    let shown: Vec<serde_json::Value> = columns
        .iter()
        .map(|c| json!([c.name, c.nulls, c.min, c.max, c.mean]))
        .collect();
    let sevenths: f64 = (0..20).filter(|n| n % 10 != 4).map(f64::from).sum::<f64>() / 7.0;
    assert_eq!(
        shown[..3],
        [
            json!(["customer_id", 0, 0, 19, 9.5]),
            json!([
                "event_time",
                0,
                "1970-01-01T00:00:00.000007Z",
                "1970-01-01T00:00:00.000007Z",
                null
            ]),
            json!(["spend", 2, "0.00", "1.90", columns[2].mean]),
        ]
    );
    let spend = columns[2].mean.expect("a mean");
    assert!((spend - 17.4 / 18.0).abs() < 1e-15, "{spend}");
    assert_eq!(columns[3].max, Some(json!(19.0 / 7.0)));
    let mean = columns[3].mean.expect("a mean");
    assert!((mean - sevenths / 18.0).abs() < 1e-15, "{mean}");
    assert_eq!(
        shown[4],
        json!(["segment", 4, "segment 0", "segment 2", null])
    );
    let (least, greatest) = (
        "00000000-0000-0000-0000-000000000000",
        "09090909-0909-0909-0909-090909090909",
    );
    assert_eq!(shown[5], json!(["code", 2, least, greatest, null]));
    assert_eq!(shown[6], json!(["visits", 2, null, null, null]));
    let empty = store
        .append(&identity("empty", 1), schema(), cut(&sample(0), 1))
        .await;
    for column in empty.expect("append").columns {
        assert_eq!(
            (column.nulls, column.min, column.max, column.mean),
            (0, None, None, None)
        );
    }
}

async fn a_replaced_file_is_corrupt(store: &dyn OfflineStore) {
    let identity = identity("spend", 1);
    let first = store
        .append(&identity, schema(), cut(&sample(10), 10))
        .await;
    let first = first.expect("append");
    let second = store
        .append(&identity, schema(), cut(&sample(11), 11))
        .await;
    let second = second.expect("append");
    assert_ne!(first.content, second.content);
    let refused = store.read(&first).await.map(|_| ()).expect_err("replaced");
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    let found = store.manifest(&identity).await.expect("manifest");
    assert_eq!(found, Some(second));
}

async fn views_are_those_of_which_anything_is_kept(store: &dyn OfflineStore) {
    assert_eq!(store.views().await.expect("views"), []);
    let spend = name("spend");
    let nothing = store.kept(&spend).await.expect("kept");
    assert_eq!(nothing, KeptSnapshots::default());
    let mut bytes = 0;
    for (view, as_of) in [("spend_more", 1), ("spend", 1), ("spend", 2)] {
        let written = write(store, view, as_of).await;
        if view == "spend" {
            bytes += written.bytes;
        }
    }
    let views = store.views().await.expect("views");
    assert_eq!(views, [spend.clone(), name("spend_more")]);
    let kept = store.kept(&spend).await.expect("kept");
    assert_eq!(kept.snapshots, 2);
    assert!(kept.bytes >= bytes, "{kept:?}");
}

async fn a_dropped_view_is_gone_and_others_stay(store: &dyn OfflineStore) {
    let mut written = Vec::new();
    for (view, as_of) in [("spend", 1), ("spend", 2), ("spend_more", 1)] {
        written.push(write(store, view, as_of).await);
    }
    let spend = name("spend");
    let kept = store.kept(&spend).await.expect("kept");
    assert_eq!(store.drop_view(&spend).await.expect("drop"), kept);
    assert_eq!(store.manifests(&spend).await.expect("manifests"), []);
    let found = store.manifest(&written[0].identity).await;
    assert_eq!(found.expect("manifest"), None);
    assert!(store.read(&written[0]).await.is_err());
    let other = name("spend_more");
    assert_eq!(
        store.views().await.expect("views"),
        std::slice::from_ref(&other)
    );
    let found = store.manifests(&other).await.expect("manifests");
    assert_eq!(found, written[2..]);
    assert!(store.read(&written[2]).await.is_ok());

    let again = store.drop_view(&spend).await.expect("drop");
    assert_eq!(again, KeptSnapshots::default());
    assert_eq!(write(store, "spend", 1).await, written[0]);
    assert_eq!(store.views().await.expect("views"), [spend, other]);
}

/// Writes a snapshot of ten rows.
async fn write(store: &dyn OfflineStore, view: &str, as_of: i64) -> SnapshotManifest {
    let (identity, batch) = (identity(view, as_of), sample(10));
    let written = store.append(&identity, schema(), cut(&batch, 10)).await;
    written.expect("append")
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn identity(view: &str, as_of: i64) -> SnapshotIdentity {
    SnapshotIdentity {
        view: name(view),
        fingerprint: Fingerprint::of(["definition"]),
        as_of: Instant::from_micros(as_of),
    }
}

fn cut(batch: &RecordBatch, rows: usize) -> BoxStream<'static, Result<RecordBatch>> {
    let pieces: Vec<Result<RecordBatch>> = (0..batch.num_rows())
        .step_by(rows)
        .map(|start| Ok(batch.slice(start, rows.min(batch.num_rows() - start))))
        .collect();
    stream::iter(pieces).boxed()
}
