//! The whole graph: what is found by a name, and how it is shown.

use super::definitions;
use crate::definitions::Definitions;
use crate::lineage::{Direction, Lineage};

const SHOP: &str = "
entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: float64, items: int64, note: string }
  profiles:
    path: profiles.csv
    event_time: changed
    created_time: loaded
    columns: { id: int64, changed: timestamp, loaded: timestamp, segment: string, country: string }
views:
  spend:
    entity: customer
    source: purchases
    windows: [7d, 30d]
    aggregate: { amount: sum(amount), orders: count(), newest: last(items) }
  profile:
    entity: customer
    source: profiles
    join: { customer_id: id }
    latest: [segment, country]
  largest:
    entity: customer
    sql: SELECT customer_id, max(amount) AS amount FROM purchases WHERE items > 0 GROUP BY customer_id
    features: { amount: float64 }
request_views:
  basket:
    inputs: { amount: float64, unused: float64 }
    features: { to_largest: \"amount / nullif(largest.amount, 0)\", big: amount > 100 }
services:
  churn: { features: [spend.*, basket.to_largest] }
  segments: { features: [profile.segment], aliases: [groups] }
models:
  churn: { service: churn }
";

fn shop() -> (Definitions, Lineage) {
    let definitions = definitions(SHOP);
    let lineage = Lineage::of(&definitions).expect("checked");
    (definitions, lineage)
}

fn tree(name: &str, direction: Direction) -> String {
    let (_, lineage) = shop();
    let found = lineage.find(name);
    assert_eq!(found.len(), 1, "{name}");
    lineage.tree(found[0], direction)
}

#[test]
fn windows_and_latest_rows_are_decided_by_keys_times_and_ties() {
    assert_eq!(
        tree("spend.amount_7d", Direction::Upstream),
        "\
├─ column purchases.amount
├─ rows by purchases.{customer_id, at}
└─ entity customer"
    );
    assert_eq!(
        tree("spend.orders_7d", Direction::Upstream),
        "\
├─ rows by purchases.{customer_id, at}
└─ entity customer"
    );
    assert_eq!(
        tree("spend.newest_30d", Direction::Upstream),
        "\
├─ column purchases.items
├─ rows by purchases.{customer_id, at}
├─ ties by purchases.{amount, items, note}
└─ entity customer"
    );
    assert_eq!(
        tree("profile.segment", Direction::Upstream),
        "\
├─ column profiles.segment
├─ rows by profiles.{id, changed, loaded}
├─ ties by profiles.{segment, country}
└─ entity customer"
    );
}

#[test]
fn a_model_is_followed_up_to_columns() {
    assert_eq!(
        tree("model:churn", Direction::Upstream),
        "\
└─ feature service churn
   ├─ feature spend.{amount_7d, amount_30d}
   │  ├─ column purchases.amount
   │  ├─ rows by purchases.{customer_id, at}
   │  └─ entity customer
   ├─ feature spend.{orders_7d, orders_30d}
   │  ├─ rows by purchases.{customer_id, at}
   │  └─ entity customer
   ├─ feature spend.{newest_7d, newest_30d}
   │  ├─ column purchases.items
   │  ├─ rows by purchases.{customer_id, at}
   │  ├─ ties by purchases.{amount, items, note}
   │  └─ entity customer
   └─ request-time feature basket.to_largest
      ├─ feature largest.amount
      │  ├─ column purchases.amount
      │  ├─ rows by purchases.{customer_id, at, items}
      │  └─ entity customer
      └─ request field amount"
    );
}

#[test]
fn a_source_is_followed_down_to_models_by_column() {
    assert_eq!(
        tree("purchases", Direction::Downstream),
        "\
├─ column purchases.{customer_id, at}
│  ├─ rows of spend.*
│  │  └─ feature service churn
│  │     └─ model churn
│  └─ rows of largest.amount
│     └─ request-time feature basket.to_largest
│        └─ feature service churn (above)
├─ column purchases.amount
│  ├─ feature spend.{amount_7d, amount_30d}
│  │  └─ feature service churn (above)
│  ├─ feature largest.amount (above)
│  └─ ties of spend.{newest_7d, newest_30d}
│     └─ feature service churn (above)
├─ column purchases.items
│  ├─ feature spend.{newest_7d, newest_30d} (above)
│  ├─ rows of largest.amount (above)
│  └─ ties of spend.{newest_7d, newest_30d} (above)
└─ column purchases.note
   └─ ties of spend.{newest_7d, newest_30d} (above)"
    );
    assert_eq!(tree("purchases", Direction::Upstream), "");
    assert_eq!(
        tree("entity:customer", Direction::Downstream)
            .lines()
            .next(),
        Some("├─ feature spend.*")
    );
}

#[test]
fn an_object_without_users_shows_nothing_and_a_member_without_them_says_so() {
    assert_eq!(tree("model:churn", Direction::Downstream), "");
    assert_eq!(
        tree("basket", Direction::Downstream),
        "\
├─ request-time feature basket.to_largest
│  └─ feature service churn
│     └─ model churn
└─ request-time feature basket.big (nothing)"
    );
}

#[test]
fn a_name_stands_for_all_that_have_it_unless_a_kind_is_named() {
    let (_, lineage) = shop();
    let found = |name: &str| -> Vec<String> {
        let found = lineage.find(name);
        found
            .iter()
            .map(|id| lineage.node(*id).to_string())
            .collect()
    };
    assert_eq!(found("churn"), ["feature_service:churn", "model:churn"]);
    assert_eq!(found("model:churn"), ["model:churn"]);
    assert_eq!(found("purchases.amount"), ["column:purchases.amount"]);
    assert_eq!(found("basket.amount"), ["request_field:amount"]);
    assert_eq!(found("amount"), ["request_field:amount"]);
    assert_eq!(found("groups"), ["feature_service:segments"]);
    assert_eq!(found("source:churn"), [""; 0]);
    assert_eq!(found("purchase.amount"), [""; 0]);

    assert_eq!(lineage.nearest("purchase"), Some("purchases"));
    assert_eq!(lineage.nearest("spend.amount_8d"), Some("spend.amount_7d"));
    assert_eq!(lineage.nearest("purchases.itms"), Some("purchases.items"));
    assert_eq!(lineage.nearest("model:chrun"), Some("churn"));
    assert_eq!(lineage.nearest("nothing_like_it"), None);
    assert_eq!(lineage.members_of("profile.x"), ["segment", "country"]);
    assert_eq!(lineage.members_of("churn.x"), [""; 0]);
}

#[test]
fn a_document_holds_the_nodes_on_the_way_and_their_objects() {
    let (_, lineage) = shop();
    let found = lineage.find("basket.to_largest");
    let part = lineage.around(&found, &[Direction::Upstream]);
    let document = lineage.document(&part);
    let ids: Vec<&str> = document.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "entity:customer",
            "source:purchases",
            "column:purchases.customer_id",
            "column:purchases.at",
            "column:purchases.amount",
            "column:purchases.items",
            "feature_view:largest",
            "feature:largest.amount",
            "request_field:amount",
            "request_view:basket",
            "request_feature:basket.to_largest",
        ]
    );
    let edges: Vec<String> = document
        .edges
        .iter()
        .map(|edge| format!("{} <- {} {:?}", edge.to, edge.from, edge.role))
        .collect();
    assert_eq!(
        edges,
        [
            "feature:largest.amount <- column:purchases.amount Value",
            "feature:largest.amount <- column:purchases.customer_id Rows",
            "feature:largest.amount <- column:purchases.at Rows",
            "feature:largest.amount <- column:purchases.items Rows",
            "feature:largest.amount <- entity:customer Key",
            "request_feature:basket.to_largest <- feature:largest.amount Value",
            "request_feature:basket.to_largest <- request_field:amount Value",
        ]
    );
}

