//! The arrows of ARCHITECTURE.md, held against the manifests and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate (by folder; the root is the command line) and the workspace crates that it may name.
const ARROWS: [(&str, &[&str]); 6] = [
    ("feature_defs", &[]),
    ("store", &["feature_defs"]),
    ("scorer", &["feature_defs"]),
    ("pipelines", &["feature_defs", "store", "scorer"]),
    ("serving", &["feature_defs", "store", "scorer"]),
    (
        ".",
        &["feature_defs", "store", "scorer", "pipelines", "serving"],
    ),
];

/// Libraries that stand behind one crate, so that the others stay free of them.
const ONLY: [(&str, &[&str]); 17] = [
    ("axum", &["serving"]),
    ("heed", &["store"]),
    ("sqlx", &["store"]),
    ("redis", &["store"]),
    ("aws-sdk-dynamodb", &["store"]),
    ("delta_kernel", &["store"]),
    ("delta_kernel_default_engine", &["store"]),
    ("datafusion", &["pipelines"]),
    ("datafusion-common", &["feature_defs", "pipelines"]),
    ("datafusion-expr", &["feature_defs", "pipelines"]),
    ("datafusion-functions", &["feature_defs"]),
    ("datafusion-optimizer", &["feature_defs"]),
    ("datafusion-physical-expr", &["feature_defs", "serving"]),
    ("datafusion-sql", &["feature_defs"]),
    ("saphyr-parser", &["feature_defs"]),
    ("anyhow", &["."]),
    ("clap", &["."]),
];

/// What crates of pure rules and pure CPU never name, but in their tests.
const NEVER: [(&str, &[&str]); 2] = [
    ("feature_defs", &["tokio", "async-trait", "object_store"]),
    ("scorer", &["tokio", "async-trait", "arrow", "object_store"]),
];

/// The only places with `unsafe`: instruction sets, and the one call that maps LMDB into memory.
const UNSAFE: [&str; 2] = ["scorer/src/kernels", "store/src/online/embedded"];

const LONGEST_FILE: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names under `[dependencies]`, `[dev-dependencies]`, `[build-dependencies]`, of any target.
fn dependencies(folder: &str) -> BTreeSet<String> {
    named_in(folder, |section| section.ends_with("dependencies]"))
}

/// Names in the sections of a crate's manifest that are `wanted`.
fn named_in(folder: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let manifest = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a crate has a manifest");
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            inside = wanted(section) && !section.starts_with("workspace");
        } else if inside && !line.starts_with('#') {
            let end = line.find(['.', ' ', '=']).unwrap_or(0);
            names.extend((end > 0).then(|| line[..end].trim_matches('"').to_owned()));
        }
    }
    names
}

fn crates() -> BTreeMap<&'static str, BTreeSet<String>> {
    ARROWS
        .iter()
        .map(|(folder, _)| (*folder, dependencies(folder)))
        .collect()
}

/// All Rust files of the workspace, relative to its root.
fn rust_files() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["src", "tests", "benches"].map(PathBuf::from).to_vec();
    folders.extend(
        ARROWS
            .iter()
            .filter(|(f, _)| *f != ".")
            .map(|(f, _)| f.into()),
    );
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.expect("a readable entry");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 20, "the sources were not found");
    files
}

#[test]
fn every_crate_of_the_workspace_has_its_arrows() {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("manifest");
    let line = text
        .lines()
        .find(|line| line.starts_with("members"))
        .expect("members");
    let members: BTreeSet<&str> = line.split('"').skip(1).step_by(2).collect();
    let listed = ARROWS.iter().map(|(folder, _)| *folder);
    let listed: BTreeSet<&str> = listed.filter(|folder| *folder != ".").collect();
    assert_eq!(members, listed);
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let names: BTreeSet<&str> = ARROWS.iter().map(|(folder, _)| *folder).collect();
    for (folder, allowed) in ARROWS {
        let used = dependencies(folder);
        assert!(
            used.len() > 2,
            "the manifest of `{folder}` was not understood"
        );
        for name in used.iter().filter(|name| names.contains(name.as_str())) {
            assert!(
                allowed.contains(&name.as_str()),
                "`{folder}` must not depend on `{name}`"
            );
        }
    }
}

#[test]
fn libraries_stay_behind_their_crate() {
    for (folder, used) in crates() {
        for (library, allowed) in ONLY {
            assert!(
                !used.contains(library) || allowed.contains(&folder),
                "`{folder}` must not use `{library}`: only {allowed:?} may"
            );
        }
    }
}

#[test]
fn pure_crates_do_no_io() {
    for (folder, never) in NEVER {
        let used = named_in(folder, |section| {
            section.ends_with("dependencies]") && !section.contains("dev-")
        });
        for library in never {
            assert!(
                !used.contains(*library),
                "`{folder}` must not use `{library}`"
            );
        }
    }
}

#[test]
fn files_stay_short_enough_to_proofread() {
    for file in rust_files() {
        let text = fs::read_to_string(root().join(&file)).expect("a readable file");
        let lines = text.lines().count();
        assert!(
            lines <= LONGEST_FILE,
            "{} has {lines} lines: split it by noun",
            file.display()
        );
    }
}

#[test]
fn unsafe_code_stands_only_where_it_may_and_says_why() {
    let keyword = ["unsafe", " "].concat();
    for file in rust_files() {
        let text = fs::read_to_string(root().join(&file)).expect("a readable file");
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if !code.contains(&keyword) || code.contains('"') {
                continue;
            }
            let place = format!("{}:{}", file.display(), index + 1);
            assert!(
                UNSAFE.iter().any(|allowed| file.starts_with(allowed)
                    || file.starts_with(format!("{allowed}.rs"))),
                "{place}: `unsafe` may stand only in {UNSAFE:?}"
            );
            let before = &lines[index.saturating_sub(6)..index];
            assert!(
                before
                    .iter()
                    .any(|line| line.contains("SAFETY:") || line.contains("# Safety")),
                "{place}: say `SAFETY:` and why"
            );
        }
    }
}
