//! SQL whose output is not the keys and the declared features.

use super::Case;
use super::Edit::{Shop, Sql};

pub(super) const CASES: &[Case] = &[
    ("no_key", &[Sql("    customer_id,\n", "")]),
    (
        "key_of_another_type",
        &[Sql(
            "    customer_id,\n",
            "    cast(customer_id AS varchar) AS customer_id,\n",
        )],
    ),
    (
        "key_that_does_not_widen",
        &[Sql(
            "    customer_id,\n",
            "    customer_id * 1.5 AS customer_id,\n",
        )],
    ),
    ("missing_feature", &[Sql("AS days", "AS dayz")]),
    (
        "column_too_many",
        &[Sql("AS days\n", "AS days,\n    count(*) AS orders\n")],
    ),
    (
        "column_without_a_name",
        &[Sql("max(cents) AS best", "max(cents)")],
    ),
    (
        "all_columns",
        &[Sql(
            "SELECT\n    customer_id,\n    max(cents) AS best,\n    (to_unixtime($as_of) - to_unixtime(max(at))) / 86400.0 AS days\nFROM purchases\nGROUP BY customer_id",
            "SELECT * FROM purchases",
        )],
    ),
    (
        "feature_of_a_narrower_type",
        &[Shop("best: int32", "best: int16")],
    ),
    (
        "feature_of_another_type",
        &[Shop("days: float64", "days: timestamp")],
    ),
    (
        "feature_that_is_always_null",
        &[Sql("max(cents) AS", "null AS")],
    ),
    (
        "feature_of_a_time_without_zone",
        &[
            Sql("max(cents) AS", "cast(max(at) AS timestamp) AS"),
            Shop("best: int32", "best: timestamp"),
            Shop("{ default: 0 }", "{}"),
        ],
    ),
    (
        "feature_of_no_type_of_ours",
        &[Sql("max(cents) AS", "INTERVAL '1 day' AS")],
    ),
    (
        "two_columns_of_one_name",
        &[Sql(
            "max(cents) AS best",
            "max(cents) AS best,\n    min(cents) AS best",
        )],
    ),
    (
        "feature_with_the_name_of_a_key",
        &[Shop(
            "      best: int32\n",
            "      best: int32\n      customer_id: int64\n",
        )],
    ),
    (
        "key_of_an_entity_with_two",
        &[Shop(
            "entity: customer\n    sql_file",
            "entity: store\n    sql_file",
        )],
    ),
    (
        "feature_of_an_interval",
        &[Sql(
            "(to_unixtime($as_of) - to_unixtime(max(at))) / 86400.0",
            "$as_of - max(at)",
        )],
    ),
    (
        "feature_of_a_time_of_day",
        &[Sql(
            "(to_unixtime($as_of) - to_unixtime(max(at))) / 86400.0",
            "cast(max(at) AS time)",
        )],
    ),
];
