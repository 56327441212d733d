//! WIN-01 to WIN-05, WIN-09, WIN-10, WIN-14: edges, ties and ranges of windows, in training sets as in answers.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::harness::parquet;

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  rows:
    path: data/rows.csv
    event_time: at
    columns: { id: string, at: timestamp, v: string }
views:
  of:
    entity: thing
    source: rows
    ttl: none
    windows: [7d]
    aggregate: { all: count(), some: count(v), different: distinct_count(v) }
services:
  plain: { features: [of.*] }
  with_default: { features: [of.all_7d: { default: 0 }, of.some_7d: { default: 0 }] }
";

/// K0 was seen, but not in the window; K1 was never seen.
const ROWS: &str = "\
id,at,v
K0,2026-01-01T00:00:00Z,x
K2,2026-01-30T00:00:00Z,
K2,2026-01-30T01:00:00Z,
K3,2026-01-30T00:00:00Z,x
K3,2026-01-30T01:00:00Z,x
K3,2026-01-30T02:00:00Z,
K3,2026-01-30T03:00:00Z,y
";

#[test]
fn win_03_counts_of_nothing_are_zero_and_of_nobody_missing() {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS), ("data/rows.csv", ROWS)]);
    project.apply_and_run(&["2026-02-01"]);
    let ids = ["K0", "K1", "K2", "K3"];
    let entities = json!({ "id": ids }).to_string();
    let frame: String = ids
        .iter()
        .map(|id| format!("{id},2026-02-01T00:00:00Z\n"))
        .collect();
    let frame = format!("id,as_of\n{frame}");

    let null: Option<i64> = None;
    let cases: [(&str, &str, [Option<i64>; 4]); 5] = [
        ("plain", "of.all_7d", [Some(0), null, Some(2), Some(4)]),
        ("plain", "of.some_7d", [Some(0), null, Some(0), Some(3)]),
        (
            "plain",
            "of.different_7d",
            [Some(0), null, Some(0), Some(2)],
        ),
        (
            "with_default",
            "of.all_7d",
            [Some(0), Some(0), Some(2), Some(4)],
        ),
        (
            "with_default",
            "of.some_7d",
            [Some(0), Some(0), Some(0), Some(3)],
        ),
    ];
    for (service, feature, expected) in cases {
        let asked = ["features", "--service", service, "--entities", &entities];
        let answer = project.json(&asked);
        let told = |row: usize| answer["results"][row]["features"][feature].clone();
        let served: Vec<Value> = (0..4).map(|row| told(row)["value"].clone()).collect();
        assert_eq!(
            served,
            expected.map(|value| json!(value)),
            "{service} {feature}"
        );
        assert_eq!(told(1)["state"], json!("missing"));

        let trained = parquet::integers(&project.train(service, &frame), feature);
        assert_eq!(trained, expected, "{service} {feature}");
    }
}

/// A project whose view `of` aggregates events of `K` with an `amount` and a `fee`.
fn aggregates(windows: &str, aggregate: &str, events: &[(&str, i64, i64)]) -> Project {
    let definitions = format!(
        "\
entities:
  thing: {{ keys: {{ id: string }} }}
sources:
  events:
    path: data/events.csv
    event_time: at
    columns: {{ id: string, at: timestamp, amount: int64, fee: int64 }}
views:
  of: {{ entity: thing, source: events, ttl: none, windows: [{windows}], aggregate: {{ {aggregate} }} }}
services:
  s: {{ features: [of.*] }}
"
    );
    let project = Project::new(&[("features/all.yaml", definitions.as_str())]);
    write_events(&project, events);
    project.run(&["apply"]);
    project
}

fn write_events(project: &Project, events: &[(&str, i64, i64)]) {
    let rows = events.iter();
    let rows: String = rows
        .map(|(at, amount, fee)| format!("K,{at},{amount},{fee}\n"))
        .collect();
    project.write("data/events.csv", format!("id,at,amount,fee\n{rows}"));
}

/// Features of `K` as of an instant, the same on three ways: in a training set, computed from the sources, and served from a
/// release that is as of then.
fn told<const N: usize>(project: &Project, features: [&str; N], as_of: &str) -> [Option<i64>; N] {
    let trained = project.train("s", &format!("id,as_of\nK,{as_of}\n"));
    let trained = features.map(|feature| parquet::integers(&trained, feature)[0]);
    let asked = ["features", "--service", "s", "--entity", "id=K"];
    let values = |answer: &Value| {
        let told = &answer["results"][0]["features"];
        features.map(|feature| told[feature]["value"].as_i64())
    };
    let computed = project.json(&[&asked[..], &["--as-of", as_of]].concat());
    assert_eq!(values(&computed), trained, "computed as of {as_of}");
    project.run(&["run", "--as-of", as_of, "--allow-earlier", "--allow-empty"]);
    let served = project.json(&asked);
    assert_eq!(values(&served), trained, "served as of {as_of}");
    trained
}

