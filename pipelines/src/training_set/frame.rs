//! Entity frames: whose features, as of when, and what else a training set keeps.

use std::collections::BTreeMap;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::DataType as ArrowType;
use chrono_tz::Tz;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::feature_service::{FeatureService, Origin};
use feature_defs::request_view::RequestField;
use feature_defs::suggestion::meant;
use feature_defs::time::Instant;
use feature_defs::value::Value;

use super::format::Format;
use crate::error::{Error, Result};
use crate::keys;
use crate::scan::{Conversion, parse_text, read_csv_frame, refused_text, shown_type};

/// An entity frame in memory.
#[derive(Debug)]
pub(super) struct Frame {
    shown: String,
    batch: RecordBatch,
    as_ofs: Vec<Instant>,
    /// In which times without a zone are meant.
    timezone: Tz,
}

impl Frame {
    /// Reads a frame for a service.
    pub(super) fn read(
        definitions: &Definitions,
        service: &FeatureService,
        path: &Path,
        as_of: &str,
    ) -> Result<Self> {
        let shown = path.display().to_string();
        let timezone = definitions.project.timezone;
        let is_csv = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let batch = if is_csv {
            let declared = declared_types(definitions, service, as_of);
            let declared = |name: &str| declared.get(name).copied();
            read_csv_frame(path, &declared, timezone)?
        } else {
            let format = Format::of(path).unwrap_or(Format::Parquet);
            format.read(path, &shown)?
        };
        let mut frame = Self {
            shown,
            batch,
            as_ofs: Vec::new(),
            timezone,
        };
        frame.refuse_repeated_names()?;
        frame.refuse_collisions(service)?;
        frame.as_ofs = frame.read_as_ofs(as_of)?;
        Ok(frame)
    }

    pub(super) const fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// The latest as-of of any row.
    pub(super) fn latest_as_of(&self) -> Instant {
        let latest = self.as_ofs.iter().max();
        latest.copied().unwrap_or(Instant::from_micros(i64::MIN))
    }

    pub(super) fn as_ofs(&self) -> &[Instant] {
        &self.as_ofs
    }

    /// The key of each row; null where a part is null.
    pub(super) fn keys(&self, entity: &Entity) -> Result<BinaryArray> {
        let parts = entity
            .keys
            .iter()
            .map(|part| {
                let column = self.column(part.name.as_str(), part.data_type)?;
                column.ok_or_else(|| {
                    let message = format!(
                        "has no column `{}`, a key part of `{}`; {}",
                        part.name,
                        entity.name,
                        self.held_beside(part.name.as_str())
                    );
                    Error::input(&self.shown, message)
                })
            })
            .collect::<Result<Vec<_>>>()?;
        keys::of_columns(&parts, self.batch.num_rows())
    }

    /// A request field of each row: the column of its name, or its default where there is no such column.
    pub(super) fn field(&self, field: &RequestField) -> Result<ArrayRef> {
        let name = field.name.as_str();
        let Some(column) = self.column(name, field.data_type)? else {
            let Some(default) = &field.default else {
                let message = format!(
                    "has no column `{name}`, a request field without a default; {}",
                    self.held_beside(name)
                );
                return Err(Error::input(&self.shown, message));
            };
            let mut column = crate::column::Builder::new(field.data_type);
            for _ in 0..self.batch.num_rows() {
                column.append(default).map_err(|_| {
                    Error::Refused(format!("the default of `{name}` does not fit its type"))
                })?;
            }
            return Ok(column.finish());
        };
        if !field.nullable && column.null_count() > 0 {
            let row = (0..column.len())
                .find(|row| column.is_null(*row))
                .unwrap_or(0)
                + 1;
            let message =
                format!("column `{name}`, row {row}: null, which the request field may not be");
            return Err(Error::input(&self.shown, message));
        }
        Ok(column)
    }

    /// A column in a declared type, to which the frame's type must widen; texts are read as times, as CSV has them.
    fn column(&self, name: &str, declared: DataType) -> Result<Option<ArrayRef>> {
        self.converted(name, declared, &format!(", or declare `{name}` otherwise"))
    }

