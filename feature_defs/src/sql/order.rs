//! Which functions show the order in which rows reach them.

/// Aggregates whose results do not depend on the order of rows, with exact sums in place of the engine's.
const ORDERLESS: [&str; 14] = [
    "sum",
    "avg",
    "mean",
    "count",
    "min",
    "max",
    "median",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "bit_xor",
    "grouping",
    "approx_distinct",
];

/// Aggregates that show the order of rows in the last bits of a float at most, and window functions that give rows of
/// equal order the same.
const NEARLY: [&str; 22] = [
    "stddev",
    "stddev_pop",
    "var",
    "var_pop",
    "corr",
    "covar_samp",
    "covar_pop",
    "regr_slope",
    "regr_intercept",
    "regr_count",
    "regr_r2",
    "regr_avgx",
    "regr_avgy",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "percentile_cont",
    "approx_percentile_cont",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
];

/// Whether an aggregate gives the same, bit for bit, in whatever order rows reach it.
#[must_use]
pub fn is_orderless(aggregate: &str) -> bool {
    ORDERLESS.contains(&aggregate)
}

/// Whether a function decides nothing by the order of rows that are equal in what it orders them by.
pub(crate) fn is_orderless_over_ties(function: &str) -> bool {
    is_orderless(function) || NEARLY.contains(&function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::functions::{REFUSED, names};

    #[test]
    fn every_name_is_one_of_a_function() {
        let names = names();
        for name in ORDERLESS.iter().chain(&NEARLY) {
            let known = names.aggregate.contains_key(*name)
                || names.window.contains_key(*name)
                || REFUSED.iter().any(|(refused, _)| refused == name);
            assert!(known, "{name}");
        }
    }
}
