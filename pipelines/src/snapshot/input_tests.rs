//! Files that other tools read wrongly: cases of public bug reports, by their names. JSON lines have theirs beside them.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::Ttl;

use crate::testing::*;

/// A view of the newest `v` and `s` of each thing in CSV or Parquet.
fn project(root: &Path, path: &str) -> Definitions {
    let mut definitions = definitions(root);
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("v", DataType::Int64),
        ("s", DataType::String),
    ];
    add_source(&mut definitions, "rows", path, &columns, "at", None);
    add_latest(
        &mut definitions,
        "latest",
        "thing",
        "rows",
        Ttl::Unlimited,
        &["v", "s"],
    );
    definitions
}

/// Key, `v` and `s` of each row.
async fn newest(root: &Path, path: &str) -> Result<Vec<String>, String> {
    let view = rows(
        &session(2),
        &project(root, path),
        "latest",
        "2025-01-01T00:00:00Z",
    )
    .await;
    let view = view.map_err(|error| error.to_string())?;
    let schema = view.schema();
    let columns = ["k", "v", "s"].map(|name| schema.index_of(name).expect(name));
    Ok(shown(&view.project(&columns).expect("columns")))
}

async fn of_csv(bytes: &[u8]) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().expect("dir");
    std::fs::write(dir.path().join("rows.csv"), bytes).expect("file");
    newest(dir.path(), "*.csv").await
}

/// A Parquet file with one row.
fn write_row(path: &Path, key: i64) {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int64Array::from(vec![key]))),
        ("at", times(&["2024-01-01T00:00:00Z"])),
        ("v", Arc::new(Int64Array::from(vec![7]))),
        ("s", Arc::new(arrow::array::StringArray::from(vec!["x"]))),
    ];
    write_parquet(path, columns);
}

#[tokio::test]
async fn inp_05_a_byte_order_mark_is_no_part_of_a_name_and_other_encodings_are_refused() {
    for header in ["k,at,v,s", "\"k\",\"at\",\"v\",\"s\""] {
        let text = format!("\u{feff}{header}\n1,2024-01-01,2,x\n");
        assert_eq!(of_csv(text.as_bytes()).await, Ok(vec!["1 2 x".to_owned()]));
    }
    let utf16: Vec<u8> = "\u{feff}k,at,v,s\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (bytes, said) in [
        (&utf16[..], "`rows.csv`: line 1: not UTF-8"),
        (
            b"k,at,v,s\n1,2024-01-01,2,a\xf1o\n",
            "`rows.csv`: line 2, column `s`: ",
        ),
        (b"\xef\xbb\xbf", "`rows.csv`: "),
        (b"", "`rows.csv`: is empty (0 bytes)"),
    ] {
        let refused = of_csv(bytes).await.expect_err("refused");
        assert!(refused.starts_with(said), "{refused}");
    }
    assert_eq!(of_csv(b"k,at,v,s\n").await, Ok(Vec::new()));
}

