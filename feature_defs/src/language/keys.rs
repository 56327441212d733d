//! Every key of the language.

mod check;
mod project;
mod service;
mod source;
mod windows;

pub(crate) use check::{CHECKS, FEATURE_CHECK, ROW_CHECK};
pub(crate) use project::{ENVIRONMENT, PROJECT};
pub(crate) use service::{MODEL, OUTPUT, SERVICE, SERVICE_FEATURE};
pub(crate) use source::SOURCE;
pub(crate) use windows::{AGGREGATE, EVENT_SOURCE, WINDOWS};

use crate::language::Form::{
    Bool, Cron, DataType, Either, List, Map, Name, OneOf, Part, Path, Reference, Span, Syntax,
    Text, Timezone, Value,
};
use crate::language::Presence::{Default, OrElse, Required};
use crate::language::{Form, Key, Object, Presence};

const fn key(
    name: &'static str,
    form: Form,
    presence: Presence,
    meaning: &'static str,
    example: &'static str,
) -> Key {
    Key {
        name,
        form,
        presence,
        meaning,
        example,
    }
}

const DESCRIPTION: Key = key(
    "description",
    Text,
    Default("none"),
    "What it is, for people. Never part of a fingerprint.",
    "All purchases since 1997",
);

/// Keys of every object.
pub(crate) static ABOUT: Object = Object {
    title: "Keys of every object",
    meaning: "What an object says of itself to people. No value depends on it: changing it recomputes nothing.",
    keys: &[
        DESCRIPTION,
        key(
            "owner",
            Text,
            Default("none"),
            "Who answers for it.",
            "growth@shop.example",
        ),
        key(
            "tags",
            List(&Text),
            Default("none"),
            "Words to find it by: `nightfill list --tag churn`.",
            "[churn, pii]",
        ),
        key(
            "deprecated",
            Text,
            Default("none"),
            "Why it should not be used any more, and what to use instead. `check` says so wherever something reads it that is not deprecated itself.",
            "use spend_v2, which counts returns",
        ),
        key(
            "renamed_from",
            Name,
            Default("none"),
            "The name that it had before, so that `plan` shows one renamed object instead of one gone and one new. Rows are computed anew under the new name.",
            "purchases_old",
        ),
    ],
    about: false,
    example: "",
};

pub(crate) static ENTITY: Object = Object {
    title: "`entities`",
    meaning: "The things that features describe, found by one or more typed keys.",
    keys: &[key(
        "keys",
        Map(&DataType),
        Required,
        "The key parts, in order; the order is part of the key. Types: `int32`, `int64`, `string`, `bytes`, `uuid`, `date`, `timestamp`.",
        "{ customer_id: int64 }",
    )],
    about: true,
    example: "entities:
  customer:
    keys: { customer_id: int64 }
    description: Somebody who has bought at least once
",
};

/// Keys of all kinds of feature view.
pub(crate) static VIEW: Object = Object {
    title: "`views`",
    meaning: "Features of one entity, computed by night. A view is of one of three kinds, told apart by `sql` or `sql_file`, `aggregate`, or `latest`. These keys are those of all kinds.",
    keys: &[
        key(
            "entity",
            Reference("entity"),
            Required,
            "What its rows describe.",
            "customer",
        ),
        key(
            "ttl",
            Either(&Span, &OneOf(&["none"])),
            Default("`none`"),
            "The greatest age at which its values may be used; older ones are `expired`.",
            "3d",
        ),
        key(
            "schedule",
            Either(&Cron, &Part(&SCHEDULE)),
            Default("only when asked"),
            "When the night computes it.",
            "0 2 * * *",
        ),
        key(
            "checks",
            Part(&CHECKS),
            Default("none"),
            "What a new snapshot has to be like before it is served.",
            "{ rows: { min: 20000, change: 10% } }",
        ),
    ],
    about: true,
    example: "",
};

