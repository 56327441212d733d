//! MOD-07: a model's inputs are bound by name; another order changes nothing, another set is refused.

use serde_json::{Value, json};

use crate::harness::Project;

/// A LightGBM model of two stumps: `a > 0.5` adds 1, else 2; `b > 0.5` adds 10, else 20.
fn model(names: [&str; 2]) -> String {
    let stump = |number: usize, feature: usize, left: f64, right: f64| {
        format!(
            "Tree={number}\nnum_leaves=2\nnum_cat=0\nsplit_feature={feature}\nsplit_gain=1\nthreshold=0.5\n\
             decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value={left} {right}\nleaf_weight=1 1\n\
             leaf_count=1 1\ninternal_value=0\ninternal_weight=2\ninternal_count=2\nis_linear=0\nshrinkage=1\n\n\n"
        )
    };
    let trees = [stump(0, 0, 2.0, 1.0), stump(1, 1, 20.0, 10.0)];
    format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n\
         objective=regression\nfeature_names={} {}\nfeature_infos=[0:1] [0:1]\ntree_sizes={} {}\n\n{}{}end of trees\n\n\
         feature_importances:\n\nparameters:\n[boosting: gbdt]\nend of parameters\n\npandas_categorical:null\n",
        names[0],
        names[1],
        trees[0].len(),
        trees[1].len(),
        trees[0],
        trees[1],
    )
}

/// The stumps' sum for `a` and `b`.
fn expected(a: i64, b: i64) -> f64 {
    let of_a = if a > 0 { 1.0 } else { 2.0 };
    of_a + if b > 0 { 10.0 } else { 20.0 }
}

fn definitions(features: &str) -> String {
    format!(
        "\
entities:
  thing: {{ keys: {{ id: int64 }} }}
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: {{ id: int64, at: timestamp, a: int64, b: int64, c: int64 }}
views:
  of:
    entity: thing
    source: rows
    ttl: none
    latest: [a, b, c]
services:
  s: {{ features: [{features}] }}
models:
  m:
    service: s
    output: {{ name: score, transform: identity }}
"
    )
}

const ROWS: &str = "\
id,at,a,b,c
0,2026-01-01T00:00:00Z,0,0,9
1,2026-01-01T00:00:00Z,1,0,9
2,2026-01-01T00:00:00Z,0,1,9
3,2026-01-01T00:00:00Z,1,1,9
";

fn project(features: &str) -> Project {
    let project = Project::new(&[
        ("features/all.yaml", definitions(features).as_str()),
        ("data/rows.csv", ROWS),
    ]);
    project.run(&["apply"]);
    project
}

fn import(project: &Project, names: [&str; 2]) -> std::process::Output {
    project.write("model.txt", model(names));
    let file = project.root().join("model.txt");
    let command = project.command(&["model", "import", "m", file.to_str().expect("UTF-8")]);
    crate::harness::finish(command)
}

#[test]
fn mod_07_features_in_another_order_score_the_same() {
    for features in ["of.a, of.b", "of.b, of.a"] {
        for swapped in [false, true] {
            let project = project(features);
            // The first stump always splits the model's first feature.
            let names = if swapped {
                ["of.b", "of.a"]
            } else {
                ["of.a", "of.b"]
            };
            let imported = import(&project, names);
            assert!(
                imported.status.success(),
                "{}",
                crate::harness::stderr(&imported)
            );
            project.run(&["run", "--as-of", "2026-02-01"]);
            let asked = [
                "predict",
                "--model",
                "m",
                "--entities",
                r#"{"id": [0, 1, 2, 3]}"#,
            ];
            let answer = project.json(&asked);
            let results = answer["results"].as_array().expect("results").iter();
            let scores: Vec<Value> = results.map(|result| result["score"].clone()).collect();
            let expected = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(a, b)| {
                let (first, second) = if swapped { (b, a) } else { (a, b) };
                json!(expected(first, second))
            });
            assert_eq!(scores, expected, "service [{features}], model {names:?}");
        }
    }
}

#[test]
fn mod_07_another_set_of_features_is_refused_with_both_lists() {
    for (features, names, told) in [
        (
            "of.a, of.b, of.c",
            ["of.a", "of.b"],
            "only in the service: `of.c`",
        ),
        ("of.a", ["of.a", "of.b"], "only in the model: `of.b`"),
        (
            "of.a, of.b",
            ["of.a1", "of.b"],
            "only in the model: `of.a1`",
        ),
    ] {
        let project = project(features);
        let refused = import(&project, names);
        let said = crate::harness::stderr(&refused);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(told), "{said}");
        for name in names.into_iter().chain(features.split(", ")) {
            assert!(said.contains(&format!("`{name}`")), "{name}: {said}");
        }
        assert_eq!(project.json(&["model", "list"])["models"], json!([]));
    }
}

