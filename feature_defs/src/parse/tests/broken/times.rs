//! Durations, schedules and zones.

use super::Case;
use super::Edit::{Settings, Shop};

pub(super) const CASES: &[Case] = &[
    ("ttl_in_words", &[Shop("ttl: 3d", "ttl: 3 days")]),
    ("ttl_without_a_unit", &[Shop("ttl: 3d", "ttl: 3")]),
    ("ttl_of_an_unknown_unit", &[Shop("ttl: 3d", "ttl: 1y")]),
    ("ttl_in_months", &[Shop("ttl: 3d", "ttl: 1mo")]),
    (
        "window_in_months",
        &[Shop("[7d, lifetime]", "[1M, lifetime]")],
    ),
    (
        "window_in_years",
        &[Shop("[7d, lifetime]", "[1y, lifetime]")],
    ),
    (
        "window_in_long_words",
        &[Shop("[7d, lifetime]", "[7 days, lifetime]")],
    ),
    ("ttl_with_a_fraction", &[Shop("ttl: 3d", "ttl: 1.5d")]),
    ("ttl_below_zero", &[Shop("ttl: 3d", "ttl: -3d")]),
    (
        "ttl_out_of_range",
        &[Shop("ttl: 3d", "ttl: 99999999999999d")],
    ),
    ("ttl_is_a_list", &[Shop("ttl: 3d", "ttl: [3d]")]),
    ("ttl_is_empty", &[Shop("ttl: 3d", "ttl:")]),
    ("ttl_shorter_than_a_day", &[Shop("ttl: 3d", "ttl: 12h")]),
    (
        "ttl_shorter_than_a_weekend",
        &[
            Shop("ttl: 3d", "ttl: 1d"),
            Shop("\"0 2 * * *\"", "\"0 2 * * 1-5\""),
        ],
    ),
    (
        "ttl_shorter_than_the_day_on_which_clocks_go_back",
        &[
            Shop("ttl: 3d", "ttl: 24h"),
            Shop(
                "\"0 2 * * *\"",
                "{ cron: \"0 4 * * *\", timezone: America/New_York }",
            ),
        ],
    ),
    (
        "ttl_shorter_than_a_month",
        &[
            Shop("ttl: 3d", "ttl: 30d"),
            Shop("\"0 2 * * *\"", "\"0 2 1 * *\""),
        ],
    ),
    (
        "window_of_nothing",
        &[Shop("[7d, lifetime]", "[0d, lifetime]")],
    ),
    (
        "window_in_words",
        &[Shop("[7d, lifetime]", "[7d, forever]")],
    ),
    (
        "window_longer_than_its_source_keeps_rows",
        &[
            Shop("event_time: at\n", "event_time: at\n    retention: 30d\n"),
            Shop("[7d, lifetime]", "[7d, 30d, 31d]"),
        ],
    ),
    (
        "lifetime_over_a_source_that_forgets",
        &[Shop(
            "event_time: at\n",
            "event_time: at\n    retention: 400d\n",
        )],
    ),
    (
        "window_of_a_source_that_has_a_problem_and_forgets",
        &[
            Shop("event_time: at\n", "event_time: att\n    retention: 6d\n"),
            Shop("[7d, lifetime]", "[7d]"),
        ],
    ),
    (
        "retention_in_years",
        &[Shop(
            "event_time: at\n",
            "event_time: at\n    retention: 2y\n",
        )],
    ),
    (
        "retention_of_nothing",
        &[Shop(
            "event_time: at\n",
            "event_time: at\n    retention: 0d\n",
        )],
    ),
    (
        "retention_is_none",
        &[Shop(
            "event_time: at\n",
            "event_time: at\n    retention: none\n",
        )],
    ),
    (
        "retention_is_a_list",
        &[Shop(
            "event_time: at\n",
            "event_time: at\n    retention: [30d]\n",
        )],
    ),
    ("window_twice", &[Shop("[7d, lifetime]", "[7d, 1w]")]),
    ("cron_of_four_fields", &[Shop("0 2 * * *", "0 2 * *")]),
    ("cron_of_six_fields", &[Shop("0 2 * * *", "0 0 2 * * *")]),
    ("cron_out_of_range", &[Shop("0 2 * * *", "0 25 * * *")]),
    ("cron_in_words", &[Shop("0 2 * * *", "daily")]),
    ("cron_that_never_fires", &[Shop("0 2 * * *", "0 2 31 2 *")]),
    ("cron_is_a_list", &[Shop("\"0 2 * * *\"", "[0, 2]")]),
    ("cron_unquoted", &[Shop("\"0 2 * * *\"", "* 2 * * *")]),
    (
        "zone_of_a_schedule",
        &[Shop(
            "\"0 2 * * *\"",
            "{ cron: \"0 2 * * *\", timezone: Europe/Berln }",
        )],
    ),
    ("zone_of_a_source", &[Shop("Europe/Berlin", "CEST+1")]),
    (
        "zone_of_the_project",
        &[Settings(
            "project: shop\n",
            "project: shop\ntimezone: Amerika/New_York\n",
        )],
    ),
];
