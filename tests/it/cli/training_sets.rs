//! `nightfill training-set`: what it writes, and what it leaves alone.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::harness::{Project, parquet, shop};

const FRAME: &str = "customer_id,at\n1,2026-02-20T00:00:00Z\n2,2026-03-01T00:00:00Z\n";

fn build(project: &Project, output: &str) -> Vec<String> {
    let path = |name: &str| project.root().join(name).display().to_string();
    let (frame, output) = (path("frame.csv"), path(output));
    let arguments = [
        "training-set",
        "--service",
        "spend_v1",
        "--as-of-column",
        "at",
        "--entities",
        &frame,
        "-o",
        &output,
    ];
    arguments.map(str::to_owned).to_vec()
}

fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn a_frame_names_its_as_of_column_and_keeps_its_rows() {
    let project = shop();
    project.run(&["apply"]);
    project.write("frame.csv", FRAME);
    project.run(&strs(&build(&project, "out.parquet")));
    let batch = parquet::read(&project.root().join("out.parquet"));
    assert_eq!(
        parquet::integers(&batch, "spend.orders_lifetime"),
        [Some(1), Some(1)]
    );
}

#[test]
fn outputs_that_cannot_be_meant_are_refused_before_anything_is_read() {
    let project = shop();
    project.run(&["apply"]);
    project.write("frame.csv", FRAME);
    for (output, told) in [
        ("out.csv", "out.parquet`"),
        ("nodir/out.parquet", "there is no folder `"),
        ("data", "is a folder"),
    ] {
        let said = project.fail(&strs(&build(&project, output)));
        assert!(said.contains(told) && !said.contains(".part"), "{said}");
    }
    let mut arguments = build(&project, "frame");
    project.write("frame", FRAME);
    arguments[6] = arguments[8].clone();
    let said = project.fail(&strs(&arguments));
    assert!(said.contains("is the entity frame itself"), "{said}");
    let kept = std::fs::read_to_string(project.root().join("frame")).expect("the frame");
    assert_eq!(kept, FRAME);
}

#[test]
fn an_unknown_service_is_told_with_the_nearest_one() {
    let project = shop();
    project.run(&["apply"]);
    project.write("frame.csv", FRAME);
    let mut arguments = build(&project, "out.parquet");
    arguments[2] = "spend_v".to_owned();
    let told = "unknown service `spend_v` (did you mean `spend_v1`?)";
    let said = project.fail(&strs(&arguments));
    assert!(said.contains(told), "{said}");
    let asked = [
        "features",
        "--service",
        "spend_v",
        "--entity",
        "customer_id=1",
    ];
    let said = project.fail(&[&asked[..], &["--as-of", "2026-03-01"]].concat());
    assert!(said.contains(told), "{said}");
}

#[test]
fn as_ofs_that_are_texts_are_read_as_in_csv() {
    let project = shop();
    project.run(&["apply"]);
    let frame = project.root().join("frame.parquet");
    let write = |as_ofs: ArrayRef| {
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        parquet::write(&frame, vec![("customer_id", keys), ("at", as_ofs)]);
    };
    let mut arguments = build(&project, "out.parquet");
    arguments[6] = frame.display().to_string();
    write(Arc::new(StringArray::from(vec![
        "2026-02-20T00:00:00Z",
        "2026-03-01",
    ])));
    project.run(&strs(&arguments));
    let batch = parquet::read(&project.root().join("out.parquet"));
    assert_eq!(
        parquet::integers(&batch, "spend.orders_lifetime"),
        [Some(1), Some(1)]
    );
    write(Arc::new(StringArray::from(vec!["2026-02-20", "soon"])));
    let said = project.fail(&strs(&arguments));
    assert!(
        said.contains("column `at`, row 2: `soon` is not a timestamp: write `1997-10-01`"),
        "{said}"
    );
    write(Arc::new(Int64Array::from(vec![1, 2])));
    let said = project.fail(&strs(&arguments));
    assert!(
        said.contains("convert it in the frame to a timestamp, a date, or a text like")
            && !said.contains("declare `at`"),
        "{said}"
    );
}

#[test]
fn a_frame_with_another_delimiter_is_told_so() {
    let project = shop();
    project.run(&["apply"]);
    project.write("frame.csv", FRAME.replace(',', ";"));
    let said = project.fail(&strs(&build(&project, "out.parquet")));
    assert!(
        said.contains(r#"its columns are parted by ";", and those of a frame by ",""#),
        "{said}"
    );
}

#[test]
fn a_manifest_says_what_a_training_set_was_made_from() {
    let project = shop();
    project.run(&["apply"]);
    project.write("frame.csv", FRAME);
    let arguments = build(&project, "out.parquet");
    let manifest = || -> serde_json::Value {
        let text = std::fs::read(project.root().join("out.parquet.manifest.json"));
        serde_json::from_slice(&text.expect("a manifest")).expect("JSON")
    };
    let hash = |file: &str| {
        let file = std::fs::File::open(project.root().join(file)).expect("a file");
        let hash = feature_defs::fingerprint::Fingerprint::of_reader(file);
        hash.expect("readable").to_string()
    };
    let report = project.json(&strs(&arguments));
    let first = manifest();
    assert_eq!(first["format"], 1);
    assert_eq!(first["project"], "test");
    assert_eq!(first["service"], "spend_v1");
    assert_eq!(first["as_of_column"], "at");
    assert_eq!(first["definitions"]["version"], 1);
    let applied = &project.json(&["log"])[0]["fingerprint"];
    assert_eq!(first["definitions"]["fingerprint"], *applied);
    assert_eq!(first["frame"]["content"], hash("frame.csv"));
    assert_eq!(first["output"]["content"], hash("out.parquet"));
    assert_eq!(first["output"]["content"], report["content"]);
    assert_eq!(first["output"]["rows"], 2);
    let source = &first["sources"]["purchases"]["data/purchases.csv"];
    let length = std::fs::metadata(project.root().join("data/purchases.csv"));
    assert_eq!(source["length"], length.expect("a file").len());
    // Of customer 2 an event of the last week is known on 2026-03-01, of customer 1 none on 2026-02-20.
    let columns = first["columns"].as_array().expect("columns");
    let of = |name: &str| {
        columns
            .iter()
            .find(|c| c["name"] == name)
            .expect("a column")
    };
    assert_eq!(of("customer_id")["nulls"], 0);
    let amount = of("spend.amount_7d");
    assert_eq!(
        (&amount["nulls"], &amount["null_rate"]),
        (&1.into(), &0.5.into())
    );
    assert_eq!(amount["type"], "decimal(38,2)");

    project.run(&strs(&arguments));
    let again = manifest();
    for same in ["definitions", "frame", "sources", "output", "columns"] {
        assert_eq!(again[same], first[same], "{same}");
    }
    let file = project.root().join("data/purchases.csv");
    let mut rows = std::fs::read_to_string(&file).expect("rows");
    rows.push_str("2,2026-02-28T10:00:00Z,1.00\n");
    project.write("data/purchases.csv", rows);
    project.run(&strs(&arguments));
    let changed = manifest();
    assert_ne!(changed["output"]["content"], first["output"]["content"]);
    assert_ne!(changed["sources"], first["sources"]);
    assert_eq!(changed["definitions"], first["definitions"]);
}
