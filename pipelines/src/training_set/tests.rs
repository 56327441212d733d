use std::path::Path;

use arrow::array::{Array, AsArray, Int32Array, StringArray};
use arrow::datatypes::{Float64Type, TimestampMicrosecondType};
use arrow::util::display::array_value_to_string;
use feature_defs::time::Instant;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::progress::Silent;
use crate::testing::*;

/// The example project, as it is shipped.
fn example() -> Definitions {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../feature_defs/examples/cdnow");
    feature_defs::parse::load(&root).expect("the example's definitions")
}

fn request(dir: &Path, entities: &str) -> TrainingSetRequest {
    TrainingSetRequest {
        now: Instant::from_micros(i64::MAX),
        service: name("buys_again_v1"),
        entities: dir.join(entities),
        as_of: AS_OF.to_owned(),
        definitions_version: 1,
        output: dir.join("out.parquet"),
    }
}

/// The training set of a frame with this text.
async fn of_csv(
    definitions: &Definitions,
    dir: &Path,
    text: &str,
) -> crate::error::Result<TrainingSetReport> {
    std::fs::write(dir.join("frame.csv"), text).expect("file");
    let request = request(dir, "frame.csv");
    build(&session(1), definitions, &request, &Silent).await
}

fn read(path: &Path) -> RecordBatch {
    let file = std::fs::File::open(path).expect("file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .expect("parquet")
        .build();
    let batches: Vec<RecordBatch> = reader.expect("reader").map(|b| b.expect("batch")).collect();
    arrow::compute::concat_batches(&batches[0].schema(), &batches).expect("one schema")
}

/// 40 rows: 38 customers and two keys that nobody has, at three instants, out of order, with a label.
fn write_frame(dir: &Path) -> Vec<(i32, &'static str)> {
    let instants = ["1997-10-01", "1997-04-15", "1998-01-01"];
    let rows: Vec<(i32, &str)> = (0..40)
        .map(|row| ((row * 613 + 7) % 23_570, instants[row as usize % 3]))
        .collect();
    let rows: Vec<(i32, &str)> = rows
        .into_iter()
        .enumerate()
        .map(|(i, (k, t))| (if i % 20 == 19 { -5 } else { k }, t))
        .collect();
    let ids: Int32Array = rows.iter().map(|row| Some(row.0)).collect();
    let labels: StringArray = (0..40).map(|row| Some(format!("label {row}"))).collect();
    let cents: Int32Array = (0..40).map(|row| Some(row * 100)).collect();
    let cds: Int32Array = (0..40).map(|row| Some(row % 5)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("label", Arc::new(labels)),
        ("customer_id", Arc::new(ids)),
        (
            "as_of",
            times(&rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        ),
        ("amount_cents", Arc::new(cents)),
        ("cds", Arc::new(cds)),
    ];
    write_parquet(&dir.join("frame.parquet"), columns);
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_look_from_the_future_are_refused() {
    let definitions = example();
    let dir = tempfile::tempdir().expect("dir");
    write_frame(dir.path());
    let mut request = request(dir.path(), "frame.parquet");
    // The third row looks from 1998-01-01, a microsecond later.
    request.now = Instant::parse("1998-01-01").expect("a date");
    assert!(
        build(&session(1), &definitions, &request, &Silent)
            .await
            .is_ok()
    );
    request.now = Instant::from_micros(request.now.micros() - 1);
    let refused = build(&session(1), &definitions, &request, &Silent).await;
    let refused = refused.expect_err("from the future").to_string();
    assert!(
        refused.contains("column `as_of`, row 3: 1998-01-01T00:00:00Z is in the future"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_columns_of_the_frame_stay_and_values_are_those_of_the_night_as_of_each_row() {
    let definitions = example();
    let dir = tempfile::tempdir().expect("dir");
    let frame = write_frame(dir.path());
    let session = session(2);
    let report = build(
        &session,
        &definitions,
        &request(dir.path(), "frame.parquet"),
        &Silent,
    )
    .await;
    let report = report.expect("report");
    assert_eq!(report.rows, 40);
    let output = read(&dir.path().join("out.parquet"));
    let input = read(&dir.path().join("frame.parquet"));
    for (index, column) in input.columns().iter().enumerate() {
        assert_eq!(output.column(index), column);
    }
    let names: Vec<String> = output.schema().fields()[5..]
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, report.features);

    let text = |column: &ArrayRef, row| {
        if column.is_null(row) {
            "null".to_owned()
        } else {
            array_value_to_string(column, row).expect("text")
        }
    };
    for as_of in ["1997-10-01", "1997-04-15", "1998-01-01"] {
        for view in ["customer_spend", "customer_rfm", "customer_ltv"] {
            let night = rows(&session, &definitions, view, as_of)
                .await
                .expect("night");
            let keys = night.column(0).clone();
            let night_row =
                |key: i32| (0..night.num_rows()).find(|row| text(&keys, *row) == key.to_string());
            for (row, (key, _)) in frame.iter().enumerate().filter(|(_, (_, at))| *at == as_of) {
                let at_night = night_row(*key);
                assert_eq!(at_night.is_none(), !had_bought(*key, &night), "{key}");
                for feature in &definitions.views[&name(view)].features {
                    let full = format!("{view}.{}", feature.name);
                    let Some(joined) = output.column_by_name(&full) else {
                        continue;
                    };
                    let expected = match at_night {
                        Some(at) => text(
                            night
                                .column_by_name(feature.name.as_str())
                                .expect("feature"),
                            at,
                        ),
                        None if full == "customer_ltv.ltv_to_date" => "0.0".to_owned(),
                        None => "null".to_owned(),
                    };
                    assert_eq!(text(joined, row), expected, "{full} of {key} as of {as_of}");
                }
            }
        }
    }
}

fn had_bought(key: i32, night: &RecordBatch) -> bool {
    let keys = night.column(0);
    let keys = keys
        .as_any()
        .downcast_ref::<Int32Array>()
        .expect("int32 keys");
    keys.values().contains(&key)
}

#[tokio::test]
async fn frames_that_do_not_fit_the_service_are_refused_by_column() {
    let definitions = example();
    let dir = tempfile::tempdir().expect("dir");
    let refused = async |text: &'static str| {
        let built = of_csv(&definitions, dir.path(), text).await;
        built.expect_err(text).to_string()
    };
    for (text, message) in [
        (
            "customer_id,amount_cents,cds\n1,2,3\n",
            "has no column `as_of`",
        ),
        (
            "as_of,amount_cents,cds\n1997-10-01,2,3\n",
            "has no column `customer_id`, a key part of `customer`",
        ),
        (
            "as_of,customer_id,cds\n1997-10-01,2,3\n",
            "has no column `amount_cents`, a request field",
        ),
        (
            "as_of,customer,amount_cents,cds\n1997-10-01,2,3,4\n",
            "(is `customer` meant?)",
        ),
        (
            "as_of,customer_id,amount_cents,cds\nnow,2,3,4\n",
            "line 2, column `as_of`: `now` is not a timestamp: write `1997-10-01`",
        ),
        (
            "as_of,customer_id,amount_cents,cds,customer_rfm.frequency\n1997-10-01,2,3,4,5\n",
            "has columns that are named as features: `customer_rfm.frequency`",
        ),
    ] {
        let refusal = refused(text).await;
        assert!(refusal.contains(message), "{refusal}");
    }
}

#[tokio::test]
async fn a_csv_frame_takes_dates_and_keeps_undeclared_columns() {
    let definitions = example();
    let dir = tempfile::tempdir().expect("dir");
    let text = "y,customer_id,as_of,amount_cents,cds,note\n1,1,1997-10-01,100,2,a\n0,1,1997-01-01T00:00:00Z,100,2,\n";
    of_csv(&definitions, dir.path(), text)
        .await
        .expect("report");
    let output = read(&dir.path().join("out.parquet"));
    let shown = shown(&output.project(&[0, 1, 2, 5]).expect("columns"));
    let midnight = Instant::parse("1997-10-01").expect("instant");
    assert_eq!(shown[0], format!("1 1 {midnight} a"));
    assert_eq!(shown[1], "0 1 1997-01-01T00:00:00Z null");
    let orders = output
        .column_by_name("customer_spend.orders_lifetime")
        .expect("orders");
    assert_eq!(
        (
            array_value_to_string(orders, 0).expect("text").as_str(),
            orders.is_null(1)
        ),
        ("1", true)
    );
}

#[tokio::test]
async fn days_and_times_without_a_zone_are_meant_in_the_project_s() {
    let mut definitions = example();
    definitions.project.timezone = chrono_tz::America::New_York;
    let dir = tempfile::tempdir().expect("dir");
    let text = "customer_id,as_of,amount_cents,cds\n1,1997-10-01,9,2\n1,1997-07-01 00:30:00,9,2\n";
    of_csv(&definitions, dir.path(), text)
        .await
        .expect("report");
    let output = read(&dir.path().join("out.parquet"));
    let as_ofs = output.column_by_name("as_of").expect("as-of");
    let as_ofs = as_ofs.as_primitive::<TimestampMicrosecondType>();
    let expected = ["1997-10-01T04:00:00Z", "1997-07-01T04:30:00Z"].map(at);
    assert_eq!(as_ofs.values(), &expected.map(Instant::micros));
}

#[tokio::test]
async fn a_row_whose_request_feature_has_no_value_is_null_alone_and_told() {
    let mut definitions = example();
    let baskets = definitions.request_views.get_mut(&name("basket"));
    let features = &mut baskets.expect("basket").features;
    let per_cd = features
        .iter_mut()
        .find(|f| f.name == name("amount_per_cd"));
    per_cd.expect("feature").expression = "cast(amount_cents / cds as double)".to_owned();
    let dir = tempfile::tempdir().expect("dir");
    let text = "customer_id,as_of,amount_cents,cds\n1,1997-10-01,9,2\n1,1997-10-01,9,0\n2,1997-10-01,8,2\n3,1997-10-01,8,0\n";
    let report = of_csv(&definitions, dir.path(), text)
        .await
        .expect("report");
    let expected = Unavailable {
        feature: "basket.amount_per_cd".to_owned(),
        rows: 2,
        first_row: 2,
        message: "a division by zero".to_owned(),
    };
    assert_eq!(report.unavailable, [expected]);
    let output = read(&dir.path().join("out.parquet"));
    let column = |feature: &str| {
        let column = output.column_by_name(feature).expect("column");
        column
            .as_primitive::<Float64Type>()
            .iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        column("basket.amount_per_cd"),
        [Some(4.0), None, Some(4.0), None]
    );
    assert!(column("basket.ahead_of_39w").iter().all(Option::is_some));
}

/// The frame of `tests/data/frames`, in CSV.
const FRAME: &str = "customer_id,as_of,amount_cents,cds,label\n\
    1,1997-10-01,1500,1,yes\n\
    4711,1997-04-15T12:30:00Z,10,2,\n\
    23570,1998-01-01,99,3,no\n";

/// The training set of that frame, from `frame.csv` in the folder.
async fn of_frame(definitions: &Definitions, dir: &Path) -> RecordBatch {
    let built = of_csv(definitions, dir, FRAME).await;
    built.expect("built");
    read(&dir.join("out.parquet"))
}

#[tokio::test]
async fn frames_of_arrow_give_what_the_same_rows_in_csv_give() {
    let (dir, definitions) = (tempfile::tempdir().expect("dir"), example());
    let expected = of_frame(&definitions, dir.path()).await;
    let frames = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/frames");
    for frame in ["pyarrow.feather", "pyarrow.arrows", "polars.arrow"] {
        let request = request(dir.path(), frames.join(frame).to_str().expect("UTF-8"));
        let built = build(&session(1), &definitions, &request, &Silent).await;
        built.unwrap_or_else(|error| panic!("{frame}: {error}"));
        let found = read(&request.output);
        assert_eq!(found.num_columns(), expected.num_columns(), "{frame}");
        for (field, column) in found.schema().fields().iter().zip(found.columns()) {
            let name = field.name();
            let expected = expected.column_by_name(name).expect("the column");
            let shown = |array: &ArrayRef| -> Vec<String> {
                let plain = arrow::compute::cast(array, expected.data_type()).expect("castable");
                let rows = 0..plain.len();
                rows.map(|row| array_value_to_string(&plain, row).expect("shown"))
                    .collect()
            };
            assert_eq!(shown(column), shown(expected), "{frame}: {name}");
        }
    }
}

#[tokio::test]
async fn training_sets_in_arrow_hold_what_those_in_parquet_hold() {
    let (dir, definitions) = (tempfile::tempdir().expect("dir"), example());
    let expected = of_frame(&definitions, dir.path()).await;
    for (output, format) in [
        ("out.arrow", format::Format::ArrowFile),
        ("out.feather", format::Format::ArrowFile),
        ("out.arrows", format::Format::ArrowStream),
    ] {
        let mut request = request(dir.path(), "frame.csv");
        request.output = dir.path().join(output);
        let report = build(&session(1), &definitions, &request, &Silent).await;
        let report = report.expect("built");
        assert_eq!(
            report.manifest,
            dir.path().join(format!("{output}.manifest.json"))
        );
        let found = format.read(&request.output, output).expect("readable");
        assert_eq!(found.columns(), expected.columns(), "{output}");
        assert_eq!(
            found.schema().fields(),
            expected.schema().fields(),
            "{output}"
        );
    }
}

#[tokio::test]
async fn what_is_no_arrow_is_told_by_the_name_of_the_frame() {
    let definitions = example();
    let dir = tempfile::tempdir().expect("dir");
    let frames = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/frames");
    let whole = std::fs::read(frames.join("pyarrow.feather")).expect("file");
    for (name, bytes) in [
        ("text.arrow", b"customer_id,as_of\n".as_slice()),
        ("cut.feather", &whole[..whole.len() / 2]),
        ("file.arrows", &whole),
        ("old.feather", b"FEA1 and more than a few bytes FEA1"),
        ("empty.arrow", b""),
    ] {
        std::fs::write(dir.path().join(name), bytes).expect("file");
        let request = request(dir.path(), name);
        let refused = build(&session(1), &definitions, &request, &Silent).await;
        let told = refused.expect_err("refused").to_string();
        let expected = format!(
            "`{}`: is no file of Arrow's IPC format, or is cut off or damaged",
            request.entities.display()
        );
        assert!(told.starts_with(&expected), "{told}");
        assert!(!request.output.exists());
    }
}
