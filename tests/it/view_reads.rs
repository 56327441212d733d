//! Views that read other views, through the binary: a training set as of `t` is, bit for bit, what a release as of `t`
//! serves.

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use serde_json::{Value, json};

use crate::harness::{Project, parquet};

/// `customer_peers` reads a view that reads three; one of these ages from its own rows.
const VIEWS: &str = "\
views:
  customer_peers:
    entity: customer
    sql: |
      SELECT customer_id, avg(to_mean) OVER (ORDER BY place, customer_id ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING) AS around,
             count(*) OVER (PARTITION BY newest_cents) AS alike
      FROM customer_standing
    features: { around: float64, alike: int64 }
  customer_standing:
    entity: customer
    ttl: 3d
    sql: |
      SELECT s.customer_id, s.spend_cents_lifetime / 7.0 / m.mean AS to_mean, n.amount_cents AS newest_cents,
             n.event_time AS newest_at, l.p_alive * n.cds AS alive_cds, rank() OVER (ORDER BY s.spend_cents_lifetime DESC) AS place
      FROM customer_spend s LEFT JOIN customer_newest n USING (customer_id) JOIN customer_ltv l USING (customer_id)
           CROSS JOIN (SELECT avg(spend_cents_lifetime / 7.0) AS mean FROM customer_spend) m
    features: { to_mean: float64, newest_cents: int64, newest_at: timestamp, alive_cds: float64, place: uint64 }
  customer_newest: { entity: customer, source: purchases, ttl: 45d, latest: [amount_cents, cds] }
services:
  standing_v1: { features: [customer_standing.*, customer_peers.*] }
";

const INSTANTS: [&str; 2] = ["1997-03-02", "1997-06-15"];
const FEATURES: [&str; 7] = [
    "customer_standing.to_mean",
    "customer_standing.newest_cents",
    "customer_standing.newest_at",
    "customer_standing.alive_cds",
    "customer_standing.place",
    "customer_peers.around",
    "customer_peers.alike",
];

/// 300 customers, two of whom nobody knows.
fn customers() -> Vec<i32> {
    (0..298)
        .map(|nth| nth * 79 + 3)
        .chain([-5, 99_999])
        .collect()
}

/// A column as JSON writes it.
fn values(set: &RecordBatch, feature: &str) -> Vec<Value> {
    let column = set.column_by_name(feature).expect("a column");
    match column.data_type() {
        DataType::Float64 => {
            let floats = parquet::floats(set, feature).into_iter();
            floats.map(|value| json!(value)).collect()
        }
        DataType::Timestamp(..) => {
            let rows = 0..set.num_rows();
            rows.map(|row| json!(parquet::text(column, row))).collect()
        }
        _ => {
            let integers = parquet::integers(set, feature).into_iter();
            integers.map(|value| json!(value)).collect()
        }
    }
}

fn trained(project: &Project) -> Vec<Vec<Value>> {
    let mut frame = "customer_id,as_of\n".to_owned();
    for as_of in INSTANTS {
        for customer in customers() {
            frame.push_str(&format!("{customer},{as_of}\n"));
        }
    }
    project.write("frame.csv", frame);
    let at = |path: &str| {
        project
            .root()
            .join(path)
            .to_str()
            .expect("UTF-8")
            .to_owned()
    };
    let (frame, out) = (at("frame.csv"), at("out.parquet"));
    project.run(&crate::harness::training_set("standing_v1", &frame, &out));
    let set = parquet::read(&project.root().join("out.parquet"));
    let columns = FEATURES.map(|feature| values(&set, feature));
    (0..set.num_rows())
        .map(|row| columns.iter().map(|column| column[row].clone()).collect())
        .collect()
}

#[test]
fn a_training_set_holds_what_a_release_as_of_each_instant_serves() {
    let project = Project::example();
    project.write("features/standing.yaml", VIEWS);
    project.run(&["apply"]);
    let trained = trained(&project);
    let mut compared = 0;
    for (nth, as_of) in INSTANTS.iter().enumerate() {
        project.run(&["run", "--as-of", as_of]);
        let instant = format!("{as_of}T00:00:00Z");
        let body = json!({ "entities": { "customer_id": customers() }, "as_of": instant });
        let asked = ["features", "--service", "standing_v1", "--body"];
        let answer = project.json(&[&asked[..], &[&body.to_string()]].concat());
        assert_eq!(answer["as_of"], json!(instant));
        let results = answer["results"].as_array().expect("results");
        for (place, result) in results.iter().enumerate() {
            let learnt = &trained[nth * customers().len() + place];
            for (feature, learnt) in FEATURES.iter().zip(learnt) {
                let told = &result["features"][feature]["value"];
                let same = match (told.as_f64(), learnt.as_f64()) {
                    (Some(told), Some(learnt)) => told.to_bits() == learnt.to_bits(),
                    _ => told == learnt,
                };
                assert!(
                    same,
                    "{feature} of row {place} as of {as_of}: {told}, {learnt}"
                );
                compared += usize::from(!told.is_null());
            }
        }
    }
    assert!(compared > 1_000, "{compared} values are present");
}

#[test]
fn only_a_view_s_reader_is_asked_for_and_what_it_reads_is_told() {
    let project = Project::example();
    project.write("features/standing.yaml", VIEWS);
    project.run(&["apply"]);
    project.run(&["run", "--as-of", "1997-03-02"]);
    let run = ["run", "--as-of", "1997-03-03", "--views", "customer_peers"];
    let output = crate::harness::finish(project.command(&run));
    let said = crate::harness::stderr(&output);
    for note in [
        "note: `customer_newest` is computed too: `customer_standing` reads it as of the same instant",
        "note: `customer_standing` is computed too: `customer_peers` reads it as of the same instant",
    ] {
        assert!(said.contains(note), "{said}");
    }
    let views = project.json(&["status"])["views"].clone();
    let as_of = |view: &str| {
        let mut views = views.as_array().expect("views").iter();
        views.find(|one| one["view"] == view).expect("the view")["as_of"].clone()
    };
    assert_eq!(as_of("customer_peers"), json!("1997-03-03T00:00:00Z"));
    assert_eq!(as_of("customer_newest"), json!("1997-03-03T00:00:00Z"));
    assert_eq!(as_of("customer_rfm"), json!("1997-03-02T00:00:00Z"));
}
