//! Features that exist only once a request is there: the request views' expressions over its fields and stored rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use feature_defs::value::Value;
use store::online::row::{RowView, gather};

use crate::error::{Error, ErrorKind, Result};
use crate::predict::body::Body;
use crate::predict::fetch::StoredRows;
use crate::predict::service_plan::{Input, RequestViewPlan, ServicePlan};

/// All features of all request views of a service. Its memory is used again by the next request.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    /// One array a feature, one value an entity.
    pub(crate) arrays: Vec<ArrayRef>,
    failures: Vec<Failure>,
}

/// A feature that has no value for one entity (rule 9): an overflow, a division by zero. Others are as they are.
#[derive(Debug)]
struct Failure {
    array: usize,
    entity: usize,
    message: String,
}

impl Computed {
    /// Computes, replacing what was there.
    pub(crate) fn compute(
        &mut self,
        plan: &ServicePlan,
        body: &Body,
        stored: &StoredRows<'_>,
    ) -> Result<()> {
        self.clear();
        for view in &plan.request_views {
            let first = self.arrays.len();
            let batch = batch(view, plan, body, stored)?;
            let evaluation = view.plan.evaluate(&batch);
            self.arrays.extend(evaluation.columns);
            for failure in evaluation.failures {
                let name = &failure.feature.feature;
                let position = view.features.iter().position(|feature| feature == name);
                let array = first + position.unwrap_or_default();
                self.failures.push(Failure {
                    array,
                    entity: failure.row,
                    message: failure.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Lets go of all values.
    pub(crate) fn clear(&mut self) {
        self.arrays.clear();
        self.failures.clear();
    }

    /// Whether a feature, by its array, has no value for an entity.
    pub(crate) fn failed(&self, array: usize, entity: usize) -> bool {
        let mut failures = self.failures.iter();
        failures.any(|failure| failure.array == array && failure.entity == entity)
    }

    /// Why the first of an entity's features that failed did so.
    pub(crate) fn failure(&self, entity: usize) -> Option<&str> {
        let mut failures = self.failures.iter();
        let first = failures.find(|failure| failure.entity == entity);
        first.map(|failure| failure.message.as_str())
    }
}

fn batch(
    view: &RequestViewPlan,
    plan: &ServicePlan,
    body: &Body,
    stored: &StoredRows<'_>,
) -> Result<RecordBatch> {
    let columns = view.inputs.iter().map(|input| match input {
        Input::Field(position) => Value::array(
            &body.fields[*position].values,
            plan.fields[*position].data_type,
        ),
        Input::Stored { view, position } => {
            let rows = stored.of_view(*view).iter().map(|row| row.usable());
            let rows: Vec<Option<RowView<'_>>> = rows.collect();
            gather(&plan.views[*view].layout, *position, &rows)
        }
    });
    let columns: Vec<ArrayRef> = columns.collect();
    let options = RecordBatchOptions::new().with_row_count(Some(stored.entities()));
    RecordBatch::try_new_with_options(Arc::clone(view.plan.schema()), columns, &options).map_err(
        |error| {
            tracing::error!(view = %view.name, %error, "inputs do not fit the request view");
            Error::new(ErrorKind::Internal, "a request view could not be computed")
        },
    )
}
