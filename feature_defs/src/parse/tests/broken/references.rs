//! References that lead nowhere.

use super::Case;
use super::Edit::{Shop, Sql};

pub(super) const CASES: &[Case] = &[
    (
        "entity",
        &[Shop(
            "entity: customer\n    source: purchases",
            "entity: custmer\n    source: purchases",
        )],
    ),
    ("source", &[Shop("source: purchases", "source: purchase")]),
    ("source_of_sql", &[Sql("FROM purchases", "FROM purchase")]),
    (
        "column_of_an_aggregate",
        &[Shop("sum(cents)", "sum( cent )")],
    ),
    (
        "column_of_latest",
        &[Shop("[city, premium]", "[city, premum]")],
    ),
    (
        "column_of_a_join",
        &[Shop(
            "{ customer_id: customer_no }",
            "{ customer_id: customer_nr }",
        )],
    ),
    (
        "key_of_a_join",
        &[Shop(
            "{ customer_id: customer_no }",
            "{ customer: customer_no }",
        )],
    ),
    (
        "no_column_for_a_key",
        &[Shop("    join: { customer_id: customer_no }\n", "")],
    ),
    (
        "columns_for_two_keys",
        &[Shop(
            "entity: customer\n    source: purchases",
            "entity: store\n    source: purchases",
        )],
    ),
    ("event_time", &[Shop("event_time: at", "event_time: att")]),
    (
        "created_time",
        &[Shop(
            "    event_time: at\n",
            "    event_time: at\n    created_time: loaded\n",
        )],
    ),
    ("view_of_a_service", &[Shop("- spend.*", "- spending.*")]),
    (
        "feature_of_a_service",
        &[Shop("- profile.premium", "- profile.premum")],
    ),
    (
        "feature_without_its_view",
        &[Shop("- basket.ratio", "- basket")],
    ),
    (
        "feature_twice",
        &[Shop("- basket.ratio", "- spend.orders_7d")],
    ),
    ("service", &[Shop("service: churn_v1", "service: churn_v2")]),
    (
        "transform",
        &[Shop("transform: sigmoid", "transform: sigmod")],
    ),
    ("aggregate_function", &[Shop("sum(cents)", "avg(cents)")]),
    ("sql_file", &[Shop("value.sql", "valu.sql")]),
    (
        "sql_file_of_a_near_name",
        &[Shop("sql_file: value.sql", "sql_file: customer.sql")],
    ),
    (
        "sql_file_of_another_folder",
        &[Shop(
            "sql_file: value.sql",
            "sql_file: features/customers.sql",
        )],
    ),
    (
        "sql_file_in_a_folder_of_others",
        &[Shop("sql_file: value.sql", "sql_file: old/values.sql")],
    ),
];
