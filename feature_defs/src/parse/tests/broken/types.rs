//! Values and types that do not fit.

use super::Case;
use super::Edit::{File, Settings, Shop};

pub(super) const CASES: &[Case] = &[
    (
        "unquoted_decimal_in_braces",
        &[Shop(
            "columns: { customer_no: int64,",
            "columns: { customer_no: int64, money: decimal(12,2),",
        )],
    ),
    (
        "unquoted_decimals_in_braces",
        &[Shop(
            "columns: { customer_no: int64,",
            "columns: { money: decimal(12, 2), fee: decimal(5,2), customer_no: int64,",
        )],
    ),
    (
        "unquoted_decimal_of_a_feature",
        &[Shop("best: int32", "best: { type: decimal(12,2) }")],
    ),
    (
        "unquoted_expression_in_braces",
        &[Shop(
            "    features:\n      ratio: amount / nullif(spend.cents_7d, 0)",
            "    features: { ratio: amount / nullif(spend.cents_7d, 0) }",
        )],
    ),
    (
        "parenthesis_that_never_closes",
        &[Shop(
            "columns: { customer_no: int64,",
            "columns: { money: decimal(12, 2, customer_no: int64,",
        )],
    ),
    ("unknown_type", &[Shop("cents: int32", "cents: int31")]),
    (
        "type_of_another_system",
        &[Shop("note: string", "note: varchar")],
    ),
    (
        "decimal_with_too_many_digits",
        &[Shop("cents: int32", "cents: decimal(40,2)")],
    ),
    (
        "decimal_without_digits",
        &[Shop("cents: int32", "cents: decimal")],
    ),
    ("missing_type", &[Shop("cents: int32", "cents:")]),
    ("list_for_a_type", &[Shop("cents: int32", "cents: [int32]")]),
    (
        "key_of_floats",
        &[Shop("customer_id: int64 }", "customer_id: float64 }")],
    ),
    (
        "key_and_column_differ",
        &[Shop(
            "      customer_id: int64\n",
            "      customer_id: int32\n",
        )],
    ),
    (
        "event_time_is_a_number",
        &[Shop("event_time: at", "event_time: cents")],
    ),
    ("sum_of_texts", &[Shop("sum(cents)", "sum(note)")]),
    ("sum_of_nothing", &[Shop("sum(cents)", "sum()")]),
    ("count_of_a_star", &[Shop("count()", "count(*)")]),
    (
        "sum_of_an_expression",
        &[Shop("sum(cents)", "sum(cents * 2)")],
    ),
    (
        "aggregate_without_parentheses",
        &[Shop("sum(cents)", "sum cents")],
    ),
    (
        "aggregate_is_a_map",
        &[Shop("cents: sum(cents)", "cents: { sum: cents }")],
    ),
    (
        "entities_are_a_list",
        &[File("more.yaml", "entities:\n  - name: shopper\n")],
    ),
    ("file_is_a_list", &[File("more.yaml", "- entities\n")]),
    ("file_is_a_text", &[File("more.yaml", "nothing here\n")]),
    (
        "view_is_a_text",
        &[Shop("services:\n", "  third: spend\nservices:\n")],
    ),
    ("windows_are_a_text", &[Shop("[7d, lifetime]", "7d")]),
    (
        "keys_are_a_list",
        &[Shop(
            "{ country: string, store_no: int32 }",
            "[country, store_no]",
        )],
    ),
    (
        "latest_is_a_map",
        &[Shop("[city, premium]", "{ city: string }")],
    ),
    (
        "join_is_a_text",
        &[Shop(
            "join: { customer_id: customer_no }",
            "join: customer_no",
        )],
    ),
    (
        "features_of_a_service_are_a_map",
        &[Shop(
            "    features:\n      - spend.*\n      - value.best: { default: 0 }\n      - profile.premium\n      - basket.ratio\n",
            "    features: { spend: all }\n",
        )],
    ),
    (
        "description_is_a_list",
        &[Shop("  spend:\n", "  spend:\n    description: [a, b]\n")],
    ),
    (
        "default_of_a_field_is_a_text",
        &[Shop(
            "amount: int64",
            "amount: { type: int64, default: many }",
        )],
    ),
    (
        "default_of_a_field_is_too_large",
        &[Shop(
            "amount: int64",
            "amount: { type: int8, default: 300 }",
        )],
    ),
    (
        "default_of_a_field_is_null",
        &[Shop(
            "amount: int64",
            "amount: { type: int64, default: null }",
        )],
    ),
    (
        "nullable_is_a_number",
        &[Shop(
            "amount: int64",
            "amount: { type: int64, nullable: 1 }",
        )],
    ),
    (
        "default_of_a_feature_is_a_text",
        &[Shop("{ default: 0 }", "{ default: none }")],
    ),
    (
        "default_of_a_feature_has_a_fraction",
        &[Shop("{ default: 0 }", "{ default: 0.5 }")],
    ),
    (
        "default_of_a_feature_is_null",
        &[Shop("{ default: 0 }", "{ default: ~ }")],
    ),
    (
        "default_of_a_feature_without_its_key",
        &[Shop("{ default: 0 }", "0")],
    ),
    (
        "default_of_all_features",
        &[Shop("- spend.*", "- spend.*: { default: 0 }")],
    ),
    (
        "default_of_a_request_feature",
        &[Shop("- basket.ratio", "- basket.ratio: { default: 1 }")],
    ),
    ("version", &[Settings("version: 1", "version: two")]),
    (
        "place_of_another_kind",
        &[Settings(
            "project: shop\n",
            "project: shop\nonline: redis://cache\n",
        )],
    ),
    (
        "place_without_a_scheme",
        &[Settings(
            "project: shop\n",
            "project: shop\nregistry: registry.db\n",
        )],
    ),
    (
        "place_with_a_password",
        &[Settings(
            "project: shop\n",
            "project: shop\nregistry: postgres://nightfill:hunter2@db/features\n",
        )],
    ),
    (
        "place_without_a_database",
        &[Settings(
            "project: shop\n",
            "project: shop\nregistry: postgres://\n",
        )],
    ),
];
