//! `views:`

use crate::feature_view::Schedule;
use crate::language::keys::{FEATURE, LATEST, SCHEDULE, SQL, VIEW, WINDOWS};
use crate::name::Name;
use crate::parse::check;
use crate::parse::embedded::Embedded;
use crate::parse::members::Members;
use crate::parse::objects::{DeclaredChecks, DeclaredComputation, DeclaredFeature, DeclaredView};
use crate::parse::reader::{Fields, Placed, Reader, has, meant};
use crate::parse::window_view::{read_latest, read_windows};
use crate::parse::yaml::{Kind, Map, Node, Text};
use crate::suggestion::nearest;
use crate::time::{TimeError, TimeSpan, Ttl};
use crate::validate::schedule::fires;

/// How a view's features come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Sql,
    Windows,
    Latest,
}

impl Way {
    const ALL: [Self; 3] = [Self::Sql, Self::Windows, Self::Latest];

    /// The keys that only a view of this kind has.
    fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Sql => SQL.names(),
            Self::Windows => WINDOWS.names(),
            Self::Latest => LATEST.names(),
        }
    }
}

/// A feature view of one of three kinds, told apart by `sql` or `sql_file`, `aggregate`, or `latest`.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredView {
    let owner = format!("view `{name}`");
    let mut view = DeclaredView {
        entity: None,
        ttl: None,
        schedule: None,
        checks: DeclaredChecks::default(),
        computation: None,
    };
    let Some(map) = reader.map(node, &owner) else {
        return view;
    };
    let way = read_way(reader, key, map, &owner);
    let own = way.map_or_else(all_keys, Way::keys);
    let known: Vec<&str> = own.into_iter().chain(VIEW.names()).collect();
    let Some(fields) = reader.fields(node, &key.span, &owner, &known) else {
        return view;
    };
    let entity = reader.require(&fields, "entity");
    view.entity = entity.and_then(|node| reader.text(node, "`entity`"));
    let ttl = fields.get("ttl");
    view.ttl = ttl.and_then(|node| reader.parsed(node, "`ttl`", parse_ttl));
    let schedule = fields.get("schedule");
    view.schedule = schedule.and_then(|node| read_schedule(reader, node, &key.span));
    if let Some(node) = fields.get("checks") {
        view.checks = check::read(reader, node);
    }
    view.computation = way.map(|way| match way {
        Way::Sql => read_sql(reader, &fields),
        Way::Windows => read_windows(reader, &fields),
        Way::Latest => read_latest(reader, &fields),
    });
    view
}

/// The one way in which the view's features come about. `None` when that is not known; it is told unless a problem of
/// the keys says it already.
fn read_way(reader: &mut Reader<'_>, key: &Text, map: &Map, owner: &str) -> Option<Way> {
    let meant = meant(map, &all_keys());
    let has = |word: &str| has(map, &meant, word);
    let says = |way: &Way| match way {
        Way::Sql => has("sql") || has("sql_file"),
        Way::Windows => has("aggregate"),
        Way::Latest => has("latest"),
    };
    let said: Vec<Way> = Way::ALL.into_iter().filter(says).collect();
    let message = match said.as_slice() {
        [way] => return Some(*way),
        [] if has("windows") => return Some(Way::Windows),
        [] if has("features") => return Some(Way::Sql),
        [] if !map.whole => return None,
        [] => format!("{owner} does not say how its features come about"),
        _ => format!("{owner} says more than one way how its features come about"),
    };
    let help = "write exactly one of: `sql_file` or `sql` (with `features`), `aggregate` (with `source` and `windows`), `latest` (with `source`)";
    reader.refuse(&key.span, message, help);
    None
}

/// The keys of views of all kinds, but those that all have.
fn all_keys() -> Vec<&'static str> {
    let mut keys: Vec<&str> = Way::ALL.into_iter().flat_map(Way::keys).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
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
    let (cron, timezone) = match node.kind {
        Kind::Mapping(_) => {
            let fields = reader.fields(node, span, "the schedule", &SCHEDULE.names())?;
            let cron = reader.require(&fields, "cron");
            let timezone = match fields.get("timezone") {
                Some(node) => reader.timezone(node),
                None => Some(reader.timezone),
            };
            (cron.and_then(|node| read_cron(reader, node)), timezone)
        }
        _ => (read_cron(reader, node), Some(reader.timezone)),
    };
    Some(Schedule {
        cron: cron?,
        timezone: timezone?,
    })
}

