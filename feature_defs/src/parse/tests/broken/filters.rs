//! Filters of aggregates.

use super::Case;
use super::Edit::Shop;

const SPEND: &str = "cents: sum(cents)";

pub(super) const CASES: &[Case] = &[
    (
        "filter_that_is_no_condition",
        &[Shop(SPEND, "cents: { of: sum(cents), filter: cents + 1 }")],
    ),
    (
        "filter_of_a_column_that_its_source_has_not",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: cent > 100 and city = 'Bonn' }",
        )],
    ),
    (
        "filter_of_a_text_beside_a_number",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: cents > 'many' }",
        )],
    ),
    (
        "filter_with_a_text_in_double_quotes",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: 'note = \"gift\"' }",
        )],
    ),
    (
        "filter_that_aggregates_and_one_that_asks",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: cents > max(cents) }
      asked: { of: count(), filter: cents in (select cents from profiles) }
      dated: { of: count(), filter: at > $as_of }",
        )],
    ),
    (
        "filter_with_the_name_of_its_source",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: purchases.cents > 100 }",
        )],
    ),
    (
        "filter_that_reads_nothing",
        &[Shop(SPEND, "cents: { of: sum(cents), filter: 1 = 1 }")],
    ),
    (
        "filter_that_breaks_off",
        &[Shop(SPEND, "cents: { of: sum(cents), filter: cents > }")],
    ),
    (
        "filter_that_is_a_list",
        &[Shop(
            SPEND,
            "cents: { of: sum(cents), filter: [cents > 1] }",
        )],
    ),
    (
        "filter_beside_no_call_and_a_misspelt_key",
        &[Shop(
            SPEND,
            "cents: { filter: cents > 1 }
      more: { of: sum(cents), where: cents > 1 }",
        )],
    ),
    (
        "filter_of_the_events_of_all_sources",
        &[Shop(
            "    source: purchases
    ttl: 3d
    schedule: \"0 2 * * *\"
    windows: [7d, lifetime]
    aggregate:
      cents: sum(cents)
      orders: count()
",
            "    sources: [purchases, { profiles: { join: { customer_id: customer_no } } }]
    windows: [7d]
    aggregate:
      cents: { of: sum(purchases.cents), filter: city = 'Bonn' }
      all: { of: count(), filter: cents > 1 }
",
        )],
    ),
];
