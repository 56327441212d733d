//! Which of a source's columns stand in the paths of its files.

use crate::data_type::DataType;
use crate::parse::members::{Found, Members};
use crate::parse::objects::DeclaredColumn;
use crate::parse::reader::Reader;
use crate::parse::yaml::{Node, Text};
use crate::suggestion::accepted;

/// `partitions: [column, ...]`
pub(crate) fn read_partitions<'a>(
    reader: &mut Reader<'a>,
    node: &'a Node,
    columns: &Members<DeclaredColumn>,
    path: Option<&Text>,
) -> Option<Vec<String>> {
    let items = reader.list(node, "`partitions`")?;
    if items.is_empty() {
        let help = "write `partitions: [column, ...]`, or leave it out";
        reader.refuse(&node.span, "no column is a partition", help);
        return None;
    }
    let mut partitions: Vec<String> = Vec::new();
    let mut whole = true;
    for item in items {
        let text = reader.text(item, "a column");
        match text.and_then(|text| partition(reader, text, &partitions, columns, path)) {
            Some(column) => partitions.push(column),
            None => whole = false,
        }
    }
    whole.then_some(partitions)
}

fn partition(
    reader: &mut Reader<'_>,
    column: Text,
    earlier: &[String],
    columns: &Members<DeclaredColumn>,
    path: Option<&Text>,
) -> Option<String> {
    let name = column.text.as_str();
    let (message, help) = if earlier.contains(&column.text) {
        let message = format!("the column `{name}` stands here twice");
        (message, "keep one of the two".to_owned())
    } else {
        match columns.find(name) {
            Found::As(data_type) if data_type.is_nested() || data_type == DataType::Bytes => {
                let message = format!("the column `{name}` is {data_type}, which no path holds");
                (
                    message,
                    "declare the text that stands in the path, or leave the column in the files"
                        .to_owned(),
                )
            }
            Found::Nowhere => {
                let message = format!("`{name}` is not a declared column");
                (message, accepted(name, &columns.names()))
            }
            Found::As(_) | Found::Unsure => match path.filter(|path| !may_hold(&path.text, name)) {
                Some(path) => {
                    let message = format!("no folder of `{}` can be `{name}=...`", path.text);
                    (
                        message,
                        format!(
                            "name the folders in `path`, like `data/{name}=*/*.parquet`, or leave the column in the files"
                        ),
                    )
                }
                None => return Some(column.text),
            },
        }
    };
    reader.refuse(&column.span, message, help);
    None
}

/// Whether a folder of the path or glob may be named `column=...`.
fn may_hold(path: &str, column: &str) -> bool {
    let Some((folders, _)) = path.rsplit_once('/') else {
        return false;
    };
    // What stands before `=` may be percent-encoded.
    let mut folders = folders.split('/');
    folders.any(|folder| folder.contains(['*', '?', '[', '%']) || is_of(folder, column))
}

fn is_of(folder: &str, column: &str) -> bool {
    folder
        .split_once('=')
        .is_some_and(|(name, _)| name == column)
}
