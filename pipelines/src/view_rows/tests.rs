use feature_defs::aggregation::AggregateFunction as F;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::time::{TimeSpan, Ttl};

use crate::error::Result;
use crate::testing::*;

/// The 69,659 purchases of the example, with `spend` (windows), `newest` (latest rows) and `habits` (SQL).
fn shop() -> Definitions {
    let mut definitions = cdnow();
    let aggregates = [
        ("cents", F::Sum, Some("amount_cents")),
        ("n", F::Count, None),
    ];
    add_windows(
        &mut definitions,
        "spend",
        "customer",
        "purchases",
        &aggregates,
        &["30d", "lifetime"],
    );
    let ttl = Ttl::AtMost(TimeSpan::parse("60d").expect("span"));
    let columns = ["amount_cents"];
    add_latest(
        &mut definitions,
        "newest",
        "customer",
        "purchases",
        ttl,
        &columns,
    );
    let text = "select customer_id, avg(amount_cents / 7.0) as usual, stddev(cds) as spread from purchases group by customer_id";
    let features = [("usual", DataType::Float64), ("spread", DataType::Float64)];
    add_sql(
        &mut definitions,
        "habits",
        "customer",
        &["purchases"],
        text,
        &features,
    );
    definitions
}

/// The rows of a SQL view with this text.
async fn answer(
    definitions: &mut Definitions,
    reads: &[&str],
    text: &str,
    features: &[(&str, DataType)],
    as_of: &str,
) -> Result<Vec<String>> {
    add_sql(definitions, "asked", "customer", reads, text, features);
    let rows = rows(&session(2), definitions, "asked", as_of).await?;
    Ok(shown(&rows))
}

/// A query over views says what the same query over sources says, where the views are written out.
#[tokio::test(flavor = "multi_thread")]
async fn reading_views_equals_computing_them_in_the_query() {
    let spend = "select customer_id, sum(case when purchase_date >= $as_of - interval '30 days' then amount_cents end) as cents_30d, \
                 sum(amount_cents) as cents_lifetime, count(*) as n_lifetime from purchases group by customer_id";
    let newest = "select customer_id, amount_cents from (select customer_id, amount_cents, purchase_date, row_number() over \
                  (partition by customer_id order by purchase_date desc, cds desc nulls last, amount_cents desc nulls last) as place \
                  from purchases) as numbered where place = 1 and purchase_date >= $as_of - interval '60 days'";
    let habits = "select customer_id, avg(amount_cents / 7.0) as usual, stddev(cds) as spread from purchases group by customer_id";
    let query = "select s.customer_id, s.cents_30d, s.cents_lifetime * 1.5 / s.n_lifetime as mean, n.amount_cents as newest, \
                 h.usual, h.spread, rank() over (order by s.cents_lifetime) as place \
                 from spend as s left join newest as n using (customer_id) join habits as h using (customer_id)";
    let features = [
        ("cents_30d", DataType::Int64),
        ("mean", DataType::Float64),
        ("newest", DataType::Int64),
        ("usual", DataType::Float64),
        ("spread", DataType::Float64),
        ("place", DataType::UInt64),
    ];
    // At noon: at midnight, a latest row of that very day is seen (rule 3), and an event of it not yet (rule 2).
    for as_of in ["1997-02-01T12:00:00Z", "1997-10-01T12:00:00Z"] {
        let mut definitions = shop();
        let reads = ["spend", "newest", "habits"];
        let over_views = answer(&mut definitions, &reads, query, &features, as_of).await;
        let over_views = over_views.expect("rows");
        let written_out =
            format!("with spend as ({spend}), newest as ({newest}), habits as ({habits}) {query}");
        let over_sources = answer(
            &mut definitions,
            &["purchases"],
            &written_out,
            &features,
            as_of,
        )
        .await;
        assert!(over_views.len() > 5_000, "{}", over_views.len());
        let over_sources = over_sources.expect("rows");
        assert_eq!(over_views.len(), over_sources.len(), "{as_of}");
        for (one, other) in over_views.iter().zip(&over_sources) {
            assert_eq!(one, other, "{as_of}");
        }
    }
}

