//! The language for people: `docs/definitions.md`.

use std::fmt::Write;

use crate::article::with_article;
use crate::language::keys::{ABOUT, ENVIRONMENT, PROJECT, SECTIONS};
use crate::language::{Form, Object, Presence};

const INTRODUCTION: &str = "\
# Definition files

A project is a folder with a `nightfill.yaml` and any number of other `.yaml` and `.yml` files below it, with SQL beside
them. How definitions are spread over files is up to you: every file may hold any of the sections below, and all files
together are the project. Every such file below the folder is read: a `docker-compose.yml` and its kind belong beside the
project's folder, or into a folder whose name starts with `.`; those are left out, and so are symbolic links and folders
with a `nightfill.yaml` of their own. Names are at most 64 lower-case letters, digits and
`_`, and start with a letter or `_`.

`nightfill check` finds every problem in one pass; `nightfill schema` prints a JSON Schema of all this, which gives
completion in editors:

```yaml
# yaml-language-server: $schema=nightfill.schema.json
```

Which SQL stands in definitions, with all functions, is in [sql.md](sql.md).

Every `nightfill apply` makes a new version, and `nightfill log` lists them. To go back to an earlier one, restore the files
(`git checkout` of the commit that was applied) and apply them: the same definitions again are a version like any other, with
the same fingerprints.

This page is generated from the table that the parser reads.
";

/// Types, what they hold, and their form in JSON.
const TYPES: [(&str, &str, &str); 13] = [
    ("`bool`", "true or false", "`true`"),
    (
        "`int8` `int16` `int32` `int64`",
        "whole numbers",
        "`42`, in full: no digit is lost beyond 2^53",
    ),
    (
        "`uint8` `uint16` `uint32` `uint64`",
        "whole numbers from 0",
        "`42`",
    ),
    (
        "`float16` `float32` `float64`",
        "IEEE floats; in SQL, a `float16` is a `float32`",
        "`0.1`; `\"NaN\"`, `\"Infinity\"`, `\"-Infinity\"`",
    ),
    (
        "`decimal(p,s)`",
        "at most `p` digits (1 to 38), `s` of them after the point",
        "`\"12.50\"`",
    ),
    ("`string`", "UTF-8 text", "`\"text\"`"),
    ("`bytes`", "bytes", "base64: `\"AP8=\"`"),
    (
        "`uuid`",
        "128 bits, as RFC 9562 has them",
        "`\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"`; upper case is read too",
    ),
    ("`date`", "a day, without zone", "`\"2026-02-28\"`"),
    (
        "`timestamp`",
        "an instant, UTC, microseconds",
        "RFC 3339 with zone: `\"2026-02-28T22:00:00Z\"`",
    ),
    (
        "`list<T>`",
        "any number of values of a type, nulls among them",
        "an array: `[1, null, 2]`",
    ),
    (
        "`vector<F, n>`",
        "`n` floats (`float16`, `float32` or `float64`; 1 to 16384 of them), none of them null",
        "an array: `[0.1, 0.2]`",
    ),
    (
        "`struct<a: T, b: T>`",
        "a value of each field, any of which may be null",
        "an object: `{\"a\": 1, \"b\": \"x\"}`; a field that is left out is null",
    ),
];

/// The reference, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    write_object(&mut text, &PROJECT, 2);
    write_object(&mut text, &ENVIRONMENT, 3);
    write_object(&mut text, &ABOUT, 2);
    for (_, objects) in &SECTIONS {
        for (nth, object) in objects.iter().enumerate() {
            write_object(&mut text, object, if nth == 0 { 2 } else { 3 });
        }
    }
    text.push_str("\n## Types\n\n| type | holds | in JSON |\n| --- | --- | --- |\n");
    for (name, holds, json) in TYPES {
        let _ = writeln!(text, "| {name} | {holds} | {json} |");
    }
    text.push_str(
        "\nTypes stand in each other up to 8 deep, like `list<struct<at: timestamp, amount: decimal(12,2)>>`; a type with `: ` or, inside `{}`, with `, ` in it is written in quotes. Lists, vectors and structs come from Parquet, JSON lines, SQL and requests; of a struct, a file may have fields that are not declared, which are left out, and lack some that are, which are null. They are no keys, models do not read them, and only `count`, `first` and `last` aggregate them. SQL reads them by `recent[1]` (the first element), `recent[1].amount`, `basket['amount']` and functions like `array_length` and `array_sum` (a float64), and gathers rows by `array_agg(amount ORDER BY at)`; it writes a uuid by its digits, like `X'f81d4fae7dec11d0a76500a0c91e6bf6'`.\n\nTime spans are a number and a unit: `10us`, `250ms`, `30s`, `90m`, `36h`, `3d`, `2w`; a day is 24 hours, and `m` is minutes. Months and years have no one length and no unit: write `30d`, `365d`. Any value may be null where nothing says otherwise.\n",
    );
    text
}

fn write_object(text: &mut String, object: &Object, level: usize) {
    let _ = write!(
        text,
        "\n{} {}\n\n{}\n\n",
        "#".repeat(level),
        object.title,
        object.meaning
    );
    text.push_str("| key | holds | left out | example |\n| --- | --- | --- | --- |\n");
    for key in object.keys {
        let left_out = match key.presence {
            Presence::Required => "**required**".to_owned(),
            Presence::OrElse(other) => format!("**required**, unless `{other}` is there"),
            Presence::Default(default) => default.to_owned(),
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {left_out} | `{}` |",
            key.name,
            holds(&key.form),
            key.example
        );
    }
    text.push('\n');
    for key in object.keys {
        let _ = writeln!(text, "- `{}`: {}", key.name, key.meaning);
    }
    if object.about {
        text.push_str("\nAnd the [keys of every object](#keys-of-every-object).\n");
    }
    if !object.example.is_empty() {
        let _ = write!(text, "\n```yaml\n{}```\n", object.example);
    }
}

/// What a key holds, in words.
pub(super) fn holds(form: &Form) -> String {
    match form {
        Form::Text => "a text".to_owned(),
        Form::Name => "a name".to_owned(),
        Form::Path => "a path".to_owned(),
        Form::Timezone => "an IANA time zone".to_owned(),
        Form::Span => "a time span".to_owned(),
        Form::Cron => "five cron fields".to_owned(),
        Form::DataType => "a type".to_owned(),
        Form::Value => "a value of the type".to_owned(),
        Form::Number => "a number".to_owned(),
        Form::Bool => "`true` or `false`".to_owned(),
        Form::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(" or ")
        }
        Form::Reference(what) => format!("the name of {}", with_article(what)),
        Form::List(of) => format!("a list: {}", holds(of)),
        Form::Map(of) => format!("a map of names to: {}", holds(of)),
        Form::Part(object) => object.title.to_lowercase(),
        Form::Either(short, full) => format!("{}, or {}", holds(short), holds(full)),
        Form::Syntax(what) => (*what).to_owned(),
    }
}
