use std::fs;
use std::path::PathBuf;

use arrow::datatypes::TimeUnit;

use super::*;
use crate::conformance::servers::s3_bucket;

/// The tables of `tests/data/delta/make.py`.
fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/delta")
}

async fn table(name: &str) -> DeltaTable {
    let table = DeltaTable::in_folder(&tables().join(name), name).await;
    table.expect("a table")
}

fn in_files(name: &str) -> DeltaValues {
    DeltaValues::InFiles(name.to_owned())
}

#[tokio::test]
async fn the_newest_version_has_what_was_added_and_not_removed_with_its_partitions() {
    let table = table("events").await;
    assert_eq!(table.version, 3);
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["id", "at", "amount", "city", "day", "channel"]);
    let types: Vec<DataType> = table
        .columns
        .iter()
        .map(|column| column.data_type.clone().expect("a type"))
        .collect();
    let expected = [
        DataType::Int64,
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::Decimal128(10, 2),
        DataType::Utf8,
        DataType::Date32,
        DataType::Utf8,
    ];
    assert_eq!(types, expected);
    assert_eq!(
        table.columns[3].values,
        DeltaValues::InLog("city".to_owned())
    );
    assert_eq!(table.columns[5].values, in_files("channel"));
    let found: Vec<(Option<&str>, &str)> = table
        .files
        .iter()
        .map(|file| {
            let value = |name: &str| file.values.get(name).map(String::as_str);
            (value("city"), value("day").expect("a day"))
        })
        .collect();
    assert_eq!(
        found,
        [
            (Some("Basel"), "2026-01-02"),
            (Some("Basel"), "2026-01-04"),
            (Some("Genève"), "2026-01-04"),
            (Some("Genève"), "2026-01-04"),
            (Some("Zürich/5 =%"), "2026-01-01"),
            (None, "2026-01-02"),
        ]
    );
    for file in &table.files {
        let found = fs::metadata(tables().join("events").join(&file.path));
        assert_eq!(found.expect("the file").len(), file.length, "{}", file.path);
        assert!(file.deleted.is_empty(), "{}", file.path);
    }
}

#[tokio::test]
async fn deleted_rows_are_numbered_by_vectors_in_the_log_and_in_files() {
    let table = table("deleted").await;
    let deleted: Vec<(&str, Vec<u64>)> = table
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.deleted.clone()))
        .collect();
    let inside = [0, 1, 29, 30, 59].into_iter().chain(60..90).chain([99]);
    assert_eq!(
        deleted,
        [
            ("beside.parquet", (0..50).step_by(2).collect()),
            ("inside.parquet", inside.collect()),
            ("whole.parquet", Vec::new()),
        ]
    );
}

#[tokio::test]
async fn columns_that_were_renamed_have_other_names_in_files() {
    let table = table("mapped").await;
    let found: Vec<(&str, &DeltaValues)> = table
        .columns
        .iter()
        .map(|column| (column.name.as_str(), &column.values))
        .collect();
    let expected = ["col-1", "col-2", "w", "v", "col-5", "col-7"].map(in_files);
    let names = ["id", "at", "v", "w", "pair", "new"];
    assert_eq!(found, names.into_iter().zip(&expected).collect::<Vec<_>>());
    let pair = &table.columns[4].data_type;
    assert!(pair.is_err(), "{pair:?}");
}

#[tokio::test]
async fn a_table_below_a_prefix_of_a_bucket_is_the_one_of_a_folder() {
    let Some(bucket) = s3_bucket() else {
        return;
    };
    bucket.put_folder(&tables(), "lake").await;
    for name in ["events", "deleted"] {
        let folder = format!("lake/{name}");
        let found = DeltaTable::in_objects(bucket.objects(), &folder, name).await;
        assert_eq!(found.expect("a table"), table(name).await);
    }
}

#[tokio::test]
async fn what_is_no_table_or_cannot_be_read_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("_delta_log");
    let read = async || {
        let table = DeltaTable::in_folder(dir.path(), "lake/t").await;
        let error = table.expect_err("refused");
        (error.kind(), error.to_string())
    };
    let (kind, told) = read().await;
    assert_eq!(kind, ErrorKind::NotFound);
    assert_eq!(
        told,
        "`lake/t` is no Delta table: it has no log (`_delta_log`)"
    );

    fs::create_dir(&log).expect("a folder");
    let first = log.join("00000000000000000000.json");
    fs::write(&first, "no JSON\n").expect("a log");
    let (kind, told) = read().await;
    assert_eq!(kind, ErrorKind::Corrupt);
    assert_eq!(
        told,
        "the Delta table `lake/t` has a log that makes no sense"
    );

    let mapped = tables().join("mapped/_delta_log/00000000000000000000.json");
    let text = fs::read_to_string(mapped).expect("a log");
    let outside = text.replace("part-0.parquet", "../part-0.parquet");
    fs::write(&first, outside).expect("a log");
    let (kind, told) = read().await;
    assert_eq!(kind, ErrorKind::Unsupported);
    assert_eq!(
        told,
        "the Delta table `lake/t` has the file `../part-0.parquet`, which is not in its folder: shallow clones are not read"
    );

    let newer = "\"minReaderVersion\": 3, \"readerFeatures\": [\"teleportation\"], \"writerFeatures\": [\"teleportation\"]";
    let newer = text
        .replace("\"minReaderVersion\": 2", newer)
        .replace("\"minWriterVersion\": 5", "\"minWriterVersion\": 7");
    fs::write(&first, newer).expect("a log");
    let (kind, told) = read().await;
    assert_eq!(kind, ErrorKind::Unsupported, "{told}");
    assert_eq!(
        told,
        "the Delta table `lake/t` uses what is not read of Delta tables"
    );
}
