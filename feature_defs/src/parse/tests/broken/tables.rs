//! Sources that are tables, and the databases that they are in.

use super::Edit::{Settings, Shop};
use super::{Case, Edit};

const PATH: &str = "path: data/profiles.csv";
const DATABASES: Edit = Settings(
    "version: 1\n",
    "version: 1\ndatabases: { shop: postgres://reader@db/shop, billing: postgres://reader@db/billing }\n",
);

pub(super) const CASES: &[Case] = &[
    (
        "of_a_database_that_is_not_declared",
        &[Shop(PATH, "database: shop\n    table: purchases")],
    ),
    (
        "of_a_database_by_a_misspelt_name",
        &[DATABASES, Shop(PATH, "database: shp\n    table: purchases")],
    ),
    (
        "of_a_database_by_its_url",
        &[
            DATABASES,
            Shop(
                PATH,
                "database: postgres://reader@db/shop\n    table: purchases",
            ),
        ],
    ),
    (
        "without_a_database",
        &[DATABASES, Shop(PATH, "table: purchases")],
    ),
    (
        "without_a_table",
        &[DATABASES, Shop(PATH, "database: shop")],
    ),
    (
        "beside_files",
        &[
            DATABASES,
            Shop(
                PATH,
                "path: data/profiles.csv\n    database: shop\n    table: purchases",
            ),
        ],
    ),
    (
        "with_a_format",
        &[
            DATABASES,
            Shop(
                PATH,
                "database: shop\n    table: purchases\n    format: csv",
            ),
        ],
    ),
    (
        "with_partitions",
        &[
            DATABASES,
            Shop(
                PATH,
                "database: shop\n    table: purchases\n    partitions: [city]",
            ),
        ],
    ),
    (
        "with_quotes_in_its_name",
        &[
            DATABASES,
            Shop(
                PATH,
                "database: shop\n    table: '\"public\".\"purchases\"'",
            ),
        ],
    ),
    (
        "in_a_database_of_three_parts",
        &[
            DATABASES,
            Shop(PATH, "database: shop\n    table: shop.public.purchases"),
        ],
    ),
    (
        "that_is_a_query",
        &[
            DATABASES,
            Shop(PATH, "database: shop\n    table: select * from purchases"),
        ],
    ),
    (
        "that_is_empty",
        &[
            DATABASES,
            Shop(PATH, "database: shop\n    table: .purchases"),
        ],
    ),
    ("and_neither_files", &[Shop(PATH, "format: csv")]),
    (
        "databases_are_a_list",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: [postgres://reader@db/shop]\n",
        )],
    ),
    (
        "database_of_another_kind",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: { shop: mysql://reader@db/shop }\n",
        )],
    ),
    (
        "database_that_is_no_url",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: { shop: db/shop }\n",
        )],
    ),
    (
        "database_with_a_password",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: { shop: postgres://reader:secret@db/shop }\n",
        )],
    ),
    (
        "database_with_a_bad_name",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: { Shop-EU: postgres://reader@db/shop }\n",
        )],
    ),
    (
        "database_of_an_environment_alone",
        &[Settings(
            "version: 1\n",
            "version: 1\nenvironments: { prod: { databases: { shop: postgres://reader@db/shop } } }\n",
        )],
    ),
    (
        "database_of_an_environment_by_a_misspelt_name",
        &[Settings(
            "version: 1\n",
            "version: 1\ndatabases: { shop: postgres://reader@db/shop }\nenvironments: { prod: { databases: { shp: postgres://reader@replica/shop } } }\n",
        )],
    ),
];
