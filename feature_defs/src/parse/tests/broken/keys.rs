//! Keys that are missing, unknown or there twice.

use super::Case;
use super::Edit::{File, Settings, Shop};

pub(super) const CASES: &[Case] = &[
    (
        "duplicate_in_a_view",
        &[Shop("    ttl: 3d\n", "    ttl: 3d\n    ttl: 4d\n")],
    ),
    (
        "duplicate_section",
        &[Shop("services:\n", "views: {}\nservices:\n")],
    ),
    (
        "duplicate_column",
        &[Shop(
            "      note: string\n",
            "      note: string\n      cents: string\n",
        )],
    ),
    (
        "duplicate_feature",
        &[Shop(
            "      days: float64\n",
            "      days: float64\n      best: float64\n",
        )],
    ),
    (
        "duplicate_input",
        &[Shop(
            "{ amount: int64 }",
            "{ amount: int64, amount: float64 }",
        )],
    ),
    (
        "duplicate_setting",
        &[Settings("version: 1\n", "version: 1\nversion: 1\n")],
    ),
    (
        "unknown_in_the_project",
        &[Settings("version: 1\n", "version: 1\ncolour: {}\n")],
    ),
    ("unknown_in_a_file", &[Shop("models:", "modles:")]),
    (
        "setting_in_a_definition_file",
        &[File("more.yaml", "timezone: Europe/Berlin\n")],
    ),
    (
        "unknown_in_an_entity",
        &[Shop("customer: { keys:", "customer: { key: 1, keys:")],
    ),
    (
        "unknown_in_a_source",
        &[Shop(
            "    event_time: at\n",
            "    event_time: at\n    create_time: at\n",
        )],
    ),
    (
        "unknown_in_a_view",
        &[Shop("    ttl: 3d\n", "    tll: 3d\n")],
    ),
    (
        "key_of_another_kind_of_view",
        &[Shop(
            "    latest: [city, premium]\n",
            "    latest: [city, premium]\n    windows: [7d]\n",
        )],
    ),
    (
        "unknown_in_a_schedule",
        &[Shop("\"0 2 * * *\"", "{ cron: \"0 2 * * *\", zone: UTC }")],
    ),
    (
        "unknown_in_a_feature",
        &[Shop("best: int32", "best: { type: int32, nullable: true }")],
    ),
    (
        "unknown_in_a_request_view",
        &[Shop("    inputs: {", "    input: {")],
    ),
    (
        "unknown_in_a_request_field",
        &[Shop("amount: int64", "amount: { type: int64, defualt: 1 }")],
    ),
    (
        "unknown_in_a_request_feature",
        &[Shop(
            "ratio: amount / nullif(spend.cents_7d, 0)",
            "ratio: { expression: amount * 2, type: int64 }",
        )],
    ),
    (
        "unknown_in_a_service",
        &[Shop("  churn_v1:\n", "  churn_v1:\n    colour: red\n")],
    ),
    (
        "unknown_at_a_service_feature",
        &[Shop("{ default: 0 }", "{ defaults: 0 }")],
    ),
    (
        "unknown_in_a_model",
        &[Shop(
            "{ service: churn_v1,",
            "{ service: churn_v1, threshold: 1,",
        )],
    ),
    (
        "unknown_in_an_output",
        &[Shop("{ transform: sigmoid }", "{ trasform: sigmoid }")],
    ),
    (
        "entity_without_keys",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer: { description: a person }",
        )],
    ),
    (
        "entity_with_no_key",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer: { keys: {} }",
        )],
    ),
    (
        "entity_without_anything",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer:",
        )],
    ),
    (
        "source_without_a_path",
        &[Shop("    path: data/profiles.csv\n", "")],
    ),
    (
        "source_without_an_event_time",
        &[Shop("    event_time: at\n", "")],
    ),
    (
        "source_with_no_column",
        &[Shop(
            "    columns: { customer_no: int64, changed_at: timestamp, city: string, premium: bool }",
            "    columns: {}",
        )],
    ),
    (
        "view_without_an_entity",
        &[Shop("    entity: customer\n", "")],
    ),
    (
        "view_without_windows",
        &[Shop("    windows: [7d, lifetime]\n", "")],
    ),
    (
        "view_without_aggregates",
        &[Shop(
            "    aggregate:\n      cents: sum(cents)\n      orders: count()\n",
            "",
        )],
    ),
    (
        "view_of_no_kind",
        &[Shop("    latest: [city, premium]\n", "")],
    ),
    (
        "view_of_two_kinds",
        &[Shop(
            "    latest: [city, premium]\n",
            "    latest: [city, premium]\n    sql: SELECT 1\n",
        )],
    ),
    (
        "view_with_sql_twice",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql_file: value.sql\n    sql: SELECT 1\n",
        )],
    ),
    (
        "sql_view_without_features",
        &[Shop(
            "    features:\n      best: int32\n      days: float64\n",
            "",
        )],
    ),
    (
        "sql_view_without_sql",
        &[Shop("    sql_file: value.sql\n", "")],
    ),
    (
        "sql_view_with_no_feature",
        &[Shop(
            "    features:\n      best: int32\n      days: float64\n",
            "    features:\n",
        )],
    ),
    ("latest_of_nothing", &[Shop("[city, premium]", "[]")]),
    ("no_windows", &[Shop("[7d, lifetime]", "[]")]),
    (
        "no_aggregates",
        &[Shop(
            "    aggregate:\n      cents: sum(cents)\n      orders: count()\n",
            "    aggregate: {}\n",
        )],
    ),
    (
        "feature_without_a_type",
        &[Shop(
            "best: int32",
            "best: { description: dearest purchase }",
        )],
    ),
    (
        "schedule_without_cron",
        &[Shop("\"0 2 * * *\"", "{ timezone: UTC }")],
    ),
    (
        "request_view_without_features",
        &[Shop(
            "    features:\n      ratio: amount / nullif(spend.cents_7d, 0)\n",
            "",
        )],
    ),
    (
        "request_view_with_no_feature",
        &[Shop(
            "    features:\n      ratio: amount / nullif(spend.cents_7d, 0)\n",
            "    features: {}\n",
        )],
    ),
    (
        "request_field_without_a_type",
        &[Shop("amount: int64", "amount: { default: 1 }")],
    ),
    (
        "service_without_features",
        &[Shop(
            "  churn_v1:\n    features:\n      - spend.*\n      - value.best: { default: 0 }\n      - profile.premium\n      - basket.ratio\n",
            "  churn_v1:\n",
        )],
    ),
    (
        "service_with_no_feature",
        &[Shop(
            "    features:\n      - spend.*\n      - value.best: { default: 0 }\n      - profile.premium\n      - basket.ratio\n",
            "    features: []\n",
        )],
    ),
    (
        "model_without_a_service",
        &[Shop("{ service: churn_v1, output", "{ output")],
    ),
    (
        "event_time_is_an_instant",
        &[Shop("event_time: at", "event_time: \"2026-01-01\"")],
    ),
];
