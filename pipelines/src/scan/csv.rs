//! CSV files: a header line, columns by name, and a line for every error. An empty field is null, a quoted empty one is
//! empty text.

use std::io::BufReader;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::source::Source;
use feature_defs::value::Value;

use super::columns::Columns;
use super::csv_records::Records;
use super::csv_values::{parse, refusal};
use super::files::{FileBytes, FilePlace, SourceFile};
use super::fixed::FixedColumns;
use super::partitions;
use crate::column::Builder;
use crate::error::{Error, Result};
use crate::session::BATCH_ROWS;

/// A CSV file whose header has all declared columns.
#[derive(Debug)]
pub(super) struct CsvFile {
    file: SourceFile,
    delimiter: u8,
    fixed: FixedColumns,
    /// For each declared column, the field that holds it, unless the path does.
    fields: Vec<Option<usize>>,
}

/// What to try when the header is one field that another delimiter would part.
fn other_delimiter(header: &[String]) -> String {
    other_sign(header).map_or_else(String::new, |sign| {
        format!(
            "; does the source need `delimiter: {:?}`?",
            sign.to_string()
        )
    })
}

/// The delimiter that parts a header which is one field.
fn other_sign(header: &[String]) -> Option<char> {
    let [only] = header else {
        return None;
    };
    let mut signs = [';', '\t', '|', ','].into_iter();
    signs.find(|sign| only.contains(*sign))
}

impl CsvFile {
    pub(super) fn open(file: SourceFile, source: &Source, delimiter: u8) -> Result<Self> {
        let (_, header) = open(&file, delimiter)?;
        let fixed = partitions::in_path(&file, source)?;
        let mut fields = Vec::with_capacity(source.columns.len());
        let mut missing = Vec::new();
        for (column, name) in source.columns.keys().enumerate() {
            let field = match fixed.has(column) {
                true => None,
                false => header.iter().position(|field| field == name),
            };
            if field.is_none() && !fixed.has(column) {
                missing.push(name.as_str());
            }
            fields.push(field);
        }
        if !missing.is_empty() {
            let message = format!(
                "has no column `{}`, which source `{}` declares (its header has: {}){}{}",
                missing.join("`, `"),
                source.name,
                header.join(", "),
                partitions::hint(&file, &missing),
                other_delimiter(&header)
            );
            return Err(Error::input(&file.shown, message));
        }
        Ok(Self {
            file,
            delimiter,
            fixed,
            fields,
        })
    }

    /// Reads some columns of all rows in their declared types, batch by batch with the number of its first row in the
    /// file (from 1), until `take` says false.
    pub(super) fn read(
        &self,
        wanted: &Columns,
        take: &mut dyn FnMut(u64, Vec<ArrayRef>) -> Result<bool>,
    ) -> Result<()> {
        let (mut records, header) = open(&self.file, self.delimiter)?;
        let mut first_row = 1;
        loop {
            let in_file = wanted.read().iter();
            let in_file = in_file.filter_map(|column| Some((*column, self.fields[*column]?)));
            let mut builders: Vec<(usize, usize, Builder)> = in_file
                .map(|(column, field)| (column, field, Builder::new(wanted.data_type(column))))
                .collect();
            let mut rows = 0;
            while rows < BATCH_ROWS && next(&mut records, &self.file, header.len())? {
                for (column, field, builder) in &mut builders {
                    let place = Place {
                        file: &self.file.shown,
                        line: records.line(),
                        column: wanted.name(*column),
                    };
                    let field = records.field(*field);
                    let data_type = wanted.data_type(*column);
                    append(builder, field, data_type, wanted.timezone(), &place)?;
                }
                rows += 1;
            }
            if rows == 0 {
                return Ok(());
            }
            let mut built = builders.iter_mut().map(|(_, _, builder)| builder.finish());
            let columns = wanted.read().iter().map(|column| {
                let fixed = self.fixed.column(*column, rows);
                fixed.or_else(|| built.next())
            });
            if !take(first_row, columns.flatten().collect())? {
                return Ok(());
            }
            first_row += rows as u64;
        }
    }