#[test]
fn win_01_the_upper_edge_is_out_and_the_lower_edge_is_in() {
    let project = aggregates(
        "10d",
        "n: count(), sum: sum(amount)",
        &[("2026-01-01T12:00:00Z", 10, 0)],
    );
    for (as_of, expected) in [
        ("2026-01-01T11:59:59.999Z", [None, None]),
        ("2026-01-01T12:00:00Z", [None, None]),
        ("2026-01-01T12:00:00.001Z", [Some(1), Some(10)]),
        ("2026-01-11T11:59:59.999Z", [Some(1), Some(10)]),
        ("2026-01-11T12:00:00Z", [Some(1), Some(10)]),
        ("2026-01-11T12:00:00.001Z", [Some(0), None]),
    ] {
        let found = told(&project, ["of.n_10d", "of.sum_10d"], as_of);
        assert_eq!(found, expected, "{as_of}");
    }
}

#[test]
fn win_02_windows_and_columns_side_by_side_are_what_they_are_alone() {
    let events = [
        ("2025-03-02T07:00:00Z", 100, 1),
        ("2025-03-02T11:00:00Z", -30, 0),
        ("2025-03-02T13:00:00Z", 20, 2),
        ("2025-03-02T17:00:00Z", 5, 0),
    ];
    // The same eleven hours, once within a day and once over midnight.
    let later = events.map(|(at, amount, fee)| {
        let at = feature_defs::time::Instant::parse(at).expect("an instant");
        let at = feature_defs::time::Instant::from_micros(at.micros() + 11 * 3_600_000_000);
        (at.to_string(), amount, fee)
    });
    let later = later
        .each_ref()
        .map(|(at, amount, fee)| (at.as_str(), *amount, *fee));
    let aggregates_of = [
        ("amount", "sum(amount)", 25, 95),
        ("fee", "sum(fee)", 2, 3),
        ("n", "count()", 2, 4),
        ("least", "min(amount)", 5, -30),
        ("most", "max(amount)", 20, 100),
    ];
    for (events, as_of) in [
        (events, "2025-03-02T18:00:00Z"),
        (later, "2025-03-03T05:00:00Z"),
    ] {
        let all = aggregates_of
            .map(|(name, call, ..)| format!("{name}: {call}"))
            .join(", ");
        let together = aggregates("6h, 12h", &all, &events);
        for (name, call, six, twelve) in aggregates_of {
            let features = [format!("of.{name}_6h"), format!("of.{name}_12h")];
            let features = features.each_ref().map(String::as_str);
            let expected = [Some(six), Some(twelve)];
            assert_eq!(
                told(&together, features, as_of),
                expected,
                "{name}, together"
            );
            let alone = aggregates("12h, 6h", &format!("{name}: {call}"), &events);
            assert_eq!(told(&alone, features, as_of), expected, "{name}, alone");
        }
    }
}

#[test]
fn win_05_history_later_than_the_instant_never_counts() {
    let events = [
        ("1970-01-01T00:01:40Z", 1, 0),
        ("1970-01-01T00:01:41Z", 1, 0),
    ];
    let project = aggregates("10s", "n: count()", &events);
    for (as_of, expected) in [
        // Nothing was known of K: missing, which a service may declare to be 0.
        ("1970-01-01T00:01:39Z", None),
        ("1970-01-01T00:01:40.500Z", Some(1)),
        ("1970-01-01T00:01:42Z", Some(2)),
    ] {
        assert_eq!(told(&project, ["of.n_10s"], as_of), [expected], "{as_of}");
    }
}