    fn converted(
        &self,
        name: &str,
        declared: DataType,
        otherwise: &str,
    ) -> Result<Option<ArrayRef>> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Ok(None);
        };
        if matches!(declared, DataType::Timestamp | DataType::Date)
            && DataType::from_arrow(column.data_type()) == Some(DataType::String)
        {
            return self.times(name, column, declared).map(Some);
        }
        let conversion = Conversion::new(column.data_type(), declared).map_err(|mismatch| {
            let message = format!(
                "column `{name}{}` is {}, which does not widen to `{}` without loss: convert it in the frame{otherwise}",
                mismatch.path,
                shown_type(&mismatch.found),
                mismatch.declared
            );
            Error::input(&self.shown, message)
        })?;
        let converted = conversion.apply(column, self.timezone).map_err(|failure| {
            let message = format!(
                "column `{name}{}`, row {}: {}",
                failure.path,
                failure.row + 1,
                failure.message
            );
            Error::input(&self.shown, message)
        })?;
        Ok(Some(converted))
    }

    /// Times that are written as texts.
    fn times(&self, name: &str, column: &ArrayRef, declared: DataType) -> Result<ArrayRef> {
        let broken = |row: usize, message: String| {
            let message = format!("column `{name}`, row {}: {message}", row + 1);
            Error::input(&self.shown, message)
        };
        let texts = arrow::compute::cast(column, &ArrowType::Utf8)
            .map_err(|error| broken(0, error.to_string()))?;
        let mut times = crate::column::Builder::new(declared);
        for (row, text) in texts.as_string::<i32>().iter().enumerate() {
            let value = match text.map(str::as_bytes) {
                None => Some(Value::Null),
                Some(text) => parse_text(text, declared, self.timezone),
            };
            let refused = || {
                let text = text.unwrap_or_default().as_bytes();
                broken(row, refused_text(text, declared, self.timezone))
            };
            let value = value.ok_or_else(refused)?;
            times.append(&value).map_err(|_| refused())?;
        }
        Ok(times.finish())
    }

    fn read_as_ofs(&self, name: &str) -> Result<Vec<Instant>> {
        let otherwise = " to a timestamp, a date, or a text like `1997-10-01T00:00:00Z`";
        let column = self.converted(name, DataType::Timestamp, otherwise)?.ok_or_else(|| {
            let message =
                format!("has no column `{name}` with the instant from which each row looks; {}: `--as-of-column` names it", self.held_beside(name));
            Error::input(&self.shown, message)
        })?;
        let column = arrow::array::AsArray::as_primitive::<
            arrow::datatypes::TimestampMicrosecondType,
        >(&column);
        let mut as_ofs = Vec::with_capacity(column.len());
        for (row, micros) in column.iter().enumerate() {
            let micros = micros.ok_or_else(|| {
                Error::input(
                    &self.shown,
                    format!("column `{name}`, row {}: null", row + 1),
                )
            })?;
            as_ofs.push(Instant::from_micros(micros));
        }
        Ok(as_ofs)
    }

    /// Its columns, and the one that may be meant for a column that is not there, for messages.
    fn held_beside(&self, lacking: &str) -> String {
        let schema = self.batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let meant = meant(lacking, names.iter().copied());
        let meant = meant.map(|name| format!(" (is `{name}` meant?)"));
        format!("it has: {}{}", names.join(", "), meant.unwrap_or_default())
    }

    /// Refuses rows that look from an instant that has not come: their values would be others later.
    pub(super) fn refuse_the_future(&self, column: &str, now: Instant) -> Result<()> {
        let later = |as_of: &Instant| *as_of > now;
        let Some(row) = self.as_ofs.iter().position(later) else {
            return Ok(());
        };
        let message = format!(
            "column `{column}`, row {}: {} is in the future, it is {now} now: what will be known then is not known yet",
            row + 1,
            self.as_ofs[row]
        );
        Err(Error::input(&self.shown, message))
    }

    fn refuse_repeated_names(&self) -> Result<()> {
        let schema = self.batch.schema();
        let mut names = std::collections::BTreeSet::new();
        let mut fields = schema.fields().iter();
        match fields.find(|field| !names.insert(field.name())) {
            None => Ok(()),
            Some(field) => {
                let message = format!("has two columns named `{}`: rename one", field.name());
                Err(Error::input(&self.shown, message))
            }
        }
    }

    fn refuse_collisions(&self, service: &FeatureService) -> Result<()> {
        let schema = self.batch.schema();
        let held = |name: &String| schema.column_with_name(name).is_some();
        let taken: Vec<String> = service
            .features
            .iter()
            .map(|f| f.name.clone())
            .filter(held)
            .collect();
        if taken.is_empty() {
            return Ok(());
        }
        let message = format!(
            "has columns that are named as features: `{}`",
            taken.join("`, `")
        );
        Err(Error::input(&self.shown, message))
    }
}

/// The types of the columns that a service gives a meaning to.
fn declared_types(
    definitions: &Definitions,
    service: &FeatureService,
    as_of: &str,
) -> BTreeMap<String, DataType> {
    let mut types = BTreeMap::new();
    for entity in definitions.entities.values() {
        types.extend(
            entity
                .keys
                .iter()
                .map(|part| (part.name.to_string(), part.data_type)),
        );
    }
    for feature in service
        .features
        .iter()
        .filter(|f| f.origin == Origin::Request)
    {
        let view = &definitions.request_views[&feature.reference.view];
        types.extend(
            view.inputs
                .iter()
                .map(|field| (field.name.to_string(), field.data_type)),
        );
    }
    types.insert(as_of.to_owned(), DataType::Timestamp);
    types
}
