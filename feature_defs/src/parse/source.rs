//! `sources:`

use indexmap::IndexMap;

use crate::data_type::DataType;
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};
use crate::source::{Column, Source, SourceFormat};
use crate::suggestion::accepted;

const KEYS: [&str; 8] = [
    "path",
    "format",
    "delimiter",
    "columns",
    "event_time",
    "created_time",
    "timezone",
    "description",
];

/// `name: {path, columns: {column: type}, event_time, created_time?, format?, delimiter?, timezone?, description?}`
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    key: &'a Text,
    name: &Name,
    node: &'a Node,
) -> Option<Source> {
    let fields = reader.fields(node, &key.span, &format!("source `{name}`"), &KEYS)?;
    let description = reader.description(&fields);
    let path = reader.require(&fields, "path");
    let path = path.and_then(|node| read_path(reader, node));
    let csv = match (fields.get("format"), &path) {
        (Some(node), _) => reader.one_of(node, "a format", &[("parquet", false), ("csv", true)])?,
        (None, Some(path)) => path.ends_with(".csv"),
        (None, None) => false,
    };
    let format = match fields.get("delimiter") {
        Some(node) => SourceFormat::Csv {
            delimiter: read_delimiter(reader, node, csv)?,
        },
        None if csv => SourceFormat::Csv { delimiter: b',' },
        None => SourceFormat::Parquet,
    };
    let timezone = match fields.get("timezone") {
        Some(node) => reader.timezone(node)?,
        None => reader.timezone,
    };
    let columns = reader.require(&fields, "columns");
    let columns = columns.and_then(|node| read_columns(reader, node));
    let event_time = reader.require(&fields, "event_time");
    let event_time =
        event_time.and_then(|node| read_time(reader, node, "event_time", columns.as_ref()));
    let created_time = match fields.get("created_time") {
        Some(node) => Some(read_time(reader, node, "created_time", columns.as_ref())?),
        None => None,
    };
    let mut source = Source {
        name: name.clone(),
        description,
        path: path?,
        format,
        columns: columns?,
        event_time: event_time?,
        created_time,
        timezone,
        fingerprint: Fingerprint::of([""]),
    };
    source.fingerprint = crate::validate::fingerprint::source(&source);
    Some(source)
}

/// A path or glob that stays below the root.
fn read_path(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let text = reader.text(node, "`path`")?;
    let path = text.text.as_str();
    let windows_root = path.as_bytes().get(1) == Some(&b':');
    let leaves = path.split('/').any(|part| part == "..") || path.contains('\\');
    if path.is_empty()
        || path.starts_with('/')
        || path.starts_with('~')
        || path.contains("://")
        || windows_root
        || leaves
    {
        let message = format!("the path `{path}` leaves the project");
        reader.refuse(
            &text.span,
            message,
            "write a path or glob below the project's root, like `data/purchases/*.parquet`",
        );
        return None;
    }
    Some(text.text)
}

fn read_delimiter(reader: &mut Reader<'_>, node: &Node, csv: bool) -> Option<u8> {
    let text = reader.text(node, "`delimiter`")?;
    match text.text.as_bytes() {
        [byte] if csv && byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Some(*byte),
        _ => {
            let help = "only `format: csv` has a delimiter, of one ASCII character, like `;`";
            reader.refuse(
                &text.span,
                format!("`{}` is not a delimiter here", text.text),
                help,
            );
            None
        }
    }
}

fn read_columns<'a>(reader: &mut Reader<'a>, node: &'a Node) -> Option<IndexMap<String, Column>> {
    let entries = reader.map(node, "`columns`")?;
    if entries.is_empty() {
        reader.refuse(
            &node.span,
            "the source declares no columns",
            "write `columns: {customer_id: int64, ...}`",
        );
        return None;
    }
    let mut columns = IndexMap::new();
    for (key, node) in entries {
        if let Some(data_type) = reader.data_type(node) {
            columns.insert(
                key.text.clone(),
                Column {
                    data_type: data_type.value,
                },
            );
        }
    }
    (columns.len() == entries.len()).then_some(columns)
}

/// A column of instants. Without columns there is nothing to check it against.
fn read_time(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    columns: Option<&IndexMap<String, Column>>,
) -> Option<String> {
    let text = reader.text(node, &format!("`{key}`"))?;
    let columns = columns?;
    let Some(column) = columns.get(&text.text) else {
        let names: Vec<&String> = columns.keys().collect();
        reader.refuse(
            &text.span,
            format!(
                "`{key}` names `{}`, which is not a declared column",
                text.text
            ),
            accepted(&text.text, &names),
        );
        return None;
    };
    if !matches!(column.data_type, DataType::Timestamp | DataType::Date) {
        let message = format!(
            "`{key}` names `{}`, which is a {}",
            text.text, column.data_type
        );
        reader.refuse(
            &text.span,
            message,
            "declare the column as `timestamp` or `date`",
        );
        return None;
    }
    Some(text.text)
}
