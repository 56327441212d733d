//! Broken projects, each with what `check` says of it. `UPDATE_EXPECTED=1` writes the expected texts anew; read the
//! difference before it is kept.
//!
//! Each case is the project in `project/`, with a few edits. What is expected of it stands in `expected/KIND/CASE.txt`.

mod about;
mod aggregates;
mod cascades;
mod checks;
mod event_sources;
mod expressions;
mod filters;
mod formats;
mod keys;
mod mixed;
mod names;
mod project;
mod references;
mod roots;
mod served;
mod sql;
mod sql_output;
mod tables;
mod times;
mod types;
mod view_reads;
mod yaml;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::definitions::DefinitionFile;
use crate::error::Problems;
use crate::parse::check;
use crate::parse::files::{Files, text_of};

/// A name and what is done to the project.
type Case = (&'static str, &'static [Edit]);

/// Something done to the project.
enum Edit {
    /// In `shop.yaml`, the first of these texts becomes the other.
    Shop(&'static str, &'static str),
    /// In `value.sql`.
    Sql(&'static str, &'static str),
    /// In `nightfill.yaml`.
    Settings(&'static str, &'static str),
    /// A file has this text.
    File(&'static str, &'static str),
    /// A file has these bytes.
    Bytes(&'static str, &'static [u8]),
}

const KINDS: [(&str, &[Case]); 22] = [
    ("about", about::CASES),
    ("aggregates", aggregates::CASES),
    ("cascades", cascades::CASES),
    ("checks", checks::CASES),
    ("event_sources", event_sources::CASES),
    ("expressions", expressions::CASES),
    ("filters", filters::CASES),
    ("formats", formats::CASES),
    ("keys", keys::CASES),
    ("mixed", mixed::CASES),
    ("names", names::CASES),
    ("project", project::CASES),
    ("references", references::CASES),
    ("roots", roots::CASES),
    ("served", served::CASES),
    ("sql", sql::CASES),
    ("sql_output", sql_output::CASES),
    ("tables", tables::CASES),
    ("times", times::CASES),
    ("types", types::CASES),
    ("view_reads", view_reads::CASES),
    ("yaml", yaml::CASES),
];

/// Words of the engine that no message may hold.
const FOREIGN: [&str; 18] = [
    "DataFusion",
    "datafusion",
    "Arrow",
    "Utf8",
    "Int64",
    "Int32",
    "Float64",
    "Decimal128",
    "LogicalPlan",
    "Internal",
    "Some(",
    "None)",
    "::",
    "arrow-",
    "UDF",
    "udf",
    "LargeBinary",
    "checked_",
];

fn project(edits: &[Edit]) -> Files {
    let mut files = [
        ("nightfill.yaml", include_str!("project/nightfill.yaml")),
        ("shop.yaml", include_str!("project/shop.yaml")),
        ("value.sql", include_str!("project/value.sql")),
    ]
    .map(|(path, text)| (path.to_owned(), text.as_bytes().to_owned()))
    .to_vec();
    for edit in edits {
        let (path, from, to) = match edit {
            Edit::Shop(from, to) => ("shop.yaml", from, to),
            Edit::Sql(from, to) => ("value.sql", from, to),
            Edit::Settings(from, to) => ("nightfill.yaml", from, to),
            Edit::File(path, text) => {
                put(&mut files, path, text.as_bytes());
                continue;
            }
            Edit::Bytes(path, bytes) => {
                put(&mut files, path, bytes);
                continue;
            }
        };
        let bytes = files.iter().find(|(known, _)| known == path);
        let text = String::from_utf8(bytes.expect("the file is there").1.clone()).expect("text");
        assert!(text.contains(*from), "`{path}` does not hold {from:?}");
        put(&mut files, path, text.replacen(*from, to, 1).as_bytes());
    }
    files.sort();
    let mut problems = Vec::new();
    let mut file = |(path, bytes): (String, Vec<u8>)| DefinitionFile {
        text: text_of(&path, bytes, &mut problems),
        path,
    };
    let files = files.into_iter().map(&mut file).collect();
    Files {
        files,
        problems,
        unnamed_sql: vec!["customers.sql".to_owned(), "old/value.sql".to_owned()],
    }
}

fn put(files: &mut Vec<(String, Vec<u8>)>, path: &str, bytes: &[u8]) {
    files.retain(|(known, _)| known != path);
    files.push((path.to_owned(), bytes.to_owned()));
}

fn expected_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/parse/tests/broken/expected")
}

#[test]
fn the_project_itself_has_no_problem() {
    check(Path::new("/"), project(&[])).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn broken_projects_are_refused_as_expected() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut wrong = Vec::new();
    let mut cases = 0;
    for (kind, list) in KINDS {
        let folder = expected_folder().join(kind);
        for (name, edits) in list {
            cases += 1;
            let problems = match check(Path::new("/"), project(edits)) {
                Err(problems) => problems,
                Ok(_) => {
                    wrong.push(format!("{kind}/{name} is not refused"));
                    continue;
                }
            };
            let shown = format!("{problems}\n");
            wrong.extend(faults(&problems).map(|fault| format!("{kind}/{name}: {fault}\n{shown}")));
            let path = folder.join(format!("{name}.txt"));
            if update {
                fs::create_dir_all(&folder).expect("a folder");
                fs::write(&path, &shown).expect("written");
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            if expected != shown {
                wrong.push(format!(
                    "{kind}/{name}\n-- expected\n{expected}-- shown\n{shown}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 120, "{cases}");
}

#[test]
fn every_expected_text_has_a_case() {
    let mut known = BTreeSet::new();
    for (kind, list) in KINDS {
        for (name, _) in list {
            assert!(
                known.insert(format!("{kind}/{name}.txt")),
                "{kind}/{name} stands here twice"
            );
        }
    }
    for folder in fs::read_dir(expected_folder()).expect("a folder") {
        let folder = folder.expect("an entry");
        for file in fs::read_dir(folder.path()).expect("a folder") {
            let file = file.expect("an entry").file_name();
            let name = format!("{}/{}", folder.file_name().display(), file.display());
            assert!(known.contains(&name), "{name} has no case");
        }
    }
}

/// What no report of problems may have.
fn faults(problems: &Problems) -> impl Iterator<Item = String> {
    let shown = problems.to_string();
    let arrows: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> "))
        .collect();
    let mut faults = Vec::new();
    for problem in &problems.problems {
        let (line, column) = problems.place(problem);
        let place = format!("{}:{line}:{column}", problem.span.file);
        if !arrows.contains(&place.as_str()) {
            faults.push(format!("{place} is not among {arrows:?}"));
        }
        let texts = [
            &problem.message,
            &problem.label,
            problem.help.as_ref().unwrap_or(&problem.label),
        ];
        for text in texts {
            faults.extend(
                FOREIGN
                    .iter()
                    .filter(|word| text.contains(**word))
                    .map(|word| format!("{word} in: {text}")),
            );
        }
        let first = problem.message.chars().next();
        if first.is_none_or(char::is_uppercase) || problem.message.ends_with('.') {
            faults.push(format!(
                "the message is not a lower-case sentence without full stop: {}",
                problem.message
            ));
        }
    }
    let places = |pair: &[crate::error::Problem]| {
        (&pair[0].span.file, pair[0].span.bytes.start)
            <= (&pair[1].span.file, pair[1].span.bytes.start)
    };
    if !problems.problems.windows(2).all(places) {
        faults.push("the problems are not in the order of their places".to_owned());
    }
    faults.into_iter()
}