pub(crate) static SQL: Object = Object {
    title: "A view of SQL",
    meaning: "One `SELECT` over sources, each of which is already cut at as-of, and over other views as of the same instant; `$as_of` is that instant. Of a view it sees the entity's keys, `event_time` and the features. Its columns are the entity's keys and the declared features.",
    keys: &[
        key(
            "sql_file",
            Path,
            OrElse("sql"),
            "The file that holds the statement, relative to the file that names it.",
            "largest.sql",
        ),
        key(
            "sql",
            Text,
            OrElse("sql_file"),
            "The statement itself.",
            "SELECT customer_id, max(amount) AS largest FROM purchases GROUP BY customer_id",
        ),
        key(
            "features",
            Map(&Either(&DataType, &Part(&FEATURE))),
            Required,
            "The features that it gives, with their types.",
            "{ largest: \"decimal(12,2)\" }",
        ),
    ],
    about: false,
    example: "views:
  habits:
    entity: customer
    sql: SELECT customer_id, max(amount) AS largest FROM purchases GROUP BY customer_id
    features: { largest: \"decimal(12,2)\" }
",
};

pub(crate) static LATEST: Object = Object {
    title: "A view of latest rows",
    meaning: "The newest row of a source for each key, stamped with that row's own event time.",
    keys: &[
        key(
            "source",
            Reference("source"),
            Required,
            "The source of feature rows.",
            "profiles",
        ),
        key(
            "join",
            Map(&Reference("column")),
            Default("columns named as the keys"),
            "The source's column for a key part of another name.",
            "{ customer_id: id }",
        ),
        key(
            "latest",
            List(&Reference("column")),
            Required,
            "The columns that become features.",
            "[segment, country]",
        ),
    ],
    about: false,
    example: "views:
  last_purchase:
    entity: customer
    source: purchases
    latest: [amount]
",
};

pub(crate) static SCHEDULE: Object = Object {
    title: "A schedule in full",
    meaning: "In short it is five cron fields: minute, hour, day of month, month, day of week.",
    keys: &[
        key("cron", Cron, Required, "The five fields.", "0 2 * * *"),
        key(
            "timezone",
            Timezone,
            Default("the project's"),
            "The zone in which they are read.",
            "Europe/Vienna",
        ),
    ],
    about: false,
    example: "",
};

pub(crate) static FEATURE: Object = Object {
    title: "A feature in full",
    meaning: "In short it is its type.",
    keys: &[
        key("type", DataType, Required, "Its type.", "float64"),
        DESCRIPTION,
    ],
    about: false,
    example: "",
};

pub(crate) static REQUEST_VIEW: Object = Object {
    title: "`request_views`",
    meaning: "Features that are computed when a request is there, from its fields and from stored features. Division of whole numbers drops the rest, as in SQL (`3 / 6` is 0): cast a side to double for a share. A division by zero has no value, guard it: `a / nullif(b, 0)`. A feature view and a request view never share a name.",
    keys: &[
        key(
            "inputs",
            Map(&Either(&DataType, &Part(&REQUEST_FIELD))),
            Default("none"),
            "The fields that a request brings, one value an entity.",
            "{ amount: float64 }",
        ),
        key(
            "features",
            Map(&Either(
                &Syntax("a SQL expression"),
                &Part(&REQUEST_FEATURE),
            )),
            Required,
            "The features: SQL expressions over inputs (`amount`) and stored features (`view.feature`).",
            "{ to_largest: \"amount / nullif(habits.largest, 0)\" }",
        ),
    ],
    about: true,
    example: "request_views:
  basket:
    inputs: { amount: \"decimal(12,2)\" }
    features:
      above_largest: amount > habits.largest
",
};

pub(crate) static REQUEST_FIELD: Object = Object {
    title: "A request field in full",
    meaning: "In short it is its type: required, and never null.",
    keys: &[
        key(
            "type",
            DataType,
            Required,
            "Its type; values are not cast.",
            "int64",
        ),
        key(
            "default",
            Value,
            Default("none: the field is required"),
            "Taken where a request leaves the field out.",
            "1",
        ),
        key(
            "nullable",
            Bool,
            Default("`false`"),
            "Whether a request may say `null`.",
            "true",
        ),
    ],
    about: false,
    example: "",
};

pub(crate) static REQUEST_FEATURE: Object = Object {
    title: "A request-time feature in full",
    meaning: "In short it is its expression.",
    keys: &[
        key(
            "expression",
            Syntax("a SQL expression"),
            Required,
            "How it is computed.",
            "amount / nullif(cast(items as double), 0)",
        ),
        DESCRIPTION,
    ],
    about: false,
    example: "",
};

/// The sections of a definition file, in the order of a project's life, with the objects that they hold.
pub(crate) static SECTIONS: [(&str, &[&Object]); 6] = [
    ("entities", &[&ENTITY]),
    ("sources", &[&SOURCE]),
    (
        "views",
        &[
            &VIEW,
            &WINDOWS,
            &AGGREGATE,
            &EVENT_SOURCE,
            &SQL,
            &LATEST,
            &SCHEDULE,
            &FEATURE,
            &CHECKS,
            &ROW_CHECK,
            &FEATURE_CHECK,
        ],
    ),
    (
        "request_views",
        &[&REQUEST_VIEW, &REQUEST_FIELD, &REQUEST_FEATURE],
    ),
    ("services", &[&SERVICE, &SERVICE_FEATURE]),
    ("models", &[&MODEL, &OUTPUT]),
];
