//! Files that are not the plain part of YAML.

use super::Case;
use super::Edit::{Bytes, File, Shop, Sql};

pub(super) const CASES: &[Case] = &[
    ("tab", &[Shop("    ttl: 3d\n", "\tttl: 3d\n")]),
    (
        "tab_after_a_key",
        &[Shop(
            "    windows: [7d, lifetime]\n",
            "    windows:\n\t- 7d\n",
        )],
    ),
    ("anchor", &[Shop("ttl: 3d", "ttl: &age 3d")]),
    (
        "alias",
        &[
            Shop("ttl: 3d", "ttl: &age 3d"),
            Shop(
                "    latest: [city, premium]\n",
                "    latest: [city, premium]\n    ttl: *age\n",
            ),
        ],
    ),
    ("alias_of_nothing", &[Shop("ttl: 3d", "ttl: *age")]),
    ("tag", &[Shop("ttl: 3d", "ttl: !!str 3d")]),
    ("two_documents", &[Shop("views:\n", "---\nviews:\n")]),
    (
        "byte_order_mark",
        &[
            Shop("entities:\n", "\u{feff}entities:\n"),
            Shop("ttl: 3d", "ttl: 3"),
        ],
    ),
    (
        "line_ends_of_two_characters",
        &[File(
            "more.yaml",
            "entities:\r\n  shopper:\r\n    keys: { id: int46 }\r\n",
        )],
    ),
    (
        "list_that_never_ends",
        &[Shop("[7d, lifetime]", "[7d, lifetime")],
    ),
    (
        "map_that_never_ends",
        &[Shop("{ amount: int64 }", "{ amount: int64")],
    ),
    (
        "quote_that_never_ends",
        &[Shop("\"0 2 * * *\"", "\"0 2 * * *")],
    ),
    (
        "indented_too_far",
        &[Shop("    ttl: 3d\n", "      ttl: 3d\n")],
    ),
    (
        "indented_too_little",
        &[Shop("    ttl: 3d\n", "   ttl: 3d\n")],
    ),
    ("no_space_after_the_colon", &[Shop("ttl: 3d", "ttl:3d")]),
    (
        "colon_in_a_text",
        &[Shop(
            "  spend:\n",
            "  spend:\n    description: spend: in cents\n",
        )],
    ),
    (
        "key_is_a_list",
        &[Shop("    ttl: 3d\n", "    [ttl, age]: 3d\n")],
    ),
    (
        "percent_sign",
        &[Shop("      orders: count()\n", "      orders: %count\n")],
    ),
    (
        "nested_too_deeply",
        &[Shop(
            "{ keys: { customer_id: int64 } }",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        )],
    ),
    ("control_character", &[Shop("ttl: 3d", "ttl: 3d\u{1}")]),
    (
        "not_utf_8",
        &[Bytes(
            "more.yaml",
            b"entities:\n  # gr\xf6\xdfe\n  shopper: { keys: { id: int64 } }\n",
        )],
    ),
    (
        "not_utf_8_beside_others",
        &[
            Bytes(
                "more.yaml",
                b"entities:\n  # gr\xf6\xdfe\n  shopper: { keys: { id: int64 } }\n",
            ),
            Shop(
                "entity: customer\n    sql_file",
                "entity: shopper\n    sql_file",
            ),
            Sql("max(cents)", "max(cent)"),
        ],
    ),
    (
        "sql_that_is_not_utf_8",
        &[Bytes("value.sql", b"SELECT '\xff' FROM purchases\n")],
    ),
    (
        "empty_file_beside_others",
        &[File("more.yaml", ""), Shop("ttl: 3d", "ttl: 3")],
    ),
    (
        "comma_in_a_text_in_braces",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer: { keys: { customer_id: int64 }, description: Of these, how many }",
        )],
    ),
    (
        "comma_in_a_text_before_a_key",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer: { description: Bought once, or more, not less, keys: { customer_id: int64 } }",
        )],
    ),
    (
        "comma_before_one_word_in_braces",
        &[Shop(
            "customer: { keys: { customer_id: int64 } }",
            "customer: { keys: { customer_id: int64 }, description: paid, unpaid }",
        )],
    ),
    (
        "schedule_that_starts_with_a_star",
        &[Shop("schedule: \"0 2 * * *\"", "schedule: */5 * * * *")],
    ),
    (
        "schedule_of_stars",
        &[Shop("schedule: \"0 2 * * *\"", "schedule: * 2 * * *")],
    ),
    (
        "comparison_that_starts_the_line",
        &[Shop(
            "ratio: amount / nullif(spend.cents_7d, 0)",
            "ratio: > amount",
        )],
    ),
    (
        "comment_inside_a_text",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql: SELECT customer_id, # all of them\n      1 AS best, 1.5 AS days FROM purchases\n",
        )],
    ),
    (
        "alias_of_a_map",
        &[Shop("windows: [7d, lifetime]", "windows: *windows")],
    ),
];
