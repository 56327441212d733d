//! SQL that is not one plain `SELECT` over sources.

use super::Case;
use super::Edit::{File, Shop, Sql};

const ALL: &str = "SELECT
    customer_id,
    max(cents) AS best,
    (to_unixtime($as_of) - to_unixtime(max(at))) / 86400.0 AS days
FROM purchases
GROUP BY customer_id
";

pub(super) const CASES: &[Case] = &[
    ("empty", &[Sql(ALL, "")]),
    ("blank", &[Sql(ALL, "\n\n")]),
    ("only_a_comment", &[Sql(ALL, "-- to do\n")]),
    (
        "two_statements",
        &[Sql(
            "GROUP BY customer_id\n",
            "GROUP BY customer_id;\nSELECT 2\n",
        )],
    ),
    (
        "uuid_compared_with_text",
        &[
            Shop("note: string", "note: uuid"),
            Sql(
                "FROM purchases",
                "FROM purchases WHERE note = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'",
            ),
        ],
    ),
    (
        "uuid_among_texts",
        &[
            Shop("note: string", "note: uuid"),
            Sql(
                "FROM purchases",
                "FROM purchases WHERE note IN ('f81d4fae')",
            ),
        ],
    ),
    (
        "cast_that_is_not_there",
        &[
            Shop("note: string", "note: uuid"),
            Sql("max(cents)", "max(cast(note AS varchar))"),
        ],
    ),
    (
        "array_agg_without_an_order",
        &[
            Shop("best: int32", "best: list<int32>"),
            Shop("{ default: 0 }", "{ default: [] }"),
            Sql("max(cents)", "array_agg(cents)"),
        ],
    ),
    (
        "field_that_a_struct_does_not_have",
        &[
            Shop("note: string", "note: \"list<struct<a: int64>>\""),
            Sql("max(cents)", "max(note[1].b)"),
        ],
    ),
    (
        "list_of_other_elements",
        &[
            Shop("best: int32", "best: list<int16>"),
            Shop("{ default: 0 }", "{ default: [] }"),
            Sql("max(cents)", "array_agg(cents ORDER BY at)"),
        ],
    ),
    ("drop", &[Sql(ALL, "DROP TABLE purchases\n")]),
    (
        "create_table",
        &[Sql(ALL, "-- all of them\nCREATE TABLE t AS SELECT 1\n")],
    ),
    ("copy", &[Sql(ALL, "COPY (SELECT 1) TO 'out.csv'\n")]),
    ("insert", &[Sql(ALL, "INSERT INTO purchases VALUES (1)\n")]),
    ("explain", &[Sql("SELECT\n", "EXPLAIN SELECT\n")]),
    ("set", &[Sql(ALL, "SET x = 1\n")]),
    ("values", &[Sql(ALL, "VALUES (1, 2)\n")]),
    (
        "select_into",
        &[Sql("FROM purchases", "INTO t FROM purchases")],
    ),
    (
        "recursive",
        &[Sql(
            ALL,
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r)\nSELECT customer_id, n AS best, 1.5 AS days FROM r, purchases\n",
        )],
    ),
    (
        "table_function",
        &[Sql("FROM purchases", "FROM read_csv('/etc/passwd')")],
    ),
    (
        "file_as_a_table",
        &[Sql("FROM purchases", "FROM 'data/purchases.parquet'")],
    ),
    (
        "schema_of_the_engine",
        &[Sql("FROM purchases", "FROM information_schema.tables")],
    ),
    (
        "cast_of_a_text_that_is_no_number",
        &[Sql("max(cents)", "max(cents) + cast('12 EUR' AS int)")],
    ),
    (
        "cast_of_a_day_that_is_none",
        &[Sql(
            "FROM purchases",
            "FROM purchases WHERE at >= cast('2026-02-30' AS date)",
        )],
    ),
    (
        "cast_of_a_number_that_does_not_fit",
        &[Sql(
            "max(cents) AS best",
            "max(cents) + cast(300 AS tinyint) AS best",
        )],
    ),
    (
        "cast_below_a_cte",
        &[Sql(
            ALL,
            "WITH some AS (\n  SELECT customer_id, cents FROM purchases WHERE cents > cast('much' AS int)\n)\nSELECT customer_id, max(cents) AS best, 1.5 AS days FROM some GROUP BY customer_id\n",
        )],
    ),
    (
        "correlated_subquery_in_an_aggregate",
        &[Sql(
            ALL,
            "SELECT\n  customer_id,\n  max(cents) AS best,\n  sum((SELECT max(q.cents) FROM purchases AS q WHERE q.customer_id = p.customer_id)) / 1.0 AS days\nFROM purchases AS p\nGROUP BY customer_id\n",
        )],
    ),
    (
        "cte_of_itself",
        &[Sql(
            ALL,
            "WITH a AS (SELECT * FROM a)\nSELECT customer_id, 1 AS best, 1.5 AS days FROM a\n",
        )],
    ),
    ("clock", &[Sql("$as_of", "now()")]),
    (
        "clock_without_parentheses",
        &[Sql("$as_of", "current_timestamp")],
    ),
    ("chance", &[Sql("max(cents)", "max(cents) * random()")]),
    (
        "order_of_rows",
        &[Sql("max(cents)", "approx_median(cents)")],
    ),
    ("unknown_function", &[Sql("max(cents)", "maxx(cents)")]),
    ("unknown_parameter", &[Sql("$as_of", "$asof")]),
    ("unknown_column", &[Sql("max(cents)", "max(cent)")]),
    (
        "unknown_column_of_an_alias",
        &[
            Sql("max(cents)", "max(p.cent)"),
            Sql("FROM purchases", "FROM purchases p"),
        ],
    ),
    (
        "unknown_alias",
        &[
            Sql("max(cents)", "max(q.cents)"),
            Sql("FROM purchases", "FROM purchases p"),
        ],
    ),
    (
        "two_unknown_columns",
        &[Sql("max(cents)", "max(cent)"), Sql("max(at)", "max(att)")],
    ),
    (
        "two_unknown_functions",
        &[Sql("max(cents)", "maxx(cents)"), Sql("max(at)", "maxx(at)")],
    ),
    (
        "ambiguous_column",
        &[Sql(
            "FROM purchases",
            "FROM purchases CROSS JOIN (SELECT cents FROM purchases) AS other",
        )],
    ),
    (
        "unclosed_parenthesis",
        &[Sql("max(cents) AS", "max(cents AS")],
    ),
    ("missing_comma", &[Sql("customer_id,\n", "customer_id\n")]),
    ("misspelt_keyword", &[Sql("GROUP BY", "GRUOP BY")]),
    ("misspelt_select", &[Sql("SELECT", "SELCT")]),
    ("cut_off", &[Sql("GROUP BY customer_id\n", "GROUP BY\n")]),
    ("unclosed_text", &[Sql("max(cents)", "max('cents)")]),
    (
        "number_plus_text",
        &[Sql("max(cents)", "max(cents) + true")],
    ),
    (
        "text_function_of_a_number",
        &[Sql("max(cents)", "max(sqrt(note))")],
    ),
    (
        "too_many_arguments",
        &[Sql("max(cents)", "max(abs(cents, 1))")],
    ),
    (
        "where_is_a_number",
        &[Sql("GROUP BY", "WHERE cents GROUP BY")],
    ),
    ("not_in_group_by", &[Sql("max(cents)", "cents")]),
    (
        "aggregate_in_where",
        &[Sql("GROUP BY", "WHERE max(cents) > 1 GROUP BY")],
    ),
    ("nested_aggregate", &[Sql("max(cents)", "max(sum(cents))")]),
    (
        "compare_time_with_number",
        &[Sql("GROUP BY", "WHERE at > 5 GROUP BY")],
    ),
    (
        "union_of_two_widths",
        &[Sql(
            "GROUP BY customer_id\n",
            "GROUP BY customer_id\nUNION ALL SELECT customer_id FROM purchases\n",
        )],
    ),
    (
        "subquery_of_two_columns",
        &[Sql(
            "max(cents)",
            "(SELECT customer_id, cents FROM purchases LIMIT 1)",
        )],
    ),
    (
        "cast_to_an_unknown_type",
        &[Sql("max(cents)", "cast(max(cents) AS money)")],
    ),
    (
        "duplicate_cte",
        &[Sql(
            ALL,
            "WITH p AS (SELECT * FROM purchases), p AS (SELECT * FROM purchases)\nSELECT customer_id, max(cents) AS best, 1.5 AS days FROM p GROUP BY customer_id\n",
        )],
    ),
    (
        "nested_too_deeply",
        &[Sql(
            "max(cents)",
            "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((max(cents)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))",
        )],
    ),
    (
        "inside_yaml",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql: |\n      -- größe\n      SELECT customer_id,\n        max(cent) AS best,\n        1.5 AS days\n      FROM purchases GROUP BY customer_id\n",
        )],
    ),
    (
        "inside_yaml_on_one_line",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql: SELECT customer_id, max(cent) AS best, 1.5 AS days FROM purchases GROUP BY customer_id\n",
        )],
    ),
    (
        "inside_yaml_folded",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql: >\n      SELECT customer_id,\n      max(cent) AS best,\n      1.5 AS days\n      FROM purchases GROUP BY customer_id\n",
        )],
    ),
    (
        "inside_yaml_in_quotes",
        &[Shop(
            "    sql_file: value.sql\n",
            "    sql: \"SELECT customer_id, max(cent) AS best,\\n 1.5 AS days FROM purchases GROUP BY customer_id\"\n",
        )],
    ),
    (
        "inside_yaml_empty",
        &[Shop("    sql_file: value.sql\n", "    sql: \"\"\n")],
    ),
    (
        "with_line_ends_of_two_characters",
        &[File(
            "value.sql",
            "SELECT\r\n  customer_id,\r\n  max(cent) AS best,\r\n  1.5 AS days\r\nFROM purchases\r\nGROUP BY customer_id\r\n",
        )],
    ),
    (
        "with_a_byte_order_mark",
        &[File(
            "value.sql",
            "\u{feff}SELECT customer_id, max(cent) AS best, 1.5 AS days FROM purchases GROUP BY customer_id\n",
        )],
    ),
    ("after_a_tab", &[Sql("    max(cents)", "\tmax(cent)")]),
    (
        "as_of_without_its_sign",
        &[Sql("to_unixtime($as_of)", "to_unixtime(as_of)")],
    ),
    ("as_of_in_braces", &[Sql("$as_of", "{{ as_of }}")]),
    (
        "text_in_double_quotes",
        &[Sql("GROUP BY", "WHERE note = \"Type A\" GROUP BY")],
    ),
    (
        "text_in_curly_quotes",
        &[Sql("GROUP BY", "WHERE note = ‘Type A’ GROUP BY")],
    ),
    (
        "text_in_curly_double_quotes",
        &[Sql("GROUP BY", "WHERE note = “Type A” GROUP BY")],
    ),
];
