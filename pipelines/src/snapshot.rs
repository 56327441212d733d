//! A feature view's rows as of one instant, sorted by key, one a key.
//!
//! ```text
//!   sql      SELECT over cut sources --> key bytes --> sort --> one row a key? declared types? --> stamped with as-of
//!                   and over other views as of the same instant
//!   windows  cut events by key, newest first --> KeyWindows ---------------------------------> stamped with as-of
//!   latest   cut rows by key, newest first --> the first of each key ----------> stamped with its own event time
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::{Computation, FeatureView};
use feature_defs::time::Instant;
use futures::stream::BoxStream;

use crate::error::Result;
use crate::scan::RowCount;
use crate::session::Session;
use crate::view_rows::KeptViews;
use crate::{latest, sql, windows};

/// The column with each row's event time in snapshots, after the key columns.
pub const EVENT_TIME: &str = "event_time";

/// A view's rows as of an instant, being computed while they are read.
pub struct Snapshot {
    /// Key columns by their entity's names, [`EVENT_TIME`], then the features in view order.
    pub schema: SchemaRef,
    /// Rows in ascending order of canonical key bytes, each key once.
    pub batches: BoxStream<'static, Result<RecordBatch>>,
    /// Complete once the batches have ended.
    pub counts: Counts,
}

/// What grows while a snapshot is computed.
#[derive(Clone)]
pub struct Counts {
    read: Vec<Arc<RowCount>>,
    without_key: Arc<AtomicU64>,
}

impl Counts {
    pub(crate) const fn new(read: Vec<Arc<RowCount>>, without_key: Arc<AtomicU64>) -> Self {
        Self { read, without_key }
    }

    /// How many rows of sources and of other views were seen.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read.iter().map(|count| count.get()).sum()
    }

    /// How many rows (of a source, or of a query's result) have a null in their key. They describe no entity, and were
    /// passed over.
    #[must_use]
    pub fn without_key(&self) -> u64 {
        self.without_key.load(Ordering::Relaxed)
    }
}

/// The columns of a view's snapshots.
#[must_use]
pub fn schema(definitions: &Definitions, view: &FeatureView) -> SchemaRef {
    let keys = definitions.entity_of(view).keys.iter();
    let mut fields: Vec<Field> = keys
        .map(|part| Field::new(part.name.as_str(), part.data_type.to_arrow(), false))
        .collect();
    fields.push(Field::new(
        EVENT_TIME,
        DataType::Timestamp.to_arrow(),
        false,
    ));
    fields.extend(view.features.iter().map(|feature| {
        Field::new(
            feature.name.as_str(),
            feature.data_type.to_arrow(),
            feature.nullable,
        )
    }));
    Arc::new(Schema::new(fields))
}

/// Computes a view as of an instant. The same source rows give the same rows, bit for bit, whatever the session.
///
/// # Errors
/// Those of sources ([`crate::error::Error::Input`]) and of the view's computation; some come from the stream.
pub async fn compute(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    as_of: Instant,
) -> Result<Snapshot> {
    compute_beside(session, definitions, view, as_of, None).await
}

/// [`compute`], taking the rows of views that it reads from what a night has kept already.
pub(crate) async fn compute_beside(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    as_of: Instant,
    kept: Option<&KeptViews>,
) -> Result<Snapshot> {
    match &view.computation {
        Computation::Sql(sql) => sql::compute(session, definitions, view, sql, as_of, kept).await,
        Computation::Windows(windows) => {
            windows::compute(session, definitions, view, windows, as_of).await
        }
        Computation::Latest(latest) => {
            latest::compute(session, definitions, view, latest, as_of).await
        }
    }
}

#[cfg(test)]
mod foreign_tests;
#[cfg(test)]
mod input_tests;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod lineage_tests;
#[cfg(test)]
mod nested_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod types_tests;
