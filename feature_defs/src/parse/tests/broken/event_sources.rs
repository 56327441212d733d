//! Views of windows over several sources.

use super::Case;
use super::Edit::Shop;

const ONE: &str = "    source: purchases
    ttl: 3d
    schedule: \"0 2 * * *\"
    windows: [7d, lifetime]
    aggregate:
      cents: sum(cents)
      orders: count()
";

pub(super) const CASES: &[Case] = &[
    (
        "column_of_no_source",
        &[Shop(
            ONE,
            "    sources: [purchases, { profiles: { join: { customer_id: customer_no } } }]
    windows: [7d]
    aggregate: { cents: sum(cents), cities: distinct_count(profiles.city) }
",
        )],
    ),
    (
        "window_longer_than_one_of_its_sources_keeps_rows",
        &[
            Shop("event_time: at\n", "event_time: at\n    retention: 30d\n"),
            Shop(
                ONE,
                "    sources: [{ profiles: { join: { customer_id: customer_no } } }, purchases]
    windows: [7d, 60d]
    aggregate: { cents: sum(purchases.cents), cities: distinct_count(profiles.city) }
",
            ),
        ],
    ),
    (
        "column_that_its_source_has_not",
        &[Shop(
            ONE,
            "    sources: [purchases, { profiles: { join: { customer_id: customer_no } } }]
    windows: [7d]
    aggregate: { cents: sum(profiles.cents), cities: distinct_count(profiles.cty) }
",
        )],
    ),
    (
        "column_of_a_source_that_the_view_does_not_read",
        &[Shop(
            ONE,
            "    sources: [purchases]
    windows: [7d]
    aggregate: { cents: sum(purchase.cents), cities: distinct_count(profiles.city) }
",
        )],
    ),
    (
        "sum_of_all_columns",
        &[Shop(
            ONE,
            "    sources: [purchases]
    windows: [7d]
    aggregate: { cents: sum(purchases.*), orders: count(purchases.*) }
",
        )],
    ),
    (
        "source_without_the_key",
        &[Shop(
            ONE,
            "    sources: [purchases, profiles]
    windows: [7d]
    aggregate: { cents: sum(purchases.cents) }
",
        )],
    ),
    (
        "source_twice_and_one_unknown",
        &[Shop(
            ONE,
            "    sources: [purchases, purchases, profile]
    windows: [7d]
    aggregate: { cents: sum(purchases.cents) }
",
        )],
    ),
    (
        "source_beside_sources",
        &[Shop(
            ONE,
            "    source: purchases
    sources: [purchases]
    join: { customer_id: customer_id }
    windows: [7d]
    aggregate: { cents: sum(purchases.cents) }
",
        )],
    ),
    (
        "no_sources",
        &[Shop(
            ONE,
            "    sources: []
    windows: [7d]
    aggregate: { cents: sum(purchases.cents), orders: count() }
",
        )],
    ),
    (
        "sources_are_a_text",
        &[Shop(
            ONE,
            "    sources: purchases
    windows: [7d]
    aggregate: { cents: sum(purchases.cents), orders: count() }
",
        )],
    ),
];
