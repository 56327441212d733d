//! Keys of checks.

use super::key;
use crate::language::Form::{Map, Number, OneOf, Part, Syntax, Value};
use crate::language::Presence::Default;
use crate::language::{Key, Object};

const ON_FAILURE: Key = key(
    "on_failure",
    OneOf(&["block", "warn"]),
    Default("`block`"),
    "What follows where the check fails: `block` makes no release, so that what is served stays served; `warn` makes it and says so.",
    "warn",
);

pub(crate) static CHECKS: Object = Object {
    title: "Checks of a view",
    meaning: "What the night demands of the view's new snapshot before any release is made. All checks of all views are told together. They decide no value: changing them recomputes nothing.",
    keys: &[
        key(
            "rows",
            Part(&ROW_CHECK),
            Default("none"),
            "Demands on the number of rows, one a key.",
            "{ min: 20000, change: 10% }",
        ),
        key(
            "features",
            Map(&Part(&FEATURE_CHECK)),
            Default("none"),
            "Demands on features, by their names.",
            "{ largest: { nulls: 0%, max: \"100000\" } }",
        ),
    ],
    about: false,
    example: "views:
  dearest:
    entity: customer
    sql: SELECT customer_id, max(amount) AS largest FROM purchases GROUP BY customer_id
    features: { largest: \"decimal(12,2)\" }
    checks:
      rows: { min: 1, change: 10% }
      features:
        largest: { nulls: 0%, min: 0, max: 100000, psi: 0.2, on_failure: warn }
",
};

pub(crate) static ROW_CHECK: Object = Object {
    title: "A check of rows",
    meaning: "At least one of its demands.",
    keys: &[
        key(
            "min",
            Number,
            Default("none"),
            "The least number of rows.",
            "20000",
        ),
        key(
            "max",
            Number,
            Default("none"),
            "The greatest number of rows.",
            "1000000",
        ),
        key(
            "change",
            Syntax("a share like `10%`"),
            Default("none"),
            "The greatest difference to the number of rows that are served, up or down, as a share of those. It is passed over where the view, as it is defined now, is not served yet.",
            "10%",
        ),
        ON_FAILURE,
    ],
    about: false,
    example: "",
};

pub(crate) static FEATURE_CHECK: Object = Object {
    title: "A check of a feature",
    meaning: "At least one of its demands.",
    keys: &[
        key(
            "nulls",
            Syntax("a share like `10%`"),
            Default("none"),
            "The greatest share of rows in which it is null.",
            "0%",
        ),
        key(
            "min",
            Value,
            Default("none"),
            "The least value, of a number, date, timestamp or text. NaN is never within bounds; nulls are for `nulls`.",
            "0",
        ),
        key(
            "max",
            Value,
            Default("none"),
            "The greatest value, likewise.",
            "100000",
        ),
        key(
            "psi",
            Number,
            Default("none"),
            "The greatest population stability index of its values against those that are served, for numbers, texts and booleans: 0 where nothing moved, above 0.2 by custom a shift to look at. Numbers are compared by tenths of the served values, others by their 20 most frequent values and the rest; nulls are a part of their own. It is passed over where the view, as it is defined now, is not served yet.",
            "0.2",
        ),
        ON_FAILURE,
    ],
    about: false,
    example: "",
};
