//! Sources and snapshots outside the project's folder: in other folders, and in object storage.

use std::fs;

use serde_json::Value;
use store::conformance::servers::{TestBucket, s3_bucket};

use crate::harness::{self, Project, parquet};

/// Rows of a source in each format, in Hive partitions; the second file of each is of another year.
const FILES: [(&str, &str); 4] = [
    (
        "csv/year=2025/a.csv",
        "id,at,v\n1,2025-05-01T00:00:00Z,1\n2,2025-05-02T00:00:00Z,\"2\"\n",
    ),
    (
        "csv/year=2026/b.csv",
        "v,at,id\n4,2026-01-05T00:00:00Z,1\n8,2026-09-05T00:00:00Z,1\n",
    ),
    (
        "jsonl/year=2025/a.jsonl",
        "{\"id\": 1, \"at\": \"2025-05-01T00:00:00Z\", \"v\": 16}\n",
    ),
    ("jsonl/year=2026/_hidden.jsonl", "no JSON\n"),
];

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  table: { root: raw, path: csv/*/*.csv, partitions: [year], event_time: at, columns: { id: int64, at: timestamp, v: int64, year: int32 } }
  lines: { root: raw, path: 'jsonl/*/*.jsonl', partitions: [year], event_time: at, columns: { id: int64, at: timestamp, v: int64, year: int32 } }
views:
  sums:
    entity: thing
    sources: [table, lines]
    ttl: none
    windows: [lifetime]
    aggregate: { v: sum(table.v), w: sum(lines.v), years: distinct_count(table.year) }
services:
  all: { features: [sums.*] }
";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().expect("a runtime")
}

/// Makes the binary find the bucket.
fn run(project: &Project, bucket: &TestBucket, arguments: &[&str]) -> std::process::Output {
    let mut command = project.command(arguments);
    command.envs(bucket.settings.iter().cloned());
    harness::finish(command)
}

fn succeed(project: &Project, bucket: &TestBucket, arguments: &[&str]) -> String {
    let output = run(project, bucket, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        harness::stderr(&output)
    );
    harness::stdout(&output)
}

fn sums(answer: &str) -> [Value; 3] {
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    let features = &answer["results"][0]["features"];
    ["v", "w", "years"].map(|name| features[format!("sums.{name}_lifetime")]["value"].clone())
}

const ASKED: [&str; 7] = [
    "features",
    "--service",
    "all",
    "--entities",
    "{\"id\": [1]}",
    "--format",
    "json",
];

#[test]
fn csv_json_lines_and_partitions_read_alike_in_folders_and_buckets() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    for (path, text) in FILES {
        let path = elsewhere.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }
    let of_folder = Project::new(&[("all.yaml", DEFINITIONS)]);
    let settings = format!(
        "version: 1\nproject: test\nroots: {{ raw: '{}' }}\n",
        elsewhere.path().display()
    );
    of_folder.write("nightfill.yaml", &settings);
    of_folder.apply_and_run(&["2026-02-01"]);
    let expected = [5, 16, 2].map(|value| Value::String(value.to_string()));
    let answer = sums(&of_folder.run(&ASKED));
    assert_eq!(
        answer
            .clone()
            .map(|value| value.to_string().replace('"', "")),
        expected
            .clone()
            .map(|value| value.to_string().replace('"', ""))
    );

    let Some(bucket) = s3_bucket() else {
        return;
    };
    runtime().block_on(async {
        for (path, text) in FILES {
            bucket.put(path, text).await;
        }
    });
    let of_bucket = Project::new(&[("all.yaml", DEFINITIONS)]);
    let settings = format!(
        "version: 1\nproject: test\nroots: {{ raw: nowhere }}\nenvironments: {{ prod: {{ roots: {{ raw: '{}' }} }} }}\n",
        bucket.url
    );
    of_bucket.write("nightfill.yaml", settings);
    let warned = harness::stderr(&run(&of_bucket, &bucket, &["check", "--env", "prod"]));
    assert_eq!(warned, "");
    let warned = harness::stderr(&run(&of_bucket, &bucket, &["check"]));
    assert!(warned.contains("nowhere"), "{warned}");
    succeed(&of_bucket, &bucket, &["apply", "--env", "prod"]);
    succeed(
        &of_bucket,
        &bucket,
        &["run", "--env", "prod", "--as-of", "2026-02-01"],
    );
    let asked = [&ASKED[..], &["--env", "prod"]].concat();
    assert_eq!(sums(&succeed(&of_bucket, &bucket, &asked)), answer);
}

