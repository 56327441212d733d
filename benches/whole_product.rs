//! What a whole process takes, on the bundled example (69,659 purchases of 23,570 customers):
//! the night from nothing to a served release, the next night, and a server's start until it is ready.
//!
//! ```text
//! cargo bench --bench whole_product
//! ```

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use feature_defs::time::Stopwatch;

const ROUNDS: usize = 7;

fn main() {
    let mut first_nights = Vec::new();
    let mut next_nights = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path();
        copy(&example(), project);
        run(project, &["apply"]);
        first_nights.push(run(project, &["run", "--as-of", "1997-10-01"]));
        next_nights.push(run(project, &["run", "--as-of", "1997-10-02"]));
        starts.push(start_to_ready(project));
    }
    let rows = [
        (
            "night, first (process, computing and publishing)",
            first_nights,
        ),
        ("night, next", next_nights),
        ("server, start to ready", starts),
    ];
    let mut table = format!(
        "{:<50} {:>10} {:>10} {:>10}\n",
        "whole product", "least", "median", "most"
    );
    for (name, mut times) in rows {
        times.sort_unstable();
        let shown = [times[0], times[times.len() / 2], times[times.len() - 1]];
        let [least, median, most] = shown.map(|time| format!("{:.1} ms", time.as_secs_f64() * 1e3));
        table.push_str(&format!("{name:<50} {least:>10} {median:>10} {most:>10}\n"));
    }
    use std::io::Write;
    let _ = write!(std::io::stdout(), "{table}");
}

fn example() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("feature_defs/examples/cdnow")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn nightfill(project: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nightfill"));
    command.args(arguments).arg("--project").arg(project);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a verb to its end; how long it took.
fn run(project: &Path, arguments: &[&str]) -> Duration {
    let stopwatch = Stopwatch::start();
    let output = nightfill(project, arguments)
        .output()
        .expect("the binary starts");
    let took = stopwatch.elapsed();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    took
}

/// From starting the process to its first line, which it writes once it listens and has loaded the release.
fn start_to_ready(project: &Path) -> Duration {
    let stopwatch = Stopwatch::start();
    let mut child = nightfill(project, &["serve", "--listen", "127.0.0.1:0"])
        .spawn()
        .expect("it starts");
    let line = first_line(&mut child);
    let address = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix("http://"));
    let address = address
        .expect("an address")
        .trim_end_matches(',')
        .to_owned();
    let ready = ureq::get(format!("http://{address}/readyz")).call();
    let took = stopwatch.elapsed();
    child.kill().expect("a child");
    child.wait().expect("it ends");
    assert_eq!(ready.expect("ready").status().as_u16(), 200);
    took
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    line
}