#[tokio::test]
async fn inp_06_an_empty_field_is_null_a_quoted_one_is_text_and_words_are_words() {
    let text = "k,at,v,s\n1,2024-01-01,,\n2,2024-01-01,3,\"\"\n3,2024-01-01,,NULL\n4,2024-01-01,,\\N\n5,2024-01-01,,NA\n";
    let found = of_csv(text.as_bytes()).await.expect("rows");
    assert_eq!(
        found,
        [
            "1 null null",
            "2 3 ",
            "3 null NULL",
            "4 null \\N",
            "5 null NA"
        ]
    );
    for word in ["\"\"", "NULL", "\\N", "NA"] {
        let text = format!("k,at,v,s\n1,2024-01-01,{word},x\n");
        let refused = of_csv(text.as_bytes()).await.expect_err(word);
        assert!(
            refused.starts_with("`rows.csv`: line 2, column `v`: "),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn inp_07_columns_are_found_by_the_header_of_each_file() {
    let dir = tempfile::tempdir().expect("dir");
    let write = |file: &str, text: &str| {
        std::fs::write(dir.path().join(file), text).expect("file");
    };
    write("a.csv", "k,at,v,s\n1,2024-01-01,2,x\n");
    write("b.csv", "s,v,more,at,k\ny,3,z,2024-01-01,2\n");
    let found = newest(dir.path(), "*.csv").await;
    assert_eq!(found.expect("rows"), ["1 2 x", "2 3 y"]);
    for (text, said) in [
        (
            "1,2024-01-01,2,x\n",
            "`c.csv`: has no column `k`, `at`, `v`, `s`",
        ),
        (
            "k,at,v,s,v\n1,2024-01-01,2,x,3\n",
            "`c.csv`: line 1: column `v` stands twice",
        ),
    ] {
        write("c.csv", text);
        let refused = newest(dir.path(), "*.csv").await.expect_err(text);
        assert!(refused.starts_with(said), "{refused}");
    }
}

#[tokio::test]
async fn inp_08_what_writers_leave_beside_data_is_passed_over_and_broken_data_is_named() {
    let dir = tempfile::tempdir().expect("dir");
    let root = dir.path();
    write_row(&root.join("d/a.parquet"), 1);
    write_row(&root.join("d/b/b.parquet"), 2);
    for beside in [
        "d/_SUCCESS",
        "d/.a.parquet.crc",
        "d/a.tmp",
        "d/_x.parquet",
        "d/_temporary/0/c.parquet",
    ] {
        let path = root.join(beside);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("dir");
        std::fs::write(path, "half").expect("file");
    }
    std::fs::create_dir(root.join("d/folder.parquet")).expect("dir");
    let found = newest(root, "d/**/*.parquet").await;
    assert_eq!(found.expect("rows"), ["1 7 x", "2 7 x"]);
    for (bytes, said) in [
        (&b""[..], "`d/z.parquet`: is empty (0 bytes)"),
        (b"PAR1", "`d/z.parquet`: is a Parquet file that is cut off"),
        (
            b"k,at,v,s\n1,2024-01-01,2,x\n",
            "`d/z.parquet`: is not a Parquet file",
        ),
    ] {
        std::fs::write(root.join("d/z.parquet"), bytes).expect("file");
        let refused = newest(root, "d/**/*.parquet").await.expect_err(said);
        assert!(refused.starts_with(said), "{refused}");
    }
    std::fs::remove_file(root.join("d/z.parquet")).expect("removed");
    std::os::unix::fs::symlink("gone.parquet", root.join("d/z.parquet")).expect("link");
    let refused = newest(root, "d/**/*.parquet").await.expect_err("dangling");
    assert!(
        refused.starts_with("`d/z.parquet`: cannot be read"),
        "{refused}"
    );
}

#[tokio::test]
async fn inp_11_a_file_that_lacks_its_last_bytes_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("rows.parquet");
    write_row(&path, 1);
    let whole = std::fs::read(&path).expect("file");
    let mut broken: Vec<Vec<u8>> = [1, 4, 8, 100]
        .iter()
        .map(|bytes| whole[..whole.len() - bytes].to_vec())
        .collect();
    let mut long_footer = whole.clone();
    let footer_length = whole.len() - 8..whole.len() - 4;
    long_footer[footer_length].fill(0xff);
    broken.push(long_footer);
    for bytes in broken {
        std::fs::write(&path, &bytes).expect("file");
        let refused = newest(dir.path(), "rows.parquet")
            .await
            .expect_err("broken");
        assert!(refused.starts_with("`rows.parquet`: "), "{refused}");
    }
    // The page's header says how long it is: no more than that is ever asked for.
    for place in (4..whole.len() - 8).step_by(11) {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x80;
        std::fs::write(&path, &flipped).expect("file");
        if let Err(refused) = newest(dir.path(), "rows.parquet").await {
            assert!(refused.starts_with("`rows.parquet`: "), "{refused}");
        }
    }
}
