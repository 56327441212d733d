//! PIT-02 to PIT-06, PIT-11, PIT-12, PIT-15: one feature row for each entity and instant, on every path.

use serde_json::{Value, json};

use crate::harness::{Project, parquet};

const DEFINITIONS: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  rows:
    path: data/*.csv
    event_time: ev
    created_time: cr
    columns: { id: string, ev: timestamp, cr: timestamp, a: int64, b: int64 }
views:
  newest:
    entity: thing
    source: rows
    ttl: none
    latest: [a, b]
services:
  s: { features: [newest.*] }
";

fn project(files: &[&str]) -> Project {
    let project = Project::new(&[("features/all.yaml", DEFINITIONS)]);
    for (number, rows) in files.iter().enumerate() {
        project.write(
            &format!("data/{number}.csv"),
            format!("id,ev,cr,a,b\n{rows}"),
        );
    }
    project
}

/// `(value, state)` of both features of `K`, as of `as_of`, from the served release.
fn served(project: &Project) -> [(Value, Value); 2] {
    let answer = project.json(&["features", "--service", "s", "--entity", "id=K"]);
    ["newest.a", "newest.b"].map(|feature| {
        let told = &answer["results"][0]["features"][feature];
        (told["value"].clone(), told["state"].clone())
    })
}

/// Both features of `K` in a training set with one row as of each instant.
fn trained(project: &Project, as_ofs: &[&str]) -> [Vec<Option<i64>>; 2] {
    let frame: String = as_ofs.iter().map(|as_of| format!("K,{as_of}\n")).collect();
    let batch = project.train("s", &format!("id,as_of\n{frame}"));
    assert_eq!(batch.num_rows(), as_ofs.len());
    ["newest.a", "newest.b"].map(|feature| parquet::integers(&batch, feature))
}

#[test]
fn pit_02_rows_delivered_three_times_are_one() {
    let newest = "K,2026-01-01T09:00:00Z,2026-01-01T09:05:00Z,10,1\n";
    let older = "K,2026-01-01T08:00:00Z,2026-01-01T08:01:00Z,9,2\n";
    let project = project(&[newest, newest, &format!("{newest}{older}")]);
    project.run(&["apply"]);
    let as_ofs = ["2026-01-01T10:00:00Z", "2026-01-01T09:02:00Z"];
    // At 09:02 the row of 09:00 was not known yet: it was created at 09:05.
    assert_eq!(
        trained(&project, &as_ofs),
        [[Some(10), Some(9)], [Some(1), Some(2)]]
    );

    for release in 1..=2 {
        project.run(&["run", "--as-of", "2026-01-01T10:00:00Z"]);
        let shown = project.json(&["release", "show"]);
        assert_eq!(
            shown["release"]["views"][0]["rows"],
            json!(1),
            "night {release}: {shown}"
        );
        let present = json!("present");
        assert_eq!(
            served(&project),
            [(json!(10), present.clone()), (json!(1), present)]
        );
    }
}

#[test]
fn pit_06_a_newest_null_is_a_value_and_nothing_older_shows_through() {
    let project = project(&["\
K,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,42,1
K,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,,2
"]);
    project.apply_and_run(&["2026-01-01T02:00:00Z"]);
    assert_eq!(
        served(&project),
        [(Value::Null, json!("null")), (json!(2), json!("present"))]
    );
    let as_ofs = ["2026-01-01T02:00:00Z", "2026-01-01T00:30:00Z"];
    assert_eq!(
        trained(&project, &as_ofs),
        [[None, Some(42)], [Some(2), Some(1)]]
    );
}

const TIED: &str = "\
entities:
  thing: { keys: { id: int64 } }
sources:
  rows:
    path: data/*.parquet
    event_time: ev
    columns: { id: int64, ev: timestamp, w: int64 }
views:
  newest:
    entity: thing
    source: rows
    ttl: none
    latest: [w]
services:
  s: { features: [newest.*] }
";

/// Tied rows: 200,000 of 50 keys over 1,000 seconds, several of one key at one instant, in files of any order.
fn write_tied_rows(project: &Project, files: usize, reverse: bool) {
    use arrow::array::{ArrayRef, Int64Array, TimestampMicrosecondArray};
    use std::sync::Arc;
    let rows: Vec<i64> = if reverse {
        (0..TIED_ROWS).rev().collect()
    } else {
        (0..TIED_ROWS).collect()
    };
    for (number, rows) in rows.chunks(rows.len() / files).enumerate() {
        let integers = |of: fn(i64) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| of(*row)),
            ))
        };
        let at = rows.iter().map(|row| seconds(row / 4 % 1_000));
        let at = TimestampMicrosecondArray::from_iter_values(at).with_timezone("UTC");
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", integers(|row| row % 50)),
            ("ev", Arc::new(at)),
            ("w", integers(|row| row)),
        ];
        let path = format!("data/{number}.parquet");
        parquet::write(&project.root().join(path), columns);
    }
}

const TIED_ROWS: i64 = 200_000;

/// Microseconds since 1970 of a second of 2026-01-01.
fn seconds(second: i64) -> i64 {
    1_767_225_600_000_000 + second * 1_000_000
}

#[test]
fn pit_03_ties_go_to_the_same_row_in_every_run_and_on_every_path() {
    // Among equal times the greatest value wins: `w` is the one remaining column.
    let mut winners = std::collections::BTreeMap::new();
    for row in 0..TIED_ROWS {
        let winner = winners.entry((row % 50, row / 4 % 1_000)).or_insert(row);
        *winner = row.max(*winner);
    }
    let asked: Vec<(i64, i64)> = (0..5_000).map(|row| (row % 50, row * 7 % 1_000)).collect();
    let expected = |(id, second): (i64, i64)| {
        let mut seen = winners.range((id, 0)..=(id, second));
        seen.next_back().map(|(_, winner)| *winner)
    };
    let expected: Vec<Option<i64>> = asked.iter().map(|asked| expected(*asked)).collect();
    let frame: String = asked
        .iter()
        .map(|(id, second)| {
            let at = feature_defs::time::Instant::from_micros(seconds(*second));
            format!("{id},{at}\n")
        })
        .collect();
    for (files, reverse, threads) in [(1, false, "1"), (7, false, "2"), (16, true, "16")] {
        let project = Project::new(&[("features/all.yaml", TIED)]);
        write_tied_rows(&project, files, reverse);
        project.run(&["apply"]);
        for _ in 0..3 {
            let frame = format!("id,as_of\n{frame}");
            let trained = project.train_with("s", &frame, &["--threads", threads]);
            assert_eq!(
                parquet::integers(&trained, "newest.w"),
                expected,
                "{files} files"
            );
        }
        project.run(&["run", "--as-of", "2026-01-02", "--threads", threads]);
        let ids: Vec<i64> = (0..50).collect();
        let entities = json!({ "id": ids }).to_string();
        let answer = project.json(&["features", "--service", "s", "--entities", &entities]);
        for id in ids {
            let served = &answer["results"][id as usize]["features"]["newest.w"]["value"];
            let newest = winners.range((id, 0)..=(id, 999)).next_back();
            assert_eq!(served.as_i64(), newest.map(|(_, winner)| *winner), "{id}");
        }
    }
}

#[test]
fn pit_04_event_time_decides_before_created_time() {
    let older = "K,2025-05-01T00:00:00Z,2025-05-04T00:00:00Z,10,1\n";
    let newer = "K,2025-05-02T00:00:00Z,2025-05-02T01:00:00Z,20,2\n";
    for files in [[older, newer], [newer, older]] {
        let project = project(&files);
        project.run(&["apply"]);
        let as_ofs = ["2025-05-03", "2025-05-01T12:00:00Z", "2025-05-05"];
        // At noon of the first nothing was known yet: the row was created on the fourth.
        let expected = [[Some(20), None, Some(20)], [Some(2), None, Some(2)]];
        assert_eq!(trained(&project, &as_ofs), expected);
        for (row, as_of) in as_ofs.into_iter().enumerate() {
            assert_eq!(
                computed(&project, as_of),
                expected.map(|column| column[row])
            );
        }
    }
}

/// Both features of `K`, computed from the sources as of an instant.
fn computed(project: &Project, as_of: &str) -> [Option<i64>; 2] {
    let asked = [
        "features",
        "--service",
        "s",
        "--entity",
        "id=K",
        "--as-of",
        as_of,
    ];
    let answer = project.json(&asked);
    ["newest.a", "newest.b"]
        .map(|feature| answer["results"][0]["features"][feature]["value"].as_i64())
}

#[test]
fn pit_05_a_correction_does_not_leak_into_the_past() {
    let first = "K,2025-06-01T00:00:00Z,2025-06-01T01:00:00Z,1,1\n";
    let corrected = "K,2025-06-01T00:00:00Z,2025-06-10T00:00:00Z,99,99\n";
    let project = project(&[first]);
    project.run(&["apply"]);
    let as_ofs = ["2025-06-02T00:00:00Z", "2025-06-11T00:00:00Z"];
    let before = trained(&project, &as_ofs);
    assert_eq!(before, [[Some(1), Some(1)]; 2]);
    project.write("data/later.csv", format!("id,ev,cr,a,b\n{corrected}"));
    assert_eq!(trained(&project, &as_ofs), [[Some(1), Some(99)]; 2]);
    // What the store would have served then, and what it serves later.
    for (as_of, value) in [(as_ofs[0], 1), (as_ofs[1], 99)] {
        project.run(&["run", "--as-of", as_of]);
        assert_eq!(served(&project)[0].0, json!(value), "{as_of}");
    }
}

#[test]
fn pit_11_a_ttl_holds_to_its_edge_and_none_has_a_spelling_of_its_own() {
    let definitions = |ttl: &str| DEFINITIONS.replace("ttl: none", &format!("ttl: {ttl}"));
    let row = "id,ev,cr,a,b\nK,2022-01-02T00:00:00Z,2022-01-02T00:00:00Z,1,1\n";
    let project = Project::new(&[
        ("features/all.yaml", &*definitions("1d")),
        ("data/1.csv", row),
    ]);
    project.run(&["apply"]);
    project.run(&["run", "--as-of", "2022-01-02"]);
    let server = crate::harness::server::Server::start(&project);
    for (as_of, state) in [
        ("2022-01-02T23:59:59.999999Z", "present"),
        ("2022-01-03T00:00:00Z", "present"),
        ("2022-01-03T00:00:00.000001Z", "expired"),
    ] {
        let value = (state == "present").then_some(1);
        assert_eq!(trained(&project, &[as_of])[0], [value], "{as_of}");
        let body = json!({ "entities": { "id": ["K"] }, "as_of": as_of });
        let answer = server.ask("/v1/features/s", &body);
        let told = &answer["results"][0]["features"]["newest.a"];
        assert_eq!(told["state"], state, "{as_of}");
        assert_eq!(told["value"].as_i64(), value, "{as_of}");
    }
    // A ttl of nothing is the row's own instant only, and no word for "for ever".
    let none = definitions("0s");
    let project = Project::new(&[("features/all.yaml", &*none), ("data/1.csv", row)]);
    project.run(&["apply"]);
    let as_ofs = ["2022-01-02", "2022-01-02T00:00:00.000001Z", "2023-01-03"];
    assert_eq!(trained(&project, &as_ofs)[0], [Some(1), None, None]);
    let project = Project::new(&[("features/all.yaml", DEFINITIONS), ("data/1.csv", row)]);
    project.run(&["apply"]);
    assert_eq!(trained(&project, &["2023-01-03"])[0], [Some(1)]);
}

const TWO_SOURCES: &str = "\
entities:
  thing: { keys: { id: string } }
sources:
  prices: { path: 'data/price*', event_time: ev, columns: { id: string, ev: timestamp, price: int64 } }
  temps: { path: 'data/temp*', event_time: ev, columns: { id: string, ev: timestamp, temp: int64 } }
views:
  price: { entity: thing, source: prices, ttl: none, latest: [price] }
  temp: { entity: thing, source: temps, ttl: none, latest: [temp] }
services:
  s: { features: [price.price, temp.temp] }
  price_alone: { features: [price.price] }
  temp_alone: { features: [temp.temp] }
";

#[test]
fn pit_12_every_path_gives_the_same_answer() {
    use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;
    let price = [("2026-01-01T01:30:00Z", 5), ("2026-01-01T02:30:00Z", 6)];
    let temp = [("2026-01-01T01:00:00Z", 50), ("2026-01-01T02:45:00Z", 67)];
    let csv = |column: &str, rows: &[(&str, i64)]| {
        let rows: String = rows
            .iter()
            .map(|(at, value)| format!("n,{at},{value}\n"))
            .collect();
        format!("id,ev,{column}\n{rows}")
    };
    let as_ofs = ["2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"];
    let expected = [[Some(5), Some(6)], [Some(50), Some(67)]];
    for way in ["one CSV file", "a CSV file a row", "Parquet"] {
        let project = Project::new(&[("features/all.yaml", TWO_SOURCES)]);
        for (column, rows) in [("price", price), ("temp", temp)] {
            match way {
                "one CSV file" => project.write(&format!("data/{column}.csv"), csv(column, &rows)),
                "Parquet" => {
                    let ids: ArrayRef = Arc::new(StringArray::from(vec!["n"; 2]));
                    let at = rows.map(|row| feature_defs::time::Instant::parse(row.0));
                    let at = at.map(|at| at.expect("an instant").micros()).to_vec();
                    let at = TimestampMicrosecondArray::from(at).with_timezone("UTC");
                    let values: ArrayRef =
                        Arc::new(Int64Array::from(rows.map(|row| row.1).to_vec()));
                    let file = project.root().join(format!("data/{column}.parquet"));
                    parquet::write(
                        &file,
                        vec![("id", ids), ("ev", Arc::new(at)), (column, values)],
                    );
                }
                _ => {
                    for (number, row) in rows.iter().enumerate() {
                        let file = format!("data/{column}{number}.csv");
                        project.write(&file, csv(column, std::slice::from_ref(row)));
                    }
                }
            }
        }
        if way == "Parquet" {
            let parquet = TWO_SOURCES
                .replace("price*", "price*.parquet")
                .replace("temp*", "temp*.parquet");
            project.write("features/all.yaml", parquet);
        } else {
            let csv = TWO_SOURCES
                .replace("price*", "price*.csv")
                .replace("temp*", "temp*.csv");
            project.write("features/all.yaml", csv);
        }
        project.run(&["apply"]);
        let frame: String = as_ofs.iter().map(|as_of| format!("n,{as_of}\n")).collect();
        let frame = format!("id,as_of\n{frame}");
        for threads in ["1", "4"] {
            let both = project.train_with("s", &frame, &["--threads", threads]);
            let told = ["price.price", "temp.temp"].map(|name| parquet::integers(&both, name));
            assert_eq!(told, expected, "{way}, {threads} threads");
        }
        for (service, feature, column) in [
            ("price_alone", "price.price", 0),
            ("temp_alone", "temp.temp", 1),
        ] {
            let alone = project.train(service, &frame);
            assert_eq!(
                parquet::integers(&alone, feature),
                expected[column],
                "{way}"
            );
        }
        for (row, as_of) in as_ofs.into_iter().enumerate() {
            project.run(&["run", "--as-of", as_of]);
            for asked in [&[][..], &["--as-of", as_of]] {
                let asked = [&["features", "--service", "s", "--entity", "id=n"], asked].concat();
                let answer = project.json(&asked);
                let features = &answer["results"][0]["features"];
                let told =
                    ["price.price", "temp.temp"].map(|name| features[name]["value"].as_i64());
                assert_eq!(told, expected.map(|column| column[row]), "{way}, {asked:?}");
            }
        }
    }
}

#[test]
fn pit_15_a_frame_column_named_like_a_feature_is_refused_and_its_own_name_is_kept() {
    let project = project(&["K,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,49,1\n"]);
    project.run(&["apply"]);
    // Both under names of their own.
    let kept = project.train("s", "id,as_of,a\nK,2026-02-01,50\n");
    assert_eq!(parquet::integers(&kept, "a"), [Some(50)]);
    assert_eq!(parquet::integers(&kept, "newest.a"), [Some(49)]);
    // Never one under the other's name.
    for (service, column) in [("s", "newest.a"), ("short", "a")] {
        let definitions =
            format!("{DEFINITIONS}  short: {{ features: [newest.a: {{ as: a }}] }}\n");
        project.write("features/all.yaml", definitions);
        project.run(&["apply"]);
        project.write("frame.csv", format!("id,as_of,{column}\nK,2026-02-01,50\n"));
        let frame = project.root().join("frame.csv");
        let out = project.root().join("refused.parquet");
        let [frame, out_text] = [&frame, &out].map(|path| path.to_str().expect("UTF-8"));
        let refused = project.fail(&crate::harness::training_set(service, frame, out_text));
        assert!(refused.contains(&format!("`{column}`")), "{refused}");
        assert!(!out.exists());
    }
}
