//! Keys of views of windowed aggregations.

use super::key;
use crate::language::Form::{Either, List, Map, OneOf, Part, Reference, Span, Syntax};
use crate::language::Object;
use crate::language::Presence::{Default, OrElse, Required};

pub(crate) static WINDOWS: Object = Object {
    title: "A view of windowed aggregations",
    meaning: "Aggregates over windows that end at as-of, each named `<aggregate>_<window>`. A key without any event before as-of, of any of its sources, has no row.",
    keys: &[
        key(
            "source",
            Reference("source"),
            OrElse("sources"),
            "The source of events.",
            "purchases",
        ),
        key(
            "sources",
            List(&Either(&Reference("source"), &Map(&Part(&EVENT_SOURCE)))),
            OrElse("source"),
            "Several sources of events. Each aggregate then names the source of its column, as in `sum(returns.amount)`; `count(returns.*)` counts the events of one of them, `count()` those of all.",
            "[purchases, returns]",
        ),
        key(
            "join",
            Map(&Reference("column")),
            Default("columns named as the keys"),
            "The source's column for a key part of another name. Of several sources, each has its own.",
            "{ customer_id: buyer }",
        ),
        key(
            "windows",
            List(&Either(&Span, &OneOf(&["lifetime"]))),
            Required,
            "The windows: `[as_of - span, as_of)`, or everything before as-of.",
            "[7d, 30d, lifetime]",
        ),
        key(
            "aggregate",
            Map(&Either(
                &Syntax(
                    "`function(column)`, `function(source.column)` of several sources, or `count()`",
                ),
                &Part(&AGGREGATE),
            )),
            Required,
            "What is computed over each window. Functions: `count`, `sum`, `mean`, `variance`, `stddev`, `variance_pop`, `stddev_pop`, `quantile` (as in `quantile(amount, 0.9)`), `median`, `min`, `max`, `first`, `last`, `top_k` (as in `top_k(city, 3)`), `distinct_count`; `last(amount, 3)` is a list of the newest three values, and `first` takes a number too. What each gives is in [windows.md](windows.md).",
            "{ spend: sum(amount), orders: count() }",
        ),
    ],
    about: false,
    example: "views:
  spend:
    entity: customer
    source: purchases
    ttl: 3d
    schedule: 0 2 * * *
    windows: [7d, lifetime]
    aggregate: { spend: sum(amount), orders: count() }
",
};

pub(crate) static AGGREGATE: Object = Object {
    title: "An aggregate in full",
    meaning: "In short it is the call alone.",
    keys: &[
        key(
            "of",
            Syntax(
                "`function(column)`, `function(source.column)` of several sources, or `count()`",
            ),
            Required,
            "What is computed.",
            "sum(amount)",
        ),
        key(
            "by",
            Reference("column"),
            Default("one value of all events"),
            "A column of the source, for each of whose values it is computed apart: a list of structs with the fields of the column's name and `value`, sorted by the column, null last. Categories without an event in the window are not in it.",
            "channel",
        ),
        key(
            "filter",
            Syntax("a SQL expression"),
            Default("all events"),
            "Which events it is computed from: those of which it is true, not false and not null. It reads columns of the source that the call names, by their names alone. Rows of keys and other aggregates are as they are without it.",
            "amount > 100 and channel = 'web'",
        ),
    ],
    about: false,
    example: "",
};

pub(crate) static EVENT_SOURCE: Object = Object {
    title: "A source of several in full",
    meaning: "In short it is the source's name.",
    keys: &[key(
        "join",
        Map(&Reference("column")),
        Default("columns named as the keys"),
        "The source's column for a key part of another name.",
        "{ customer_id: returned_by }",
    )],
    about: false,
    example: "",
};