#[test]
fn the_example_in_a_bucket_gives_what_it_gives_in_its_folder() {
    let Some(bucket) = s3_bucket() else {
        return;
    };
    let file = harness::example().join("data/purchases.parquet");
    let bytes = fs::read(&file).expect("the example's file");
    runtime().block_on(bucket.put("raw/data/purchases.parquet", bytes));
    let (there, here) = (Project::example_definitions(), Project::example());
    there.write(
        "nightfill.yaml",
        format!(
            "version: 1\nproject: cdnow\nroots: {{ raw: '{0}/raw' }}\noffline: '{0}/offline'\n",
            bucket.url
        ),
    );
    let definitions =
        fs::read_to_string(there.root().join("features/customer.yaml")).expect("definitions");
    let path = "    path: data/purchases.parquet\n";
    assert!(definitions.contains(path));
    there.write(
        "features/customer.yaml",
        definitions.replace(path, &format!("    root: raw\n{path}")),
    );
    succeed(&there, &bucket, &["apply"]);
    succeed(&there, &bucket, &["run", "--as-of", "1997-10-01"]);
    here.apply_and_run(&["1997-10-01"]);
    // All snapshots are in the bucket, and nothing of them on local disk.
    assert!(!there.root().join(".nightfill/offline").exists());
    let asked = [
        "features",
        "--service",
        "buys_again_v1",
        "--format",
        "json",
        "--entities",
    ];
    let entities = "{\"customer_id\": [1, 2, 23570, 99999, 4711]}";
    let fields = ["--request", "amount_cents=1500", "--request", "cds=1"];
    let asked = [&asked[..], &[entities], &fields[..]].concat();
    let answers = [succeed(&there, &bucket, &asked), here.run(&asked)].map(|answer| {
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        answer["results"].clone()
    });
    assert_eq!(answers[0], answers[1]);

    let frame = "customer_id,as_of,amount_cents,cds\n1,1997-01-02,5,1\n2,1997-06-30,5,1\n23570,1998-07-01,5,1\n";
    let expected = here.train("buys_again_v1", frame);
    there.write("frame.csv", frame);
    let [frame, trained] = ["frame.csv", "trained.parquet"].map(|name| there.root().join(name));
    let [frame_text, trained_text] = [&frame, &trained].map(|path| path.to_str().expect("UTF-8"));
    succeed(
        &there,
        &bucket,
        &harness::training_set("buys_again_v1", frame_text, trained_text),
    );
    assert_eq!(parquet::read(&trained), expected);
    let manifest =
        fs::read_to_string(there.root().join("trained.parquet.manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let state = &manifest["sources"]["purchases"]["raw: data/purchases.parquet"];
    assert!(
        state["etag"].as_str().is_some_and(|etag| !etag.is_empty()),
        "{manifest}"
    );
}

#[test]
fn what_is_not_in_a_root_is_told_by_its_path() {
    let project = Project::new(&[("all.yaml", DEFINITIONS)]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let root = elsewhere.path().join("raw");
    fs::create_dir_all(root.join("csv/year=2025")).expect("folders");
    fs::create_dir_all(root.join("jsonl/year=2025")).expect("folders");
    fs::write(elsewhere.path().join("secret.csv"), "id,at,v\n").expect("a file");
    std::os::unix::fs::symlink("../../../secret.csv", root.join("csv/year=2025/link.csv"))
        .expect("a link");
    fs::write(
        root.join("jsonl/year=2025/a.jsonl"),
        "{\"id\": 1, \"at\": \"2025-05-01\"}\n",
    )
    .expect("a file");
    project.write(
        "nightfill.yaml",
        format!(
            "version: 1\nproject: test\nroots: {{ raw: '{}' }}\n",
            root.display()
        ),
    );
    let warned = harness::stderr(&harness::finish(project.command(&["check"])));
    assert_eq!(
        warned,
        "warning: source `table`: `raw: csv/year=2025/link.csv`: leads out of root `raw`, where sources may not be\n\
         warning: source `lines`: `raw: jsonl/year=2025/a.jsonl`: no line of the source has `v`, which source `lines` declares (the first line has: at, id)\n"
    );

    let Some(bucket) = s3_bucket() else {
        return;
    };
    runtime().block_on(async {
        bucket.put("csv/year=2025/a.csv", "id;at;v\n").await;
        bucket.put("jsonl/year=2025/empty.jsonl", "").await;
    });
    project.write(
        "nightfill.yaml",
        format!(
            "version: 1\nproject: test\nroots: {{ raw: '{}' }}\n",
            bucket.url
        ),
    );
    let warned = harness::stderr(&run(&project, &bucket, &["check"]));
    assert_eq!(
        warned,
        "warning: source `table`: `raw: csv/year=2025/a.csv`: has no column `id`, `at`, `v`, which source `table` declares (its header has: id;at;v); does the source need `delimiter: \";\"`?\n\
         warning: source `lines`: `raw: jsonl/year=2025/empty.jsonl`: is empty (0 bytes)\n"
    );
    let folder = DEFINITIONS
        .replace("csv/*/*.csv", "csv")
        .replace("columns: { id", "format: csv, columns: { id")
        .replace("jsonl/*/*.jsonl", "none/a.jsonl")
        .replace("partitions: [year], ", "")
        .replace(", year: int32", "")
        .replace(", years: distinct_count(table.year)", "");
    project.write(
        "all.yaml",
        folder
            .replacen("format: csv, columns", "columns", 2)
            .replacen("path: csv,", "path: csv, format: csv,", 1),
    );
    let warned = harness::stderr(&run(&project, &bucket, &["check"]));
    assert_eq!(
        warned,
        "warning: source `table`: `raw: csv`: is a folder: write `raw: csv/*.parquet` for the files in it\n\
         warning: source `lines`: `raw: none/a.jsonl`: no file has this path below root `raw`\n"
    );
}