#[test]
fn win_09_all_rows_that_tie_at_an_edge_are_in_or_out() {
    let mut events = vec![("2026-01-01T00:59:00Z", 1, 0); 1_000];
    events.extend(vec![("2026-01-01T00:59:30Z", 1, 0); 10]);
    events.extend(vec![("2026-01-01T01:00:00Z", 1, 0); 5]);
    let project = aggregates("1m", "n: count()", &events);
    for threads in ["1", "8"] {
        let frame = "id,as_of\nK,2026-01-01T01:00:00Z\nK,2026-01-01T01:00:00.000001Z\n";
        let trained = project.train_with("s", frame, &["--threads", threads]);
        // A microsecond later the thousand are out and the five are in.
        assert_eq!(
            parquet::integers(&trained, "of.n_1m"),
            [Some(1_010), Some(15)]
        );
    }
    assert_eq!(
        told(&project, ["of.n_1m"], "2026-01-01T01:00:00Z"),
        [Some(1_010)]
    );

    // The same rows in files of seven.
    let rows: Vec<String> = events
        .iter()
        .map(|(at, amount, fee)| format!("K,{at},{amount},{fee}\n"))
        .collect();
    for (number, rows) in rows.chunks(7).enumerate() {
        let text = format!("id,at,amount,fee\n{}", rows.concat());
        project.write(&format!("data/events/{number}.csv"), text);
    }
    let definitions = std::fs::read_to_string(project.root().join("features/all.yaml"));
    let definitions = definitions
        .expect("definitions")
        .replace("events.csv", "events/*.csv");
    project.write("features/all.yaml", definitions);
    project.run(&["apply"]);
    assert_eq!(
        told(&project, ["of.n_1m"], "2026-01-01T01:00:00Z"),
        [Some(1_010)]
    );
}

const RANGES: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  events:
    path: data/events.csv
    event_time: at
    columns: { id: string, at: timestamp, large: int64, medium: int32, small: uint8 }
views:
  fits:
    entity: thing
    source: events
    ttl: none
    windows: [lifetime]
    aggregate: { mean: mean(large), medium: sum(medium), small: sum(small) }
  overflows:
    entity: thing
    source: events
    ttl: none
    windows: [lifetime]
    aggregate: { total: sum(large) }
services:
  fits: { features: [fits.*] }
  overflows: { features: [overflows.*] }
";

#[test]
fn win_10_sums_never_wrap_and_means_are_of_exact_sums() {
    let at = "2026-01-01T00:00:00Z";
    let large = 9_000_000_000_000_000_000_i64;
    let rows = format!(
        "id,at,large,medium,small\nK,{at},{large},2147483647,255\nK,{at},{large},2147483647,255\n"
    );
    let project = Project::new(&[("features/all.yaml", RANGES), ("data/events.csv", &rows)]);
    project.run(&["apply"]);
    let frame = "id,as_of\nK,2026-02-01\n";
    let trained = project.train("fits", frame);
    assert_eq!(
        parquet::integers(&trained, "fits.medium_lifetime"),
        [Some(4_294_967_294)]
    );
    assert_eq!(
        parquet::integers(&trained, "fits.small_lifetime"),
        [Some(510)]
    );
    assert_eq!(
        parquet::floats(&trained, "fits.mean_lifetime"),
        [Some(9.0e18)]
    );

    let refused = project.fail(&["run", "--as-of", "2026-02-01"]);
    for named in [
        "overflows",
        "total_lifetime",
        "`id K`",
        "18000000000000000000",
    ] {
        assert!(refused.contains(named), "no {named} in: {refused}");
    }
    assert!(project.run(&["status"]).contains("no release yet"));
    project.write("frame.csv", frame);
    let frame = project.root().join("frame.csv");
    let frame = frame.to_str().expect("UTF-8");
    let refused = project.fail(&crate::harness::training_set(
        "overflows",
        frame,
        "refused.parquet",
    ));
    assert!(
        refused.contains("total_lifetime") && refused.contains("`id K`"),
        "{refused}"
    );
}

#[test]
fn win_14_history_of_the_same_instant_is_out_and_its_order_never_shows() {
    let mut events = vec![
        ("2026-01-01T00:01:40Z", 240, 0),
        ("2026-01-01T00:01:40Z", 18, 0),
        ("2026-01-01T00:01:40Z", 205, 0),
    ];
    let project = aggregates("1d", "most: max(amount), newest: last(amount)", &events);
    let features = ["of.most_1d", "of.newest_1d"];
    for _ in 0..2 {
        for _ in 0..events.len() {
            events.rotate_left(1);
            write_events(&project, &events);
            assert_eq!(
                told(&project, features, "2026-01-01T00:01:40Z"),
                [None, None]
            );
            // Among equal times the last one is the greatest of the remaining columns.
            let after = told(&project, features, "2026-01-01T00:01:40.000001Z");
            assert_eq!(after, [Some(240), Some(240)]);
        }
        events.swap(0, 1);
    }
}