#[test]
fn the_model_that_was_imported_last_is_released_though_it_was_imported_before() {
    let project = project("of.a, of.b");
    let stdout = |names| crate::harness::stdout(&import(&project, names));
    let (one, other) = (["of.a", "of.b"], ["of.b", "of.a"]);
    assert!(stdout(one).starts_with("imported m@"));
    assert!(stdout(one).contains("is imported already: 2 inputs"));
    assert!(stdout(other).starts_with("imported m@"));
    assert!(stdout(one).contains("is the newest again: 2 inputs; the next run releases it"));
    project.run(&["run", "--as-of", "2026-02-01"]);
    let asked = ["predict", "--model", "m", "--entities", r#"{"id": [1]}"#];
    assert_eq!(
        project.json(&asked)["results"][0]["score"],
        json!(expected(1, 0))
    );
}

#[test]
fn a_model_tells_its_way_into_a_release() {
    let project = project("of.a, of.b");
    project.run(&["run", "--as-of", "2026-02-01"]);
    let state = || project.json(&["status"])["models"][0]["state"].clone();
    let ask = ["predict", "--model", "m", "--entity", "id=1"];
    assert_eq!(
        state(),
        "no bundle yet: `nightfill model import` brings one"
    );
    let said = project.fail(&ask);
    assert!(said.contains("model `m` has no bundle yet"), "{said}");

    assert!(import(&project, ["of.a", "of.b"]).status.success());
    assert_eq!(state(), "imported: the next `nightfill run` releases it");
    let said = project.fail(&ask);
    assert!(
        said.contains("is imported, but release 1, which is served, does not hold it"),
        "{said}"
    );

    project.run(&["run", "--as-of", "2026-02-02"]);
    assert_eq!(state(), "served");
    project.run(&ask);
}

#[test]
fn applying_a_service_that_the_model_does_not_fit_warns_before_the_night_refuses() {
    let project = project("of.a, of.b");
    assert!(import(&project, ["of.a", "of.b"]).status.success());
    project.run(&["run", "--as-of", "2026-02-01"]);
    project.write("features/all.yaml", definitions("of.a, of.b, of.c"));
    let planned = crate::harness::finish(project.command(&["plan"]));
    let said = crate::harness::stderr(&planned);
    assert!(
        said.starts_with("warning: nights are refused until another bundle of model `m`")
            && said.contains("only in the service: `of.c`"),
        "{said}"
    );
    let applied = crate::harness::finish(project.command(&["apply", "--format", "json"]));
    let said = crate::harness::stderr(&applied);
    assert!(
        said.starts_with("warning: nights are refused until another bundle of model `m`"),
        "{said}"
    );
    let applied: Value = serde_json::from_str(&crate::harness::stdout(&applied)).expect("JSON");
    let warning = applied["warnings"][0].as_str().expect("a warning");
    assert!(
        warning.contains("does not fit these definitions")
            && warning.contains("nightfill model import m FILE"),
        "{warning}"
    );
    let said = project.fail(&["run", "--as-of", "2026-02-02"]);
    assert!(said.contains("cannot be released"), "{said}");
    let again = project.json(&["apply"]);
    assert_eq!(
        again["warnings"].as_array().map(Vec::len),
        Some(1),
        "{again}"
    );
}

/// A feature that keeps its name and type and changes its meaning is not what the model was trained on.
#[test]
fn mod_07_a_feature_computed_in_another_way_stops_the_night_until_it_is_accepted() {
    let project = project("of.a, of.b");
    let edit = |from: &str, to: &str| {
        let file = project.root().join("features/all.yaml");
        let text = std::fs::read_to_string(&file).expect("definitions");
        assert!(text.contains(from), "{from}");
        project.write("features/all.yaml", text.replacen(from, to, 1));
    };
    import(&project, ["of.a", "of.b"]);
    project.run(&["run", "--as-of", "2026-02-01"]);
    let served = project.json(&["model", "list"])["models"][0]["bundle"].clone();

    // What decides no value of `a` and `b`: another feature beside them, files elsewhere, words.
    edit("latest: [a, b, c]", "latest: [c, a, b]");
    edit("ttl: none", "ttl: 400d");
    edit("    entity: thing\n", "    entity: thing\n    owner: ann\n");
    project.write("data/moved.csv", ROWS);
    edit("data/rows.csv", "data/moved.csv");
    let plan = project.json(&["plan"]);
    assert_eq!(plan["difference"]["affected_models"], json!([]));
    assert_eq!(plan["warnings"], json!([]));
    project.run(&["apply"]);
    project.run(&["run", "--as-of", "2026-02-02"]);

    // `b` is another column from now on.
    edit(
        "    source: rows\n    ttl: 400d\n    latest: [c, a, b]",
        "    sql: SELECT id, a, c AS b FROM rows\n    features: { a: int64, b: int64 }",
    );
    let plan = project.json(&["plan"]);
    assert_eq!(plan["difference"]["affected_models"], json!(["m"]));
    let told = plan["warnings"][0].as_str().expect("a warning");
    for part in [
        "`of.b` is computed in another way",
        "nightfill model accept m",
    ] {
        assert!(told.contains(part), "{told}");
    }
    project.run(&["apply"]);
    let refused = project.fail(&["run", "--as-of", "2026-02-03"]);
    assert!(
        refused.contains("`of.b` is computed in another way"),
        "{refused}"
    );
    let release = project.json(&["status"])["served"].clone();
    assert_eq!(
        (&release["number"], &release["models"][0]["bundle"]),
        (&json!(2), &served)
    );

    let accepted = project.json(&["model", "accept", "m"]);
    assert_eq!(accepted["changed"], true);
    assert_ne!(accepted["bundle"], served);
    project.run(&["run", "--as-of", "2026-02-03"]);
    let answer = project.json(&["predict", "--model", "m", "--entity", "id=1"]);
    assert_eq!(answer["results"][0]["score"], json!(expected(1, 9)));
    let again = project.run(&["model", "accept", "m"]);
    assert!(again.ends_with("fits: nothing to accept\n"), "{again}");
}
