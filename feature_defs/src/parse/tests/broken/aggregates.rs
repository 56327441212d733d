//! Calls of aggregate functions with a number behind the column.

use super::Case;
use super::Edit::Shop;

const SPEND: &str = "cents: sum(cents)";

pub(super) const CASES: &[Case] = &[
    (
        "list_of_no_value_of_too_many_and_of_a_part",
        &[Shop(
            SPEND,
            "cents: sum(cents)
      none: last(cents, 0)
      many: first(cents, 1001)
      part: last(cents, 1.5)",
        )],
    ),
    (
        "list_of_a_number_that_is_none",
        &[Shop(SPEND, "cents: last(cents, three)")],
    ),
    (
        "sum_of_the_newest_values",
        &[Shop(SPEND, "cents: sum(cents, 3)")],
    ),
    (
        "list_of_a_column_that_is_not_there",
        &[Shop(SPEND, "cents: last(cent, 3)")],
    ),
    ("list_of_no_column", &[Shop(SPEND, "cents: last(3)")]),
    (
        "quantile_of_nothing_said_of_a_percentage_and_of_a_text",
        &[Shop(
            SPEND,
            "cents: sum(cents)
      half: quantile(cents)
      most: quantile(cents, 90)
      precise: quantile(cents, 0.12345678901)
      text: quantile(note, 0.5)
      middle: median(cents, 0.5)",
        )],
    ),
    (
        "most_frequent_values_without_a_number",
        &[Shop(
            SPEND,
            "cents: sum(cents)
      most: top_k(cents)
      none: top_k(cents, 0)
      mode: mode(cents)",
        )],
    ),
    (
        "category_that_is_no_column_and_one_that_is_a_list",
        &[Shop(
            SPEND,
            "cents: sum(cents)
      by_city: { of: sum(cents), by: city }
      by_two: { of: sum(cents), by: [note, at] }",
        )],
    ),
    (
        "comma_inside_braces",
        &[Shop(
            "    aggregate:
      cents: sum(cents)
      orders: count()
",
            "    aggregate: { cents: sum(cents), orders: count(), recent: last(cents, 3) }
",
        )],
    ),
    (
        "comma_inside_the_braces_of_one_aggregate",
        &[Shop(
            SPEND,
            "cents: sum(cents)
      recent: { of: last(cents, 3), filter: cents > 1 }",
        )],
    ),
];