    pub(super) const fn file(&self) -> &SourceFile {
        &self.file
    }
}

/// Where a field stands, for messages.
struct Place<'a> {
    file: &'a str,
    line: u64,
    column: &'a str,
}

fn open(file: &SourceFile, delimiter: u8) -> Result<(Records<BufReader<FileBytes>>, Vec<String>)> {
    let mut records = Records::new(BufReader::new(file.open()?), delimiter);
    let broken = |message: String| Error::input(&file.shown, message);
    if !records.next().map_err(broken)? {
        return Err(broken("has no header line".to_owned()));
    }
    let mut header: Vec<String> = Vec::with_capacity(records.len());
    for field in 0..records.len() {
        let name = records.field(field).0;
        let name = std::str::from_utf8(name).map_err(|_| broken("line 1: not UTF-8".to_owned()))?;
        if header.iter().any(|other| other == name) {
            return Err(broken(format!(
                "line 1: column `{name}` stands twice in the header"
            )));
        }
        header.push(name.to_owned());
    }
    Ok((records, header))
}

/// Goes to the next record that is not an empty line; false at the end.
fn next(
    records: &mut Records<BufReader<FileBytes>>,
    file: &SourceFile,
    fields: usize,
) -> Result<bool> {
    loop {
        if !records
            .next()
            .map_err(|message| Error::input(&file.shown, message))?
        {
            return Ok(false);
        }
        if records.len() == fields {
            return Ok(true);
        }
        if !records.is_empty_line() {
            let message = format!(
                "line {}: {} fields, the header has {fields}",
                records.line(),
                records.len()
            );
            return Err(Error::input(&file.shown, message));
        }
    }
}

fn append(
    builder: &mut Builder,
    (text, quoted): (&[u8], bool),
    data_type: DataType,
    zone: Tz,
    place: &Place<'_>,
) -> Result<()> {
    let value = if text.is_empty() && !quoted {
        Some(Value::Null)
    } else {
        parse(text, data_type, zone)
    };
    let appended = value.map(|value| builder.append(&value));
    match appended {
        Some(Ok(())) => Ok(()),
        _ => Err(Error::input(
            place.file,
            format!(
                "line {}, column `{}`: {}",
                place.line,
                place.column,
                refusal(text, data_type, zone)
            ),
        )),
    }
}

/// Reads a whole CSV file whose columns may not all be declared: those that `declared` does not know become int64,
/// float64, bool or string, the first that holds all their values without loss. A number with leading zeros is a code, and
/// one with more digits than its type is sure of stays a string.
pub(crate) fn read_frame(
    path: &std::path::Path,
    declared: &dyn Fn(&str) -> Option<DataType>,
    zone: Tz,
) -> Result<RecordBatch> {
    let file = SourceFile {
        place: FilePlace::Local(path.to_owned()),
        path: String::new(),
        shown: path.display().to_string(),
        logged: None,
    };
    let (mut records, header) = open(&file, b',')?;
    if let Some(sign) = other_sign(&header) {
        let message = format!(
            "its columns are parted by {:?}, and those of a frame by \",\": save it so, or as Parquet",
            sign.to_string()
        );
        return Err(Error::input(&file.shown, message));
    }
    let mut lines = Vec::new();
    let mut columns: Vec<Vec<(Vec<u8>, bool)>> = vec![Vec::new(); header.len()];
    while next(&mut records, &file, header.len())? {
        lines.push(records.line());
        for (field, column) in columns.iter_mut().enumerate() {
            let (text, quoted) = records.field(field);
            column.push((text.to_owned(), quoted));
        }
    }
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, column) in header.iter().zip(&columns) {
        let data_type = declared(name).unwrap_or_else(|| guess(column, zone));
        if data_type.is_nested() {
            let message = format!(
                "column `{name}` is {data_type}, which no field of CSV holds: write the frame as Parquet"
            );
            return Err(Error::input(&file.shown, message));
        }
        let mut builder = Builder::new(data_type);
        for ((text, quoted), line) in column.iter().zip(&lines) {
            let place = Place {
                file: &file.shown,
                line: *line,
                column: name,
            };
            append(&mut builder, (text, *quoted), data_type, zone, &place)?;
        }
        fields.push(Field::new(name, data_type.to_arrow(), true));
        arrays.push(builder.finish());
    }
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(lines.len()));
    RecordBatch::try_new_with_options(std::sync::Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|e| Error::input(&file.shown, e.to_string()))
}

