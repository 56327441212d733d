//! Columns that stand in the paths of files: `data/year=2024/month=05/part.parquet`, as Hive and Spark lay them out.

use feature_defs::data_type::DataType;
use feature_defs::source::Source;
use feature_defs::value::Value;
use percent_encoding::percent_decode_str;

use super::csv_values::{parse, refusal};
use super::files::SourceFile;
use super::fixed::FixedColumns;
use crate::error::{Error, Result};

/// What stands in the place of a null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Reads the folders of the file's path below its root.
///
/// # Errors
/// Where a partition is in no folder or in two, and where its text is no value of the declared type.
pub(super) fn in_path(file: &SourceFile, source: &Source) -> Result<FixedColumns> {
    FixedColumns::of(source, |name, column| {
        if !source
            .partitions()
            .iter()
            .any(|partition| partition == name)
        {
            return Ok(None);
        }
        let text = folder_of(file, name, source)?;
        Ok(Some(match text.as_str() {
            NULL => Value::Null,
            text => parse(text.as_bytes(), column.data_type, source.timezone)
                .ok_or_else(|| refused(file, name, text, column.data_type, source))?,
        }))
    })
}

/// What to write in the source where columns that a file lacks stand in its path.
pub(super) fn hint(file: &SourceFile, missing: &[&str]) -> String {
    let mut found: Vec<String> = Vec::new();
    for (name, _) in folders(file) {
        if missing.contains(&name.as_str()) && !found.contains(&name) {
            found.push(name);
        }
    }
    if found.is_empty() {
        return String::new();
    }
    let found = found.join(", ");
    format!("; folders of its path hold it: write `partitions: [{found}]` in the source")
}

/// The text that the path has for a column.
fn folder_of(file: &SourceFile, column: &str, source: &Source) -> Result<String> {
    let mut texts = folders(file).filter(|(name, _)| name == column);
    match (texts.next(), texts.next()) {
        (Some((_, text)), None) => Ok(text),
        (None, _) => Err(Error::input(
            &file.shown,
            format!(
                "no folder of its path is `{column}=...`, and source `{}` has the column among its `partitions`",
                source.name
            ),
        )),
        (Some(_), Some(_)) => {
            let message = format!("two folders of its path are `{column}=...`");
            Err(Error::input(&file.shown, message))
        }
    }
}

/// Columns and texts of the path's folders, without their encoding.
fn folders(file: &SourceFile) -> impl Iterator<Item = (String, String)> {
    let folders = file
        .path
        .rsplit_once('/')
        .map_or("", |(folders, _)| folders);
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    folders
        .split('/')
        .filter_map(|folder| folder.split_once('='))
        .map(move |(name, text)| (decoded(name), decoded(text)))
}

fn refused(
    file: &SourceFile,
    column: &str,
    text: &str,
    data_type: DataType,
    source: &Source,
) -> Error {
    let why = refusal(text.as_bytes(), data_type, source.timezone);
    Error::input(&file.shown, format!("column `{column}` of its path: {why}"))
}

#[cfg(test)]
mod tests;
