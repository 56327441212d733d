//! `plan`, `diff` and `log`: what changes, and what follows.

use crate::harness::{finish, shop, stderr, stdout};

const FILE: &str = "features/customer.yaml";

fn edit(project: &crate::harness::Project, from: &str, to: &str) {
    let text = std::fs::read_to_string(project.root().join(FILE)).expect("definitions");
    assert!(text.contains(from), "{from}");
    project.write(FILE, text.replacen(from, to, 1));
}

#[test]
fn everything_is_new_before_the_first_apply() {
    let project = shop();
    assert_eq!(
        project.run(&["plan"]),
        "  + entity customer
  + source purchases
  + feature view spend
  + feature view largest
  + feature service spend_v1
computed by the next night: spend, largest
planned against version 0: `nightfill apply --against 0`
"
    );
    assert_eq!(
        project.run(&["log"]),
        "no definitions are applied yet: run `nightfill apply` first\n"
    );
}

#[test]
fn a_plan_says_what_keeps_its_meaning_and_what_does_not() {
    let project = shop();
    project.run(&["apply"]);
    assert_eq!(
        project.run(&["plan"]),
        "nothing to do: version 1 is the same\n"
    );

    edit(&project, "ttl: none", "ttl: 3d");
    assert_eq!(
        project.run(&["plan"]),
        "  ~ feature view spend (compatible)
      ttl: none -> 3d
planned against version 1: `nightfill apply --against 1`
"
    );
    project.run(&["apply"]);

    edit(&project, "windows: [7d, lifetime]", "windows: [7d, 30d]");
    edit(&project, "max(amount)", "min(amount)");
    edit(&project, "[spend.*, largest.amount]", "[spend.*]");
    let plan = "  ~ feature view spend (incompatible)
      feature `amount_30d`: new
      feature `orders_30d`: new
      feature `amount_lifetime`: gone
      feature `orders_lifetime`: gone
      windows: [7d, lifetime] -> [7d, 30d]
  ~ feature view largest (incompatible)
      feature `amount`: computed in another way
      sql: another text
  ~ feature service spend_v1 (incompatible)
      feature `spend.amount_30d`: new
      feature `spend.orders_30d`: new
      feature `spend.amount_lifetime`: gone
      feature `spend.orders_lifetime`: gone
      feature `largest.amount`: gone
";
    let consequences = "computed by the next night: spend, largest
planned against version 2: `nightfill apply --against 2`
";
    assert_eq!(project.run(&["plan"]), format!("{plan}{consequences}"));
    assert!(project.run(&["apply"]).starts_with(plan));
    assert_eq!(
        project.run(&["diff"]),
        format!("version 2 -> version 3\n{plan}")
    );
    assert_eq!(
        project.run(&["diff", "3", "3"]),
        "versions 3 and 3 say the same\n"
    );
    let all = project.json(&["diff", "1"]);
    assert_eq!((&all["from"], &all["to"]), (&1.into(), &3.into()));
    let refused = project.fail(&["diff", "9"]);
    assert_eq!(
        refused,
        "error: there is no version 9 of the definitions: `nightfill log` lists them\n"
    );
}

#[test]
fn removed_services_are_told() {
    let project = shop();
    project.run(&["apply"]);
    let text = std::fs::read_to_string(project.root().join(FILE)).expect("definitions");
    let (kept, _) = text.split_once("services:").expect("services");
    project.write(FILE, kept);
    assert_eq!(
        project.run(&["plan"]),
        "  - feature service spend_v1
not served from the next release on: spend_v1
planned against version 1: `nightfill apply --against 1`
"
    );
    let log = project.json(&["log"]);
    assert_eq!(log[0]["version"], 1);
    assert!(
        log[0]["applied_at"]
            .as_str()
            .expect("an instant")
            .ends_with('Z')
    );
}

