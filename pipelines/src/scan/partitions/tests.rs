use feature_defs::data_type::DataType;
use feature_defs::time::Ttl;

use crate::testing::*;

/// The newest row of each thing in files of `text` at `paths`, in a source with such partitions.
async fn newest(
    paths: &[(&str, &str)],
    pattern: &str,
    partitions: &[(&str, DataType)],
) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().expect("dir");
    for (path, text) in paths {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("dir");
        std::fs::write(path, text).expect("file");
    }
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let in_files = [("k", DataType::Int64), ("at", DataType::Timestamp)];
    let columns: Vec<(&str, DataType)> = in_files.iter().chain(partitions).copied().collect();
    add_source(&mut definitions, "rows", pattern, &columns, "at", None);
    let source = &mut definitions.sources[&name("rows")];
    files_of(source).partitions = partitions
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let features: Vec<&str> = partitions.iter().map(|(name, _)| *name).collect();
    add_latest(
        &mut definitions,
        "v",
        "thing",
        "rows",
        Ttl::Unlimited,
        &features,
    );
    let found = rows(&session(2), &definitions, "v", "2025-01-01T00:00:00Z").await;
    let found = found.map_err(|error| error.to_string())?;
    // Without the event and created times.
    let shown = shown(&found.project(&[0]).expect("the key"));
    let values = (0..features.len()).map(|feature| {
        let column = found
            .schema()
            .index_of(features[feature])
            .expect("a feature");
        self::shown_column(&found, column)
    });
    let values: Vec<Vec<String>> = values.collect();
    let row = |(row, key): (usize, String)| {
        let values = values.iter().map(|column| column[row].clone());
        std::iter::once(key)
            .chain(values)
            .collect::<Vec<_>>()
            .join(" ")
    };
    Ok(shown.into_iter().enumerate().map(row).collect())
}

fn shown_column(batch: &arrow::array::RecordBatch, column: usize) -> Vec<String> {
    shown(&batch.project(&[column]).expect("a column"))
}

const ROW: &str = "k,at\n1,2024-01-02\n";

#[tokio::test]
async fn columns_of_paths_are_read_with_their_declared_types() {
    let string = [("city", DataType::String)];
    let found = newest(
        &[
            ("d/city=S%C3%A3o%20Paulo%2F1/a.csv", "k,at\n1,2024-01-02\n"),
            ("d/city=x=y/a.csv", "k,at\n2,2024-01-02\n"),
            (
                "d/city=__HIVE_DEFAULT_PARTITION__/a.csv",
                "k,at\n3,2024-01-02\n",
            ),
            ("d/city=/a.csv", "k,at\n4,2024-01-02\n"),
        ],
        "d/*/*.csv",
        &string,
    );
    assert_eq!(
        found.await.expect("rows"),
        ["1 São Paulo/1", "2 x=y", "3 null", "4 "]
    );
    let typed = [
        ("year", DataType::Int32),
        ("day", DataType::Date),
        (
            "share",
            DataType::Decimal {
                precision: 5,
                scale: 2,
            },
        ),
    ];
    let found = newest(
        &[(
            "share=1.5/year=0024/day=2024-02-29/a.jsonl",
            "{\"k\": 1, \"at\": \"2024-01-02\", \"year\": \"passed over\"}\n",
        )],
        "**/*.jsonl",
        &typed,
    );
    assert_eq!(found.await.expect("rows"), ["1 24 2024-02-29 1.50"]);
}

#[tokio::test]
async fn paths_without_the_column_and_texts_of_other_types_are_refused() {
    let year = [("year", DataType::Int32)];
    for (path, said) in [
        (
            "d/2024/a.csv",
            "`d/2024/a.csv`: no folder of its path is `year=...`, and source `rows` has the column among its `partitions`",
        ),
        (
            "d/year=2024x/a.csv",
            "`d/year=2024x/a.csv`: column `year` of its path: `2024x` is not an int32: write a whole number, like `42`",
        ),
    ] {
        let refused = newest(&[(path, ROW)], "d/*/*.csv", &year).await;
        assert_eq!(refused.expect_err(path), said);
    }
    let twice = newest(&[("year=1/year=1/a.csv", ROW)], "*/*/*.csv", &year).await;
    assert_eq!(
        twice.expect_err("twice"),
        "`year=1/year=1/a.csv`: two folders of its path are `year=...`"
    );
}

