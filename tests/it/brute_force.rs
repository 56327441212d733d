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
    let expected_spend = expected_spend(&before, as_of);
    features.extend(ltv(&before, expected_spend));
    features.extend(basket(&before, amount_cents, cds, expected_spend));
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

/// Days with a purchase before as-of: how many after the first, and weeks to the last one and to as-of.
struct History {
    repeat_days: usize,
    recency_weeks: f64,
    t_weeks: f64,
    first_day: i64,
}

fn history(before: &[Purchase], as_of: i64) -> Option<History> {
    let days: BTreeSet<i64> = before.iter().map(|p| p.day).collect();
    let (first, last) = (*days.first()?, *days.last()?);
    // The last day that lies before as-of, in part at least.
    let last_day = (as_of - 1).div_euclid(DAY);
    Some(History {
        repeat_days: days.len() - 1,
        recency_weeks: (last - first) as f64 / 7.0,
        t_weeks: (last_day - first) as f64 / 7.0,
        first_day: first,
    })
}

fn rfm(before: &[Purchase], as_of: i64) -> [(&'static str, Value); 3] {
    let history = history(before, as_of);
    let history = history.as_ref();
    [
        (
            "customer_rfm.frequency",
            json!(history.map(|h| h.repeat_days)),
        ),
        (
            "customer_rfm.recency_weeks",
            json!(history.map(|h| h.recency_weeks)),
        ),
        ("customer_rfm.t_weeks", json!(history.map(|h| h.t_weeks))),
    ]
}

/// P(alive) and the spend that is expected in 39 weeks, with the operations in the order of the SQL.
fn expected_spend(before: &[Purchase], as_of: i64) -> Option<(f64, f64)> {
    let history = history(before, as_of)?;
    let (x, t_x, t) = (
        history.repeat_days as f64,
        history.recency_weeks,
        history.t_weeks,
    );
    let repeats = before.iter().filter(|p| p.day > history.first_day);
    let repeat_spend = repeats.map(|p| p.cents).sum::<i64>() as f64 / 100.0;
    let p_alive = if history.repeat_days == 0 {
        1.0
    } else {
        let odds = 0.793 / (2.426 + x - 1.0) * ((4.414 + t) / (4.414 + t_x)).powf(0.243 + x);
        1.0 / (1.0 + odds)
    };
    let orders = (0.243 + x) / (4.414 + t) * 39.0;
    let spend = 6.25 * (15.44 + repeat_spend) / (6.25 * x + 3.74 - 1.0);
    Some((p_alive, p_alive * orders * spend))
}

fn ltv(before: &[Purchase], expected: Option<(f64, f64)>) -> [(&'static str, Value); 3] {
    let spend: i64 = before.iter().map(|p| p.cents).sum();
    [
        // The service declares a default of 0 for it.
        ("customer_ltv.ltv_to_date", json!(spend as f64 / 100.0)),
        ("customer_ltv.p_alive", json!(expected.map(|e| e.0))),
        ("customer_ltv.ltv_39w", json!(expected.map(|e| e.1))),
    ]
}

fn basket(
    before: &[Purchase],
    amount_cents: i64,
    cds: i32,
    expected: Option<(f64, f64)>,
) -> [(&'static str, Value); 5] {
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
        (
            "basket.ahead_of_39w",
            json!(expected.map(|(_, spend)| amount / 100.0 - spend)),
        ),
    ]
}
