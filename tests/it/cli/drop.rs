//! `drop`, and the orphans that `plan` lists: history stays until somebody says that it goes.

use std::fs;
use std::thread;
use std::time::Duration;

use feature_defs::time::Stopwatch;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::harness::{Project, shop};

const FILE: &str = "features/customer.yaml";

const LARGEST: &str = "  largest:
    entity: customer
    sql: SELECT customer_id, max(amount) AS amount FROM purchases GROUP BY customer_id
    ttl: none
    features:
      amount: { type: 'decimal(12,2)' }
";

/// The shop without its view `largest`.
fn without_largest(project: &Project) {
    let text = fs::read_to_string(project.root().join(FILE)).expect("definitions");
    assert!(text.contains(LARGEST), "{text}");
    let text = text.replace(LARGEST, "").replace(", largest.amount", "");
    project.write(FILE, text);
}

/// What the served release has for customer 2's largest purchase.
fn largest(project: &Project) -> Value {
    let asked = [
        "features",
        "--service",
        "spend_v1",
        "--entity",
        "customer_id=2",
    ];
    let answer = project.json(&asked);
    answer["results"][0]["features"]["largest.amount"]["value"].clone()
}

fn bytes_of(project: &Project, view: &str) -> u64 {
    let files = project.snapshots(view).into_iter();
    let files = files.flat_map(|rows| [rows.with_extension("json"), rows]);
    files
        .map(|file| fs::metadata(file).expect("a file").len())
        .sum()
}

#[test]
fn a_view_that_is_gone_keeps_its_history_until_it_is_dropped() {
    let project = shop();
    project.apply_and_run(&["2026-03-01", "2026-03-02"]);
    assert_eq!(
        project.run(&["drop"]),
        "nothing to drop: snapshots are kept of applied views only\n"
    );
    assert!(!project.run(&["plan"]).contains("largest"));
    without_largest(&project);
    let bytes = bytes_of(&project, "largest");
    let plan = project.run(&["plan"]);
    assert!(plan.contains("- feature view largest"), "{plan}");
    assert!(
        plan.contains("kept although `largest` is gone: 2 snapshots, ")
            && plan.contains("; `nightfill drop largest` takes them away"),
        "{plan}"
    );
    assert_eq!(
        project.json(&["plan"])["orphans"],
        json!([{ "view": "largest", "snapshots": 2, "bytes": bytes }])
    );

    let refused = project.fail(&["drop", "largest"]);
    assert!(
        refused.contains("view `largest` is applied (version 1)"),
        "{refused}"
    );
    project.run(&["apply"]);
    let refused = project.fail(&["drop", "largest", "--dry-run"]);
    assert!(
        refused.contains("release 2, which is served, has view `largest`"),
        "{refused}"
    );
    project.run(&["run", "--as-of", "2026-03-03"]);
    assert_eq!(project.snapshots("largest").len(), 2);

    let plan = project.run(&["plan"]);
    assert!(
        plan.starts_with("kept although `largest` is gone: 2 snapshots"),
        "{plan}"
    );
    assert!(
        plan.ends_with("nothing to do: version 2 is the same\n"),
        "{plan}"
    );
    let listed = project.run(&["drop"]);
    assert!(listed.starts_with("view     snapshots"), "{listed}");
    assert!(
        listed
            .lines()
            .nth(1)
            .is_some_and(|row| row.starts_with("largest ")),
        "{listed}"
    );
    let would = project.json(&["drop", "largest", "--dry-run"]);
    let expected = json!({ "view": "largest", "dropped": false, "snapshots": 2, "bytes": bytes });
    assert_eq!(would, expected);
    assert_eq!(project.snapshots("largest").len(), 2);
    let dropped = project.run(&["drop", "largest"]);
    assert!(
        dropped.starts_with("dropped `largest`: 2 snapshots, "),
        "{dropped}"
    );
    assert!(!project.root().join(".nightfill/offline/largest").exists());
    let again = project.run(&["drop", "largest"]);
    assert!(again.starts_with("nothing is kept of `largest`"), "{again}");
    assert_eq!(project.json(&["drop"]), json!({ "orphans": [] }));
    assert_eq!(project.snapshots("spend").len(), 3);

    // A release has its own copy of what it serves.
    project.run(&["release", "rollback"]);
    assert_eq!(largest(&project), json!("5.50"));
    project.run(&["run", "--as-of", "2026-03-04"]);
}

