//! Views of windows over several sources: what is read, and what fingerprints hold.

use std::path::Path;

use super::file;
use crate::feature_view::{Computation, FeatureView};
use crate::lineage::{Direction, Lineage};
use crate::parse::parse;

fn definitions(view: &str) -> crate::definitions::Definitions {
    let text = format!(
        "
entities:
  customer: {{ keys: {{ customer_id: int64 }} }}
sources:
  purchases:
    path: purchases/*.parquet
    event_time: at
    columns: {{ customer_id: int64, at: timestamp, amount: int64, items: int32 }}
  returns:
    path: returns/*.parquet
    event_time: sent_at
    created_time: loaded_at
    columns: {{ returned_by: int64, sent_at: timestamp, loaded_at: timestamp, amount: float64 }}
views:
  balance:
    entity: customer
    windows: [7d, lifetime]
    {view}
"
    );
    let settings = file("nightfill.yaml", "version: 1\nproject: shop\n");
    let parsed = parse(Path::new("/"), vec![settings, file("shop.yaml", &text)]);
    parsed.unwrap_or_else(|problems| panic!("{problems}"))
}

fn view(text: &str) -> FeatureView {
    definitions(text)
        .views
        .swap_remove("balance")
        .expect("the view")
}

const BOTH: &str = "sources: [returns: { join: { customer_id: returned_by } }, purchases]
    aggregate: { spend: sum(purchases.amount), returned: sum(returns.amount), orders: count(purchases.*), events: count() }";

#[test]
fn each_aggregate_names_its_source_and_types_follow_its_column() {
    let view = view(BOTH);
    let Computation::Windows(windows) = &view.computation else {
        panic!("{view:?}");
    };
    let sources: Vec<&str> = windows.sources.iter().map(|name| name.as_str()).collect();
    assert_eq!(sources, ["purchases", "returns"]);
    assert_eq!(windows.key_columns, [["customer_id"], ["returned_by"]]);
    let of: Vec<_> = windows
        .aggregates
        .iter()
        .map(|one| {
            (
                one.source.as_ref().map(|name| name.as_str()),
                one.column.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        of,
        [
            (Some("purchases"), Some("amount")),
            (Some("returns"), Some("amount")),
            (Some("purchases"), None),
            (None, None),
        ]
    );
    let types: Vec<String> = view
        .features
        .iter()
        .map(|feature| format!("{} {}", feature.name, feature.data_type))
        .collect();
    assert_eq!(types[0], "spend_7d int64");
    assert_eq!(types[2], "returned_7d float64");
    assert_eq!(types[7], "events_lifetime int64");
}

#[test]
fn one_source_means_the_same_however_it_is_named_and_order_means_nothing() {
    let aggregate = "aggregate: { spend: sum(amount), orders: count() }";
    let plain = view(&format!("source: purchases\n    {aggregate}"));
    let listed = view(
        "sources: [purchases]\n    aggregate: { spend: sum(purchases.amount), orders: count(purchases.*) }",
    );
    assert_eq!(plain.fingerprint, listed.fingerprint);
    for (one, other) in plain.features.iter().zip(&listed.features) {
        assert_eq!(one.fingerprint, other.fingerprint, "{}", one.name);
    }
    let turned = BOTH.replace(
        "[returns: { join: { customer_id: returned_by } }, purchases]",
        "[purchases, returns: { join: { customer_id: returned_by } }]",
    );
    assert_eq!(view(BOTH).fingerprint, view(&turned).fingerprint);
    let alone = view("source: purchases\n    aggregate: { spend: sum(amount) }");
    // A customer who only returned has a row of the one and not of the other.
    assert_ne!(
        alone.features[0].fingerprint,
        view(BOTH).features[0].fingerprint
    );
    let counts = ["count()", "count(purchases.*)", "count(returns.*)"].map(|count| {
        let text = BOTH.replace("events: count()", &format!("events: {count}"));
        view(&text).features[7].fingerprint
    });
    assert!(counts[0] != counts[1] && counts[1] != counts[2] && counts[0] != counts[2]);
}

#[test]
fn lineage_names_the_column_of_its_source_and_what_decides_rows_of_all() {
    let lineage = Lineage::of(&definitions(BOTH)).expect("checked");
    let tree = |feature: &str| {
        let found = lineage.find(feature);
        lineage.tree(found[0], Direction::Upstream)
    };
    assert_eq!(
        tree("balance.returned_7d"),
        "\
├─ column returns.amount
├─ rows by purchases.{customer_id, at}
├─ rows by returns.{returned_by, sent_at, loaded_at}
└─ entity customer"
    );
    assert!(!tree("balance.events_7d").contains("amount"));
}

#[test]
fn a_filter_is_part_of_what_its_feature_means_and_of_no_other() {
    let of = |returned: &str, orders: &str| {
        let text = BOTH
            .replace("returned: sum(returns.amount)", returned)
            .replace("orders: count(purchases.*)", orders);
        view(&text)
    };
    let plain = of(
        "returned: sum(returns.amount)",
        "orders: count(purchases.*)",
    );
    let filtered = of(
        "returned: { of: sum(returns.amount), filter: amount > 1.5 }",
        "orders: { of: count(purchases.*) }",
    );
    let spaced = of(
        "returned: { of: sum(returns.amount), filter: \"amount   > 1.5 -- no trifles\" }",
        "orders: count(purchases.*)",
    );
    let other = of(
        "returned: { of: sum(returns.amount), filter: amount > 2.5 }",
        "orders: count(purchases.*)",
    );
    assert_eq!(filtered.fingerprint, spaced.fingerprint);
    assert_ne!(filtered.fingerprint, plain.fingerprint);
    assert_ne!(filtered.fingerprint, other.fingerprint);
    for (place, feature) in filtered.features.iter().enumerate() {
        let is_filtered = feature.name.as_str().starts_with("returned");
        let same = feature.fingerprint == plain.features[place].fingerprint;
        assert_ne!(same, is_filtered, "{}", feature.name);
    }
    let Computation::Windows(windows) = &filtered.computation else {
        panic!("{filtered:?}");
    };
    let filter = windows.aggregates[1].filter.as_ref().expect("a filter");
    assert_eq!(filter.columns, ["amount"]);
}

#[test]
fn lineage_of_a_filtered_aggregate_names_what_its_filter_reads() {
    let text = BOTH.replace(
        "events: count()",
        "large: { of: count(purchases.*), filter: amount > 100 }",
    );
    let lineage = Lineage::of(&definitions(&text)).expect("checked");
    let found = lineage.find("balance.large_7d");
    assert_eq!(
        lineage.tree(found[0], Direction::Upstream),
        "\
├─ rows by purchases.{customer_id, at, amount}
├─ rows by returns.{returned_by, sent_at, loaded_at}
└─ entity customer"
    );
}
