//! Expressions of request-time features.

use super::Case;
use super::Edit::Shop;

const RATIO: &str = "amount / nullif(spend.cents_7d, 0)";

pub(super) const CASES: &[Case] = &[
    ("unknown_field", &[Shop(RATIO, "amont * 2")]),
    (
        "unknown_field_that_is_a_feature",
        &[Shop(RATIO, "amount / cents_7d")],
    ),
    (
        "field_without_inputs",
        &[Shop("    inputs: { amount: int64 }\n", "")],
    ),
    ("unknown_view", &[Shop("spend.cents_7d", "spnd.cents_7d")]),
    (
        "unknown_feature",
        &[Shop("spend.cents_7d", "spend.cent_7d")],
    ),
    (
        "feature_of_a_request_view",
        &[Shop(RATIO, "basket.other + 1")],
    ),
    (
        "three_parts",
        &[Shop("spend.cents_7d", "shop.spend.cents_7d")],
    ),
    ("clock", &[Shop(RATIO, "amount + to_unixtime(now())")]),
    (
        "clock_without_parentheses",
        &[Shop(RATIO, "to_unixtime(current_timestamp)")],
    ),
    ("chance", &[Shop(RATIO, "amount * random()")]),
    ("aggregate", &[Shop(RATIO, "sum(amount)")]),
    (
        "window_function",
        &[Shop(RATIO, "row_number() over (order by amount)")],
    ),
    (
        "aggregate_of_two_values",
        &[Shop(RATIO, "max(amount, spend.cents_7d)")],
    ),
    (
        "aggregate_of_another_dialect",
        &[Shop(RATIO, "countif(amount > 1)")],
    ),
    ("unknown_function", &[Shop(RATIO, "abss(amount)")]),
    (
        "function_of_another_dialect",
        &[Shop(RATIO, "len('abc') + amount")],
    ),
    (
        "function_by_another_name",
        &[Shop(RATIO, "ceiling(amount)")],
    ),
    (
        "function_that_is_near_to_some",
        &[Shop(RATIO, "date_number(amount)")],
    ),
    (
        "function_that_is_near_to_none",
        &[Shop(RATIO, "frobnicate(amount)")],
    ),
    ("arrow_for_a_comparison", &[Shop(RATIO, "amount => 18")]),
    (
        "comparison_the_wrong_way_round",
        &[Shop(RATIO, "amount =< 18")],
    ),
    ("is_none", &[Shop(RATIO, "amount is none")]),
    (
        "day_that_no_month_has",
        &[Shop(RATIO, "date '2026-02-30' > date '2026-01-01'")],
    ),
    (
        "ampersands_for_and",
        &[Shop(RATIO, "amount > 1 && amount < 3")],
    ),
    ("parameter", &[Shop(RATIO, "amount + $as_of")]),
    ("subquery", &[Shop(RATIO, "(select 1)")]),
    ("exists", &[Shop(RATIO, "exists (select 1 from purchases)")]),
    ("two_expressions", &[Shop(RATIO, "amount, 2")]),
    ("statement", &[Shop(RATIO, "select amount")]),
    ("semicolon", &[Shop(RATIO, "amount * 2;")]),
    (
        "unclosed_parenthesis",
        &[Shop(RATIO, "amount / nullif(spend.cents_7d, 0")],
    ),
    ("cut_off", &[Shop(RATIO, "amount /")]),
    ("empty", &[Shop(RATIO, "\"\"")]),
    ("null", &[Shop(RATIO, "null")]),
    ("text_plus_number", &[Shop(RATIO, "amount + 'x'")]),
    (
        "branches_of_two_types",
        &[Shop(RATIO, "case when amount > 1 then 'a' else true end")],
    ),
    ("text_function_of_a_number", &[Shop(RATIO, "sqrt('a', 2)")]),
    ("too_few_arguments", &[Shop(RATIO, "nullif(amount)")]),
    (
        "cast_to_an_unknown_type",
        &[Shop(RATIO, "cast(amount as money)")],
    ),
    (
        "cast_of_a_text_that_is_no_number",
        &[Shop(RATIO, "cast('abc' as int)")],
    ),
    (
        "time_without_a_zone",
        &[Shop(RATIO, "cast('2026-01-01' as timestamp)")],
    ),
    ("interval", &[Shop(RATIO, "interval '1 day'")]),
    ("like_of_a_number", &[Shop(RATIO, "amount like 'a%'")]),
    ("star", &[Shop(RATIO, "*")]),
    (
        "folded_over_lines",
        &[Shop(
            RATIO,
            ">\n        amount /\n        nullif(spend.cents_8d, 0)",
        )],
    ),
    (
        "literal_over_lines",
        &[Shop(
            RATIO,
            "|\n        amount /\n          nullif(spend.cents_8d, 0)",
        )],
    ),
    (
        "in_quotes",
        &[Shop(RATIO, "\"amount / nullif(spend.cents_8d, 0)\"")],
    ),
    (
        "in_single_quotes_with_a_quote",
        &[Shop(RATIO, "'coalesce(''a'', spend.cents_8d)'")],
    ),
    (
        "after_wide_characters",
        &[Shop(RATIO, "concat('größe 名 🎵', spend.cents_8d)")],
    ),
    (
        "two_faults",
        &[Shop(RATIO, "amont / nullif(spend.cents_8d, now())")],
    ),
    (
        "is_a_map_without_an_expression",
        &[Shop(
            "ratio: amount / nullif(spend.cents_7d, 0)",
            "ratio: { description: against the usual one }",
        )],
    ),
    (
        "is_a_list",
        &[Shop(
            "ratio: amount / nullif(spend.cents_7d, 0)",
            "ratio: [amount, 2]",
        )],
    ),
    ("array", &[Shop(RATIO, "'[amount, 2]'")]),
    ("text", &[Shop(RATIO, "\"'abc'\"")]),
    (
        "text_in_double_quotes",
        &[Shop(RATIO, "profile.city = \"Type A\"")],
    ),
    (
        "text_in_curly_quotes",
        &[Shop(RATIO, "profile.city = ‘Type A’")],
    ),
];
