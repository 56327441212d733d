//! A service asks for the request fields that its own features read, and for no other.

use serde_json::json;

use crate::harness::{Project, shop};

const BASKET: &str = "\
request_views:
  basket:
    inputs:
      paid: float64
      channel: string
    features:
      share: paid / nullif(cast(spend.amount_lifetime as double), 0)
      by_phone: channel = 'phone'
services:
  share_v1: { features: [basket.share] }
  both_v1: { features: [basket.*] }
";

fn project() -> Project {
    let project = shop();
    project.write("features/basket.yaml", BASKET);
    project.apply_and_run(&["2026-03-01"]);
    project
}

#[test]
fn fields_that_no_feature_of_the_service_reads_may_be_left_out_or_sent() {
    let project = project();
    let asked = |service| {
        [
            "features",
            "--service",
            service,
            "--entity",
            "customer_id=1",
        ]
    };
    for request in [
        &["--request", "paid=15"][..],
        &["--request", "paid=15", "--request", "channel=phone"],
    ] {
        let answer = project.json(&[&asked("share_v1")[..], request].concat());
        let share = &answer["results"][0]["features"]["basket.share"];
        assert_eq!(share["value"], json!(0.5));
    }
    let refused = project.fail(&[&asked("both_v1")[..], &["--request", "paid=15"]].concat());
    assert!(refused.contains("`channel`"), "{refused}");
}

#[test]
fn a_training_set_needs_the_fields_that_the_service_reads() {
    let project = project();
    project.write("frame.csv", "customer_id,as_of,paid\n1,2026-03-01,15\n");
    let frame = project.root().join("frame.csv");
    let out = project.root().join("out.parquet");
    let (frame, out) = (frame.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    let build = |service| crate::harness::training_set(service, frame, out);
    project.run(&build("share_v1"));
    let set = crate::harness::parquet::read(out.as_ref());
    assert_eq!(
        crate::harness::parquet::floats(&set, "basket.share"),
        [Some(0.5)]
    );
    let refused = project.fail(&build("both_v1"));
    assert!(refused.contains("no column `channel`"), "{refused}");
}
