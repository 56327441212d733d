//! Views of SQL that read other views.

use super::Case;
use super::Edit::{File, Shop, Sql};

pub(super) const CASES: &[Case] = &[
    ("itself", &[Sql("FROM purchases", "FROM value")]),
    (
        "circle_of_two",
        &[
            Sql("FROM purchases", "FROM tier"),
            File(
                "tier.yaml",
                "views:
  tier:
    entity: customer
    sql: SELECT customer_id, best AS rank FROM value
    features: { rank: int32 }
",
            ),
        ],
    ),
    (
        "circle_of_three_beside_a_view_that_reads_it",
        &[File(
            "circle.yaml",
            "views:
  outside:
    entity: customer
    sql: SELECT customer_id, x AS y FROM first
    features: { y: int64 }
  first:
    entity: customer
    sql: SELECT customer_id, x FROM second
    features: { x: int64 }
  second:
    entity: customer
    sql: |
      WITH others AS (SELECT customer_id, x FROM third)
      SELECT customer_id, x FROM others
    features: { x: int64 }
  third:
    entity: customer
    sql: SELECT s.customer_id, f.x FROM spend AS s JOIN first AS f ON f.customer_id = s.customer_id
    features: { x: int64 }
",
        )],
    ),
    (
        "source_and_view_of_one_name",
        &[
            Shop("  spend:\n", "  purchases:\n"),
            Shop("spend.cents_7d", "purchases.cents_7d"),
            Shop("spend.*", "purchases.*"),
        ],
    ),
    (
        "column_that_the_view_has_not",
        &[Sql("FROM purchases", "FROM spend")],
    ),
    (
        "column_of_the_view_s_source",
        &[File(
            "tier.yaml",
            "views:
  tier:
    entity: customer
    sql: SELECT customer_id, changed_at AS since FROM profile
    features: { since: timestamp }
",
        )],
    ),
    (
        "feature_of_another_type",
        &[File(
            "tier.yaml",
            "views:
  tier:
    entity: customer
    sql: SELECT customer_id, city FROM profile
    features: { city: int64 }
",
        )],
    ),
    (
        "view_that_is_near",
        &[Sql("FROM purchases", "FROM spends")],
    ),
    ("request_view", &[Sql("FROM purchases", "FROM basket")]),
    (
        "view_with_a_problem_of_its_own",
        &[
            Shop("latest: [city, premium]", "latest: [city, premum]"),
            Shop("      - profile.premium\n", ""),
            File(
                "tier.yaml",
                "views:
  tier:
    entity: customer
    sql: SELECT customer_id, premium FROM profile
    features: { premium: bool }
",
            ),
        ],
    ),
    (
        "more_than_sixteen_in_a_row",
        &[File(
            "row.yaml",
            "views:
  v01: { entity: customer, sql: \"SELECT customer_id, best AS x FROM value\", features: { x: int32 } }
  v02: { entity: customer, sql: \"SELECT customer_id, x FROM v01\", features: { x: int32 } }
  v03: { entity: customer, sql: \"SELECT customer_id, x FROM v02\", features: { x: int32 } }
  v04: { entity: customer, sql: \"SELECT customer_id, x FROM v03\", features: { x: int32 } }
  v05: { entity: customer, sql: \"SELECT customer_id, x FROM v04\", features: { x: int32 } }
  v06: { entity: customer, sql: \"SELECT customer_id, x FROM v05\", features: { x: int32 } }
  v07: { entity: customer, sql: \"SELECT customer_id, x FROM v06\", features: { x: int32 } }
  v08: { entity: customer, sql: \"SELECT customer_id, x FROM v07\", features: { x: int32 } }
  v09: { entity: customer, sql: \"SELECT customer_id, x FROM v08\", features: { x: int32 } }
  v10: { entity: customer, sql: \"SELECT customer_id, x FROM v09\", features: { x: int32 } }
  v11: { entity: customer, sql: \"SELECT customer_id, x FROM v10\", features: { x: int32 } }
  v12: { entity: customer, sql: \"SELECT customer_id, x FROM v11\", features: { x: int32 } }
  v13: { entity: customer, sql: \"SELECT customer_id, x FROM v12\", features: { x: int32 } }
  v14: { entity: customer, sql: \"SELECT customer_id, x FROM v13\", features: { x: int32 } }
  v15: { entity: customer, sql: \"SELECT customer_id, x FROM v14\", features: { x: int32 } }
  v16: { entity: customer, sql: \"SELECT customer_id, x FROM v15\", features: { x: int32 } }
  v17: { entity: customer, sql: \"SELECT customer_id, x FROM v16\", features: { x: int32 } }
",
        )],
    ),
];
