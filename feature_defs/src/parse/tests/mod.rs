mod broken;
pub(crate) mod damage;
mod event_sources;
mod mutation;
mod settings;
mod view_reads;

use std::path::Path;

use super::*;
use crate::expression::RequestPlan;

fn example() -> Definitions {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cdnow");
    load(&root).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_loads_with_thirty_stored_and_five_request_features() {
    let definitions = example();
    let service = &definitions.services["buys_again_v1"];
    let stored: Vec<_> = service
        .features
        .iter()
        .filter(|feature| feature.origin == crate::feature_service::Origin::Stored)
        .collect();
    assert_eq!((stored.len(), service.features.len()), (30, 35));
    let view = &definitions.request_views["basket"];
    let plan = RequestPlan::new(&definitions, view, |_| true).expect("plans");
    let inputs: Vec<String> = plan.inputs().iter().map(ToString::to_string).collect();
    assert_eq!(
        inputs,
        [
            "amount_cents",
            "cds",
            "customer_ltv.ltv_39w",
            "customer_spend.basket_cents_lifetime",
            "customer_spend.cds_lifetime",
            "customer_spend.largest_cents_lifetime",
            "customer_spend.orders_lifetime",
        ]
    );
    let types: Vec<String> = view
        .features
        .iter()
        .map(|feature| feature.data_type.to_string())
        .collect();
    assert_eq!(
        types,
        ["float64", "float64", "float64", "float64", "float64"]
    );
}

fn file(path: &str, text: &str) -> DefinitionFile {
    DefinitionFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

const PROJECT: &str = "version: 1\nproject: shop\n";

/// Objects that load, for tests to break.
const SHOP: &str = "entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: data/*.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, cents: int32, note: string }
views:
  spend:
    entity: customer
    source: purchases
    ttl: 3d
    schedule: \"0 2 * * *\"
    windows: [7d, lifetime]
    aggregate:
      cents: sum(cents)
request_views:
  basket:
    inputs: { amount: int64 }
    features:
      ratio: amount / nullif(spend.cents_7d, 0)
services:
  churn_v1:
    features:
      - spend.*
      - basket.ratio
models:
  churn: { service: churn_v1, output: { transform: sigmoid } }
";

fn shop(text: &str) -> Result<Definitions, Problems> {
    parse(
        Path::new("/"),
        vec![file(PROJECT_FILE, PROJECT), file("shop.yaml", text)],
    )
}

/// All problems as `line:column message | help`.
fn told(problems: &Problems) -> Vec<String> {
    let one = |problem: &Problem| {
        let file = problems
            .files
            .iter()
            .find(|file| file.path == problem.span.file)
            .expect("file");
        let before = &file.text[..problem.span.bytes.start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let help = problem.help.as_deref().unwrap_or_default();
        format!("{line}:{column} {} | {help}", problem.message)
    };
    problems.problems.iter().map(one).collect()
}

#[test]
fn broken_definitions_are_refused_at_their_place_with_help() {
    shop(SHOP).unwrap_or_else(|problems| panic!("{problems}"));
    for (from, to, expected) in [
        (
            "entity: customer\n",
            "entity: custmer\n",
            "10:13 unknown entity `custmer` | did you mean `customer`?",
        ),
        (
            "source: purchases",
            "source: purchase",
            "11:13 unknown source `purchase` | did you mean `purchases`?",
        ),
        (
            "    ttl: 3d\n",
            "    tll: 3d\n",
            "12:5 unknown key `tll` in view `spend` | did you mean `ttl`?",
        ),
        (
            "ttl: 3d",
            "ttl: 3 days",
            "12:10 `3 days` is not a length of time",
        ),
        (
            "0 2 * * *",
            "0 25 * * *",
            "13:15 `0 25 * * *` is not a schedule",
        ),
        (
            "0 2 * * *",
            "0 0 2 * * *",
            "13:15 `0 0 2 * * *` is not a schedule",
        ),
        (
            "[7d, lifetime]",
            "[7d, 1w]",
            "14:19 the window 7d stands here twice",
        ),
        (
            "sum(cents)",
            "sum(cent)",
            "16:18 `purchases` has no column `cent` | did you mean `cents`?",
        ),
        (
            "sum(cents)",
            "sum(note)",
            "16:14 `sum` needs a number, not a string",
        ),
        (
            "sum(cents)",
            "sun(cents)",
            "16:14 unknown function `sun` | did you mean `sum`?",
        ),
        (
            "sum(cents)",
            "count(*)",
            "16:20 `*` is not a column | write `count()`",
        ),
        (
            "customer_id: int64 } }",
            "customer_id: float64 } }",
            "2:36 a float64 is not a key",
        ),
        (
            "customer_id: int64 } }",
            "customer_id: int46 } }",
            "2:36 `int46` is not a type | did you mean `int64`?",
        ),
        (
            "customer_id: int64 } }",
            "id: int64 } }",
            "9:3 `purchases` has no column `id` for the key `id`",
        ),
        (
            "event_time: at",
            "event_time: cents",
            "6:17 `event_time` names `cents`, which is int32",
        ),
        (
            "event_time: at",
            "event_time: att",
            "6:17 `event_time` names `att`, which is not a declared column | did you mean `at`?",
        ),
        (
            "    event_time: at\n",
            "",
            "4:3 source `purchases` has no `event_time`",
        ),
        (
            "data/*.parquet",
            "../data/*.parquet",
            "5:11 the path `../data/*.parquet` leaves the project",
        ),
        (
            "data/*.parquet",
            "/etc/passwd",
            "5:11 `/etc/passwd` is an absolute path",
        ),
        (
            "spend.cents_7d",
            "spend.cents_7",
            "21:30 unknown feature `spend.cents_7` | did you mean `cents_7d`?",
        ),
        (
            "amount / null",
            "amont / null",
            "21:14 unknown request field `amont` | did you mean `amount`?",
        ),
        (
            "amount / null",
            "amount + now() / null",
            "21:23 `now` is not accepted: it reads the clock",
        ),
        (
            "amount: int64",
            "spend: int64",
            "19:15 the request field `spend` has the name of a feature view",
        ),
        (
            "- basket.ratio",
            "- spend.cents_7d",
            "26:9 the feature `spend.cents_7d` stands in the service twice",
        ),
        (
            "- basket.ratio",
            "- baskt.ratio",
            "26:9 unknown view `baskt` | did you mean `basket`?",
        ),
        (
            "- basket.ratio",
            "- basket",
            "26:9 `basket` is not a feature | write `basket.*`",
        ),
        (
            "service: churn_v1",
            "service: churn_v2",
            "28:21 unknown service `churn_v2` | did you mean `churn_v1`?",
        ),
        (
            "transform: sigmoid",
            "transform: sigmod",
            "28:52 `sigmod` is not a transform | did you mean `sigmoid`?",
        ),
        (
            "    ttl: 3d\n",
            "    ttl: 3d\n    ttl: 4d\n",
            "13:5 the key `ttl` stands here twice",
        ),
        (
            "    ttl: 3d\n",
            "    ttl: &a 3d\n",
            "12:10 anchors and aliases are not accepted",
        ),
        (
            "    ttl: 3d\n",
            "    ttl: !!str 3d\n",
            "12:10 tags are not accepted",
        ),
        (
            "    ttl: 3d\n",
            "    ttl: [3d]\n",
            "12:10 `ttl` is not a single value",
        ),
        (
            "    ttl: 3d\n",
            "    gates: {}\n",
            "12:5 unknown key `gates` in view `spend`",
        ),
        (
            "models:",
            "modles:",
            "27:1 unknown key `modles` in a definition file | did you mean `models`?",
        ),
        ("  spend:\n", "  Spend:\n", "9:3 `Spend` is not a name"),
        (
            "  basket:\n",
            "  spend:\n",
            "18:3 `spend` names a feature view and a request view",
        ),
    ] {
        assert!(SHOP.contains(from), "{from}");
        let problems = shop(&SHOP.replacen(from, to, 1)).expect_err(to);
        let told = told(&problems);
        assert!(
            told.iter().any(|problem| problem.starts_with(expected)),
            "{to}: {told:#?}"
        );
    }
}

#[test]
fn all_problems_are_told_in_one_pass_in_order() {
    let text = SHOP
        .replace("int64 } }", "bool } }")
        .replace("ttl: 3d", "tll: 3d")
        .replace("sum(cents)", "sum(cent)")
        .replace("nullif(spend", "nullif(spned")
        .replace("sigmoid", "sigmod");
    let told = told(&shop(&text).expect_err("five problems"));
    let places: Vec<&str> = told
        .iter()
        .map(|problem| problem.split_once(' ').expect("a place").0)
        .collect();
    assert_eq!(
        places,
        ["2:36", "12:5", "16:18", "21:30", "28:52"],
        "{told:#?}"
    );
}

#[test]
fn a_problem_is_shown_with_its_line_and_help() {
    let text = SHOP.replace("spend.cents_7d", "spend.cent_7d");
    let shown = shop(&text).expect_err("one problem").to_string();
    let expected = "\
error: unknown feature `spend.cent_7d`
  --> shop.yaml:21:30
   |
21 |       ratio: amount / nullif(spend.cent_7d, 0)
   |                              ^^^^^^^^^^^^^ not a feature of `spend`
   |
   = help: did you mean `cents_7d`? features: cents_7d, cents_lifetime
1 problem in 1 file";
    assert_eq!(shown, expected);
}

#[test]
fn settings_are_checked_and_have_defaults() {
    let project = shop(SHOP).expect("loads").project;
    assert_eq!(project.timezone, chrono_tz::UTC);
    assert_eq!(
        project.places.online,
        crate::project::Location::Embedded(".nightfill/online".into())
    );
    for (text, expected) in [
        ("project: shop\n", "1:1 the project has no `version`"),
        (
            "version: 2\nproject: shop\n",
            "1:10 version `2` is not known",
        ),
        ("version: 1\nproject: Shop\n", "2:10 `Shop` is not a name"),
        (
            "version: 1\nproject: shop\nonline: memcached://h\n",
            "3:9 `online` does not accept `memcached://`",
        ),
        (
            "version: 1\nproject: shop\ntimezone: Europe/Berln\n",
            "3:11 `Europe/Berln` is not a time zone | did you mean `Europe/Berlin`?",
        ),
        (
            "version: 1\nproject: shop\ncolour: {}\n",
            "3:1 unknown key `colour` in the project",
        ),
        (
            "version: 1\nproject: [shop\n",
            "2:10 this `[` is not closed",
        ),
        ("", "1:1 the project has no `version`"),
    ] {
        let problems = parse(Path::new("/"), vec![file(PROJECT_FILE, text)]).expect_err(text);
        let told = told(&problems);
        assert!(
            told.iter().any(|problem| problem.starts_with(expected)),
            "{text}: {told:#?}"
        );
    }
}

#[test]
fn an_online_store_may_be_on_a_server() {
    let text = "version: 1\nproject: shop\nonline: redis://night@db/3\nenvironments:\n  prod: { online: \"rediss://[::1]\" }\n";
    let parsed = parse(Path::new("/"), vec![file(PROJECT_FILE, text)]).expect("loads");
    let project = parsed.project;
    assert_eq!(project.places.online.to_string(), "redis://night@db:6379/3");
    let prod = project.in_environment("prod").expect("declared");
    assert_eq!(prod.places.online.to_string(), "rediss://[::1]:6379/0");
}

#[test]
fn places_are_right_after_wide_characters() {
    let text = SHOP
        .replace("entities:\n", "# é 名 🎵\nentities:\n")
        .replace("cents_7d", "cent_7d");
    let told = told(&shop(&text).expect_err("one problem"));
    assert!(told[0].starts_with("22:30 unknown feature"), "{told:#?}");
}

#[test]
fn names_are_unique_over_all_files() {
    let files = vec![
        file(PROJECT_FILE, PROJECT),
        file("a.yaml", SHOP),
        file("b.yaml", "entities:\n  customer: { keys: { id: int64 } }\n"),
    ];
    let problems = parse(Path::new("/"), files).expect_err("twice");
    assert_eq!(
        told(&problems),
        ["2:3 entity `customer` is declared twice | the first one is in `a.yaml`"]
    );
}

#[test]
fn fingerprints_do_not_depend_on_layout_and_do_on_meaning() {
    let whole = shop(SHOP).expect("loads");
    let (first, second) = SHOP.split_at(SHOP.find("views:").expect("views"));
    let reordered = first.replace(
        "customer_id: int64, at: timestamp",
        "at: timestamp, customer_id: int64",
    );
    let files = vec![
        file(PROJECT_FILE, PROJECT),
        file("z.yaml", &format!("# objects\n{reordered}")),
        file(
            "a/b.yaml",
            &second.replace("amount / nullif(spend", "amount  /  nullif( spend"),
        ),
    ];
    let split = parse(Path::new("/elsewhere"), files).expect("loads");
    assert_eq!(split.fingerprint, whole.fingerprint);
    for (from, to) in [
        ("ttl: 3d", "ttl: 4d"),
        ("0 2 * * *", "0 3 * * *"),
        ("sum(cents)", "max(cents)"),
        ("[7d, lifetime]", "[lifetime, 7d]"),
        ("data/*.parquet", "data/a.parquet"),
        ("nullif(spend.cents_7d, 0)", "nullif(spend.cents_7d, 1)"),
        ("transform: sigmoid", "transform: exp"),
        ("- spend.*", "- spend.cents_7d"),
    ] {
        let changed = shop(&SHOP.replacen(from, to, 1)).expect(to);
        assert_ne!(changed.fingerprint, whole.fingerprint, "{to}");
    }
    let renamed_ttl = shop(&SHOP.replace("ttl: 3d", "ttl: 4d")).expect("loads");
    assert_eq!(
        renamed_ttl.views["spend"].fingerprint,
        whole.views["spend"].fingerprint
    );
}

#[test]
fn defaults_and_joins_are_read() {
    let text = SHOP
        .replace("{ amount: int64 }", "{ amount: { type: int64, default: 7 }, money: { type: \"decimal(12,2)\", nullable: true } }")
        .replace("- spend.*", "- spend.cents_7d: { default: 0 }")
        .replace("columns: { customer_id: int64", "columns: { cust_no: int64")
        .replace("source: purchases", "source: purchases\n    join: { customer_id: cust_no }");
    let definitions = shop(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let inputs = &definitions.request_views["basket"].inputs;
    assert_eq!(inputs[0].default, Some(crate::value::Value::Int(7)));
    assert!(inputs[1].nullable && inputs[1].default.is_none());
    let service = &definitions.services["churn_v1"];
    assert_eq!(
        service.features[0].default,
        Some(crate::value::Value::Int(0))
    );
    let crate::feature_view::Computation::Windows(windows) =
        &definitions.views["spend"].computation
    else {
        panic!("windows");
    };
    assert_eq!(windows.key_columns, [["cust_no"]]);
}
