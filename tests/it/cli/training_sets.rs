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