const DOCUMENTED: &str = "\
entities:
  customer: { keys: { id: string } }
sources:
  events:
    path: data/events.csv
    event_time: at
    columns: { id: string, at: timestamp, amount: int64, price: float64 }
views:
  of:
    entity: customer
    source: events
    ttl: none
    windows: [7d]
    aggregate:
      rows: count()
      count_amount: count(amount)
      sum_amount: sum(amount)
      sum_price: sum(price)
      mean_amount: mean(amount)
      median_amount: median(amount)
      most_amount: quantile(amount, 0.9)
      min_amount: min(amount)
      max_amount: max(amount)
      variance_amount: variance(amount)
      stddev_amount: stddev(amount)
      variance_pop_amount: variance_pop(amount)
      first_amount: first(amount)
      last_amount: last(amount)
      last_price: last(price)
      newest_amounts: last(amount, 3)
      oldest_prices: first(price, 2)
      top_amounts: top_k(amount, 2)
      distinct_count_amount: distinct_count(amount)
      paid: { of: sum(amount), filter: amount > 0 }
      dear: { of: count(), filter: price >= 0.2 }
      by_amount: { of: sum(price), by: amount }
      late: { of: last(price), filter: amount <> 7 }
services:
  s: { features: [of.*] }
";

#[test]
fn a_filter_that_has_no_value_for_an_event_ends_the_night_and_names_itself() {
    let project = aggregates(
        "7d",
        "dear: { of: count(), filter: 100 / fee > 2 }",
        &[
            ("2026-01-01T00:00:00Z", 10, 5),
            ("2026-01-02T00:00:00Z", 10, 0),
        ],
    );
    let refused = project.fail(&["run", "--as-of", "2026-01-03"]);
    assert!(refused.contains("filter `100 / fee > 2`"), "{refused}");
    assert!(project.run(&["status"]).contains("no release yet"));
    // Events that are not seen yet are not asked.
    assert_eq!(
        told(&project, ["of.dear_7d"], "2026-01-02T00:00:00Z"),
        [Some(1)]
    );
}

#[test]
fn zeros_of_two_signs_are_one_to_a_filter_and_null_is_no_yes() {
    let definitions = DOCUMENTED.replace(
        "rows: count()",
        "rows: { of: count(), filter: price = 0 }
      others: { of: count(), filter: not (price = 0) }",
    );
    let rows = "id,at,amount,price
K,2026-03-01,1,0.0
K,2026-03-02,2,-0.0
K,2026-03-03,3,
K,2026-03-04,4,1.5
";
    let project = Project::new(&[
        ("features/all.yaml", definitions.as_str()),
        ("data/events.csv", rows),
    ]);
    project.run(&["apply"]);
    assert_eq!(
        told(&project, ["of.rows_7d", "of.others_7d"], "2026-03-05"),
        [Some(2), Some(1)]
    );
}

#[test]
fn the_example_in_the_documentation_holds() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/windows.md");
    let page = std::fs::read_to_string(page).expect("docs/windows.md");
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let table = |heading: &str| -> Vec<Vec<String>> {
        let lines = page.lines().skip_while(|line| !line.starts_with(heading));
        lines
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(cells)
            .collect()
    };
    let mut rows = "id,at,amount,price\n".to_owned();
    for row in table("| row | at |") {
        let value = |cell: &str| cell.replace("null", "");
        let (amount, price) = (value(&row[2]), value(&row[3]));
        rows.push_str(&format!("K,2026-{},{amount},{price}\n", row[1]));
    }
    assert_eq!(rows.lines().count(), 5);
    let project = Project::new(&[
        ("features/all.yaml", DOCUMENTED),
        ("data/events.csv", &rows),
    ]);
    project.apply_and_run(&["2026-03-05"]);
    let answer = project.json(&["features", "--service", "s", "--entity", "id=K"]);
    let features = &answer["results"][0]["features"];
    let documented = table("| aggregate | value |");
    assert_eq!(
        documented.len(),
        features.as_object().map_or(0, serde_json::Map::len)
    );
    for row in documented {
        let call = row[0].trim_matches('`');
        let name = DOCUMENTED.lines().find_map(|line| {
            let (name, written) = line.trim().split_once(": ")?;
            (written.trim_matches('"') == call).then_some(name)
        });
        let feature = format!("of.{}_7d", name.unwrap_or(call));
        assert_eq!(features[&feature]["value"].to_string(), row[1], "{feature}");
    }
}
