//! Definitions with random damage: refused with a place, never a panic, never a hang.
//!
//! By default `MUTATIONS` of each project are tried; `MUTATIONS=10000` in the environment tries as many, which takes
//! minutes in the test profile. `FUZZ_MINUTES=10` with `--run-ignored only` goes on for that long from `FUZZ_SEED`.

use std::path::Path;
use std::time::Duration;

use crate::definitions::DefinitionFile;
use crate::parse::files::{Files, text_of};
use crate::parse::tests::damage::{Dice, damage};
use crate::parse::{check, read_files};
use crate::time::Stopwatch;

/// Mutations of each project in a run that says nothing else.
const MUTATIONS: u64 = 600;

/// Far more than the slowest check takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// The example, and what `nightfill init` lays out.
fn projects() -> [Vec<DefinitionFile>; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = read_files(&root.join("examples/cdnow")).expect("reads");
    let template = root.join("../src/verbs/init/template");
    let mut template = read_files(&template).expect("reads");
    for file in &mut template {
        file.text = file.text.replace("PROJECT", "shop");
    }
    [example, template]
}

/// Checks a project of which one file is damaged. Whether it is refused.
fn is_refused(files: &[DefinitionFile], seed: u64) -> bool {
    let mut dice = Dice::new(seed);
    let mut files = files.to_vec();
    let chosen = dice.roll(files.len());
    let bytes = damage(&mut dice, &files[chosen].text);
    let mut problems = Vec::new();
    files[chosen].text = text_of(&files[chosen].path, bytes, &mut problems);
    let watch = Stopwatch::start();
    let checked = check(
        Path::new("/"),
        Files {
            files,
            problems,
            unnamed_sql: vec!["customers.sql".to_owned(), "old/value.sql".to_owned()],
        },
    );
    assert!(
        watch.elapsed() < LIMIT,
        "seed {seed} takes {:?}",
        watch.elapsed()
    );
    let Err(problems) = checked else {
        return false;
    };
    assert!(!problems.problems.is_empty(), "seed {seed}");
    for problem in &problems.problems {
        let mut known = problems.files.iter();
        let file = known
            .find(|file| file.path == problem.span.file)
            .expect("the file is known");
        let place = file.text.get(problem.span.bytes.clone());
        assert!(place.is_some(), "seed {seed}: {problem:?}");
        let told = !problem.message.is_empty() && !problem.message.contains("DataFusion");
        assert!(told, "seed {seed}: {problem:?}");
    }
    assert!(!problems.to_string().is_empty());
    true
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn mutated_definitions_never_panic_and_every_refusal_has_a_place() {
    let mutations = number("MUTATIONS", MUTATIONS);
    for files in projects() {
        let refused = (0..mutations)
            .filter(|seed| is_refused(&files, *seed))
            .count();
        let refused = u64::try_from(refused).expect("a number");
        assert!(
            refused > mutations / 2,
            "only {refused} of {mutations} were refused"
        );
    }
}

#[test]
#[ignore = "goes on for FUZZ_MINUTES"]
fn mutated_definitions_never_panic_for_minutes() {
    let limit = Duration::from_secs(60 * number("FUZZ_MINUTES", 1));
    let projects = projects();
    let watch = Stopwatch::start();
    let mut seed = number("FUZZ_SEED", 1_000_000);
    let first = seed;
    while watch.elapsed() < limit {
        let which = usize::try_from(seed % 2).expect("0 or 1");
        is_refused(&projects[which], seed);
        seed += 1;
    }
    #[allow(clippy::print_stderr)] // the seeds that a run tried, to go on after them
    {
        eprintln!("seeds {first} to {seed}");
    }
}
