//! SQL for people: `docs/sql.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use datafusion_expr::Documentation;

use crate::sql::functions;

/// What does not come from the table of functions.
const INTRODUCTION: &str = include_str!("introduction.md");

/// Expressions over a `timestamp` column `at` and a `date` column `day`, what they give, and what there is to know.
pub(crate) const TIMES: [(&str, &str, &str); 13] = [
    (
        "$as_of - interval '7 days'",
        "timestamp",
        "days of 24 hours",
    ),
    (
        "to_unixtime(at)",
        "int64",
        "whole seconds from 1970: fractions are dropped",
    ),
    (
        "to_unixtime($as_of) - to_unixtime(at)",
        "int64",
        "seconds between two instants",
    ),
    (
        "(to_unixtime($as_of) - to_unixtime(at)) / 86400.0",
        "float64",
        "days with fractions; with `86400` whole ones",
    ),
    (
        "$as_of - at",
        "an interval",
        "no feature has this type: use `to_unixtime`",
    ),
    ("day - cast(at AS date)", "int64", "days between two days"),
    ("cast(at AS date)", "date", "the day in UTC"),
    (
        "cast(at AT TIME ZONE 'America/New_York' AS date)",
        "date",
        "the day there",
    ),
    (
        "date_trunc('month', at)",
        "timestamp",
        "the start of the month in UTC",
    ),
    ("extract(hour FROM at)", "int32", "in UTC"),
    (
        "cast('2026-02-03 10:30:00' AS timestamp)",
        "a time without zone",
        "no feature has this type: say in which zone it is",
    ),
    (
        "cast('2026-02-03 10:30:00' AS timestamp) AT TIME ZONE 'Europe/Vienna'",
        "timestamp",
        "whole microseconds are kept, what is finer is refused",
    ),
    (
        "cast('2026-02-03T10:30:00Z' AS timestamptz)",
        "timestamp",
        "likewise",
    ),
];

/// The reference of SQL, in Markdown.
#[must_use]
pub fn sql_reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("With `at` a `timestamp` and `day` a `date`, in a view's SQL:\n\n");
    text.push_str("| written | gives | |\n| --- | --- | --- |\n");
    for (written, gives, note) in TIMES {
        let gives = match gives.contains(' ') {
            true => gives.to_owned(),
            false => format!("`{gives}`"),
        };
        let _ = writeln!(text, "| `{written}` | {gives} | {note} |");
    }
    text.push_str("\n## Functions\n\nThis list is generated from the table of functions that are accepted. Of a request's one row only the functions of one\nrow are computed.\n");
    let functions = functions();
    let scalar = functions.scalar.iter();
    let scalar = scalar.map(|f| (f.name(), f.aliases(), f.documentation()));
    write_functions(&mut text, "Of one row", scalar);
    let aggregate = functions.aggregate.iter();
    let aggregate = aggregate.map(|f| (f.name(), f.aliases(), f.documentation()));
    write_functions(&mut text, "Of many rows (aggregates)", aggregate);
    let window = functions.window.iter();
    let window = window.map(|f| (f.name(), f.aliases(), f.documentation()));
    write_functions(&mut text, "Over windows of rows", window);
    text
}

/// What functions do of which the engine says something else.
const MEANINGS: [(&str, &str); 2] = [
    (
        "bool_or",
        "Returns true if any non-null input value is true, otherwise false.",
    ),
    (
        "covar_pop",
        "Returns the population covariance of a set of number pairs.",
    ),
];

/// A function's name, its other names, and what the engine says of it.
type Told<'f> = (&'f str, &'f [String], Option<&'f Documentation>);

fn write_functions<'f>(text: &mut String, title: &str, functions: impl Iterator<Item = Told<'f>>) {
    let mut rows = BTreeMap::new();
    for (name, aliases, documentation) in functions {
        let syntax = documentation.map_or_else(String::new, written);
        // The engine writes some functions as others that they are near to.
        let syntax = match syntax.starts_with(name) {
            true => syntax,
            false => format!(
                "{name}({}",
                syntax.split_once('(').map_or("...)", |(_, rest)| rest)
            ),
        };
        let mut aliases = aliases.to_vec();
        aliases.sort_unstable();
        let ours = MEANINGS.iter().find(|(of, _)| *of == name);
        let meaning = match ours {
            Some((_, meaning)) => (*meaning).to_owned(),
            None => documentation.map_or_else(String::new, meaning),
        };
        rows.insert(name, (syntax, aliases.join("`, `"), meaning));
    }
    let _ = write!(
        text,
        "\n### {title}\n\n| function | also called | |\n| --- | --- | --- |\n"
    );
    for (syntax, aliases, meaning) in rows.values() {
        let aliases = match aliases.as_str() {
            "" => String::new(),
            aliases => format!("`{aliases}`"),
        };
        let _ = writeln!(text, "| `{syntax}` | {aliases} | {meaning} |");
    }
}

/// How it is called, in a line.
fn written(documentation: &Documentation) -> String {
    let lines = documentation.syntax_example.lines();
    let line = lines.map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().replace('|', "\\|")
}

/// The first sentence of what it does.
fn meaning(documentation: &Documentation) -> String {
    let text = documentation.description.trim();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").map_or(line.len(), |end| end + 1);
    line[..end].replace('|', "\\|")
}
