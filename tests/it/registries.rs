//! One registry and many processes: a linear history in which nothing is lost, whatever is killed, in SQLite and in
//! PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};

use feature_defs::time::Stopwatch;
use store::conformance::registry::back_to_the_first_schema;
use store::conformance::servers::postgres_schema;

use crate::harness::{self, Project};

const PROCESSES: usize = 8;
const ROUNDS: usize = 5;
const KILLS: usize = 30;

/// The settings of a project whose registry is this one.
fn settings(registry: &str) -> String {
    format!("version: 1\nproject: shop\nregistry: {registry}\n")
}

/// A shop with its registry elsewhere.
fn shop(registry: &str) -> Project {
    let project = harness::shop();
    project.write("nightfill.yaml", settings(registry));
    project
}

/// Says something else in the definitions: another TTL.
fn change(project: &Project, days: usize) {
    let text = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let text = text.expect("definitions");
    let (head, tail) = text.split_once("    ttl: ").expect("a ttl");
    let (_, tail) = tail.split_once('\n').expect("a line");
    let text = format!("{head}    ttl: {days}d\n{tail}");
    project.write("features/customer.yaml", text);
}

/// The registries of this machine: a file, and a schema of a server where there is one.
fn registries(folder: &tempfile::TempDir) -> Vec<String> {
    let file = format!("sqlite://{}", folder.path().join("registry.db").display());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let schema = runtime.block_on(postgres_schema());
    std::iter::once(file).chain(schema).collect()
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    let mut command = project.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

#[test]
fn reg_many_processes_that_apply_at_once_make_one_history() {
    let folder = tempfile::tempdir().expect("a folder");
    for registry in registries(&folder) {
        let projects: Vec<Project> = (0..PROCESSES).map(|_| shop(&registry)).collect();
        // Whose apply won which version.
        let mut won = BTreeMap::new();
        let mut refused = 0;
        for round in 0..ROUNDS {
            let applies = projects.iter().enumerate().map(|(nth, project)| {
                change(project, 1 + round * PROCESSES + nth);
                start(project, &["apply", "--format", "json"])
            });
            for (nth, child) in applies.collect::<Vec<_>>().into_iter().enumerate() {
                let output = child.wait_with_output().expect("an end");
                if output.status.success() {
                    let answer: serde_json::Value =
                        serde_json::from_slice(&output.stdout).expect("JSON");
                    let version = answer["version"].as_u64().expect("a version");
                    let fingerprint = answer["fingerprint"].to_string();
                    let taken = won.insert(version, fingerprint);
                    assert_eq!(taken, None, "version {version} was won twice");
                } else {
                    refused += 1;
                    let error = harness::stderr(&output);
                    assert!(
                        error.contains("another apply came first and nothing was changed"),
                        "{registry}: project {nth} in round {round}: {error}"
                    );
                }
            }
        }
        let history = projects[0].json(&["log"]);
        let history = history.as_array().expect("a list").iter().rev();
        let history: BTreeMap<u64, String> = history
            .map(|entry| {
                let version = entry["version"].as_u64().expect("a version");
                (version, entry["fingerprint"].to_string())
            })
            .collect();
        assert_eq!(history, won, "{registry}: the history is what was answered");
        let versions: Vec<u64> = history.keys().copied().collect();
        let linear: Vec<u64> = (1..=versions.len() as u64).collect();
        assert_eq!(versions, linear, "{registry}");
        assert!(versions.len() >= ROUNDS, "{registry}: {refused} refused");
    }
}

#[test]
fn reg_an_apply_that_is_killed_leaves_the_old_or_the_new_version() {
    let folder = tempfile::tempdir().expect("a folder");
    for registry in registries(&folder) {
        let project = shop(&registry);
        let watch = Stopwatch::start();
        project.run(&["apply"]);
        let whole = watch.elapsed();
        let mut known = project.json(&["log"])[0]["version"].as_u64();
        let mut seen = BTreeSet::new();
        for nth in 0..KILLS {
            change(&project, 10 + nth);
            let mut child = start(&project, &["apply"]);
            // From before the process has read anything to after its commit.
            std::thread::sleep(whole.mul_f64(1.5 * nth as f64 / KILLS as f64));
            child.kill().expect("killed or ended");
            child.wait().expect("an end");
            let newest = project.json(&["log"])[0]["version"].as_u64();
            let moved = newest.expect("a version") - known.expect("a version");
            assert!(moved <= 1, "{registry}: {known:?} -> {newest:?}");
            seen.insert(moved);
            known = newest;
            let plan = project.json(&["plan"]);
            let left = plan["difference"]["objects"].as_array().expect("a list");
            assert_eq!(left.is_empty(), moved == 1, "{registry}: {plan}");
        }
        assert_eq!(
            seen.len(),
            2,
            "{registry}: kills before and after the commit"
        );
    }
}

#[test]
fn reg_a_plan_that_was_overtaken_is_not_applied() {
    let folder = tempfile::tempdir().expect("a folder");
    for registry in registries(&folder) {
        let (ours, theirs) = (shop(&registry), shop(&registry));
        ours.run(&["apply"]);
        change(&ours, 3);
        let planned = ours.json(&["plan"])["against"].as_u64().expect("a version");
        change(&theirs, 4);
        theirs.run(&["apply"]);
        let planned = planned.to_string();
        let refused = ours.fail(&["apply", "--against", &planned]);
        assert!(refused.contains("another apply came first"), "{refused}");
        assert!(refused.contains("version 2 and not 1"), "{refused}");
        assert_eq!(ours.json(&["log"])[0]["version"], 2);
        ours.run(&["apply", "--against", "2"]);
        assert_eq!(ours.json(&["log"])[0]["version"], 3);
    }
}

#[test]
fn a_registry_serves_one_project_until_it_says_its_new_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for registry in registries(&folder) {
        let shop = shop(&registry);
        shop.run(&["apply"]);
        let market = harness::shop();
        let called = |name: &str| settings(&registry).replace("shop", name);
        market.write("nightfill.yaml", called("market"));
        for verb in [&["apply"] as &[&str], &["plan"], &["status"], &["run"]] {
            let refused = market.fail(verb);
            assert!(
                refused.contains("is project `shop`'s, and this is project `market`"),
                "{verb:?}: {refused}"
            );
            assert!(refused.contains("add `renamed_from: shop`"), "{refused}");
        }
        let renamed = called("market") + "renamed_from: shop\n";
        market.write("nightfill.yaml", renamed);
        let said = market.run(&["apply"]);
        assert!(said.contains("applied version 2"), "{said}");
        let said = market.run(&["apply"]);
        assert!(said.contains("nothing to do: version 2"), "{said}");
        let log = market.run(&["log"]);
        assert!(log.contains(" market ") && log.contains(" shop "), "{log}");
        let refused = shop.fail(&["apply"]);
        assert!(refused.contains("is project `market`'s"), "{refused}");
        market.write("nightfill.yaml", called("market"));
        market.run(&["status"]);
    }
}

#[test]
fn verbs_wait_for_migrate_on_a_registry_of_an_older_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    for registry in registries(&folder) {
        let shop = shop(&registry);
        shop.run(&["apply"]);
        let migrated = shop.run(&["migrate"]);
        assert!(
            migrated.contains("nothing to do: the schema of"),
            "{migrated}"
        );
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(back_to_the_first_schema(&registry));
        for verb in [&["status"] as &[&str], &["apply"], &["run"]] {
            let refused = shop.fail(verb);
            assert!(
                refused.contains(
                    "its schema has version 1, and this binary's is 2: `nightfill migrate`"
                ),
                "{verb:?}: {refused}"
            );
        }
        let migrated = shop.run(&["migrate", "--format", "json"]);
        let migrated: serde_json::Value = serde_json::from_str(&migrated).expect("JSON");
        assert_eq!((&migrated["from"], &migrated["to"]), (&1.into(), &2.into()));
        let said = shop.run(&["apply"]);
        assert!(
            said.contains("applied version 2"),
            "a version now says whose it is: {said}"
        );
    }
}
