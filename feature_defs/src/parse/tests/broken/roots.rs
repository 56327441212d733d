//! Places outside the project's folder.

use super::Case;
use super::Edit::{Settings, Shop};

const PATH: &str = "path: data/profiles.csv";

pub(super) const CASES: &[Case] = &[
    (
        "source_in_an_unknown_root",
        &[Shop(PATH, "path: data/profiles.csv\n    root: raw")],
    ),
    (
        "source_in_a_misspelt_root",
        &[
            Settings(
                "version: 1\n",
                "version: 1\nroots: { raw: s3://shop-raw/events, lake: /srv/lake }\n",
            ),
            Shop(PATH, "path: data/profiles.csv\n    root: rwa"),
        ],
    ),
    (
        "source_in_a_root_by_its_url",
        &[
            Settings(
                "version: 1\n",
                "version: 1\nroots: { raw: s3://shop-raw/events, lake: /srv/lake }\n",
            ),
            Shop(
                PATH,
                "path: data/profiles.csv\n    root: s3://shop-raw/events",
            ),
        ],
    ),
    (
        "path_that_is_a_url_with_wildcards",
        &[Shop(PATH, "path: gs://shop-raw/events/year=*/*.parquet")],
    ),
    (
        "path_that_is_absolute_with_wildcards",
        &[Shop(PATH, "path: /srv/lake/profiles/*.csv")],
    ),
    (
        "path_upwards_in_a_root",
        &[
            Settings(
                "version: 1\n",
                "version: 1\nroots: { raw: s3://shop-raw/events, lake: /srv/lake }\n",
            ),
            Shop(PATH, "path: ../profiles.csv\n    root: raw"),
        ],
    ),
    (
        "table_in_a_root",
        &[
            Settings(
                "version: 1\n",
                "version: 1\ndatabases: { shop: postgres://reader@db/shop }\n",
            ),
            Shop(PATH, "root: raw\n    database: shop\n    table: profiles"),
        ],
    ),
    (
        "roots_are_a_list",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: [s3://shop-raw/events]\n",
        )],
    ),
    (
        "root_of_another_kind",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: hdfs://shop/events }\n",
        )],
    ),
    (
        "root_without_a_bucket",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: s3:///events }\n",
        )],
    ),
    (
        "root_with_a_key",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: s3://key:secret@shop-raw/events }\n",
        )],
    ),
    (
        "root_with_settings",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: s3://shop-raw/events?region=eu }\n",
        )],
    ),
    (
        "root_with_wildcards",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: s3://shop-raw/events/*.csv }\n",
        )],
    ),
    (
        "folder_root_with_wildcards",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { lake: /srv/*/lake }\n",
        )],
    ),
    (
        "root_upwards",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { raw: s3://shop-raw/../events }\n",
        )],
    ),
    (
        "root_of_an_environment_alone",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments: { prod: { roots: { raw: s3://shop-raw/events } } }\n",
        )],
    ),
    (
        "offline_with_a_key",
        &[Settings(
            "version: 1\n",
            "version: 1\noffline: s3://key:secret@shop/offline\n",
        )],
    ),
    (
        "offline_in_one_bucket",
        &[Settings(
            "version: 1\n",
            "version: 1\noffline: s3://shop/offline\nenvironments: { prod: { offline: s3://shop/offline } }\n",
        )],
    ),
    (
        "folder_root_of_a_home",
        &[Settings(
            "version: 1\n",
            "version: 1\nroots: { lake: ~/lake }\n",
        )],
    ),
];
