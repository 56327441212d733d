//! `sources:`

use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::language::keys::SOURCE;
use crate::name::Name;
use crate::parse::members::{Found, Members};
use crate::parse::objects::{DeclaredColumn, DeclaredSource};
use crate::parse::reader::{Fields, Reader};
use crate::parse::source_partitions::read_partitions;
use crate::parse::source_path::{format_of, is_table, read_path, read_root, refuse_unread};
use crate::parse::source_table::{self, TABLE_KEYS};
use crate::parse::yaml::{Node, Text};
use crate::source::{Column, Source, SourceFiles, SourceFormat, SourcePlace};
use crate::suggestion::accepted;
use crate::time::{Instant, TimeError, TimeSpan};

const NO_EVENT_TIME: &str = "add `event_time: column`, a column that says when each row was true; where rows always held, write one into the files (the day on which the data starts) and give the views no `ttl`";

const NO_PLACE: &str = "add `path: ...` for files, or `database: ...` and `table: ...`";

/// `name: {root?, path | database, table, columns: {column: type}, event_time, created_time?, format?, delimiter?, partitions?, timezone?, retention?}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> DeclaredSource {
    let fields = reader.fields(
        node,
        &key.span,
        &format!("source `{name}`"),
        &SOURCE.names(),
    );
    let Some(fields) = fields else {
        return DeclaredSource {
            columns: Members::unknown(),
            retention: None,
            source: None,
        };
    };
    let columns = reader.require(&fields, "columns");
    let is_table = TABLE_KEYS.iter().any(|key| fields.get(key).is_some());
    let (columns, place) = match is_table {
        true => {
            let columns = columns.and_then(|node| read_columns(reader, node, None));
            let table = source_table::read(reader, &fields).map(SourcePlace::Table);
            (columns.unwrap_or(Members::unknown()), table)
        }
        false => read_files(reader, &fields, columns),
    };
    let retention = fields.get("retention");
    let retention = retention.map(|node| reader.parsed(node, "`retention`", parse_retention));
    let retention = match retention {
        Some(span) => span.map(|span| Some(span.value)),
        None => Some(None),
    };
    DeclaredSource {
        source: read_source(reader, name, &fields, &columns, place, retention),
        columns,
        retention: retention.flatten(),
    }
}

/// The declared columns, and the files that hold them as far as they could be read.
fn read_files<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    columns: Option<&'a Node>,
) -> (Members<DeclaredColumn>, Option<SourcePlace>) {
    let path = reader.require_with(fields, "path", NO_PLACE);
    let path = path.and_then(|node| read_path(reader, node));
    let root = match fields.get("root") {
        Some(node) => read_root(reader, node).map(Some),
        None => Some(None),
    };
    let format = read_format(reader, fields, path.as_ref());
    let columns = columns.and_then(|node| read_columns(reader, node, format.as_ref()));
    let columns = columns.unwrap_or(Members::unknown());
    let is_delta = format == Some(SourceFormat::Delta);
    let path = path.filter(|path| !is_delta || is_table(reader, path));
    let partitions = match fields.get("partitions") {
        Some(node) if is_delta => {
            reader.refuse(
                &node.span,
                "a Delta table says itself which of its columns are partitions",
                "leave `partitions` out",
            );
            None
        }
        Some(node) => read_partitions(reader, node, &columns, path.as_ref()),
        None => Some(Vec::new()),
    };
    let files = || {
        Some(SourcePlace::Files(SourceFiles {
            root: root?,
            path: path?.text,
            format: format?,
            partitions: partitions?,
        }))
    };
    (columns, files())
}

fn parse_retention(text: &str) -> Result<TimeSpan, TimeError> {
    let refused = |expected: String| TimeError {
        text: text.to_owned(),
        expected: expected.into(),
    };
    match TimeSpan::parse(text) {
        Ok(span) if span.micros() > 0 => Ok(span),
        Ok(_) => Err(refused("a retention: it keeps no instant".to_owned())),
        Err(_) if text == "none" => Err(refused(
            "a retention: leave `retention` out where rows are kept for good".to_owned(),
        )),
        Err(_) => Err(refused(format!("a retention: {}", TimeSpan::forms(text)))),
    }
}