/// Two rows of `facts`, of which a `latest` view with TTL 3d sees: whose, when, what.
fn aging() -> (tempfile::TempDir, Definitions) {
    let dir = tempfile::tempdir().expect("dir");
    let mut definitions = definitions(dir.path());
    add_entity(&mut definitions, "customer", &[("k", DataType::Int64)]);
    let text = "k,at,v\n1,2024-01-01,5\n2,2024-01-03,7\n";
    std::fs::write(dir.path().join("facts.csv"), text).expect("file");
    let columns = [
        ("k", DataType::Int64),
        ("at", DataType::Timestamp),
        ("v", DataType::Int64),
    ];
    add_source(&mut definitions, "facts", "facts.csv", &columns, "at", None);
    let ttl = Ttl::AtMost(TimeSpan::parse("3d").expect("span"));
    add_latest(&mut definitions, "newest", "customer", "facts", ttl, &["v"]);
    let aggregates = [("v", F::Sum, Some("v"))];
    add_windows(
        &mut definitions,
        "sums",
        "customer",
        "facts",
        &aggregates,
        &["lifetime"],
    );
    let sums = definitions.views.get_mut(&name("sums")).expect("view");
    sums.ttl = Ttl::AtMost(TimeSpan::parse("0s").expect("span"));
    (dir, definitions)
}

/// The table of docs/time.md: a row is seen from its event time on, and as long as its TTL, both edges included.
#[tokio::test]
async fn an_expired_row_is_not_seen_and_rows_of_the_instant_never_expire() {
    let text = "select k, max(v) as v, max(event_time) as since from newest group by k";
    let features = [("v", DataType::Int64), ("since", DataType::Timestamp)];
    for (as_of, expected) in [
        ("2023-12-31T23:59:59.999999Z", &[][..]),
        ("2024-01-01T00:00:00Z", &["1 5 2024-01-01"]),
        (
            "2024-01-03T00:00:00Z",
            &["1 5 2024-01-01", "2 7 2024-01-03"],
        ),
        (
            "2024-01-04T00:00:00Z",
            &["1 5 2024-01-01", "2 7 2024-01-03"],
        ),
        ("2024-01-04T00:00:00.000001Z", &["2 7 2024-01-03"]),
        ("2024-01-06T00:00:00.000001Z", &[]),
    ] {
        let (_dir, mut definitions) = aging();
        let found = answer(&mut definitions, &["newest"], text, &features, as_of).await;
        let found = found.expect("rows").into_iter();
        let parts = found.map(|row| {
            let parts: Vec<&str> = row.split(' ').collect();
            let since = parts[3].trim_end_matches("T00:00:00Z");
            format!("{} {} {since}", parts[0], parts[2])
        });
        assert_eq!(parts.collect::<Vec<_>>(), expected, "{as_of}");
    }
    // Stamped with as-of: of no age, so that even `0s` takes nothing away.
    let (_dir, mut definitions) = aging();
    let text = "select k, v_lifetime as v, event_time as since from sums";
    let found = answer(&mut definitions, &["sums"], text, &features, "2024-02-01").await;
    let stamp = "2024-02-01T00:00:00Z";
    let expected = [
        format!("1 {stamp} 5 {stamp}"),
        format!("2 {stamp} 7 {stamp}"),
    ];
    assert_eq!(found.expect("rows"), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_order_of_a_view_s_rows_shows_whatever_the_threads() {
    let text = "select 1 as customer_id, first_value(customer_id) as first, array_agg(customer_id order by n_30d) as ids \
                from (select customer_id, n_30d from spend where n_30d > 4 limit 40) as some";
    let list = DataType::parse("list<int64>").expect("type");
    let features = [("first", DataType::Int64), ("ids", list)];
    let mut definitions = shop();
    add_sql(
        &mut definitions,
        "asked",
        "customer",
        &["spend"],
        text,
        &features,
    );
    let as_of = "1997-04-01";
    let one = rows(&session(1), &definitions, "asked", as_of).await;
    let one = one.expect("rows");
    assert!(shown(&one)[0].len() > 100, "{:?}", shown(&one));
    for threads in [2, 3] {
        let other = rows(&session(threads), &definitions, "asked", as_of).await;
        assert_eq!(other.expect("rows"), one, "{threads} threads");
    }
}

#[tokio::test]
async fn a_fault_below_names_the_view_that_has_it() {
    let mut definitions = shop();
    let text = "select customer_id, amount_cents / (cds - cds) as bad from purchases where customer_id = 1";
    let bad = [("bad", DataType::Int64)];
    add_sql(
        &mut definitions,
        "below",
        "customer",
        &["purchases"],
        text,
        &bad,
    );
    let text = "select customer_id, bad from below";
    let refused = answer(&mut definitions, &["below"], text, &bad, "1997-10-01").await;
    let refused = refused.expect_err("a division by zero").to_string();
    assert!(
        refused.starts_with("`below`: the SQL in `below.sql` failed"),
        "{refused}"
    );
}
