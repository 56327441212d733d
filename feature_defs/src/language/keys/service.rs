//! Keys of services and models.

use super::key;
use crate::language::Form::{Bool, Either, List, Map, Name, OneOf, Part, Reference, Syntax, Value};
use crate::language::Object;
use crate::language::Presence::{Default, Required};

pub(crate) static SERVICE: Object = Object {
    title: "`services`",
    meaning: "The ordered, typed list of features that a model or a client reads. No feature stands in it twice.",
    keys: &[
        key(
            "features",
            List(&Either(
                &Syntax("`view.feature`, or `view.*` for all of a view"),
                &Map(&Part(&SERVICE_FEATURE)),
            )),
            Required,
            "Its features, in order.",
            "[spend.*, habits.largest]",
        ),
        key(
            "full_names",
            Bool,
            Default("`true`"),
            "Whether features are called `view.feature` in answers, training sets and models; with `false` they are called `feature`.",
            "false",
        ),
        key(
            "aliases",
            List(&Name),
            Default("none"),
            "Other names under which it answers: callers of an old name go on, whatever the service is called.",
            "[churn_latest]",
        ),
    ],
    about: true,
    example: "services:
  churn_v1:
    features:
      - spend.*
      - habits.largest: { default: 0, as: dearest }
      - basket.above_largest
    aliases: [churn_latest]
",
};

pub(crate) static SERVICE_FEATURE: Object = Object {
    title: "A feature of a service in full",
    meaning: "In short it is `view.feature`.",
    keys: &[
        key(
            "default",
            Value,
            Default("none: the value is null"),
            "Taken where the stored value is missing or expired, and told as defaulted. An observed null stays null.",
            "0",
        ),
        key(
            "as",
            Name,
            Default("named as `full_names` says"),
            "What it is called in this service.",
            "dearest",
        ),
    ],
    about: false,
    example: "",
};

pub(crate) static MODEL: Object = Object {
    title: "`models`",
    meaning: "What scores a service. Its trained file is imported with `nightfill model import`; inputs are bound by feature name. A model fits one service: to change what it reads without stopping nights, declare a new service and model beside the old ones, train and import, then take the old ones away.",
    keys: &[
        key(
            "service",
            Reference("service"),
            Required,
            "The service whose features it reads.",
            "churn_v1",
        ),
        key(
            "output",
            Part(&OUTPUT),
            Default("named as the model"),
            "The score in answers.",
            "{ name: churn_probability }",
        ),
    ],
    about: true,
    example: "models:
  churn:
    service: churn_v1
    output: { name: churn_probability, transform: sigmoid }
",
};

pub(crate) static OUTPUT: Object = Object {
    title: "An output",
    meaning: "The score, as an answer names it.",
    keys: &[
        key(
            "name",
            Name,
            Default("the model's name"),
            "Its name in answers.",
            "churn_probability",
        ),
        key(
            "transform",
            OneOf(&["identity", "sigmoid", "exp"]),
            Default("the objective's own"),
            "Applied to the model's raw score.",
            "sigmoid",
        ),
    ],
    about: false,
    example: "",
};
