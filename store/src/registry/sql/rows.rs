//! From rows of the tables to what the registry answers, and numbers both ways.

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::error::{damaged, failed};
use crate::error::{Error, ErrorKind, Result};
use crate::registry::{
    AppliedDefinitions, BundleEntry, NewDefinitions, NewRun, Run, RunId, VersionEntry,
};

/// Whose a version of the definitions is.
pub(super) fn project(row: &AnyRow) -> Result<Option<Name>> {
    let name: Option<String> = row.try_get("project").map_err(failed)?;
    let name = name.map(|name| Name::parse(&name));
    name.transpose()
        .map_err(|error| damaged("a project's name").with_source(error))
}

pub(super) fn definitions(row: &AnyRow) -> Result<AppliedDefinitions> {
    Ok(AppliedDefinitions {
        version: number(row, "version")?,
        definitions: NewDefinitions {
            project: project(row)?,
            fingerprint: fingerprint(row)?,
            files: json(row, "files")?,
            applied_at: instant(row, "applied_at")?,
            applied_by: row.try_get("applied_by").map_err(failed)?,
        },
    })
}

pub(super) fn version(row: &AnyRow) -> Result<VersionEntry> {
    Ok(VersionEntry {
        version: number(row, "version")?,
        project: project(row)?,
        fingerprint: fingerprint(row)?,
        applied_at: instant(row, "applied_at")?,
        applied_by: row.try_get("applied_by").map_err(failed)?,
    })
}

pub(super) fn run(row: &AnyRow) -> Result<Run> {
    let finished_at: Option<i64> = row.try_get("finished_at").map_err(failed)?;
    let finished = match finished_at {
        Some(at) => Some((Instant::from_micros(at), json(row, "outcome")?)),
        None => None,
    };
    Ok(Run {
        id: RunId(row.try_get("id").map_err(failed)?),
        run: NewRun {
            as_of: instant(row, "as_of")?,
            definitions_version: number(row, "definitions_version")?,
            started_at: instant(row, "started_at")?,
        },
        finished,
    })
}

pub(super) fn bundle(row: &AnyRow) -> Result<BundleEntry> {
    let model: String = row.try_get("model").map_err(failed)?;
    Ok(BundleEntry {
        model: Name::parse(&model).map_err(|error| damaged("a bundle").with_source(error))?,
        fingerprint: fingerprint(row)?,
        size: number(row, "size")?,
        imported_at: instant(row, "imported_at")?,
    })
}

/// A JSON column.
pub(super) fn json<T: DeserializeOwned>(row: &AnyRow, column: &str) -> Result<T> {
    let text: String = row.try_get(column).map_err(failed)?;
    let damage = || damaged(&format!("column `{column}`"));
    serde_json::from_str(&text).map_err(|error| damage().with_source(error))
}

/// The JSON of a column.
pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Internal, "a record does not print as JSON").with_source(error)
    })
}

/// A column of whole numbers, none of them negative.
pub(super) fn number(row: &AnyRow, column: &str) -> Result<u64> {
    let number: i64 = row.try_get(column).map_err(failed)?;
    u64::try_from(number).map_err(|_| damaged(&format!("column `{column}`")))
}

/// A number as the database holds it.
pub(super) fn to_number(number: u64) -> Result<i64> {
    i64::try_from(number)
        .map_err(|_| Error::new(ErrorKind::Invalid, format!("number {number} is too large")))
}

fn instant(row: &AnyRow, column: &str) -> Result<Instant> {
    row.try_get(column)
        .map(Instant::from_micros)
        .map_err(failed)
}

fn fingerprint(row: &AnyRow) -> Result<Fingerprint> {
    let text: String = row.try_get("fingerprint").map_err(failed)?;
    Fingerprint::parse(&text).ok_or_else(|| damaged("a fingerprint"))
}
