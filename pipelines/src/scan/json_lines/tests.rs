use feature_defs::data_type::DataType;
use feature_defs::time::Ttl;

use crate::testing::*;

/// The newest row of each thing, over files of such bytes.
async fn newest(files: &[(&str, &[u8])]) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().expect("dir");
    for (file, bytes) in files {
        std::fs::write(dir.path().join(file), bytes).expect("file");
    }
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "thing", &[("k", DataType::Int64)]);
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("v", DataType::Int64),
        ("s", DataType::String),
    ];
    add_source(&mut definitions, "rows", "*.jsonl", &columns, "at", None);
    add_latest(
        &mut definitions,
        "latest",
        "thing",
        "rows",
        Ttl::Unlimited,
        &["v", "s"],
    );
    let view = rows(&session(2), &definitions, "latest", "2025-01-01T00:00:00Z").await;
    let view = view.map_err(|error| error.to_string())?;
    let schema = view.schema();
    let columns = ["k", "v", "s"].map(|name| schema.index_of(name).expect(name));
    Ok(shown(&view.project(&columns).expect("columns")))
}

async fn refused(text: &[u8]) -> String {
    newest(&[("rows.jsonl", text)]).await.expect_err("refused")
}

#[tokio::test]
async fn lines_are_rows_whatever_stands_between_them() {
    let text = "\u{feff}{\"k\": 1, \"at\": \"2024-01-01\", \"v\": 9007199254740993, \"s\": \"a\\nb\", \"more\": [1, {\"x\": null}]}\r\n\
                \r\n\
                \t{ \"s\" : \"\" , \"\\u0061t\" : \"2024-01-01\", \"k\" : 2 }  \n\
                \n\
                {\"k\":3,\"at\":\"2024-01-01\",\"v\":null,\"s\":null}";
    let found = newest(&[("rows.jsonl", text.as_bytes())]).await;
    assert_eq!(
        found.expect("rows"),
        ["1 9007199254740993 a\nb", "2 null ", "3 null null"]
    );
}

/// Writers leave out what is null, so that a column may stand in one line of one file only.
#[tokio::test]
async fn a_column_is_there_if_any_line_of_any_file_has_it() {
    let one =
        b"{\"k\": 1, \"at\": \"2024-01-01\"}\n{\"k\": 2, \"at\": \"2024-01-01\", \"s\": \"x\"}\n";
    let other = b"{\"k\": 3, \"at\": \"2024-01-01\", \"v\": null}\n";
    let both = newest(&[("a.jsonl", one), ("b.jsonl", other)]).await;
    assert_eq!(
        both.expect("rows"),
        ["1 null null", "2 null x", "3 null null"]
    );
    assert_eq!(
        newest(&[("a.jsonl", one)]).await.expect_err("no `v`"),
        "`a.jsonl`: no line of the source has `v`, which source `rows` declares (the first line has: at, k)"
    );
    let no_rows = newest(&[("a.jsonl", b"\n\n")]).await;
    assert_eq!(no_rows.expect("no rows"), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_no_row_is_refused_by_its_line() {
    const FIRST: &str = "{\"k\": 1, \"at\": \"2024-01-01\", \"v\": 1, \"s\": \"a\"}\n";
    for (line, said) in [
        (
            "{\"k\": 2, \"at\": \"2024-01-01\", \"v\":",
            ": it ends inside its object: the file is cut off, or the object goes on in the next line, where JSON lines have one a line",
        ),
        (
            "{\"k\": 2, \"k\": 3, \"at\": \"2024-01-01\"}",
            ": the key `k` stands in the object twice",
        ),
        (
            "{\"k\": 2, \"at\": \"2024-01-01\", \"x\": 1, \"x\": 1}",
            ": the key `x` stands in the object twice",
        ),
        (
            "{\"k\": 2, \"at\": \"2024-01-01\", \"v\": NaN}",
            ", byte 35: JSON has no NaN: write it as a string, `\"NaN\"`",
        ),
        (
            "{\"k\": 2, \"at\": \"2024-01-01\", \"x\": [1, -Infinity]}",
            ", byte 39: JSON has no -Infinity: write it as a string, `\"-Infinity\"`",
        ),
        (
            "{\"k\": 2, \"at\": \"2024-01-01\"} {\"k\": 3}",
            ", byte 30: this is not JSON: trailing characters",
        ),
        (
            "{'k': 2}",
            ", byte 2: this is not JSON: key must be a string",
        ),
        ("{\"k\": 02}", ", byte 8: this is not JSON: invalid number"),
        (
            "[2, \"2024-01-01\"]",
            ": `[2, \"2024-01-01\"]` is no object, and JSON lines have one a line; a file that is one list is not read: write each of its objects on a line of its own",
        ),
        ("7", ": `7` is no object, and JSON lines have one a line"),
        (
            "{\"k\": 2, \"at\": null}",
            ", column `at`: the event time is null",
        ),
        (
            "{\"k\": 2}",
            ", column `at`: the line leaves the event time out",
        ),
        (
            "{\"k\": 2, \"at\": \"2024-01-01\", \"v\": \"x\"}",
            ", column `v`: `\"x\"` is no int64: expected an integer from -9223372036854775808 to 9223372036854775807",
        ),
    ] {
        let text = format!("{FIRST}\n{line}\n");
        let told = refused(text.as_bytes()).await;
        assert_eq!(told, format!("`rows.jsonl`: line 3{said}"), "{line}");
    }
}

/// INP-05, of JSON lines.
#[tokio::test]
async fn inp_05_other_encodings_are_refused_by_line_and_byte() {
    let latin = b"{\"k\": 1, \"at\": \"2024-01-01\", \"v\": 1, \"s\": \"a\xf1o\"}\n";
    assert_eq!(
        refused(latin).await,
        "`rows.jsonl`: line 1, byte 45: not UTF-8: save the file as UTF-8"
    );
    let utf16 = b"\xff\xfe{\0\"\0";
    assert_eq!(
        refused(utf16).await,
        "`rows.jsonl`: line 1, byte 1: not UTF-8: save the file as UTF-8"
    );
    assert_eq!(refused(b"").await, "`rows.jsonl`: is empty (0 bytes)");
}

#[tokio::test]
async fn a_file_without_line_ends_is_not_read_as_a_whole() {
    let mut text = b"[1".to_vec();
    text.resize(
        (super::MAX_LINE_BYTES + 1).try_into().expect("a length"),
        b' ',
    );
    assert_eq!(
        refused(&text).await,
        "`rows.jsonl`: line 1 is longer than 64 MiB: JSON lines have one object a line"
    );
}
