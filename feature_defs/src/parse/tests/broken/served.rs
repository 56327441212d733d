//! Names that collide once they are served, and models that cannot read their service.

use super::Case;
use super::Edit::{File, Shop, Sql};

pub(super) const CASES: &[Case] = &[
    (
        "model_of_vectors",
        &[
            Shop("best: int32", "best: \"vector<float64, 2>\""),
            Shop("{ default: 0 }", "{ default: [0, 1.5] }"),
            Sql("max(cents) AS best", "[1.5, 2.5] AS best"),
        ],
    ),
    (
        "request_field_with_the_name_of_a_view",
        &[
            Shop("amount: int64", "spend: int64"),
            Shop("amount / nullif", "spend / nullif"),
        ],
    ),
    (
        "request_field_with_the_name_of_a_key",
        &[
            Shop("amount: int64", "customer_id: int64"),
            Shop("amount / nullif", "customer_id / nullif"),
        ],
    ),
    (
        "request_field_with_the_name_of_the_instant",
        &[Shop("amount: int64", "as_of: timestamp, amount: int64")],
    ),
    (
        "request_field_of_two_types",
        &[File(
            "more.yaml",
            "request_views:\n  till:\n    inputs: { amount: float64 }\n    features: { half: amount / 2 }\n",
        )],
    ),
    (
        "request_field_with_two_defaults",
        &[File(
            "more.yaml",
            "request_views:\n  till:\n    inputs: { amount: { type: int64, default: 1 } }\n    features: { half: amount / 2 }\n",
        )],
    ),
    (
        "key_with_the_name_of_the_stamp",
        &[Shop("store_no: int32", "event_time: timestamp")],
    ),
    (
        "key_with_the_name_of_the_instant",
        &[Shop("store_no: int32", "as_of: timestamp")],
    ),
    (
        "feature_with_the_name_of_a_key",
        &[
            Shop(
                "join: { customer_id: customer_no }",
                "join: { customer_id: customer_id }",
            ),
            Shop("customer_no: int64", "customer_id: int64"),
            Shop("[city, premium]", "[customer_id, city, premium]"),
        ],
    ),
    (
        "feature_with_the_name_of_the_stamp",
        &[
            Shop("changed_at: timestamp, city", "event_time: timestamp, city"),
            Shop("event_time: changed_at", "event_time: event_time"),
            Shop("[city, premium]", "[event_time, premium]"),
        ],
    ),
    (
        "keys_of_two_types",
        &[
            File(
                "more.yaml",
                "entities:\n  account: { keys: { customer_id: string } }\nsources:\n  accounts:\n    path: data/accounts.csv\n    event_time: at\n    columns: { customer_id: string, at: timestamp, cents: int64 }\nviews:\n  account:\n    entity: account\n    source: accounts\n    latest: [cents]\n",
            ),
            Shop("- profile.premium", "- account.cents"),
        ],
    ),
    (
        "output_with_the_name_of_a_part_of_the_answer",
        &[Shop("{ transform: sigmoid }", "{ name: degraded }")],
    ),
    (
        "model_that_reads_a_text",
        &[Shop("- profile.premium", "- profile.*")],
    ),
    (
        "model_that_reads_texts_and_bytes",
        &[
            Shop("city: string", "city: bytes"),
            Shop("- profile.premium", "- profile.*"),
            Shop("      best: int32\n", "      best: string\n"),
            Shop("{ default: 0 }", "{ default: \"\" }"),
            super::Edit::Sql("max(cents)", "max(note)"),
        ],
    ),
    (
        "two_features_called_the_same",
        &[
            Shop(
                "    features:\n      - spend.*\n",
                "    full_names: false\n    features:\n      - spend.*\n",
            ),
            Shop("- profile.premium", "- profile.premium: { as: best }"),
        ],
    ),
    (
        "one_name_for_a_whole_view",
        &[Shop("- spend.*", "- spend.*: { as: spend }")],
    ),
    (
        "feature_called_like_a_key",
        &[Shop(
            "- profile.premium",
            "- profile.premium: { as: customer_id }",
        )],
    ),
    (
        "feature_called_like_a_request_field",
        &[Shop(
            "- profile.premium",
            "- profile.premium: { as: amount }",
        )],
    ),
    (
        "full_names_neither_true_nor_false",
        &[Shop(
            "  churn_v1:\n",
            "  churn_v1:\n    full_names: short\n",
        )],
    ),
    (
        "alias_of_a_service_that_is_there",
        &[
            Shop(
                "  churn_v1:\n",
                "  churn_v1:\n    aliases: [churn_v2, churn_v0]\n",
            ),
            File(
                "more.yaml",
                "services:\n  churn_v2: { features: [spend.*] }\n  churn_v3: { features: [spend.*], aliases: [churn_v0] }\n",
            ),
        ],
    ),
    (
        "model_that_names_an_alias",
        &[
            Shop("  churn_v1:\n", "  churn_v1:\n    aliases: [churn_v0]\n"),
            Shop("service: churn_v1", "service: churn_v0"),
        ],
    ),
    (
        "feature_without_its_view",
        &[Shop("- value.best: { default: 0 }", "- best")],
    ),
    (
        "feature_without_its_view_with_a_default",
        &[Shop(
            "- value.best: { default: 0 }",
            "- best: { default: 0 }",
        )],
    ),
    ("view_without_its_star", &[Shop("- spend.*", "- spend")]),
];
