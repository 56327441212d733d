//! Checks of views.

use super::Case;
use super::Edit::Shop;

/// Puts checks on the view `spend`.
macro_rules! spend {
    ($checks:literal) => {
        &[Shop(
            "    windows: [7d, lifetime]\n",
            concat!("    checks: ", $checks, "\n    windows: [7d, lifetime]\n"),
        )]
    };
}

/// Puts checks on the view `profile`.
macro_rules! profile {
    ($checks:literal) => {
        &[Shop(
            "    latest: [city, premium]\n",
            concat!("    checks: ", $checks, "\n    latest: [city, premium]\n"),
        )]
    };
}

pub(super) const CASES: &[Case] = &[
    ("checks_are_a_list", spend!("[rows]")),
    ("an_unknown_kind", spend!("{ row: { min: 1 } }")),
    ("an_unknown_demand", spend!("{ rows: { minimum: 1 } }")),
    (
        "a_feature_beside_rows",
        spend!("{ cents_7d: { nulls: 0% } }"),
    ),
    ("rows_of_a_fraction", spend!("{ rows: { min: 1.5 } }")),
    ("rows_below_zero", spend!("{ rows: { min: -1 } }")),
    (
        "rows_between_nothing",
        spend!("{ rows: { min: 10, max: 9 } }"),
    ),
    ("rows_that_ask_for_nothing", spend!("{ rows: {} }")),
    (
        "rows_that_only_warn",
        spend!("{ rows: { on_failure: warn } }"),
    ),
    (
        "an_unknown_consequence",
        spend!("{ rows: { min: 1, on_failure: stop } }"),
    ),
    (
        "a_change_without_percent",
        spend!("{ rows: { change: 0.1 } }"),
    ),
    ("a_negative_change", spend!("{ rows: { change: -5% } }")),
    (
        "an_aggregate_instead_of_its_feature",
        spend!("{ features: { cents: { nulls: 0% } } }"),
    ),
    (
        "a_feature_that_is_not_there",
        spend!("{ features: { cents_7days: { nulls: 0% } } }"),
    ),
    (
        "a_feature_that_asks_for_nothing",
        spend!("{ features: { cents_7d: {} } }"),
    ),
    (
        "nulls_in_words",
        spend!("{ features: { cents_7d: { nulls: none } } }"),
    ),
    (
        "a_bound_of_another_type",
        spend!("{ features: { cents_7d: { min: low } } }"),
    ),
    (
        "a_bound_with_a_fraction_of_whole_numbers",
        spend!("{ features: { cents_7d: { max: 1.5 } } }"),
    ),
    (
        "a_bound_of_null",
        spend!("{ features: { cents_7d: { min: null } } }"),
    ),
    (
        "bounds_that_hold_nothing",
        spend!("{ features: { cents_7d: { min: 10, max: 9 } } }"),
    ),
    (
        "a_bound_of_booleans",
        profile!("{ features: { premium: { min: false } } }"),
    ),
    (
        "psi_of_zero",
        spend!("{ features: { cents_7d: { psi: 0 } } }"),
    ),
    (
        "psi_as_a_share",
        spend!("{ features: { cents_7d: { psi: 20% } } }"),
    ),
    (
        "several_at_once",
        spend!(
            "{ rows: { min: many, change: 10 }, features: { orders_7d: { nulls: 1, psi: x }, order_7d: { nulls: 0% } } }"
        ),
    ),
];
