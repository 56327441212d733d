//! Views of SQL that read other views: what is found of them, and what their fingerprints hold.

use std::path::Path;

use super::file;
use crate::definitions::Definitions;
use crate::name::Name;
use crate::parse::parse;

/// `wide` stands before what it reads; `newest` ages from its own rows, `spend` is stamped with as-of.
const SHOP: &str = "
entities:
  customer: { keys: { customer_id: int64 } }
sources:
  purchases:
    path: data/*.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: float64, items: int64 }
  returns:
    path: returns/*.parquet
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: float64 }
views:
  wide:
    entity: customer
    sql: SELECT customer_id, n.amount AS newest, t.share, t.event_time AS since FROM newest AS n JOIN tier AS t USING (customer_id)
    features: { newest: float64, share: float64, since: timestamp }
  tier:
    entity: customer
    sql: SELECT s.customer_id, s.amount_7d / r.returned AS share FROM spend s JOIN (SELECT customer_id, sum(amount) AS returned FROM returns GROUP BY customer_id) r USING (customer_id)
    features: { share: float64 }
  newest: { entity: customer, source: purchases, latest: [amount], ttl: 30d }
  spend:
    entity: customer
    source: purchases
    ttl: 3d
    windows: [7d]
    aggregate: { amount: sum(amount), items: sum(items) }
";

fn definitions(edits: &[(&str, &str)]) -> Definitions {
    let mut text = SHOP.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let settings = file("nightfill.yaml", "version: 1\nproject: shop\n");
    let parsed = parse(Path::new("/"), vec![settings, file("shop.yaml", &text)]);
    parsed.unwrap_or_else(|problems| panic!("{problems}"))
}

fn texts<'n>(names: impl IntoIterator<Item = &'n Name>) -> Vec<&'n str> {
    names.into_iter().map(Name::as_str).collect()
}

#[test]
fn views_keep_their_order_and_know_what_they_read() {
    let shop = definitions(&[]);
    assert_eq!(
        texts(shop.views.keys()),
        ["wide", "tier", "newest", "spend"]
    );
    let wide = &shop.views["wide"].computation;
    assert_eq!(texts(wide.views()), ["newest", "tier"]);
    assert!(wide.sources().is_empty());
    let tier = &shop.views["tier"].computation;
    assert_eq!(
        (texts(tier.views()), texts(tier.sources())),
        (vec!["spend"], vec!["returns"])
    );
    let behind = |view: &str| {
        let name = Name::parse(view).expect("a name");
        let views = shop.with_read_views([&name]);
        views
            .iter()
            .map(|view| view.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(behind("wide"), ["newest", "spend", "tier", "wide"]);
    assert_eq!(behind("spend"), ["spend"]);
}

/// Which views and features have another fingerprint after an edit.
fn changed(from: &str, to: &str) -> (Vec<String>, Vec<String>) {
    let (before, after) = (definitions(&[]), definitions(&[(from, to)]));
    let mut views = Vec::new();
    let mut features = Vec::new();
    for view in after.views.values() {
        let old = &before.views[&view.name];
        if old.fingerprint != view.fingerprint {
            views.push(view.name.to_string());
        }
        for feature in &view.features {
            let same = old.feature(&feature.name);
            if same.is_some_and(|same| same.fingerprint != feature.fingerprint) {
                features.push(format!("{}.{}", view.name, feature.name));
            }
        }
    }
    (views, features)
}

#[test]
fn what_a_view_reads_is_part_of_its_meaning_and_of_its_features() {
    for (from, to, views, features) in [
        // A feature that is read, through two views.
        (
            "amount: sum(amount)",
            "amount: mean(amount)",
            "wide tier spend",
            "wide.newest wide.share wide.since tier.share spend.amount_7d",
        ),
        // One that nobody reads marks rows as computed anew, and changes no other feature's meaning.
        (
            "items: sum(items)",
            "items: max(items)",
            "wide tier spend",
            "spend.items_7d",
        ),
        // Rows of another TTL are read only where they age.
        (
            "ttl: 30d",
            "ttl: 60d",
            "wide",
            "wide.newest wide.share wide.since",
        ),
        ("ttl: 3d", "ttl: 4d", "", ""),
        (
            "path: returns/*.parquet\n    event_time: at",
            "path: returns/*.parquet\n    timezone: Asia/Tokyo\n    event_time: at",
            "wide tier",
            "wide.newest wide.share wide.since tier.share",
        ),
    ] {
        let (changed_views, changed_features) = changed(from, to);
        assert_eq!(changed_views.join(" "), views, "{to}");
        assert_eq!(changed_features.join(" "), features, "{to}");
    }
}

#[test]
fn a_plan_names_what_the_next_night_computes_with_what_changed() {
    let before = definitions(&[]);
    for (from, to, expected) in [
        // Only the statement of `wide` is another one: what it reads is computed along with it.
        (
            "n.amount AS newest",
            "n.amount + 1 AS newest",
            "wide tier newest spend",
        ),
        (
            "t.share, t.event_time",
            "t.share, n.event_time",
            "wide tier newest spend",
        ),
        ("ttl: 3d", "ttl: 4d", ""),
        ("ttl: 30d", "ttl: 60d", "wide tier newest spend"),
    ] {
        let after = definitions(&[(from, to)]);
        let difference = crate::difference::Difference::between(Some(&before), &after);
        assert_eq!(texts(&difference.recomputed).join(" "), expected, "{to}");
    }
}

#[test]
fn a_view_that_reads_a_deprecated_one_is_told() {
    let shop = definitions(&[(
        "latest: [amount], ttl: 30d",
        "latest: [amount], deprecated: use spend",
    )]);
    let line = "feature view `wide` reads feature view `newest`, which is deprecated: use spend";
    assert_eq!(crate::deprecation::deprecations(&shop), [line]);
}

#[test]
fn a_plan_says_which_view_changed_below() {
    let before = definitions(&[]);
    for (from, to, line) in [
        (
            "items: sum(items)",
            "items: max(items)",
            "reads view `spend`, which changed",
        ),
        (
            "ttl: 30d",
            "ttl: 60d",
            "reads view `newest`, whose ttl changed",
        ),
    ] {
        let after = definitions(&[(from, to)]);
        let shown = format!(
            "{:?}",
            crate::difference::Difference::between(Some(&before), &after)
        );
        assert!(shown.contains(line), "{shown}");
    }
}
