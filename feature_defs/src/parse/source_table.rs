//! A source that is a table of a database.

use crate::name::Name;
use crate::parse::reader::{Fields, Reader};
use crate::parse::yaml::Text;
use crate::source::SourceTable;
use crate::suggestion::accepted;

/// Keys of sources that are tables.
pub(crate) const TABLE_KEYS: [&str; 2] = ["database", "table"];

/// Keys of sources that are files.
const FILE_KEYS: [&str; 5] = ["root", "path", "format", "delimiter", "partitions"];

/// The schema of a table that names none.
const SCHEMA: &str = "public";

/// `database: name` and `table: schema.table`, and nothing that is said of files.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, fields: &Fields<'a>) -> Option<SourceTable> {
    let mut of_files = FILE_KEYS.iter().filter(|key| fields.get(key).is_some());
    let beside = of_files.next().copied();
    if let Some(key) = beside {
        let said = TABLE_KEYS.iter().find(|key| fields.get(key).is_some());
        let said = said.unwrap_or(&TABLE_KEYS[0]);
        let message =
            format!("`{key}` stands beside `{said}`: a source is either files or a table");
        let help = "keep `path` and what belongs to it, or `database` and `table`";
        reader.refuse(&fields.key_span(key), message, help);
    }
    let database = reader.require(fields, "database");
    let database = database.and_then(|node| reader.text(node, "`database`"));
    let database = database.and_then(|text| read_database(reader, &text));
    let table = reader.require(fields, "table");
    let table = table.and_then(|node| reader.text(node, "`table`"));
    let table = table.and_then(|text| read_table(reader, &text));
    let (schema, table) = table?;
    let table = SourceTable {
        database: database?,
        schema,
        table,
    };
    beside.is_none().then_some(table)
}

fn read_database(reader: &mut Reader<'_>, text: &Text) -> Option<Name> {
    let databases = reader.databases?;
    if let Some((name, _)) = databases.get_key_value(text.text.as_str()) {
        return Some(name.clone());
    }
    let known: Vec<&str> = databases.keys().map(Name::as_str).collect();
    let (message, help) = if text.text.contains("://") {
        let message = "`database` is a name of the settings, and no URL".to_owned();
        let help = "write `databases: { name: postgres://user@host/database }` in `nightfill.yaml`, and the name here";
        (message, help.to_owned())
    } else if known.is_empty() {
        let message = format!("the project has no database `{}`", text.text);
        let help = format!(
            "write `databases: {{ {}: postgres://user@host/database }}` in `nightfill.yaml`",
            text.text
        );
        (message, help)
    } else {
        let message = format!("the project has no database `{}`", text.text);
        (message, accepted(&text.text, &known))
    };
    reader.refuse(&text.span, message, help);
    None
}

/// Schema and table, as the database writes them.
fn read_table(reader: &mut Reader<'_>, text: &Text) -> Option<(String, String)> {
    const FORM: &str = "write `schema.table`, in the case in which the database keeps the names; a name alone is in schema `public`";
    const VIEW: &str = "make a view of it in the database, and name that";
    let written = text.text.as_str();
    let (schema, table) = written.split_once('.').unwrap_or((SCHEMA, written));
    let (message, help) = if written.to_lowercase().starts_with("select ") {
        ("a source is a table, and not a query".to_owned(), VIEW)
    } else if table.contains('.') {
        (format!("`{written}` has more than one dot"), FORM)
    } else if written.contains('"') {
        let message = format!("`{written}` has quotes in it, which are no part of a name");
        (message, FORM)
    } else if schema.is_empty() || table.is_empty() {
        (format!("`{written}` is not a table"), FORM)
    } else {
        return Some((schema.to_owned(), table.to_owned()));
    };
    reader.refuse(&text.span, message, help);
    None
}