fn guess(column: &[(Vec<u8>, bool)], zone: Tz) -> DataType {
    let holds_all = |data_type: &DataType| {
        column.iter().all(|(text, quoted)| {
            (text.is_empty() && !quoted)
                || (keeps_digits(text, *data_type) && parse(text, *data_type, zone).is_some())
        })
    };
    let guesses = [DataType::Int64, DataType::Float64, DataType::Bool];
    guesses
        .into_iter()
        .find(holds_all)
        .unwrap_or(DataType::String)
}

/// Whether a text, if it is a number of this type, comes back from it as it was, but for the form of its exponent.
fn keeps_digits(text: &[u8], data_type: DataType) -> bool {
    /// Every decimal number of so many digits is another `f64`.
    const SURE_DIGITS: usize = 15;
    let number = text.strip_prefix(b"-").unwrap_or(text);
    let has_sign = number.starts_with(b"+");
    let has_leading_zero = matches!(number, [b'0', b'0'..=b'9', ..]);
    let mantissa = number.split(|byte| matches!(byte, b'e' | b'E')).next();
    let digits = mantissa.unwrap_or_default().iter();
    let digits = digits.filter(|byte| byte.is_ascii_digit()).count();
    match data_type {
        DataType::Int64 => !has_sign && !has_leading_zero,
        DataType::Float64 => !has_sign && !has_leading_zero && digits <= SURE_DIGITS,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_columns_of_frames_take_the_type_that_loses_nothing() {
        for (values, expected) in [
            (&["1", "-2", ""][..], DataType::Int64),
            (&["1", "2.5", "1e-7"], DataType::Float64),
            (&["true", "false"], DataType::Bool),
            (&["00123", "7"], DataType::String),
            (&["007.5"], DataType::String),
            (&["+49301"], DataType::String),
            (&["0", "0.5"], DataType::Float64),
            (&["9223372036854775807"], DataType::Int64),
            (&["12345678901234567890"], DataType::String),
            (&["0.1234567890123456"], DataType::String),
            (&["a", "1"], DataType::String),
        ] {
            let column: Vec<(Vec<u8>, bool)> = values
                .iter()
                .map(|text| (text.as_bytes().to_vec(), false))
                .collect();
            assert_eq!(guess(&column, chrono_tz::UTC), expected, "{values:?}");
        }
    }

    #[test]
    fn a_frame_of_lists_is_no_csv() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("frame.csv");
        std::fs::write(&path, "id,recent\n1,\"[1]\"\n").expect("file");
        let declared = |name: &str| (name == "recent").then(|| DataType::Int64.list_of())?;
        let refused = read_frame(&path, &declared, chrono_tz::UTC).expect_err("a list");
        let said = "column `recent` is list<int64>, which no field of CSV holds: write the frame as Parquet";
        assert!(refused.to_string().ends_with(said), "{refused}");
    }

    #[test]
    fn another_delimiter_is_suggested() {
        let header = |fields: &[&str]| fields.iter().map(ToString::to_string).collect::<Vec<_>>();
        let hint = other_delimiter(&header(&["id;at;amount"]));
        assert_eq!(hint, r#"; does the source need `delimiter: ";"`?"#);
        assert_eq!(
            other_delimiter(&header(&["id\tat"])),
            r#"; does the source need `delimiter: "\t"`?"#
        );
        assert_eq!(other_delimiter(&header(&["id"])), "");
        assert_eq!(other_delimiter(&header(&["id", "a;b"])), "");
    }
}
