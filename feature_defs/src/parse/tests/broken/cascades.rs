//! What follows from a problem is not told; what stands beside it is.

use super::Case;
use super::Edit::{File, Settings, Shop, Sql};

pub(super) const CASES: &[Case] = &[
    (
        "three_parts_of_one_view",
        &[
            Shop("ttl: 3d", "ttl: 3 days"),
            Shop(
                "entity: customer\n    source: purchases",
                "entity: custmer\n    source: purchases",
            ),
            Shop("sum(cents)", "sum(amont)"),
        ],
    ),
    (
        "misspelt_aggregate",
        &[Shop("    aggregate:", "    agregate:")],
    ),
    (
        "misspelt_aggregate_with_a_fault_inside",
        &[Shop(
            "    aggregate:\n      cents: sum(cents)",
            "    agregate:\n      cents: sum(cent)",
        )],
    ),
    (
        "misspelt_required_key",
        &[Shop("event_time: at", "event_tme: at")],
    ),
    ("misspelt_section", &[Shop("entities:", "entites:")]),
    (
        "misspelt_section_with_a_fault_inside",
        &[
            Shop("sources:", "source:"),
            Shop("cents: int32", "cents: int23"),
        ],
    ),
    (
        "unknown_section_that_is_near_to_none",
        &[Shop("entities:", "things:")],
    ),
    (
        "entity_of_an_unknown_type",
        &[Shop("customer_id: int64 }", "customer_id: int46 }")],
    ),
    (
        "column_of_an_unknown_type",
        &[Shop("cents: int32", "cents: int23")],
    ),
    (
        "column_of_an_unknown_type_beside_an_unknown_column",
        &[
            Shop("note: string", "note: strng"),
            Sql("max(cents)", "max(cent)"),
        ],
    ),
    (
        "unknown_function_and_unknown_column",
        &[Shop("sum(cents)", "sun(cent)")],
    ),
    (
        "one_bad_window",
        &[Shop("[7d, lifetime]", "[7 d, lifetime]")],
    ),
    (
        "source_without_columns",
        &[Shop(
            "    columns: { customer_no: int64, changed_at: timestamp, city: string, premium: bool }\n",
            "",
        )],
    ),
    (
        "view_without_a_source",
        &[Shop("    source: purchases\n", "")],
    ),
    (
        "misnamed_view",
        &[
            Shop("  spend:\n", "  Spend:\n"),
            Shop("sum(cents)", "sum(cent)"),
        ],
    ),
    ("misnamed_entity", &[Shop("  customer: {", "  Customer: {")]),
    (
        "view_declared_twice_in_one_file",
        &[
            Shop("  profile:\n", "  spend:\n"),
            Shop("- profile.premium", "- spend.premium"),
        ],
    ),
    (
        "source_declared_in_two_files",
        &[File(
            "more.yaml",
            "sources:\n  purchases:\n    path: data/more.csv\n    event_time: at\n    columns: { at: timestamp, id: int64 }\n",
        )],
    ),
    (
        "unreadable_file_beside_others",
        &[
            File("a.yaml", "entities:\n  shopper: { keys: { id: int64 }\n"),
            Shop(
                "entity: customer\n    sql_file",
                "entity: shopper\n    sql_file",
            ),
            Shop("sum(cents)", "sum(cent)"),
        ],
    ),
    (
        "unreadable_project_file",
        &[
            Settings("project: shop", "project: [shop"),
            Shop("sum(cents)", "sum(cent)"),
        ],
    ),
    (
        "settings_and_definitions",
        &[
            Settings("version: 1", "version: 2"),
            Settings("project: shop", "project: shop\ntimezone: Berlin"),
            Shop("ttl: 3d", "ttl: 3"),
        ],
    ),
    (
        "sql_over_a_source_with_a_bad_path",
        &[
            Shop("data/purchases/*.parquet", "/data/purchases.parquet"),
            Sql("max(cents)", "max(cent)"),
        ],
    ),
    (
        "missing_sql_file_and_a_bad_feature_type",
        &[
            Shop("value.sql", "valeu.sql"),
            Shop("best: int32", "best: int"),
        ],
    ),
    (
        "request_field_of_an_unknown_type",
        &[Shop("amount: int64", "amount: int")],
    ),
    (
        "request_field_of_an_unknown_type_beside_an_unknown_one",
        &[
            Shop("amount: int64", "amount: int"),
            Shop("spend.cents_7d, 0", "cds, 0"),
        ],
    ),
    (
        "feature_of_a_view_that_is_not_known",
        &[
            Shop("windows: [7d, lifetime]", "windows: 7d"),
            Shop("- profile.premium", "- profile.premiun"),
        ],
    ),
    (
        "model_of_a_service_with_problems",
        &[
            Shop("- spend.*", "- spned.*"),
            Shop("transform: sigmoid", "transform: sigmod"),
        ],
    ),
    (
        "merge_key",
        &[Shop(
            "  store: { keys: { country: string, store_no: int32 } }",
            "  store: &base { keys: { country: string, store_no: int32 } }\n  depot: { <<: *base }",
        )],
    ),
    (
        "everything_at_once",
        &[
            Shop("customer_id: int64 }", "customer_id: float64 }"),
            Shop("event_time: changed_at", "event_time: changed"),
            Shop("ttl: 3d", "tll: 3d"),
            Shop("sum(cents)", "sum(note)"),
            Shop("[city, premium]", "[town, premium]"),
            Sql("max(cents)", "now()"),
            Shop(
                "inputs: { amount: int64 }",
                "inputs: { amount: int64, spend: int64 }",
            ),
            Shop("nullif(spend.cents_7d", "nullif(spend.cents_8d"),
            Shop("- basket.ratio", "- basket.ratios"),
            Shop("service: churn_v1", "service: churn"),
        ],
    ),
];
