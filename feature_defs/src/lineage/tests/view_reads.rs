//! Views that read other views: through features, and through what decides which rows there are.

use super::definitions;
use crate::lineage::{Direction, Lineage};

const SHOP: &str = "
entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: float64, items: int64 }
  profiles:
    path: profiles.csv
    event_time: changed
    columns: { id: int64, changed: timestamp, segment: string }
views:
  tier:
    entity: customer
    sql: SELECT s.customer_id, p.segment || 'x' AS name, rank() OVER (ORDER BY s.amount_7d) AS place FROM spend AS s JOIN profile AS p USING (customer_id)
    features: { name: string, place: uint64 }
  counted:
    entity: customer
    sql: SELECT customer_id, count(*) AS n, max(event_time) AS since FROM profile GROUP BY customer_id
    features: { n: int64, since: timestamp }
  spend:
    entity: customer
    source: purchases
    windows: [7d]
    aggregate: { amount: sum(amount), items: last(items) }
  profile:
    entity: customer
    source: profiles
    join: { customer_id: id }
    latest: [segment]
";

fn upstream(name: &str) -> String {
    let lineage = Lineage::of(&definitions(SHOP)).expect("checked");
    let found = lineage.find(name);
    lineage.tree(found[0], Direction::Upstream)
}

#[test]
fn a_feature_is_made_from_features_and_they_from_columns() {
    assert_eq!(
        upstream("tier.name"),
        "\
├─ feature profile.segment
│  ├─ column profiles.segment
│  ├─ rows by profiles.{id, changed}
│  ├─ ties by profiles.segment
│  └─ entity customer
├─ rows by purchases.{customer_id, at}
├─ rows by profiles.{id, changed}
└─ entity customer"
    );
    assert!(upstream("tier.place").starts_with("├─ rows by purchases.{customer_id, at}"));
}

#[test]
fn rows_of_a_view_are_decided_where_its_own_are_even_if_no_feature_is_read() {
    for feature in ["counted.n", "counted.since"] {
        let tree = upstream(feature);
        assert!(
            tree.contains("rows by profiles.{id, changed}"),
            "{feature}:\n{tree}"
        );
        assert!(!tree.contains("segment"), "{feature}:\n{tree}");
    }
}

#[test]
fn what_is_made_from_a_column_is_found_through_views() {
    let lineage = Lineage::of(&definitions(SHOP)).expect("checked");
    let found = lineage.find("profiles.segment");
    assert_eq!(
        lineage.tree(found[0], Direction::Downstream),
        "\
├─ feature profile.segment
│  └─ feature tier.name
└─ ties of profile.segment (above)"
    );
}
