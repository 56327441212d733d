//! Names that collide once they are served, and models that cannot read their service.

use super::Case;
use super::Edit::{File, Shop};

pub(super) const CASES: &[Case] = &[
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
];
