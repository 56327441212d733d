//! The project file.

use super::Case;
use super::Edit::{File, Settings};

pub(super) const CASES: &[Case] = &[
    ("empty", &[File("nightfill.yaml", "")]),
    ("only_a_comment", &[File("nightfill.yaml", "# to do\n")]),
    ("no_version", &[Settings("version: 1\n", "")]),
    ("no_name", &[Settings("project: shop\n", "")]),
    ("list", &[File("nightfill.yaml", "- version: 1\n")]),
    ("misspelt", &[Settings("project:", "projct:")]),
    (
        "renamed_from_its_own_name",
        &[Settings(
            "project: shop\n",
            "project: shop\nrenamed_from: shop\n",
        )],
    ),
    (
        "renamed_from_no_name",
        &[Settings(
            "project: shop\n",
            "project: shop\nrenamed_from: Old Shop\n",
        )],
    ),
    (
        "environment_with_a_setting_that_is_not_a_place",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments:\n  prod:\n    timezone: Europe/Berlin\n",
        )],
    ),
    (
        "environments_are_a_list",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments: [dev, prod]\n",
        )],
    ),
    (
        "environment_with_a_bad_name",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments: { Prod-EU: {} }\n",
        )],
    ),
    (
        "environments_in_one_place",
        &[Settings(
            "version: 1\n",
            "version: 1\nregistry: postgres://nightfill@db/features\nenvironments:\n  dev: { offline: data/offline }\n  prod:\n    registry: postgres://nightfill@db/features\n    offline: data/offline\n",
        )],
    ),
    (
        "redis_with_a_password",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: rediss://night:secret@db:6379/0\n",
        )],
    ),
    (
        "redis_without_a_server",
        &[Settings("version: 1\n", "version: 1\nonline: redis://\n")],
    ),
    (
        "redis_with_a_port_that_is_none",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: redis://db:70000\n",
        )],
    ),
    (
        "redis_with_a_name_for_a_database",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: redis://db/shop\n",
        )],
    ),
    (
        "redis_with_an_unknown_option",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: redis://db?protocol=resp3\n",
        )],
    ),
    (
        "redis_with_a_namespace_that_is_no_name",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: redis://db?namespace=My-Shop\n",
        )],
    ),
    (
        "environments_in_one_redis_database",
        &[Settings(
            "version: 1\n",
            "version: 1\nonline: redis://db\nenvironments:\n  prod: { online: redis://db:6379/0 }\n",
        )],
    ),
    (
        "environment_with_a_password",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments:\n  prod: { registry: postgres://nightfill:secret@db/features }\n",
        )],
    ),
];