#[test]
fn a_view_of_another_type_is_another_view() {
    let project = shop();
    let defined = fs::read_to_string(project.root().join(FILE)).expect("definitions");
    project.apply_and_run(&["2026-03-01"]);
    assert_eq!(largest(&project), json!("5.50"));
    without_largest(&project);
    project.apply_and_run(&["2026-03-02"]);

    let other = defined
        .replace("max(amount)", "cast(max(amount) AS double)")
        .replace(
            "amount: { type: 'decimal(12,2)' }",
            "amount: { type: float64 }",
        );
    project.write(FILE, other);
    // The instant of the old snapshot: both are kept, and neither is taken for the other.
    project.run(&["apply"]);
    project.run(&["run", "--as-of", "2026-03-01", "--allow-earlier"]);
    assert_eq!(largest(&project), json!(5.5));
    let files = project.snapshots("largest");
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(files[0].parent(), files[1].parent());
    let types: Vec<String> = files.iter().map(|file| type_of(file, "amount")).collect();
    assert!(types.contains(&"Float64".to_owned()), "{types:?}");
    assert!(types.contains(&"Decimal128(12, 2)".to_owned()), "{types:?}");

    project.run(&["release", "rollback", "--to", "1"]);
    assert_eq!(largest(&project), json!("5.50"));
    project.run(&["release", "rollback", "--to", "3"]);
    assert_eq!(largest(&project), json!(5.5));

    project.write("frame.csv", "customer_id,as_of\n2,2026-03-05\n");
    let output = project.root().join("training.parquet");
    let frame = project.root().join("frame.csv");
    let paths = [&frame, &output].map(|path| path.to_str().expect("UTF-8"));
    project.run(&[
        "training-set",
        "--service",
        "spend_v1",
        "--entities",
        paths[0],
        "-o",
        paths[1],
    ]);
    assert_eq!(type_of(&output, "largest.amount"), "Float64");
}

fn type_of(file: &std::path::Path, column: &str) -> String {
    let file = fs::File::open(file).expect("a file");
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
    let schema = reader.expect("Parquet").schema().clone();
    let field = schema.field_with_name(column).expect("a column");
    format!("{:?}", field.data_type())
}

#[test]
fn a_drop_that_is_killed_leaves_whole_snapshots_or_none_and_is_finished_by_the_next() {
    let project = shop();
    project.apply_and_run(&["2026-03-01"]);
    let kept = project.snapshots("largest").remove(0);
    without_largest(&project);
    project.apply_and_run(&["2026-03-02"]);
    let folder = project.root().join(".nightfill/offline/largest");
    let mut random = StdRng::seed_from_u64(3);
    let mut longest = Duration::from_millis(50);
    let mut killed = 0;
    for _ in 0..12 {
        // Many snapshots, each of a manifest and rows, as their store lays them out.
        for day in 10..28 {
            let instant = folder.join(format!("as_of=202602{day}T000000Z"));
            fs::create_dir_all(&instant).expect("a folder");
            for file in [&kept, &kept.with_extension("json")] {
                let name = file.file_name().expect("a name");
                if file.exists() {
                    fs::copy(file, instant.join(name)).expect("a copy");
                } else {
                    fs::write(instant.join(name), "{}").expect("a file");
                }
            }
        }
        let watch = Stopwatch::start();
        let mut child = project
            .command(&["drop", "largest", "--lease", "300ms"])
            .spawn()
            .expect("starts");
        thread::sleep(longest.mul_f64(random.random_range(0.2..1.0)));
        // On Unix this is SIGKILL.
        child.kill().expect("a child");
        if child.wait().expect("it ends").success() {
            longest = watch.elapsed();
        } else {
            killed += 1;
        }
        for manifest in manifests(&folder) {
            assert!(
                manifest.with_extension("parquet").exists(),
                "{}",
                manifest.display()
            );
        }
    }
    assert!(killed >= 3, "only {killed} were killed");
    project.run(&["drop", "largest", "--lease", "300ms"]);
    assert!(!folder.exists());
    project.run(&["run", "--as-of", "2026-03-03", "--lease", "300ms"]);
}

fn manifests(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(instants) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = instants.flat_map(|instant| {
        let files = fs::read_dir(instant.expect("an entry").path()).expect("a folder");
        files.map(|file| file.expect("an entry").path())
    });
    files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect()
}
