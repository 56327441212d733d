//! Windows over two sources, and a view that reads them, through the binary: values worked out by hand.

use serde_json::{Value, json};

use crate::harness::{Project, parquet};

const SHOP: &str = "\
entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: data/purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, cents: int64 }
  returns:
    path: data/returns.csv
    event_time: sent_at
    created_time: loaded_at
    columns: { returned_by: int64, sent_at: timestamp, loaded_at: timestamp, cents: int64 }
views:
  flow:
    entity: customer
    sources: [purchases, returns: { join: { customer_id: returned_by } }]
    windows: [7d, lifetime]
    aggregate:
      spend: sum(purchases.cents)
      returned: sum(returns.cents)
      orders: count(purchases.*)
      newest: last(returns.cents)
      events: count()
  balance:
    entity: customer
    sql: SELECT customer_id, coalesce(spend_lifetime, 0) - coalesce(returned_lifetime, 0) AS kept FROM flow
    features: { kept: int64 }
services:
  flow_v1: { features: [flow.*, balance.kept] }
";
const PURCHASES: &str = "\
customer_id,at,cents
1,2026-03-01,1000
1,2026-03-08,500
2,2026-03-02,700
";
/// The second one was known a day late; customer 3 bought nothing.
const RETURNS: &str = "\
returned_by,sent_at,loaded_at,cents
1,2026-03-03,2026-03-03,300
1,2026-03-09,2026-03-10,50
3,2026-03-04,2026-03-04,20
";
const FEATURES: [&str; 11] = [
    "flow.spend_7d",
    "flow.spend_lifetime",
    "flow.returned_7d",
    "flow.returned_lifetime",
    "flow.orders_7d",
    "flow.orders_lifetime",
    "flow.newest_7d",
    "flow.newest_lifetime",
    "flow.events_7d",
    "flow.events_lifetime",
    "balance.kept",
];

/// Of customers 1 to 4, as of each instant, in the order of [`FEATURES`].
fn expected() -> [(&'static str, [[Option<i64>; 11]; 4]); 2] {
    let some = |values: [i64; 11]| values.map(Some);
    let none = [None; 11];
    [
        (
            "2026-03-09T12:00:00Z",
            [
                // The return of 03-09 is not known yet, and that of 03-03 is within seven days.
                some([500, 1500, 300, 300, 1, 2, 300, 300, 2, 3, 1200]),
                [
                    None,
                    Some(700),
                    None,
                    None,
                    Some(0),
                    Some(1),
                    None,
                    None,
                    Some(0),
                    Some(1),
                    Some(700),
                ],
                [
                    None,
                    None,
                    Some(20),
                    Some(20),
                    Some(0),
                    Some(0),
                    Some(20),
                    Some(20),
                    Some(1),
                    Some(1),
                    Some(-20),
                ],
                none,
            ],
        ),
        (
            "2026-03-10T12:00:00Z",
            [
                some([500, 1500, 50, 350, 1, 2, 50, 50, 2, 4, 1150]),
                [
                    None,
                    Some(700),
                    None,
                    None,
                    Some(0),
                    Some(1),
                    None,
                    None,
                    Some(0),
                    Some(1),
                    Some(700),
                ],
                [
                    None,
                    None,
                    Some(20),
                    Some(20),
                    Some(0),
                    Some(0),
                    Some(20),
                    Some(20),
                    Some(1),
                    Some(1),
                    Some(-20),
                ],
                none,
            ],
        ),
    ]
}

#[test]
fn nights_and_training_sets_over_two_sources_have_the_values_worked_out_by_hand() {
    let project = Project::new(&[
        ("features/shop.yaml", SHOP),
        ("data/purchases.csv", PURCHASES),
        ("data/returns.csv", RETURNS),
    ]);
    project.run(&["apply"]);
    let mut frame = "customer_id,as_of\n".to_owned();
    for (as_of, customers) in expected() {
        for (nth, features) in customers.iter().enumerate() {
            frame.push_str(&format!("{},{as_of}\n", nth + 1));
            assert_eq!(features.len(), FEATURES.len());
        }
        project.run(&["run", "--as-of", as_of]);
        let body = json!({ "entities": { "customer_id": [1, 2, 3, 4] }, "as_of": as_of });
        let asked = ["features", "--service", "flow_v1", "--body"];
        let answer = project.json(&[&asked[..], &[&body.to_string()]].concat());
        for (nth, features) in customers.iter().enumerate() {
            let told = &answer["results"][nth]["features"];
            let told: Vec<&Value> = FEATURES.iter().map(|f| &told[*f]["value"]).collect();
            let wanted: Vec<Value> = features.iter().map(|value| json!(value)).collect();
            let wanted: Vec<&Value> = wanted.iter().collect();
            assert_eq!(told, wanted, "customer {} as of {as_of}", nth + 1);
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
    let asked = crate::harness::training_set("flow_v1", &frame, &out);
    project.run(&asked);
    let set = parquet::read(&project.root().join("out.parquet"));
    for (place, feature) in FEATURES.iter().enumerate() {
        let wanted: Vec<Option<i64>> = expected()
            .iter()
            .flat_map(|(_, customers)| customers.map(|features| features[place]))
            .collect();
        assert_eq!(parquet::integers(&set, feature), wanted, "{feature}");
    }
}