fn read_cron(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let text = reader.text(node, "a schedule")?;
    let (message, help) = match Schedule::read_cron(&text.text) {
        Some(cron) if fires(&cron) => return Some(text.text),
        Some(_) => (
            format!("the schedule `{}` never fires", text.text),
            "write days that the months have",
        ),
        None => (
            format!("`{}` is not a schedule", text.text),
            "write five fields: minute, hour, day of month, month, day of week, like `0 2 * * *` (each day at 02:00)",
        ),
    };
    let message = match Schedule::unread_field(&text.text) {
        Some((field, written, range)) => {
            format!("{message}: `{written}` is no {field} ({range})")
        }
        None => message,
    };
    reader.refuse(&text.span, message, help);
    None
}

fn read_sql<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> DeclaredComputation {
    let text = match (fields.get("sql"), fields.get("sql_file")) {
        (Some(node), None) => {
            let text = reader.text(node, "`sql`");
            text.map(|text| Embedded::scalar(&text, &reader.file.text))
        }
        (None, Some(node)) => read_sql_file(reader, node),
        (Some(_), Some(_)) => {
            let span = fields.key_span("sql_file");
            let message = "`sql` and `sql_file` both stand here";
            reader.refuse(&span, message, "keep one of the two");
            None
        }
        (None, None) => {
            reader.require(fields, "sql_file");
            None
        }
    };
    let features = reader.require(fields, "features");
    let features = features.and_then(|node| read_features(reader, node));
    DeclaredComputation::Sql {
        text,
        features: features.unwrap_or(Members::unknown()),
    }
}

/// A file beside the one that names it.
fn read_sql_file(reader: &mut Reader<'_>, node: &Node) -> Option<Embedded> {
    let text = reader.text(node, "`sql_file`")?;
    let Some(path) = beside(&reader.file.path, &text.text) else {
        let message = if text.text.starts_with('/') {
            format!("`{}` is an absolute path", text.text)
        } else {
            format!("the path `{}` leaves the project", text.text)
        };
        let help = "write a path relative to this file, below the project's root";
        reader.refuse(&text.span, message, help);
        return None;
    };
    let Some(file) = reader.files.iter().find(|file| file.path == path) else {
        let message = format!("there is no file `{path}`");
        reader.refuse(&text.span, message, sql_file_help(reader, &path));
        return None;
    };
    let read = reader.unreadable.iter().all(|other| *other != path);
    read.then(|| Embedded::file(file))
}

/// The file of the nearest name in the same folder, else one of the same name in another folder.
fn sql_file_help(reader: &Reader<'_>, path: &str) -> String {
    let parts = |path: &str| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        (folder.to_owned(), name.to_owned())
    };
    let (folder, name) = parts(path);
    let read = reader.files.iter().map(|file| &file.path);
    let known: Vec<(String, String)> = read
        .filter(|path| path.ends_with(".sql"))
        .chain(reader.unnamed_sql)
        .map(|path| parts(path))
        .collect();
    let beside = known.iter().filter(|(other, _)| *other == folder);
    let near = nearest(&name, beside.map(|(_, name)| name.as_str()));
    let elsewhere = || known.iter().find(|(_, other)| *other == name);
    let near = match near {
        Some(near) => Some((folder.as_str(), near)),
        None => elsewhere().map(|(folder, name)| (folder.as_str(), name.as_str())),
    };
    let near = near.map_or_else(String::new, |near| match near {
        ("", name) => format!("did you mean `{name}`? "),
        (folder, name) => format!("did you mean `{folder}/{name}`? "),
    });
    format!("{near}`sql_file` is relative to the file that names it")
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

fn read_features<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Option<Members<DeclaredFeature>> {
    let map = reader.map(node, "`features`")?;
    if map.entries.is_empty() && map.whole {
        reader.refuse(
            &node.span,
            "the view declares no features",
            "write `features: {name: type}`",
        );
        return None;
    }
    let read = |key, node| read_feature(reader, key, node);
    Some(Members::of_map(map, read, |feature| {
        feature.data_type = None
    }))
}

fn read_feature<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    node: &'a Node,
) -> Option<DeclaredFeature> {
    let name = reader.name(key);
    let (data_type, description) = match node.kind {
        Kind::Mapping(_) => {
            let owner = format!("feature `{}`", key.text);
            let fields = reader.fields(node, &key.span, &owner, &FEATURE.names())?;
            let node = reader.require(&fields, "type");
            let data_type = node.and_then(|node| reader.data_type(node));
            (data_type, reader.description(&fields))
        }
        _ => (reader.data_type(node), None),
    };
    Some(DeclaredFeature {
        name: Placed {
            value: name?,
            span: key.span.clone(),
        },
        data_type,
        description,
    })
}
