//! `views:`

use croner::parser::{CronParser, Seconds, Year};

use crate::feature_view::Schedule;
use crate::name::Name;
use crate::parse::embedded::Embedded;
use crate::parse::objects::{DeclaredComputation, DeclaredFeature, DeclaredView};
use crate::parse::reader::{Fields, Placed, Reader};
use crate::parse::window_view::{read_latest, read_windows};
use crate::parse::yaml::{Kind, Node, Text};
use crate::time::{TimeError, TimeSpan, Ttl};

const COMMON: [&str; 4] = ["entity", "ttl", "schedule", "description"];
const SQL: [&str; 3] = ["sql", "sql_file", "features"];
const WINDOWS: [&str; 4] = ["source", "join", "windows", "aggregate"];
const LATEST: [&str; 3] = ["source", "join", "latest"];

/// A feature view of one of three kinds, told apart by `sql` or `sql_file`, `aggregate`, or `latest`.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<DeclaredView> {
    let owner = format!("view `{name}`");
    let entries = reader.map(node, &owner)?;
    let has = |word: &str| entries.iter().any(|(key, _)| key.text == word);
    let kinds = [
        has("sql") || has("sql_file"),
        has("aggregate"),
        has("latest"),
    ];
    let own: &[&str] = match kinds {
        [true, false, false] => &SQL,
        [false, true, false] => &WINDOWS,
        [false, false, true] => &LATEST,
        _ => {
            let problem = if kinds.contains(&true) {
                "says more than one way"
            } else {
                "does not say"
            };
            let message = format!("{owner} {problem} how its features come about");
            let help = "write exactly one of: `sql_file` or `sql` (with `features`), `aggregate` (with `source` and `windows`), `latest` (with `source`)";
            reader.refuse(&key.span, message, help);
            return None;
        }
    };
    let known: Vec<&str> = own.iter().chain(&COMMON).copied().collect();
    let fields = reader.fields(node, &key.span, &owner, &known)?;
    let description = reader.description(&fields);
    let entity = reader.require(&fields, "entity");
    let entity = entity.and_then(|node| reader.text(node, "`entity`"));
    let ttl = match fields.get("ttl") {
        Some(node) => reader.parsed(node, "`ttl`", parse_ttl).map(|ttl| ttl.value),
        None => Some(Ttl::Unlimited),
    };
    let schedule = match fields.get("schedule") {
        Some(node) => Some(read_schedule(reader, node, &key.span)?),
        None => None,
    };
    let computation = match kinds {
        [true, ..] => read_sql(reader, &fields),
        [_, true, _] => read_windows(reader, &fields),
        _ => read_latest(reader, &fields),
    };
    Some(DeclaredView {
        description,
        entity: entity?,
        ttl: ttl?,
        schedule,
        computation: computation?,
    })
}

fn parse_ttl(text: &str) -> Result<Ttl, TimeError> {
    match text {
        "none" => Ok(Ttl::Unlimited),
        text => TimeSpan::parse(text).map(Ttl::AtMost),
    }
}

fn read_schedule<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    span: &crate::error::Span,
) -> Option<Schedule> {
    if let Kind::Scalar { .. } = node.kind {
        return Some(Schedule {
            cron: read_cron(reader, node)?,
            timezone: reader.timezone,
        });
    }
    let fields = reader.fields(node, span, "the schedule", &["cron", "timezone"])?;
    let cron = reader.require(&fields, "cron")?;
    let timezone = match fields.get("timezone") {
        Some(node) => reader.timezone(node)?,
        None => reader.timezone,
    };
    Some(Schedule {
        cron: read_cron(reader, cron)?,
        timezone,
    })
}

fn read_cron(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let text = reader.text(node, "a schedule")?;
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    if text.text.split_whitespace().count() == 5 && parser.parse(&text.text).is_ok() {
        return Some(text.text);
    }
    let help = "write five fields: minute, hour, day of month, month, day of week, like `0 2 * * *` (each day at 02:00)";
    reader.refuse(
        &text.span,
        format!("`{}` is not a schedule", text.text),
        help,
    );
    None
}

fn read_sql<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> Option<DeclaredComputation> {
    let text = match (fields.get("sql"), fields.get("sql_file")) {
        (Some(node), None) => {
            let text = reader.text(node, "`sql`");
            text.map(|text| Embedded::scalar(&text, &reader.file.text))
        }
        (None, Some(node)) => read_sql_file(reader, node),
        _ => {
            let span = fields.key_span("sql_file");
            reader.refuse(
                &span,
                "`sql` and `sql_file` both stand here",
                "keep one of the two",
            );
            None
        }
    };
    let node = reader.require(fields, "features");
    let features = node.and_then(|node| read_features(reader, node));
    Some(DeclaredComputation::Sql {
        text: text?,
        features: features?,
    })
}

/// A file beside the one that names it.
fn read_sql_file(reader: &mut Reader<'_>, node: &Node) -> Option<Embedded> {
    let text = reader.text(node, "`sql_file`")?;
    let path = beside(&reader.file.path, &text.text);
    let Some(path) = path else {
        let message = format!("the path `{}` leaves the project", text.text);
        reader.refuse(
            &text.span,
            message,
            "write a path relative to this file, below the project's root",
        );
        return None;
    };
    let file = reader.files.iter().find(|file| file.path == path);
    if file.is_none() {
        reader.refuse(
            &text.span,
            format!("there is no file `{path}`"),
            "the path is relative to this file",
        );
    }
    file.map(Embedded::file)
}

/// The path of `relative` seen from the file at `path`, both relative to the root; `None` when it leaves the root.
pub(crate) fn beside(path: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains('\\') || relative.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn read_features<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Option<Vec<DeclaredFeature>> {
    let entries = reader.map(node, "`features`")?;
    if entries.is_empty() {
        reader.refuse(
            &node.span,
            "the view declares no features",
            "write `features: {name: type}`",
        );
        return None;
    }
    let mut features = Vec::new();
    for (key, node) in entries {
        let name = reader.name(key);
        let (data_type, description) = match node.kind {
            Kind::Mapping(_) => {
                let owner = format!("feature `{}`", key.text);
                let fields = reader.fields(node, &key.span, &owner, &["type", "description"])?;
                let node = reader.require(&fields, "type");
                (
                    node.and_then(|node| reader.data_type(node)),
                    reader.description(&fields),
                )
            }
            _ => (reader.data_type(node), None),
        };
        if let (Some(name), Some(data_type)) = (name, data_type) {
            let name = Placed {
                value: name,
                span: key.span.clone(),
            };
            features.push(DeclaredFeature {
                name,
                data_type,
                description,
            });
        }
    }
    (features.len() == entries.len()).then_some(features)
}
