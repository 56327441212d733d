//! Functions and operators that other dialects of SQL have and ours writes otherwise.

/// Names that are no functions here, with an expression that does the same. Arguments are named by what they are.
pub(crate) const SCALAR: [(&[&str], &str); 22] = [
    (&["len", "strlen", "char_len"], "length(text)"),
    (&["isnull", "zeroifnull"], "coalesce(number, 0)"),
    (
        &["iif", "if", "ifelse", "if_else"],
        "CASE WHEN number > 0 THEN number ELSE 0 END",
    ),
    (
        &[
            "datediff",
            "date_diff",
            "timestampdiff",
            "timestamp_diff",
            "days_between",
            "age",
        ],
        "(to_unixtime(time) - to_unixtime(other_time)) / 86400",
    ),
    (
        &[
            "dateadd",
            "date_add",
            "adddate",
            "timestampadd",
            "timestamp_add",
        ],
        "time + interval '1 day'",
    ),
    (
        &["datesub", "date_sub", "subdate", "timestamp_sub"],
        "time - interval '1 day'",
    ),
    (&["year"], "extract(year FROM time)"),
    (&["quarter"], "extract(quarter FROM time)"),
    (&["month"], "extract(month FROM time)"),
    (&["week", "weekofyear"], "extract(week FROM time)"),
    (&["day", "dayofmonth"], "extract(day FROM time)"),
    (&["hour"], "extract(hour FROM time)"),
    (&["minute"], "extract(minute FROM time)"),
    (&["second"], "extract(second FROM time)"),
    (
        &["dayofweek", "weekday", "day_of_week"],
        "extract(dow FROM time)",
    ),
    (&["dayofyear", "day_of_year"], "extract(doy FROM time)"),
    (
        &["unix_timestamp", "epoch", "to_epoch"],
        "to_unixtime(time)",
    ),
    (&["charindex", "locate"], "strpos(text, 'part')"),
    (&["mid"], "substr(text, 1, 3)"),
    (&["square"], "power(number, 2)"),
    (&["mod"], "number % 7"),
    (
        &["safe_divide", "try_divide", "div0"],
        "number / nullif(number, 0)",
    ),
];

/// Names of functions that are ours by another name alone.
pub(crate) const RENAMED: [(&[&str], &str); 8] = [
    (&["ucase", "toupper"], "upper"),
    (&["lcase", "tolower"], "lower"),
    (&["ceiling"], "ceil"),
    (&["truncate"], "trunc"),
    (&["sign"], "signum"),
    (&["regexp_extract", "regexp_substr"], "regexp_match"),
    (&["strftime", "format_date", "format_timestamp"], "to_char"),
    (
        &["str_to_date", "parse_date", "to_datetime"],
        "to_timestamp",
    ),
];

/// Names that are no aggregate functions here, with one that does the same.
pub(crate) const AGGREGATE: [(&[&str], &str); 5] = [
    (
        &["countif", "count_if"],
        "count(*) FILTER (WHERE number > 0)",
    ),
    (
        &["sumif", "sum_if"],
        "sum(number) FILTER (WHERE number > 0)",
    ),
    (
        &["group_concat", "listagg"],
        "string_agg(text, ',' ORDER BY text)",
    ),
    (
        &["max_by", "argmax", "arg_max"],
        "last_value(text ORDER BY number)",
    ),
    (
        &["min_by", "argmin", "arg_min"],
        "first_value(text ORDER BY number)",
    ),
];

/// What is written here for a name of another dialect; `None` for a name that none of them has.
pub(crate) fn instead(name: &str, aggregates: bool) -> Option<String> {
    let of = |table: &[(&[&str], &'static str)]| {
        let mut rows = table.iter();
        rows.find(|(names, _)| names.contains(&name))
            .map(|(_, ours)| *ours)
    };
    if let Some(ours) = of(&RENAMED) {
        return Some(format!("write `{ours}`"));
    }
    let ours = of(&SCALAR).or_else(|| of(&AGGREGATE).filter(|_| aggregates));
    ours.map(|ours| format!("write `{ours}`"))
}

/// Whether another dialect has an aggregate function of this name.
pub(crate) fn is_aggregate(name: &str) -> bool {
    AGGREGATE.iter().any(|(names, _)| names.contains(&name))
}

/// What an operator of other languages is here.
pub(crate) fn operator(found: &str) -> Option<&'static str> {
    match found {
        "=>" => Some("write `>=` for greater or equal"),
        "&&" => Some("write `AND`"),
        "?" => Some("write `CASE WHEN condition THEN value ELSE other END`"),
        _ => None,
    }
}
