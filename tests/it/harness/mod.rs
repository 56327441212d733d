//! What whole-product tests share: a project in a folder of its own, the binary, a running server, HTTP.

pub(crate) mod parquet;
pub(crate) mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use arrow::array::RecordBatch;
use serde_json::Value;
use tempfile::TempDir;

/// A project in a temporary folder.
#[derive(Debug)]
pub(crate) struct Project {
    folder: TempDir,
}

/// `nightfill.yaml` of projects that do not bring their own.
const SETTINGS: &str = "\
version: 1
project: test
timezone: UTC
registry: sqlite://.nightfill/registry.db
offline: .nightfill/offline
online: embedded://.nightfill/online
";

/// The bundled example project.
pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("feature_defs/examples/cdnow")
}

/// The second example project.
pub(crate) fn journey() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("feature_defs/examples/complete_journey")
}

impl Project {
    /// A project of these files, with default settings.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        project.write("nightfill.yaml", SETTINGS);
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// The example project, without its data.
    pub(crate) fn example_definitions() -> Self {
        let project = Self::new(&[]);
        project.copy_tree(&example(), "", &|path| !path.starts_with("data"));
        project
    }

    /// The example project.
    pub(crate) fn example() -> Self {
        let project = Self::new(&[]);
        project.copy_tree(&example(), "", &|_| true);
        project
    }

    /// The second example project.
    pub(crate) fn journey() -> Self {
        let project = Self::new(&[]);
        project.copy_tree(&journey(), "", &|_| true);
        project
    }

    /// Serves from another place.
    pub(crate) fn serve_from(&self, online: &str) {
        let path = self.root().join("nightfill.yaml");
        let text = fs::read_to_string(&path).expect("settings");
        let lines = text.lines().map(|line| match line.starts_with("online: ") {
            true => format!("online: {online}\n"),
            false => format!("{line}\n"),
        });
        self.write("nightfill.yaml", lines.collect::<String>());
    }

    fn copy_tree(&self, from: &Path, below: &str, wanted: &dyn Fn(&str) -> bool) {
        for entry in fs::read_dir(from.join(below)).expect("a readable folder") {
            let entry = entry.expect("a readable entry");
            let name = entry.file_name().into_string().expect("a UTF-8 name");
            let path = if below.is_empty() {
                name
            } else {
                format!("{below}/{name}")
            };
            if path.starts_with('.') || !wanted(&path) {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                self.copy_tree(from, &path, wanted);
            } else {
                self.write(&path, fs::read(entry.path()).expect("a readable file"));
            }
        }
    }

    /// The project's folder.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// The binary, on this project.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = nightfill(arguments);
        command.arg("--project").arg(self.root());
        command
    }

    /// Runs the binary on this project, which must succeed; its standard output.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = finish(self.command(arguments));
        assert!(
            output.status.success(),
            "{arguments:?} failed: {}\n{}",
            stderr(&output),
            stdout(&output)
        );
        stdout(&output)
    }

    /// Runs the binary on this project, which must fail with exit code 1; its standard error.
    pub(crate) fn fail(&self, arguments: &[&str]) -> String {
        let output = finish(self.command(arguments));
        assert_eq!(
            output.status.code(),
            Some(1),
            "{arguments:?}: {}",
            stdout(&output)
        );
        stderr(&output)
    }

    /// Runs the binary on this project with `--format json`; the document that it prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.run(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// The training set of a service over a frame in CSV.
    pub(crate) fn train(&self, service: &str, frame: &str) -> RecordBatch {
        self.train_with(service, frame, &[])
    }

    /// The same with more options.
    pub(crate) fn train_with(&self, service: &str, frame: &str, options: &[&str]) -> RecordBatch {
        self.write("frame.csv", frame);
        let frame = self.root().join("frame.csv");
        let out = self.root().join("trained.parquet");
        let [frame, out_text] = [&frame, &out].map(|path| path.to_str().expect("UTF-8"));
        let asked = training_set(service, frame, out_text);
        self.run(&[&asked[..], options].concat());
        parquet::read(&out)
    }

    /// The Parquet files of a view's snapshots, sorted by path; none before its first night.
    pub(crate) fn snapshots(&self, view: &str) -> Vec<PathBuf> {
        let mut folders = vec![self.root().join(".nightfill/offline").join(view)];
        folders.retain(|folder| folder.exists());
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a readable folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path
                    .extension()
                    .is_some_and(|extension| extension == "parquet")
                {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }

    /// Applies the definitions and runs the night as of each instant.
    pub(crate) fn apply_and_run(&self, as_ofs: &[&str]) {
        self.run(&["apply"]);
        for as_of in as_ofs {
            self.run(&["run", "--as-of", as_of]);
        }
    }
}

/// The arguments that build a training set.
pub(crate) const fn training_set<'a>(
    service: &'a str,
    frame: &'a str,
    out: &'a str,
) -> [&'a str; 7] {
    [
        "training-set",
        "--service",
        service,
        "--entities",
        frame,
        "-o",
        out,
    ]
}

/// The binary, apart from any project.
pub(crate) fn nightfill(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nightfill"));
    command
        .args(arguments)
        .env_remove("NIGHTFILL_LOG")
        .env_remove("RUST_LOG")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Output {
    command.output().expect("the binary starts")
}

/// What it wrote to standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8 on standard output")
}

/// What it wrote to standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8 on standard error")
}

/// A small shop: purchases of three customers, two views, one service.
pub(crate) fn shop() -> Project {
    Project::new(&[
        ("features/customer.yaml", SHOP),
        ("data/purchases.csv", PURCHASES),
    ])
}

const PURCHASES: &str = "\
customer_id,at,amount
1,2026-02-01T10:00:00Z,10.00
1,2026-02-25T10:00:00Z,20.00
2,2026-02-27T10:00:00Z,5.50
3,2026-03-01T10:00:00Z,7.00
";

const SHOP: &str = "\
entities:
  customer:
    keys: { customer_id: int64 }
sources:
  purchases:
    path: data/purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: 'decimal(12,2)' }
views:
  spend:
    entity: customer
    source: purchases
    ttl: none
    windows: [7d, lifetime]
    aggregate: { amount: sum(amount), orders: count() }
  largest:
    entity: customer
    sql: SELECT customer_id, max(amount) AS amount FROM purchases GROUP BY customer_id
    ttl: none
    features:
      amount: { type: 'decimal(12,2)' }
services:
  spend_v1:
    features: [spend.*, largest.amount]
";
