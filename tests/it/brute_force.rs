//! The features of the example, read off the raw rows one by one: slow, and with nothing to get wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use feature_defs::time::Instant;
use serde_json::{Value, json};

use crate::harness::parquet;

const DAY: i64 = 86_400_000_000;

/// One purchase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purchase {
    /// Days since 1970-01-01.
    day: i64,
    cds: i64,
    cents: i64,
}

/// The purchases of each customer.
pub(crate) fn purchases(path: &Path) -> BTreeMap<i32, Vec<Purchase>> {
    let batch = parquet::read(path);
    let column = |name: &str| parquet::integers(&batch, name);
    let (ids, days) = (column("customer_id"), column("purchase_date"));
    let (cds, cents) = (column("cds"), column("amount_cents"));
    let mut all: BTreeMap<i32, Vec<Purchase>> = BTreeMap::new();
    for row in 0..batch.num_rows() {
        let whole = |column: &[Option<i64>]| column[row].expect("no nulls");
        let purchase = Purchase {
            day: whole(&days),
            cds: whole(&cds),
            cents: whole(&cents),
        };
        let id = i32::try_from(whole(&ids)).expect("an int32");
        all.entry(id).or_default().push(purchase);
    }
    all
}

/// The features of a customer with these purchases, as of an instant, with this basket at hand.
pub(crate) fn expected(
    bought: &[Purchase],
    as_of: Instant,
    amount_cents: i64,
    cds: i32,
) -> BTreeMap<&'static str, Value> {
    let as_of = as_of.micros();
    let before: Vec<Purchase> = bought
        .iter()
        .copied()
        .filter(|p| p.day * DAY < as_of)
        .collect();
    let mut features = BTreeMap::new();
    for (days, names) in WINDOWS {
        let from = days.map_or(i64::MIN, |days| as_of - days * DAY);
        let within: Vec<Purchase> = before
            .iter()
            .copied()
            .filter(|p| p.day * DAY >= from)
            .collect();
        let values = windowed(&within, !before.is_empty());
        features.extend(names.into_iter().zip(values));
    }
    features.extend(rfm(&before, as_of));
    features.extend(basket(&before, amount_cents, cds));
    features
}

/// The windows, with the features' names in the order of [`windowed`].
const WINDOWS: [(Option<i64>, [&str; 6]); 4] = [
    (
        Some(7),
        [
            "customer_spend.spend_cents_7d",
            "customer_spend.orders_7d",
            "customer_spend.basket_cents_7d",
            "customer_spend.largest_cents_7d",
            "customer_spend.cds_7d",
            "customer_spend.days_7d",
        ],
    ),
    (
        Some(30),
        [
            "customer_spend.spend_cents_30d",
            "customer_spend.orders_30d",
            "customer_spend.basket_cents_30d",
            "customer_spend.largest_cents_30d",
            "customer_spend.cds_30d",
            "customer_spend.days_30d",
        ],
    ),
    (
        Some(90),
        [
            "customer_spend.spend_cents_90d",
            "customer_spend.orders_90d",
            "customer_spend.basket_cents_90d",
            "customer_spend.largest_cents_90d",
            "customer_spend.cds_90d",
            "customer_spend.days_90d",
        ],
    ),
    (
        None,
        [
            "customer_spend.spend_cents_lifetime",
            "customer_spend.orders_lifetime",
            "customer_spend.basket_cents_lifetime",
            "customer_spend.largest_cents_lifetime",
            "customer_spend.cds_lifetime",
            "customer_spend.days_lifetime",
        ],
    ),
];

/// Sum, count, mean, maximum, CDs, distinct days; all null for a customer without any row.
fn windowed(within: &[Purchase], known: bool) -> [Value; 6] {
    if !known {
        return [const { Value::Null }; 6];
    }
    let days: BTreeSet<i64> = within.iter().map(|p| p.day).collect();
    let some = !within.is_empty();
    let sum = |value: fn(&Purchase) -> i64| within.iter().map(value).sum::<i64>();
    let cents = sum(|p| p.cents);
    [
        json!(some.then_some(cents)),
        json!(within.len()),
        json!(some.then(|| cents as f64 / within.len() as f64)),
        json!(within.iter().map(|p| p.cents).max()),
        json!(some.then(|| sum(|p| p.cds))),
        json!(days.len()),
    ]
}

fn rfm(before: &[Purchase], as_of: i64) -> [(&'static str, Value); 4] {
    let days: BTreeSet<i64> = before.iter().map(|p| p.day).collect();
    let spend: i64 = before.iter().map(|p| p.cents).sum();
    // The last day that lies before as-of, in part at least.
    let last_day = (as_of - 1).div_euclid(DAY);
    let span = days.first().zip(days.last());
    [
        (
            "customer_rfm.frequency",
            json!(span.map(|_| days.len() - 1)),
        ),
        (
            "customer_rfm.recency_weeks",
            json!(span.map(|(first, last)| (last - first) as f64 / 7.0)),
        ),
        (
            "customer_rfm.t_weeks",
            json!(span.map(|(first, _)| (last_day - first) as f64 / 7.0)),
        ),
        // The service declares a default of 0 for it.
        ("customer_ltv.ltv_to_date", json!(spend as f64 / 100.0)),
    ]
}

fn basket(before: &[Purchase], amount_cents: i64, cds: i32) -> [(&'static str, Value); 4] {
    let amount = amount_cents as f64;
    let (orders, cents) = (
        before.len() as f64,
        before.iter().map(|p| p.cents).sum::<i64>(),
    );
    let some = !before.is_empty();
    let usual = some
        .then(|| cents as f64 / orders)
        .filter(|usual| *usual != 0.0);
    let largest = before
        .iter()
        .map(|p| p.cents)
        .max()
        .filter(|largest| *largest != 0);
    let all_cds: i64 = before.iter().map(|p| p.cds).sum();
    let usual_cds = some.then_some(all_cds as f64).filter(|all| *all != 0.0);
    let asked = f64::from(cds);
    [
        (
            "basket.amount_to_usual",
            json!(usual.map(|usual| amount / usual)),
        ),
        (
            "basket.amount_to_largest",
            json!(largest.map(|largest| amount / largest as f64)),
        ),
        (
            "basket.amount_per_cd",
            json!((cds != 0).then(|| amount / asked)),
        ),
        (
            "basket.cds_to_usual",
            json!(usual_cds.map(|all| asked * orders / all)),
        ),
    ]
}
