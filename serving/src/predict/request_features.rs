//! Features that exist only once a request is there: the request views' expressions over its fields and stored rows.

use arrow::array::{Array, ArrayRef, RecordBatch};
use feature_defs::expression::Scalar;
use feature_defs::value::Value;
use store::online::row::{RowView, gather};

use crate::error::{Error, ErrorKind, Result};
use crate::predict::body::Body;
use crate::predict::fetch::StoredRows;
use crate::predict::service_plan::{Input, RequestViewPlan, ServicePlan};

/// Up to so many entities, one by one is sooner than all at once in arrays.
const FEW: usize = 16;

/// All features of all request views of a service. Its memory is used again by the next request.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    /// One a feature, in the order of [`ServicePlan::request_views`].
    columns: Vec<Column>,
    scalars: Vec<Scalar>,
    /// The inputs of the view at hand, one row an entity.
    inputs: Vec<Scalar>,
    failures: Vec<Failure>,
}

/// The values of one feature, one an entity.
#[derive(Debug)]
enum Column {
    /// In [`Computed::scalars`], from this place on.
    Scalars(usize),
    Array(ArrayRef),
}

/// A feature that has no value for one entity (rule 9): an overflow, a division by zero. Others are as they are.
#[derive(Debug)]
struct Failure {
    feature: usize,
    entity: usize,
    message: String,
}

/// The values of one feature, to read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    Scalars(&'a [Scalar]),
    Array(&'a dyn Array),
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
            self.read_inputs(view, body, stored);
            let mut arrays = None;
            for feature in 0..view.features.len() {
                if let Some(column) = self.one_by_one(view, feature, stored.entities()) {
                    self.columns.push(column);
                    continue;
                }
                let batch = match &arrays {
                    Some(batch) => batch,
                    None => arrays.insert(batch(view, plan, body, stored)?),
                };
                self.all_at_once(view, feature, batch);
            }
        }
        Ok(())
    }

    /// Takes up the inputs of a view, where there are few entities.
    fn read_inputs(&mut self, view: &RequestViewPlan, body: &Body, stored: &StoredRows<'_>) {
        self.inputs.clear();
        if stored.entities() > FEW {
            return;
        }
        for entity in 0..stored.entities() {
            for input in &view.inputs {
                self.inputs.push(match input {
                    Input::Field(position) => Scalar::of(&body.fields[*position].values[entity]),
                    Input::Stored { view, position } => match stored.get(*view, entity).usable() {
                        Some(row) => row.scalar(*position),
                        None => Scalar::Null,
                    },
                });
            }
        }
    }

    /// A feature without arrays, if all entities have a value so.
    fn one_by_one(
        &mut self,
        view: &RequestViewPlan,
        feature: usize,
        entities: usize,
    ) -> Option<Column> {
        if entities > FEW {
            return None;
        }
        let (start, width) = (self.scalars.len(), view.inputs.len());
        for entity in 0..entities {
            let row = &self.inputs[entity * width..(entity + 1) * width];
            let Some(value) = view.plan.scalar(feature, row) else {
                self.scalars.truncate(start);
                return None;
            };
            self.scalars.push(value);
        }
        Some(Column::Scalars(start))
    }

    fn all_at_once(&mut self, view: &RequestViewPlan, feature: usize, batch: &RecordBatch) {
        let mut failures = Vec::new();
        let array = view.plan.column(feature, batch, &mut failures);
        let position = self.columns.len();
        self.columns.push(Column::Array(array));
        self.failures
            .extend(failures.into_iter().map(|failure| Failure {
                feature: position,
                entity: failure.row,
                message: failure.to_string(),
            }));
    }

    /// Lets go of all values.
    pub(crate) fn clear(&mut self) {
        self.columns.clear();
        self.scalars.clear();
        self.failures.clear();
    }

    /// The values of a feature, by its position.
    pub(crate) fn values(&self, feature: usize) -> Values<'_> {
        match &self.columns[feature] {
            Column::Scalars(start) => Values::Scalars(&self.scalars[*start..]),
            Column::Array(array) => Values::Array(array),
        }
    }

    /// Whether a feature, by its position, has no value for an entity.
    pub(crate) fn failed(&self, feature: usize, entity: usize) -> bool {
        let mut failures = self.failures.iter();
        failures.any(|failure| failure.feature == feature && failure.entity == entity)
    }

    /// Why the first of an entity's features that failed did so.
    pub(crate) fn failure(&self, entity: usize) -> Option<&str> {
        let mut failures = self.failures.iter();
        let first = failures.find(|failure| failure.entity == entity);
        first.map(|failure| failure.message.as_str())
    }
}

impl Values<'_> {
    /// Whether an entity's value is null.
    pub(crate) fn is_null(self, entity: usize) -> bool {
        match self {
            Self::Scalars(scalars) => scalars[entity] == Scalar::Null,
            Self::Array(array) => array.is_null(entity),
        }
    }

    /// An entity's value.
    pub(crate) fn value(self, entity: usize) -> Value {
        match self {
            Self::Scalars(scalars) => scalars[entity].value(),
            Self::Array(array) => Value::from_array(array, entity),
        }
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
    view.plan
        .batch(&columns, stored.entities())
        .map_err(|error| {
            tracing::error!(view = %view.name, %error, "inputs do not fit the request view");
            Error::new(ErrorKind::Internal, "a request view could not be computed")
        })
}
