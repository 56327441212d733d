//! What checking, planning and lineage cost, by the size of a project: 1,000, 5,000 and 10,000 features in up to 500 views, three
//! in four of them windowed aggregations, the rest SQL, with request views and services over them.
//!
//! `cargo bench --bench definitions`

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use feature_defs::definitions::{DefinitionFile, Definitions};
use feature_defs::difference::Difference;
use feature_defs::lineage::{Direction, Lineage};
use feature_defs::parse;
use feature_defs::time::Stopwatch;

const PER_VIEW: usize = 20;
const ROUNDS: usize = 5;

fn main() {
    println!(
        "{:>8} {:>6} {:>14} {:>14} {:>14}",
        "features", "views", "check", "plan", "lineage"
    );
    let mut firsts = None;
    for views in [50, 250, 500] {
        let files = project(views, "");
        let changed = project(views, "c_1");
        let applied = parse(&files);
        let features: usize = applied.views.values().map(|view| view.features.len()).sum();
        let check = median(|| drop(parse(&files)));
        // As `nightfill plan` does: the files, what is applied, and what is different.
        let plan = median(|| {
            let (before, after) = (parse(&files), parse(&changed));
            assert!(!Difference::between(Some(&before), &after).is_empty());
        });
        // As `nightfill lineage purchases` does: the files, the graph, and all that a source reaches.
        let lineage = median(|| {
            let graph = Lineage::of(&parse(&files)).unwrap();
            let source = graph.find("purchases")[0];
            assert!(!graph.tree(source, Direction::Downstream).is_empty());
        });
        println!(
            "{features:>8} {views:>6} {:>11.1} ms {:>11.1} ms {:>11.1} ms",
            millis(check),
            millis(plan),
            millis(lineage)
        );
        let firsts = *firsts.get_or_insert([check, plan, lineage]);
        let times = |now: Duration, first: Duration| now.as_secs_f64() / first.as_secs_f64();
        println!(
            "{:>15} {:>13.1}x {:>13.1}x {:>13.1}x",
            "",
            times(check, firsts[0]),
            times(plan, firsts[1]),
            times(lineage, firsts[2])
        );
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(work: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let watch = Stopwatch::start();
            work();
            watch.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn parse(files: &[DefinitionFile]) -> Definitions {
    parse::parse(Path::new("/"), files.to_vec()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A project of so many views, ten a file. `changed` is the name of a column that its SQL views take the least of.
fn project(views: usize, changed: &str) -> Vec<DefinitionFile> {
    let columns: Vec<String> = (0..PER_VIEW).map(|nth| format!("c_{nth}")).collect();
    let typed: Vec<String> = columns
        .iter()
        .map(|name| format!("{name}: float64"))
        .collect();
    let settings = format!(
        "version: 1
project: large
entities:
  customer:
    keys: {{ customer_id: int64 }}
sources:
  purchases:
    path: data/purchases.parquet
    event_time: at
    columns: {{ customer_id: int64, at: timestamp, {} }}
",
        typed.join(", ")
    );
    let mut files = vec![file("nightfill.yaml", settings)];
    for first in (0..views).step_by(10) {
        let names = first..(first + 10).min(views);
        let mut text = "views:\n".to_owned();
        for nth in names.clone() {
            write_view(&mut text, nth, &columns, changed);
        }
        text.push_str("request_views:\n");
        writeln!(
            text,
            "  request_{first}:\n    inputs: {{ amount: float64 }}\n    features:"
        )
        .unwrap();
        let of_sql = names.clone().find(|nth| nth % 4 == 3).unwrap();
        writeln!(text, "      share: amount / nullif(view_{of_sql}.c_0, 0)").unwrap();
        text.push_str("services:\n");
        let all: Vec<String> = names.map(|nth| format!("view_{nth}.*")).collect();
        writeln!(
            text,
            "  service_{first}:\n    features: [{}, request_{first}.share]",
            all.join(", ")
        )
        .unwrap();
        files.push(file(&format!("features/{first:04}.yaml"), text));
    }
    files
}

fn write_view(text: &mut String, nth: usize, columns: &[String], changed: &str) {
    writeln!(text, "  view_{nth}:\n    entity: customer\n    ttl: 3d").unwrap();
    if nth % 4 != 3 {
        let sums = columns.iter().take(PER_VIEW / 4);
        let sums: Vec<String> = sums.map(|name| format!("{name}: sum({name})")).collect();
        writeln!(
            text,
            "    source: purchases\n    windows: [7d, 30d, 90d, lifetime]"
        )
        .unwrap();
        writeln!(text, "    aggregate: {{ {} }}", sums.join(", ")).unwrap();
        return;
    }
    let selected = columns.iter().map(|name| {
        let function = if name == changed { "min" } else { "max" };
        format!("{function}({name}) AS {name}")
    });
    let selected: Vec<String> = selected.collect();
    let typed: Vec<String> = columns
        .iter()
        .map(|name| format!("{name}: float64"))
        .collect();
    writeln!(
        text,
        "    sql: SELECT customer_id, {} FROM purchases GROUP BY customer_id",
        selected.join(", ")
    )
    .unwrap();
    writeln!(text, "    features: {{ {} }}", typed.join(", ")).unwrap();
}

fn file(path: &str, text: String) -> DefinitionFile {
    DefinitionFile {
        path: path.to_owned(),
        text,
    }
}
