//! Files of sources as pyarrow, DuckDB and Python write them. `tests/data/sources/make.py` made them, and says what is in
//! them.

use std::path::PathBuf;

use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Ttl;
use feature_defs::value::Value;

use crate::testing::*;

fn of(text: &str) -> DataType {
    DataType::parse(text).expect(text)
}

/// A project over the files of `path`, with a view of the newest row of each thing.
fn project(path: &str, columns: &[(&str, &str)]) -> Definitions {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/sources");
    let mut definitions = definitions(&root);
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let typed = columns.iter().map(|(name, text)| (*name, of(text)));
    let mut all = vec![("k", DataType::Int64), ("at", DataType::Timestamp)];
    all.extend(typed);
    add_source(&mut definitions, "rows", path, &all, "at", None);
    let features: Vec<&str> = all[1..].iter().map(|(name, _)| *name).collect();
    add_latest(
        &mut definitions,
        "v",
        "thing",
        "rows",
        Ttl::Unlimited,
        &features,
    );
    definitions
}

/// The features of the newest rows in the order of keys, a row a JSON list.
async fn newest(definitions: &Definitions, as_of: &str) -> Vec<String> {
    let found = rows(&session(2), definitions, "v", as_of)
        .await
        .expect("rows");
    let view = &definitions.views[&name("v")];
    let row = |row| {
        let mut text = Vec::new();
        for feature in &view.features {
            text.push(if text.is_empty() { b'[' } else { b',' });
            let column = found
                .column_by_name(feature.name.as_str())
                .expect("a feature");
            Value::from_array(column, row).write_json(feature.data_type, &mut text);
        }
        format!("{}]", String::from_utf8(text).expect("UTF-8"))
    };
    (0..found.num_rows()).map(row).collect()
}

#[tokio::test]
async fn times_of_96_bits_are_what_pyarrow_was_given() {
    let definitions = project("int96.parquet", &[]);
    let all = newest(&definitions, "2300-01-01T00:00:00Z").await;
    assert_eq!(
        all,
        [
            r#"["1677-09-21T00:12:43Z"]"#,
            r#"["1969-12-31T23:59:59.999999Z"]"#,
            r#"["2024-02-29T12:30:00.250Z"]"#,
            r#"["2262-04-11T23:47:16Z"]"#,
        ]
    );
    let seen = newest(&definitions, "2024-02-29T12:30:00.249999Z").await;
    assert_eq!(seen, all[..2]);
}

#[tokio::test]
async fn values_of_dictionaries_are_what_pyarrow_was_given() {
    let definitions = project(
        "dictionary.parquet",
        &[("city", "string"), ("amount", "decimal(12,2)")],
    );
    let found = newest(&definitions, "2025-01-01T00:00:00Z").await;
    assert_eq!(
        found,
        [
            r#"["1969-12-31T23:59:59.999Z","Wien","0.10"]"#,
            r#"["2024-02-29T12:30:00.250Z",null,null]"#,
            r#"["1969-12-31T23:59:59.999Z","Graz","-7.25"]"#,
            r#"["2024-02-29T12:30:00.250Z","Wien","0.10"]"#,
        ]
    );
}

#[tokio::test]
async fn a_file_without_rows_gives_none() {
    let definitions = project("no_rows.parquet", &[("city", "string")]);
    let found = newest(&definitions, "2025-01-01T00:00:00Z").await;
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test]
async fn partitions_are_what_pyarrow_and_duckdb_were_given() {
    for writer in ["pyarrow", "duckdb"] {
        let columns = [("city", "string"), ("year", "int32")];
        let mut definitions = project(&format!("{writer}/*/*/*.parquet"), &columns);
        let source = &mut definitions.sources[&name("rows")];
        files_of(source).partitions = vec!["year".to_owned(), "city".to_owned()];
        let found = newest(&definitions, "2025-01-01T00:00:00Z").await;
        assert_eq!(
            found,
            [
                r#"["2024-02-29T12:30:00.250Z","São Paulo/1",2024]"#,
                r#"["2024-02-29T12:30:00.250Z","a=b c%d",24]"#,
                r#"["2024-02-29T12:30:00.250Z",null,null]"#,
            ],
            "{writer}"
        );
    }
}

#[tokio::test]
async fn json_lines_are_what_duckdb_and_python_were_given() {
    for writer in ["duckdb", "python"] {
        let columns = [
            ("amount", "decimal(38,2)"),
            ("tags", "list<string>"),
            ("pair", "struct<x: int32, y: string>"),
            ("day", "date"),
            ("share", "float64"),
        ];
        let definitions = project(&format!("{writer}.jsonl"), &columns);
        let found = newest(&definitions, "2025-01-01T00:00:00Z").await;
        assert_eq!(
            found,
            [
                r#"["1969-12-31T23:59:59.999999Z",null,[],null,null,1e-300]"#,
                r#"["2024-02-29T12:30:00.250Z","12345678901234567.89",["a",null],{"x":1,"y":"é\""},"2024-02-29",0.1]"#,
            ],
            "{writer}"
        );
    }
}