/// All of it, if it has no problem; of `retention` the inner one is `None` where rows are kept for good.
fn read_source<'a>(
    reader: &mut Reader<'a>,
    name: &Name,
    fields: &Fields<'a>,
    columns: &Members<DeclaredColumn>,
    place: Option<SourcePlace>,
    retention: Option<Option<TimeSpan>>,
) -> Option<Source> {
    let timezone = match fields.get("timezone") {
        Some(node) => reader.timezone(node),
        None => Some(reader.timezone),
    };
    let event_time = reader.require_with(fields, "event_time", NO_EVENT_TIME);
    let event_time = event_time.and_then(|node| read_time(reader, node, "event_time", columns));
    let created_time = fields.get("created_time");
    let created_time = created_time.map(|node| read_time(reader, node, "created_time", columns));
    let typed = columns.items.iter().map(|column| {
        let data_type = column.data_type?;
        Some((column.name.clone(), Column { data_type }))
    });
    let mut source = Source {
        name: name.clone(),
        about: About::default(),
        place: place?,
        columns: typed.collect::<Option<IndexMap<_, _>>>()?,
        event_time: event_time?,
        created_time: match created_time {
            Some(column) => Some(column?),
            None => None,
        },
        timezone: timezone?,
        retention: retention?,
        fingerprint: Fingerprint::of([""]),
    };
    source.fingerprint = crate::validate::fingerprint::source(&source);
    columns.whole.then_some(source)
}

/// The format by `format`, else by how the path ends.
fn read_format<'a>(
    reader: &mut Reader<'a>,
    fields: &Fields<'a>,
    path: Option<&Text>,
) -> Option<SourceFormat> {
    let unread = path.and_then(|path| refuse_unread(reader, path));
    let format = match (fields.get("format"), path) {
        (Some(node), _) => reader.one_of(node, "a format", &SourceFormat::NAMED),
        (None, Some(path)) if unread.is_none() => format_of(reader, path),
        (None, _) => None,
    };
    let Some(node) = fields.get("delimiter") else {
        return format;
    };
    let delimiter = read_delimiter(reader, node, format)?;
    format.map(|_| SourceFormat::Csv { delimiter })
}

fn read_delimiter(
    reader: &mut Reader<'_>,
    node: &Node,
    format: Option<SourceFormat>,
) -> Option<u8> {
    let text = reader.text(node, "`delimiter`")?;
    let other = match format {
        Some(SourceFormat::Parquet) => Some("Parquet"),
        Some(SourceFormat::JsonLines) => Some("JSON lines"),
        Some(SourceFormat::Delta) => Some("a Delta table"),
        Some(SourceFormat::Csv { .. }) | None => None,
    };
    if let Some(other) = other {
        reader.refuse(
            &text.span,
            format!("only CSV has a delimiter, and this source is {other}"),
            "leave `delimiter` out, or say `format: csv`",
        );
        return None;
    }
    match text.text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Some(*byte),
        _ => {
            let message = format!("`{}` is not a delimiter", text.text);
            let help = "write one ASCII character, like `;` or `\"\\t\"`";
            reader.refuse(&text.span, message, help);
            None
        }
    }
}

fn read_columns<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    format: Option<&SourceFormat>,
) -> Option<Members<DeclaredColumn>> {
    let map = reader.map(node, "`columns`")?;
    if map.entries.is_empty() && map.whole {
        reader.refuse(
            &node.span,
            "the source declares no columns",
            "write `columns: {customer_id: int64, ...}`",
        );
        return None;
    }
    let mut columns = Members::none().whole_if(map.whole);
    for (key, node) in &map.entries {
        let data_type = reader.data_type(node);
        let is_csv = matches!(format, Some(SourceFormat::Csv { .. }));
        if let Some(nested) = data_type.as_ref().filter(|t| is_csv && t.value.is_nested()) {
            let message = format!("a field of CSV holds no {}", nested.value);
            reader.refuse(
                &nested.span,
                message,
                "lists, vectors and structs come from Parquet and JSON lines",
            );
        }
        columns.items.push(DeclaredColumn {
            name: key.text.clone(),
            data_type: data_type
                .filter(|_| !map.repeats(&key.text))
                .map(|data_type| data_type.value),
        });
    }
    Some(columns)
}

/// A column of instants.
fn read_time(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    columns: &Members<DeclaredColumn>,
) -> Option<String> {
    let text = reader.text(node, &format!("`{key}`"))?;
    let (message, help) = match columns.find(&text.text) {
        Found::As(DataType::Timestamp | DataType::Date) | Found::Unsure => return Some(text.text),
        Found::As(data_type) => {
            let message = format!("`{key}` names `{}`, which is {data_type}", text.text);
            (
                message,
                "declare the column as `timestamp` or `date`".to_owned(),
            )
        }
        Found::Nowhere => {
            let message = format!(
                "`{key}` names `{}`, which is not a declared column",
                text.text
            );
            let help = accepted(&text.text, &columns.names());
            let is_instant = Instant::parse(&text.text).is_ok();
            let help = match is_instant {
                true => format!(
                    "it is a column of the files, not one instant for all rows: write such a column into them; {help}"
                ),
                false => help,
            };
            (message, help)
        }
    };
    reader.refuse(&text.span, message, help);
    None
}