#[test]
fn mermaid_draws_boxes_of_members_with_the_same_edges() {
    let (_, lineage) = shop();
    let found = lineage.find("largest.amount");
    let both = [Direction::Upstream, Direction::Downstream];
    assert_eq!(
        lineage.mermaid(&lineage.around(&found, &both)),
        "\
flowchart LR
  entityKcustomer[\"entity customer\"]
  subgraph sourceKpurchases[\"source purchases\"]
    columnKpurchasesDcustomer_id[\"customer_id<br>at<br>items\"]
    columnKpurchasesDamount[\"amount\"]
  end
  subgraph feature_viewKlargest[\"feature view largest\"]
    featureKlargestDamount[\"amount\"]
  end
  subgraph request_viewKbasket[\"request view basket\"]
    request_featureKbasketDto_largest[\"to_largest\"]
  end
  feature_serviceKchurn[\"feature service churn\"]
  modelKchurn[\"model churn\"]
  entityKcustomer -. key .-> featureKlargestDamount
  columnKpurchasesDcustomer_id -. rows .-> featureKlargestDamount
  columnKpurchasesDamount --> featureKlargestDamount
  featureKlargestDamount --> request_featureKbasketDto_largest
  request_featureKbasketDto_largest --> feature_serviceKchurn
  feature_serviceKchurn --> modelKchurn
  style featureKlargestDamount stroke-width:3px
"
    );
}

#[test]
fn names_of_columns_are_escaped_in_mermaid() {
    let text = SHOP
        .replace("note: string", "'a\"] --> b #1;': string")
        .replace("latest: [segment, country]", "latest: [segment]");
    let lineage = Lineage::of(&definitions(&text)).expect("checked");
    let found = lineage.find("purchases.a\"] --> b #1;");
    let drawn = lineage.mermaid(&lineage.around(&found, &[Direction::Upstream]));
    assert_eq!(
        drawn,
        "\
flowchart LR
  subgraph sourceKpurchases[\"source purchases\"]
    columnKpurchasesDaU22VU5dVU20VU2dVU2dVU3eVU20VbU20VU23V1U3bV[\"a#34;#93; --#62; b #35;1#59;\"]
  end
  style columnKpurchasesDaU22VU5dVU20VU2dVU2dVU3eVU20VbU20VU23V1U3bV stroke-width:3px
"
    );
}
