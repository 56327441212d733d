//! REG-01, REG-02, REG-04: what is renamed, removed or not applied is said, and nothing is half done.

use serde_json::json;

use crate::harness::{Project, shop};

fn definitions(project: &Project) -> String {
    std::fs::read_to_string(project.root().join("features/customer.yaml")).expect("definitions")
}

/// A stump over `spend.orders_lifetime`.
const MODEL: &str = "\
tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=0
objective=regression
feature_names=spend.orders_lifetime
feature_infos=[0:9]
tree_sizes=300

Tree=0
num_leaves=2
num_cat=0
split_feature=0
split_gain=1
threshold=1.5
decision_type=2
left_child=-1
right_child=-2
leaf_value=1 2
leaf_weight=1 1
leaf_count=1 1
internal_value=0
internal_weight=2
internal_count=2
is_linear=0
shrinkage=1


end of trees

feature_importances:

parameters:
[boosting: gbdt]
end of parameters

pandas_categorical:null
";

const WITH_MODEL: &str = "\
services:
  orders_v1: { features: [spend.orders_lifetime] }
models:
  again:
    service: orders_v1
    output: { name: score, transform: identity }
";

#[test]
fn reg_01_a_renamed_view_is_planned_leaves_an_orphan_and_names_its_models() {
    let project = shop();
    project.write("features/model.yaml", WITH_MODEL);
    project.write("model.txt", MODEL);
    project.run(&["apply"]);
    let model = project.root().join("model.txt");
    project.run(&["model", "import", "again", model.to_str().expect("UTF-8")]);
    project.run(&["run", "--as-of", "2026-03-02"]);
    let asked = ["predict", "--model", "again", "--entity", "customer_id=1"];
    let score = |project: &Project| project.json(&asked)["results"][0]["score"].clone();
    assert_eq!(score(&project), json!(2.0));

    let renamed = definitions(&project)
        .replace("  spend:\n", "  spending:\n")
        .replace("spend.*", "spending.*");
    project.write("features/customer.yaml", renamed);
    project.write(
        "features/model.yaml",
        WITH_MODEL.replace("spend.", "spending."),
    );
    let plan = project.run(&["plan"]);
    for line in ["+ feature view spending", "- feature view spend", "again"] {
        assert!(plan.contains(line), "no `{line}` in:\n{plan}");
    }
    let applied = crate::harness::finish(project.command(&["apply"]));
    let warned = crate::harness::stderr(&applied);
    assert!(applied.status.success(), "{warned}");
    assert!(
        warned.contains("model `again`") && warned.contains("nights are refused"),
        "{warned}"
    );
    let refused = project.fail(&["run", "--as-of", "2026-03-03"]);
    assert!(
        refused.contains("model `again` cannot be released"),
        "{refused}"
    );
    // Until there is a model of the new view, the old release answers.
    assert_eq!(score(&project), json!(2.0));

    // Trained anew, on the new name.
    project.write("model.txt", MODEL.replace("spend.", "spending."));
    project.run(&["model", "import", "again", model.to_str().expect("UTF-8")]);
    project.run(&["run", "--as-of", "2026-03-03"]);
    assert_eq!(score(&project), json!(2.0));
    let plan = project.run(&["plan"]);
    assert!(
        plan.contains("nightfill drop") && plan.contains("spend"),
        "{plan}"
    );
    project.run(&["drop", "spend"]);
    assert_eq!(project.snapshots("spend"), Vec::<std::path::PathBuf>::new());
    assert!(!project.run(&["plan"]).contains("nightfill drop"));
    project.write(
        "features/asks.yaml",
        "services:\n  old_v1: { features: [spend.orders_lifetime] }\n",
    );
    let refused = project.fail(&["check"]);
    assert!(
        refused.contains("`spend`") && refused.contains("asks.yaml:2"),
        "{refused}"
    );
}

#[test]
fn reg_02_what_failed_is_not_applied_and_the_next_apply_does_it() {
    let project = shop();
    let settings = |registry: &str| format!("version: 1\nproject: shop\n{registry}");
    project.write(
        "nightfill.yaml",
        settings("registry: postgres://nobody@127.0.0.1:1/none\n"),
    );
    let refused = project.fail(&["apply"]);
    assert!(refused.contains("does not answer"), "{refused}");
    project.write("nightfill.yaml", settings(""));
    let status = project.run(&["status"]);
    assert!(status.contains("none applied"), "{status}");
    assert!(project.run(&["apply"]).contains("applied version 1"));
    // That a kill in the middle of an apply leaves the old or the new version is in `registries`.
}

#[test]
fn reg_04_removed_objects_are_gone_unless_something_needs_them_or_all_are_gone() {
    let project = shop();
    project.write(
        "features/other.yaml",
        "entities:\n  branch: { keys: { id: int64 } }\n",
    );
    project.run(&["apply"]);
    let listed = || project.run(&["list"]);
    assert!(listed().contains("branch"));
    std::fs::remove_file(project.root().join("features/other.yaml")).expect("removed");
    assert!(project.run(&["plan"]).contains("- entity branch"));
    assert!(project.run(&["apply"]).contains("- entity branch"));
    assert!(!listed().contains("branch"));

    let whole = definitions(&project);
    let (_, without_entity) = whole.split_once("sources:").expect("sources");
    project.write(
        "features/customer.yaml",
        format!("sources:{without_entity}"),
    );
    let refused = project.fail(&["apply"]);
    for named in ["`customer`", "features/customer.yaml:"] {
        assert!(refused.contains(named), "{refused}");
    }

    std::fs::remove_dir_all(project.root().join("features")).expect("removed");
    let refused = project.fail(&["apply"]);
    assert!(
        refused.contains("declare nothing, and version 2 declares 5 objects: nothing was changed"),
        "{refused}"
    );
    assert!(
        project.run(&["log"]).lines().count() == 3,
        "two versions and their headings"
    );
    project.run(&["apply", "--allow-empty"]);
    assert!(project.run(&["log"]).lines().count() == 4);
    assert!(project.run(&["apply"]).contains("nothing to do"));
}
