//! What objects say of themselves.

use super::Case;
use super::Edit::{File, Shop};

pub(super) const CASES: &[Case] = &[
    (
        "tags_are_a_text",
        &[Shop("  churn_v1:\n", "  churn_v1:\n    tags: churn\n")],
    ),
    (
        "tag_twice",
        &[Shop(
            "  churn_v1:\n",
            "  churn_v1:\n    tags: [churn, pii, churn]\n",
        )],
    ),
    (
        "owner_is_a_list",
        &[Shop(
            "  churn_v1:\n",
            "  churn_v1:\n    owner: [ann, bob]\n",
        )],
    ),
    (
        "deprecated_without_a_reason",
        &[Shop("  churn_v1:\n", "  churn_v1:\n    deprecated: true\n")],
    ),
    (
        "renamed_from_what_is_no_name",
        &[Shop(
            "  churn_v1:\n",
            "  churn_v1:\n    renamed_from: Churn V0\n",
        )],
    ),
    (
        "renamed_from_what_is_still_there",
        &[File(
            "more.yaml",
            "services:\n  churn_v2:\n    renamed_from: churn_v1\n    features: [spend.*]\n",
        )],
    ),
    (
        "renamed_twice",
        &[File(
            "more.yaml",
            "services:\n  churn_v2: { renamed_from: churn_v0, features: [spend.*] }\n  churn_v3: { renamed_from: churn_v0, features: [spend.*] }\n",
        )],
    ),
    (
        "misspelt_owner",
        &[Shop("  churn_v1:\n", "  churn_v1:\n    owners: ann\n")],
    ),
];