#[test]
fn a_renamed_view_is_one_change_and_computed_anew() {
    let project = shop();
    project.run(&["apply"]);
    edit(
        &project,
        "  largest:\n",
        "  dearest:\n    renamed_from: largest\n",
    );
    edit(&project, "largest.amount]", "dearest.amount]");
    assert_eq!(
        project.run(&["plan"]),
        "  ~ feature view largest -> dearest (renamed)
  ~ feature service spend_v1 (incompatible)
      feature `dearest.amount`: new
      feature `largest.amount`: gone
computed by the next night: dearest
planned against version 1: `nightfill apply --against 1`
"
    );
    let plan = project.json(&["plan"]);
    let renamed = &plan["difference"]["objects"][0];
    assert_eq!(renamed["renamed_from"], "largest");
    project.run(&["apply"]);
    assert_eq!(
        project.run(&["plan"]),
        "nothing to do: version 2 is the same\n"
    );
}

#[test]
fn objects_are_listed_by_what_they_say_of_themselves() {
    let project = shop();
    edit(
        &project,
        "  largest:\n",
        "  largest:\n    owner: growth\n    tags: [money, pii]\n    deprecated: use spend\n",
    );
    let listed = project.run(&["list", "--tag", "pii", "--owner", "growth"]);
    assert_eq!(
        listed,
        "kind          name     owner   tags        about
feature view  largest  growth  money, pii  deprecated: use spend
"
    );
    let listed = project.json(&["list", "--kind", "feature-view"]);
    let names: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|o| &o["name"])
        .collect();
    assert_eq!(names, ["spend", "largest"]);
    assert_eq!(
        listed[1]["about"]["tags"],
        serde_json::json!(["money", "pii"])
    );

    let checked = project.json(&["check"]);
    assert_eq!(
        checked["warnings"],
        serde_json::json!([
            "feature service `spend_v1` reads feature view `largest`, which is deprecated: use spend"
        ])
    );
    edit(
        &project,
        "  spend_v1:\n",
        "  spend_v1:\n    deprecated: use spend_v2\n",
    );
    assert_eq!(project.json(&["check"])["warnings"], serde_json::json!([]));
}

#[test]
fn an_apply_against_another_version_is_refused_even_if_nothing_changes() {
    let project = shop();
    let said = project.fail(&["apply", "--against", "7"]);
    assert!(
        said.contains("no version is applied yet, and not 7: nothing was changed"),
        "{said}"
    );
    project.run(&["apply", "--against", "0"]);
    let said = project.fail(&["apply", "--against", "7"]);
    assert!(
        said.contains("version 1 is the newest, and not 7: nothing was changed"),
        "{said}"
    );
    project.run(&["apply", "--against", "1"]);
}

#[test]
fn the_log_says_where_names_of_appliers_come_from() {
    let project = shop();
    let by = |user: Option<&str>| {
        let mut command = project.command(&["apply"]);
        command.env_remove("USER").env_remove("LOGNAME");
        command.envs(user.map(|user| ("LOGNAME", user)));
        assert!(finish(command).status.success());
        finish(project.command(&["log"]))
    };
    let log = by(Some("ann"));
    assert!(stdout(&log).contains("ann") && stderr(&log).is_empty());
    edit(&project, "ttl: none", "ttl: 3d");
    let log = by(None);
    assert_eq!(
        stderr(&log),
        "note: `unknown` applied where neither `USER` nor `LOGNAME` was set\n"
    );
}

#[test]
fn a_feature_with_another_description_is_not_told_as_computed_otherwise() {
    let project = shop();
    let basket = |about: &str| {
        format!(
            "request_views:\n  basket:\n    inputs: {{ paid: float64 }}\n    features:\n      \
             half: {{ expression: paid / 2, description: {about} }}\n"
        )
    };
    project.write("features/basket.yaml", basket("a half"));
    project.run(&["apply"]);
    project.write("features/basket.yaml", basket("half of it"));
    assert_eq!(
        project.run(&["plan"]),
        "  ~ request view basket (compatible)
      feature `half`: another description
planned against version 1: `nightfill apply --against 1`
"
    );
}
