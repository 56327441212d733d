//! Batches of rows by key, as [`crate::scan::sorted_by_key`] gives them, and rows of a snapshot, as they are made.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{SchemaRef, TimestampMicrosecondType};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::feature_view::FeatureView;
use feature_defs::time::Instant;
use feature_defs::value::Value;

use crate::column::{Builder, Column};
use crate::error::{Error, Result};
use crate::keys;
use crate::scan::{KEY, SortedRows};

/// A batch of rows by key, newest first within a key.
#[derive(Debug, Clone)]
pub(crate) struct KeyedBatch {
    pub(crate) keys: BinaryArray,
    pub(crate) parts: Vec<ArrayRef>,
    event_times: TimestampMicrosecondArray,
    created_times: TimestampMicrosecondArray,
    /// The columns that were carried along.
    pub(crate) arrays: Vec<ArrayRef>,
    /// The same, to be read cell by cell.
    pub(crate) columns: Vec<Column>,
}

impl KeyedBatch {
    pub(crate) fn new(batch: &RecordBatch, entity: &Entity, columns: &[String]) -> Result<Self> {
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .cloned()
                .ok_or_else(|| Error::Refused(format!("the scan left column `{name}` out")))
        };
        let arrays = columns
            .iter()
            .map(|name| column(name))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            keys: column(KEY)?.as_binary().clone(),
            parts: (0..entity.keys.len())
                .map(|part| column(&SortedRows::part(part)))
                .collect::<Result<_>>()?,
            event_times: column(SortedRows::EVENT_TIME)?.as_primitive().clone(),
            created_times: column(SortedRows::CREATED_TIME)?.as_primitive().clone(),
            columns: arrays.iter().map(Column::new).collect::<Result<_>>()?,
            arrays,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn event_times(&self) -> ArrayRef {
        Arc::new(self.event_times.clone())
    }

    pub(crate) fn event_time(&self, row: usize) -> Instant {
        Instant::from_micros(self.event_times.value(row))
    }

    pub(crate) fn created_time(&self, row: usize) -> Option<Instant> {
        let is_there = self.created_times.is_valid(row);
        is_there.then(|| Instant::from_micros(self.created_times.value(row)))
    }
}

/// Rows of a snapshot, made one by one.
#[derive(Debug)]
pub(crate) struct SnapshotRows {
    view: FeatureView,
    entity: Entity,
    schema: SchemaRef,
    parts: Vec<Builder>,
    event_times: Vec<i64>,
    features: Vec<Builder>,
}

impl SnapshotRows {
    pub(crate) fn new(definitions: &Definitions, view: &FeatureView, schema: SchemaRef) -> Self {
        let entity = definitions.entity_of(view).clone();
        Self {
            view: view.clone(),
            schema,
            parts: entity
                .keys
                .iter()
                .map(|part| Builder::new(part.data_type))
                .collect(),
            entity,
            event_times: Vec::new(),
            features: view
                .features
                .iter()
                .map(|f| Builder::new(f.data_type))
                .collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.event_times.len()
    }

    /// Adds a row; its key is that of a row of `batch`.
    pub(crate) fn push(
        &mut self,
        key: &[Value],
        event_time: Instant,
        values: &[Value],
    ) -> Result<()> {
        for ((builder, value), feature) in self
            .features
            .iter_mut()
            .zip(values)
            .zip(&self.view.features)
        {
            builder.append(value).map_err(|_| Error::Value {
                view: self.view.name.clone(),
                feature: feature.name.to_string(),
                key: shown_values(&self.entity, key),
                message: format!("{value:?} does not fit `{}`", feature.data_type),
            })?;
        }
        for (builder, value) in self.parts.iter_mut().zip(key) {
            builder.append(value).map_err(|_| {
                Error::view(&self.view.name, format!("key part {value:?} does not fit"))
            })?;
        }
        self.event_times.push(event_time.micros());
        Ok(())
    }

    /// The rows so far, as a batch; what follows starts the next.
    pub(crate) fn take_batch(&mut self) -> Result<RecordBatch> {
        let times = std::mem::take(&mut self.event_times);
        let times = TimestampMicrosecondArray::from(times).with_timezone("UTC");
        let mut columns: Vec<ArrayRef> = self.parts.iter_mut().map(Builder::finish).collect();
        columns.push(Arc::new(times));
        columns.extend(self.features.iter_mut().map(Builder::finish));
        batch_of(&self.view, &self.schema, columns)
    }

    /// The error for a feature of a key.
    pub(crate) fn out_of_range(&self, key: &[Value], feature: usize, message: String) -> Error {
        Error::Value {
            view: self.view.name.clone(),
            feature: self.view.features[feature].name.to_string(),
            key: shown_values(&self.entity, key),
            message,
        }
    }
}

/// A batch of a snapshot, or an error that names the view.
pub(crate) fn batch_of(
    view: &FeatureView,
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
) -> Result<RecordBatch> {
    for (field, column) in schema.fields().iter().zip(&columns) {
        if !field.is_nullable() && column.null_count() > 0 {
            let message = format!("a row has no `{}`, which may not be null", field.name());
            return Err(Error::view(&view.name, message));
        }
    }
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|e| Error::view(&view.name, e.to_string()))
}

/// A key's parts in a row, owned.
pub(crate) fn key_values(batch: &KeyedBatch, row: usize) -> Result<Vec<Value>> {
    let parts = batch.parts.iter();
    parts
        .map(|part| Ok(Column::new(part)?.cell(row).to_value()))
        .collect()
}

/// A key for messages.
pub(crate) fn shown_values(entity: &Entity, key: &[Value]) -> String {
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (part, value) in entity.keys.iter().zip(key) {
        let mut builder = Builder::new(part.data_type);
        if builder.append(value).is_ok() {
            arrays.push(builder.finish());
        }
    }
    keys::shown(entity, &arrays, 0)
}

/// As-of in every row, as a column.
pub(crate) fn stamp(as_of: Instant, rows: usize) -> ArrayRef {
    let times = TimestampMicrosecondArray::from_value(as_of.micros(), rows);
    Arc::new(times.with_data_type(DataType::Timestamp.to_arrow()))
}

/// The event times of a snapshot's batch.
pub(crate) fn snapshot_times(batch: &RecordBatch) -> Result<TimestampMicrosecondArray> {
    let column = batch.column_by_name(crate::snapshot::EVENT_TIME);
    let column =
        column.ok_or_else(|| Error::Refused("a snapshot has no event times".to_owned()))?;
    Ok(column.as_primitive::<TimestampMicrosecondType>().clone())
}
