//! From the body's bytes to whole columns: every key there, every field there or defaulted, all of one length.

use feature_defs::suggestion::meant;

use crate::error::{Error, ErrorKind, Result};
use crate::predict::body::{Body, Column, Expected, Given};

/// Reads a request into `body`. Returns how many entities it asks for.
pub(crate) fn parse(bytes: &[u8], expected: Expected<'_>, body: &mut Body) -> Result<usize> {
    body.read(bytes, expected)?;
    let rows = length(expected, body)?;
    for (column, given) in expected.keys.iter().zip(&body.keys) {
        if !given.given {
            let mut message = format!("missing key {}", named_in(column, expected.keys));
            let key = column.name.as_str();
            let mut strangers = body.strangers.iter();
            if let Some(near) = strangers.find(|name| meant(name, [key]).is_some()) {
                message = format!("{message}; `{near}` is none: did you mean `{key}`?");
            }
            return Err(invalid(message).at(format!("$.entities.{}", column.name)));
        }
        same_length(column, given, rows, "entities")?;
    }
    for (column, given) in expected.fields.iter().zip(&mut body.fields) {
        if given.given {
            same_length(column, given, rows, "request")?;
            continue;
        }
        let Some(default) = &column.default else {
            let message = format!(
                "missing field `{}` of type {}",
                column.name, column.data_type
            );
            return Err(invalid(message).at(format!("$.request.{}", column.name)));
        };
        given.values.resize(rows, default.clone());
    }
    Ok(rows)
}

/// The length of the first column there is.
fn length(expected: Expected<'_>, body: &Body) -> Result<usize> {
    let columns = body.keys.iter().chain(&body.fields);
    let first = columns.into_iter().find(|column| column.given);
    match first {
        Some(column) => Ok(column.values.len()),
        None if nothing_is_required(expected) => {
            let message = "no field says how many results are asked for: give one";
            Err(invalid(message).at("$.request"))
        }
        // The caller finds the first key or field that is missing.
        None => Ok(0),
    }
}

fn nothing_is_required(expected: Expected<'_>) -> bool {
    let mut fields = expected.fields.iter();
    expected.keys.is_empty() && fields.all(|field| field.default.is_some())
}

fn same_length(column: &Column, given: &Given, rows: usize, section: &str) -> Result<()> {
    if given.values.len() == rows {
        return Ok(());
    }
    let message = format!(
        "`{}` has {} values, other columns have {rows}: one an entity is expected",
        column.name,
        given.values.len()
    );
    Err(invalid(message).at(format!("$.{section}.{}", column.name)))
}

fn named_in(column: &Column, keys: &[Column]) -> String {
    let all: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
    format!(
        "`{}` of type {} (the keys are: `{}`)",
        column.name,
        column.data_type,
        all.join("`, `")
    )
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests;
