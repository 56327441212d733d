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
    (
        "uuid_by_another_name",
        &[Shop("note: string", "note: guid")],
    ),
    (
        "half_by_another_name",
        &[Shop("note: string", "note: half")],
    ),
    (
        "sum_of_uuids",
        &[
            Shop("note: string", "note: uuid"),
            Shop("sum(cents)", "sum(note)"),
        ],
    ),
    (
        "default_that_is_no_uuid",
        &[Shop(
            "amount: int64",
            "amount: { type: uuid, default: f81d4fae }",
        )],
    ),
    (
        "default_that_is_too_great_for_a_half",
        &[Shop(
            "amount: int64",
            "amount: { type: float16, default: 65520 }",
        )],
    ),
    (
        "unknown_type_inside_a_struct",
        &[Shop(
            "note: string",
            "note: \"list<struct<a: int64, b: int46>>\"",
        )],
    ),
    (
        "list_that_is_not_closed",
        &[Shop("note: string", "note: list<int64")],
    ),
    (
        "list_without_elements",
        &[Shop("note: string", "note: list")],
    ),
    (
        "map_type",
        &[Shop("note: string", "note: map<string, int64>")],
    ),
    (
        "array_of_another_system",
        &[Shop("note: string", "note: int64[]")],
    ),
    (
        "vector_of_integers",
        &[Shop("note: string", "note: vector<int32, 3>")],
    ),
    (
        "vector_without_length",
        &[Shop("note: string", "note: vector<float32>")],
    ),
    (
        "struct_without_types",
        &[Shop("note: string", "note: struct<a, b>")],
    ),
    (
        "struct_with_a_field_twice",
        &[Shop(
            "note: string",
            "note: \"struct<a: int64, a: string>\"",
        )],
    ),
    (
        "struct_without_quotes",
        &[Shop(
            "note: string",
            "note: list<struct<at: timestamp, amount: decimal(12,2)>>",
        )],
    ),
    (
        "struct_without_quotes_in_braces",
        &[Shop(
            "amount: int64 }",
            "amount: list<struct<at: timestamp, amount: decimal(12,2)>> }",
        )],
    ),
    (
        "vector_without_quotes_in_braces",
        &[Shop(
            "amount: int64 }",
            "amount: vector<float32, 3>, more: int64 }",
        )],
    ),
    (
        "list_from_csv",
        &[Shop("city: string", "city: list<string>")],
    ),
    (
        "key_of_lists",
        &[Shop("customer_id: int64 }", "customer_id: list<int64> }")],
    ),
    (
        "greatest_list",
        &[
            Shop("note: string", "note: list<string>"),
            Shop("sum(cents)", "max(note)"),
        ],
    ),
    (
        "default_of_a_list_has_a_text",
        &[Shop(
            "amount: int64",
            "amount: { type: list<int64>, default: [1, many] }",
        )],
    ),
    (
        "default_of_a_vector_is_too_short",
        &[Shop(
            "amount: int64",
            "amount: { type: \"vector<float32, 3>\", default: [1, 2] }",
        )],
    ),
    (
        "default_of_a_struct_has_another_field",
        &[Shop(
            "amount: int64",
            "amount: { type: \"struct<a: int64>\", default: { b: 1 } }",
        )],
    ),
    (
        "default_of_a_list_is_one_value",
        &[Shop(
            "amount: int64",
            "amount: { type: list<int64>, default: 7 }",
        )],
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
            "project: shop\nonline: memcached://cache\n",
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
    (
        "output_is_a_text",
        &[Shop("output: { transform: sigmoid }", "output: p")],
    ),
    (
        "entity_key_is_a_text",
        &[Shop("keys: { customer_id: int64 }", "keys: customer_id")],
    ),
    (
        "features_are_a_text",
        &[Shop(
            "    features:\n      best: int32\n      days: float64\n",
            "    features: best\n",
        )],
    ),
    (
        "latest_is_a_text",
        &[Shop("latest: [city, premium]", "latest: city")],
    ),
    (
        "entity_is_empty",
        &[Shop(
            "    entity: customer\n    source: purchases",
            "    entity:\n    source: purchases",
        )],
    ),
    (
        "key_of_texts_and_column_of_numbers",
        &[Shop(
            "{ keys: { customer_id: int64 } }",
            "{ keys: { customer_id: string } }",
        )],
    ),
    (
        "count_of_distinct_values",
        &[Shop("count()", "count(distinct cents)")],
    ),
    (
        "aggregate_by_another_name",
        &[Shop("sum(cents)", "average(cents)")],
    ),
    ("aggregate_in_capitals", &[Shop("sum(cents)", "SUM(cents)")]),
    (
        "aggregate_that_only_sql_has",
        &[Shop("sum(cents)", "bit_and(cents)")],
    ),
];
