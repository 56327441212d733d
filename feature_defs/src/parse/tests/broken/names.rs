//! Names that are no names, or are taken.

use super::Case;
use super::Edit::{File, Settings, Shop};

pub(super) const CASES: &[Case] = &[
    ("upper_case", &[Shop("  profile:\n", "  Profile:\n")]),
    ("dash", &[Shop("  basket:\n", "  the-basket:\n")]),
    ("digit_first", &[Shop("  churn_v1:\n", "  1_churn_v1:\n")]),
    ("dot", &[Shop("  churn: {", "  churn.model: {")]),
    (
        "letters_of_other_languages",
        &[Shop(
            "      orders: count()",
            "      bestellungen_für_größe: count()",
        )],
    ),
    (
        "empty",
        &[Shop("      orders: count()", "      \"\": count()")],
    ),
    ("key_name", &[Shop("store_no: int32", "Store No: int32")]),
    ("feature_name", &[Shop("best: int32", "Best: int32")]),
    (
        "request_field_name",
        &[Shop("amount: int64", "Amount: int64")],
    ),
    (
        "output_name",
        &[Shop("{ transform: sigmoid }", "{ name: Churn-30d }")],
    ),
    (
        "project_name",
        &[Settings("project: shop", "project: My Shop")],
    ),
    (
        "too_long",
        &[Shop(
            "      orders: count()",
            "      orders_of_a_customer_over_all_channels_and_all_countries_of_the_group: count()",
        )],
    ),
    (
        "too_long_with_its_window",
        &[Shop(
            "      orders: count()",
            "      orders_of_a_customer_over_all_channels_and_all_countries: count()",
        )],
    ),
    (
        "view_and_request_view",
        &[
            Shop("  basket:\n", "  spend:\n"),
            Shop("- basket.ratio", "- value.days"),
        ],
    ),
    (
        "entity_in_two_files",
        &[File(
            "more.yaml",
            "entities:\n  customer: { keys: { id: int64 } }\n",
        )],
    ),
    ("dashes", &[Shop("churn_v1:", "churn-v1:")]),
    (
        "project_with_a_dash",
        &[Settings("project: shop", "project: complete-journey")],
    ),
    ("capitals", &[Shop("  value:\n", "  customerValue:\n")]),
];
