//! Values of types that do not go together, side by side.

use super::Case;
use super::Edit::{Shop, Sql};

const RATIO: &str = "amount / nullif(spend.cents_7d, 0)";

pub(super) const CASES: &[Case] = &[
    ("text_above_a_number", &[Shop(RATIO, "profile.city > 5")]),
    (
        "number_equal_to_a_text",
        &[Shop(RATIO, "amount = profile.city")],
    ),
    (
        "number_equal_to_a_text_that_is_none",
        &[Shop(RATIO, "amount = 'many'")],
    ),
    (
        "text_distinct_from_a_number",
        &[Shop(RATIO, "profile.city is distinct from amount")],
    ),
    (
        "text_among_numbers",
        &[Shop(RATIO, "profile.city in (1, 2)")],
    ),
    ("number_among_texts", &[Shop(RATIO, "amount in (1, 'two')")]),
    (
        "text_between_numbers",
        &[Shop(RATIO, "profile.city between 1 and 5")],
    ),
    (
        "case_of_a_text_when_numbers",
        &[Shop(RATIO, "case profile.city when 1 then 2 else 3 end")],
    ),
    (
        "case_with_a_text_else_a_number",
        &[Shop(
            RATIO,
            "case when amount > 1 then profile.city else 0 end",
        )],
    ),
    (
        "coalesce_of_a_text_and_a_number",
        &[Shop(RATIO, "coalesce(profile.city, 0)")],
    ),
    (
        "coalesce_of_a_number_and_a_text",
        &[Shop(RATIO, "coalesce(amount, 'none')")],
    ),
    (
        "nullif_of_a_text_and_a_number",
        &[Shop(RATIO, "nullif(profile.city, 0)")],
    ),
    (
        "greatest_of_a_number_and_a_text",
        &[Shop(RATIO, "greatest(amount, profile.city)")],
    ),
    ("text_times_a_number", &[Shop(RATIO, "profile.city * 2")]),
    (
        "text_minus_a_number",
        &[Shop(RATIO, "profile.city - amount")],
    ),
    (
        "number_divided_by_a_text",
        &[Shop(RATIO, "amount / profile.city")],
    ),
    (
        "truth_above_a_number",
        &[Shop(RATIO, "profile.premium > 5")],
    ),
    ("truth_plus_a_number", &[Shop(RATIO, "profile.premium + 1")]),
    (
        "truth_equal_to_a_text",
        &[Shop(RATIO, "profile.premium = 'yes'")],
    ),
    (
        "coalesce_of_a_truth_and_a_number",
        &[Shop(RATIO, "coalesce(profile.premium, 0)")],
    ),
    (
        "text_as_a_condition",
        &[Shop(RATIO, "case when profile.city then 1 else 0 end")],
    ),
    (
        "number_as_a_condition",
        &[Shop(RATIO, "case when amount then 1 else 0 end")],
    ),
    ("not_of_a_text", &[Shop(RATIO, "not profile.city")]),
    ("minus_of_a_text", &[Shop(RATIO, "-profile.city")]),
    ("root_of_a_text", &[Shop(RATIO, "sqrt(profile.city)")]),
    ("rounded_text", &[Shop(RATIO, "round(profile.city, 1)")]),
    ("power_of_a_text", &[Shop(RATIO, "power(profile.city, 2)")]),
    ("abs_of_a_text", &[Shop(RATIO, "abs(profile.city)")]),
    (
        "truth_and_a_number",
        &[Shop(RATIO, "profile.premium and amount")],
    ),
    (
        "deep_inside",
        &[Shop(
            RATIO,
            "1 + coalesce(amount, case when profile.city > 5 then 1 end)",
        )],
    ),
    (
        "two_of_them",
        &[Shop(RATIO, "profile.city > 5 or amount = 'x'")],
    ),
    (
        "sql_text_above_a_number",
        &[Sql("GROUP BY", "WHERE note > 5 GROUP BY")],
    ),
    (
        "sql_text_above_a_number_in_a_case",
        &[Sql(
            "max(cents) AS",
            "max(CASE WHEN note > cents THEN cents END) AS",
        )],
    ),
    (
        "sql_text_among_numbers",
        &[Sql("GROUP BY", "WHERE note IN (1, 2) GROUP BY")],
    ),
    (
        "sql_text_among_numbers_of_a_query",
        &[Sql(
            "GROUP BY",
            "WHERE note IN (SELECT cents FROM purchases) GROUP BY",
        )],
    ),
    (
        "sql_text_between_numbers",
        &[Sql("GROUP BY", "WHERE note BETWEEN 1 AND 5 GROUP BY")],
    ),
    (
        "sql_aggregate_above_a_text",
        &[Sql(
            "GROUP BY customer_id\n",
            "GROUP BY customer_id\nHAVING max(cents) > max(note)\n",
        )],
    ),
    (
        "sql_coalesce",
        &[Sql("max(cents) AS", "max(coalesce(note, cents)) AS")],
    ),
    (
        "sql_case_with_texts",
        &[Sql(
            "max(cents) AS",
            "max(CASE WHEN cents > 5 THEN 'much' ELSE 0 END) AS",
        )],
    ),
    (
        "sql_plus",
        &[Sql("max(cents) AS", "max(cents) + max(note) AS")],
    ),
    (
        "sql_text_times_a_number",
        &[Sql("max(cents) AS", "max(note * 2) AS")],
    ),
    (
        "sql_join_of_a_text_and_a_number",
        &[Sql(
            "FROM purchases\n",
            "FROM purchases JOIN profiles ON note = customer_no\n",
        )],
    ),
    (
        "sql_join_on_a_condition",
        &[Sql(
            "FROM purchases\n",
            "FROM purchases JOIN profiles ON note > customer_no\n",
        )],
    ),
    ("sql_sum_of_a_text", &[Sql("max(cents) AS", "sum(note) AS")]),
    (
        "sql_mean_of_a_text",
        &[Sql("max(cents) AS", "avg(note) AS")],
    ),
    (
        "sql_time_above_a_text_that_is_none",
        &[Sql("GROUP BY", "WHERE at > 'yesterday' GROUP BY")],
    ),
    (
        "sql_time_above_a_text_column",
        &[Sql("GROUP BY", "WHERE at > note GROUP BY")],
    ),
    (
        "sql_filter_of_an_aggregate",
        &[Sql(
            "max(cents) AS",
            "max(cents) FILTER (WHERE note > 5) AS",
        )],
    ),
    (
        "sql_window_of_an_aggregate",
        &[Sql(
            "max(cents) AS",
            "max(cents + lag(note) OVER (ORDER BY at)) AS",
        )],
    ),
    (
        "sql_order_in_an_aggregate",
        &[Sql(
            "max(cents) AS",
            "last_value(cents ORDER BY note > 5) AS",
        )],
    ),
    (
        "sql_inside_a_subquery",
        &[Sql(
            "FROM purchases\n",
            "FROM (SELECT * FROM purchases WHERE note > 5) AS p\n",
        )],
    ),
    (
        "sql_value_of_a_subquery",
        &[Sql(
            "GROUP BY",
            "WHERE note > (SELECT max(cents) FROM purchases) GROUP BY",
        )],
    ),
    (
        "sql_condition_of_text",
        &[Sql("GROUP BY", "WHERE note GROUP BY")],
    ),
    (
        "sql_union_of_text_and_number",
        &[Sql(
            "GROUP BY customer_id\n",
            "GROUP BY customer_id UNION ALL SELECT customer_id, note, 1.5 FROM purchases\n",
        )],
    ),
];