#[tokio::test]
async fn a_declared_column_that_only_the_path_has_is_pointed_at() {
    let dir = tempfile::tempdir().expect("dir");
    std::fs::create_dir(dir.path().join("year=2024")).expect("dir");
    std::fs::write(dir.path().join("year=2024/a.csv"), ROW).expect("file");
    let jsonl = "{\"k\": 1, \"at\": \"2024-01-02\"}\n";
    std::fs::write(dir.path().join("year=2024/a.jsonl"), jsonl).expect("file");
    let columns = vec![("k", times(&["2024-01-01T00:00:00Z"]))];
    write_parquet(&dir.path().join("year=2024/a.parquet"), columns);
    for ending in ["csv", "jsonl", "parquet"] {
        let mut definitions = definitions(dir.path());
        add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
        let columns = [
            ("k", DataType::Int64),
            ("at", DataType::Timestamp),
            ("year", DataType::Int32),
        ];
        let path = format!("*/a.{ending}");
        add_source(&mut definitions, "rows", &path, &columns, "at", None);
        let unreadable = crate::sources::unreadable(&definitions).await;
        let told = &unreadable[0].1;
        assert!(
            told.contains("`year`") && told.contains("write `partitions: [year]` in the source"),
            "{told}"
        );
    }
}

/// The event time in the path, the key too: a query may then read no column of the files at all.
#[tokio::test]
async fn event_times_of_paths_cut_whole_files() {
    let dir = tempfile::tempdir().expect("dir");
    for day in ["2024-01-01", "2024-01-02", "2024-01-03"] {
        let folder = dir.path().join(format!("day={day}/k=7"));
        std::fs::create_dir_all(&folder).expect("dir");
        std::fs::write(folder.join("a.csv"), "v\n1\n2\n").expect("file");
        std::fs::write(folder.join("a.jsonl"), "{\"v\": 1}\n{\"v\": 2}\n").expect("file");
        let values: Vec<i64> = vec![1, 2];
        let values = std::sync::Arc::new(arrow::array::Int64Array::from(values));
        write_parquet(&folder.join("a.parquet"), vec![("v", values)]);
    }
    let folder = dir.path().join("day=__HIVE_DEFAULT_PARTITION__/k=7");
    std::fs::create_dir_all(&folder).expect("dir");
    for ending in ["csv", "jsonl", "parquet"] {
        let mut definitions = definitions(dir.path());
        add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
        let columns = [
            ("k", DataType::Int64),
            ("day", DataType::Date),
            ("v", DataType::Int64),
        ];
        let path = format!("*/*/a.{ending}");
        add_source(&mut definitions, "rows", &path, &columns, "day", None);
        let source = &mut definitions.sources[&name("rows")];
        files_of(source).partitions = vec!["day".to_owned(), "k".to_owned()];
        source.timezone = chrono_tz::Europe::Berlin;
        let features = [("n", DataType::Int64)];
        let text = "select k, count(*) as n from rows group by k";
        add_sql(
            &mut definitions,
            "counts",
            "thing",
            &["rows"],
            text,
            &features,
        );
        let text = "select k, sum(v) as n from rows group by k";
        add_sql(
            &mut definitions,
            "sums",
            "thing",
            &["rows"],
            text,
            &features,
        );
        let seen = async |view: &'static str, as_of: &'static str| {
            let found = rows(&session(2), &definitions, view, as_of).await;
            let found = found.map_err(|error| error.to_string())?;
            let column = found.schema().index_of("n").expect("a feature");
            Ok::<_, String>(shown_column(&found, column))
        };
        for (as_of, count, sum) in [
            // Midnight in Berlin.
            ("2024-01-01T23:00:00Z", "2", "3"),
            ("2024-01-01T23:00:00.000001Z", "4", "6"),
            ("2025-01-01T00:00:00Z", "6", "9"),
        ] {
            assert_eq!(
                seen("counts", as_of).await,
                Ok(vec![count.to_owned()]),
                "{ending}"
            );
            assert_eq!(
                seen("sums", as_of).await,
                Ok(vec![sum.to_owned()]),
                "{ending}"
            );
        }
        let file = format!("day=2024-01-03/k=7/a.{ending}");
        std::fs::copy(dir.path().join(file), folder.join(format!("a.{ending}"))).expect("copy");
        let refused = seen("counts", "2023-01-01T00:00:00Z")
            .await
            .expect_err("null");
        assert!(
            refused.contains("column `day`, row 1: the event time is null"),
            "{refused}"
        );
    }
}
