//! Request-time features: SQL expressions planned once and evaluated on the rows of a request, by night and by day alike.
//!
//! An expression reads request fields by name (`amount`) and stored features by full name (`customer_spend.basket_30d`).
//! It is deterministic: no clock, no chance, no aggregates, no sub-queries. Integer arithmetic that does not fit its
//! type and integer division by zero are errors of their row, never a wrap and never a null; `CASE WHEN n > 0 THEN s / n
//! END` guards a division, `AND` does not.

mod plan;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion_physical_expr::PhysicalExpr;

use crate::data_type::DataType;
use crate::definitions::Definitions;
use crate::name::{FeatureRef, Name};
use crate::request_view::RequestView;
use crate::sql::Fault;

pub(crate) use plan::plan;

/// One column that a plan reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestInput {
    /// A request field.
    Field(Name),
    /// A stored feature.
    Feature(FeatureRef),
}

impl fmt::Display for RequestInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => name.fmt(f),
            Self::Feature(reference) => reference.fmt(f),
        }
    }
}

/// An expression that cannot be planned. Never for the request views of checked definitions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("feature `{feature}`: {message}")]
pub struct ExpressionError {
    /// The request-time feature.
    pub feature: FeatureRef,
    /// Why.
    pub message: String,
}

/// A feature that has no value in some rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("feature `{feature}` has no value in row {row}: {message}")]
pub struct EvaluationError {
    /// The request-time feature.
    pub feature: FeatureRef,
    /// The first such row, counted from 0.
    pub row: usize,
    /// Why.
    pub message: String,
}

/// What [`RequestPlan::evaluate_each`] gives: every row that has values, and why the others have not.
#[derive(Debug)]
pub struct Evaluation {
    /// One column a feature. A row that failed is null here.
    pub columns: Vec<ArrayRef>,
    /// The rows that failed, by feature and row.
    pub failures: Vec<EvaluationError>,
}

/// A request view, planned: build it once, evaluate it often.
#[derive(Debug)]
pub struct RequestPlan {
    inputs: Vec<RequestInput>,
    schema: SchemaRef,
    features: Vec<PlannedFeature>,
}

#[derive(Debug)]
struct PlannedFeature {
    reference: FeatureRef,
    expression: Arc<dyn PhysicalExpr>,
}

impl RequestPlan {
    /// Plans all features of a request view of these definitions.
    ///
    /// # Errors
    /// [`ExpressionError`] when an expression cannot be planned, which checked definitions rule out.
    pub fn new(definitions: &Definitions, view: &RequestView) -> Result<Self, ExpressionError> {
        let mut inputs: Vec<(RequestInput, DataType)> = Vec::new();
        for field in &view.inputs {
            if view
                .features
                .iter()
                .any(|feature| feature.fields.contains(&field.name))
            {
                inputs.push((RequestInput::Field(field.name.clone()), field.data_type));
            }
        }
        let mut stored: Vec<&FeatureRef> = view
            .features
            .iter()
            .flat_map(|feature| &feature.features)
            .collect();
        stored.sort_unstable();
        stored.dedup();
        for reference in stored {
            let declared = definitions
                .views
                .get(&reference.view)
                .and_then(|stored_view| {
                    stored_view
                        .features
                        .iter()
                        .find(|feature| feature.name == reference.feature)
                });
            if let Some(declared) = declared {
                inputs.push((RequestInput::Feature(reference.clone()), declared.data_type));
            }
        }
        let mut features = Vec::new();
        for feature in &view.features {
            let reference = FeatureRef {
                view: view.name.clone(),
                feature: feature.name.clone(),
            };
            match plan(&feature.expression, &inputs) {
                Ok(planned) => features.push(PlannedFeature {
                    reference,
                    expression: planned.physical,
                }),
                Err(faults) => {
                    let message = faults.into_iter().map(|fault: Fault| fault.message).next();
                    return Err(ExpressionError {
                        feature: reference,
                        message: message.unwrap_or_default(),
                    });
                }
            }
        }
        let schema = Arc::new(input_schema(&inputs));
        Ok(Self {
            inputs: inputs.into_iter().map(|(input, _)| input).collect(),
            schema,
            features,
        })
    }

    /// The columns that a batch must have, in this order.
    #[must_use]
    pub fn inputs(&self) -> &[RequestInput] {
        &self.inputs
    }

    /// The schema of a batch: one column an input, in the same order, named as the input is written.
    #[must_use]
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Evaluates all features on a batch of [`RequestPlan::schema`]: one column a feature, in the view's order, of the
    /// declared type. A view without inputs takes its number of rows from the batch.
    ///
    /// # Errors
    /// [`EvaluationError`] for the first feature and row that has no value in its type (rule 9).
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>, EvaluationError> {
        let mut columns = Vec::with_capacity(self.features.len());
        for feature in &self.features {
            match evaluate(feature, batch) {
                Ok(column) => columns.push(column),
                Err(message) => return Err(first_failure(feature, batch, message)),
            }
        }
        Ok(columns)
    }

    /// Like [`RequestPlan::evaluate`], but a row that fails leaves the others as they are.
    #[must_use]
    pub fn evaluate_each(&self, batch: &RecordBatch) -> Evaluation {
        let mut evaluation = Evaluation {
            columns: Vec::with_capacity(self.features.len()),
            failures: Vec::new(),
        };
        for feature in &self.features {
            let column = match evaluate(feature, batch) {
                Ok(column) => column,
                Err(_) => evaluate_rows(feature, batch, &mut evaluation.failures),
            };
            evaluation.columns.push(column);
        }
        evaluation
    }
}

/// The batch schema for these inputs.
pub(crate) fn input_schema(inputs: &[(RequestInput, DataType)]) -> Schema {
    let fields = inputs
        .iter()
        .map(|(input, data_type)| Field::new(input.to_string(), data_type.to_arrow(), true));
    Schema::new(fields.collect::<Vec<_>>())
}

fn evaluate(feature: &PlannedFeature, batch: &RecordBatch) -> Result<ArrayRef, String> {
    let value = feature
        .expression
        .evaluate(batch)
        .and_then(|value| value.into_array(batch.num_rows()));
    value.map_err(|error| crate::sql::engine_fault("", &error).message)
}

/// Row by row, nulls where a row fails: the slow path that only failing batches take.
fn evaluate_rows(
    feature: &PlannedFeature,
    batch: &RecordBatch,
    failures: &mut Vec<EvaluationError>,
) -> ArrayRef {
    let data_type = feature
        .expression
        .data_type(&batch.schema())
        .unwrap_or(arrow::datatypes::DataType::Null);
    let mut rows = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        rows.push(match evaluate(feature, &batch.slice(row, 1)) {
            Ok(column) => column,
            Err(message) => {
                failures.push(EvaluationError {
                    feature: feature.reference.clone(),
                    row,
                    message,
                });
                arrow::array::new_null_array(&data_type, 1)
            }
        });
    }
    let arrays: Vec<&dyn arrow::array::Array> = rows.iter().map(AsRef::as_ref).collect();
    concat(&arrays).unwrap_or_else(|_| arrow::array::new_null_array(&data_type, batch.num_rows()))
}

fn first_failure(
    feature: &PlannedFeature,
    batch: &RecordBatch,
    message: String,
) -> EvaluationError {
    let mut failures = Vec::new();
    evaluate_rows(feature, batch, &mut failures);
    failures
        .into_iter()
        .next()
        .unwrap_or_else(|| EvaluationError {
            feature: feature.reference.clone(),
            row: 0,
            message,
        })
}
