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
    let plan = RequestPlan::new(&definitions, view).expect("plans");
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
