//! Request-time features: SQL expressions planned once and evaluated on the rows of a request, by night and by day alike.
//! And filters of aggregates, which are conditions over the columns of a source.
//!
//! An expression reads request fields by name (`amount`) and stored features by full name (`customer_spend.basket_30d`).
//! It is deterministic: no clock, no chance, no aggregates, no sub-queries. Integer arithmetic that does not fit its
//! type and integer division by zero are errors of their row, never a wrap and never a null; `CASE WHEN n > 0 THEN s / n
//! END` guards a division, `AND` does not.

mod filter;
#[cfg(test)]
mod nonsense;
mod plan;
mod program;
mod scalar;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::{cast, concat};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use datafusion_common::DataFusionError;
use datafusion_physical_expr::PhysicalExpr;

use crate::data_type::DataType;
use crate::definitions::Definitions;
use crate::name::{FeatureRef, Name};
use crate::request_view::RequestView;
use crate::sql::Fault;
use program::{Program, compile};

pub use filter::{FilterError, FilterPlan};
pub(crate) use filter::{FilteredSource, SourceColumn, check_filter};
use plan::Input;
pub(crate) use plan::{Readable, Reader, check, plan};
pub use scalar::Scalar;

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

impl Input for RequestInput {
    fn view(&self) -> Option<&str> {
        match self {
            Self::Field(_) => None,
            Self::Feature(reference) => Some(reference.view.as_str()),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Field(name) => name.as_str(),
            Self::Feature(reference) => reference.feature.as_str(),
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

/// A feature that has no value in a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{feature}` has no value: {message}")]
pub struct EvaluationError {
    /// The request-time feature.
    pub feature: FeatureRef,
    /// The row, counted from 0.
    pub row: usize,
    /// Why.
    pub message: String,
}

/// What [`RequestPlan::evaluate`] gives: every row that has values, and why the others have not.
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
    /// The same on one row of plain numbers, where the expression is arithmetic.
    program: Option<Program>,
}

impl RequestPlan {
    /// Plans those features of a request view that are `wanted`, in the view's order, over the inputs that they read.
    ///
    /// # Errors
    /// [`ExpressionError`] when an expression cannot be planned, which checked definitions rule out.
    pub fn new(
        definitions: &Definitions,
        view: &RequestView,
        wanted: impl Fn(&Name) -> bool,
    ) -> Result<Self, ExpressionError> {
        let wanted: Vec<_> = view.features.iter().filter(|f| wanted(&f.name)).collect();
        let mut inputs: Vec<(RequestInput, DataType)> = Vec::new();
        for field in &view.inputs {
            if wanted.iter().any(|f| f.fields.contains(&field.name)) {
                inputs.push((RequestInput::Field(field.name.clone()), field.data_type));
            }
        }
        let mut stored: Vec<&FeatureRef> = wanted.iter().flat_map(|f| &f.features).collect();
        stored.sort_unstable();
        stored.dedup();
        for reference in stored {
            let stored_view = definitions.views.get(&reference.view);
            let declared = stored_view.and_then(|view| view.feature(&reference.feature));
            if let Some(declared) = declared {
                inputs.push((RequestInput::Feature(reference.clone()), declared.data_type));
            }
        }
        let schema = Arc::new(input_schema(&inputs));
        let mut features = Vec::new();
        for feature in wanted {
            let reference = FeatureRef {
                view: view.name.clone(),
                feature: feature.name.clone(),
            };
            match plan(&feature.expression, &inputs) {
                Ok(planned) => features.push(PlannedFeature {
                    reference,
                    program: compile(&planned.physical, &schema),
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
        Ok(Self {
            inputs: inputs.into_iter().map(|(input, _)| input).collect(),
            schema,
            features,
        })
    }

    /// The features that are computed, in this order.
    pub fn features(&self) -> impl ExactSizeIterator<Item = &FeatureRef> {
        self.features.iter().map(|feature| &feature.reference)
    }

    /// The columns that a batch must have, in this order.
    #[must_use]
    pub fn inputs(&self) -> &[RequestInput] {
        &self.inputs
    }

    /// The batch of these columns: one an input, in the same order, each of its declared type.
    ///
    /// # Errors
    /// When the columns are others, or not all of `rows` rows.
    pub fn batch(&self, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch, ArrowError> {
        let fields = self.schema.fields().iter();
        let in_sql = fields.zip(columns).map(|(field, column)| {
            if column.data_type() == field.data_type() {
                Ok(column.clone())
            } else {
                cast(column, field.data_type())
            }
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(
            self.schema.clone(),
            in_sql.collect::<Result<_, _>>()?,
            &options,
        )
    }

    /// The schema of a batch: one column an input, in the same order, named as the input is written, of its type in SQL
    /// ([`DataType::in_sql`]).
    #[must_use]
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Evaluates all features on a batch of [`RequestPlan::schema`]: one column a feature, in the view's order, of the
    /// declared type. A view without inputs takes its number of rows from the batch. A row in which a feature has no
    /// value in its type (rule 9) leaves the others as they are.
    #[must_use]
    pub fn evaluate(&self, batch: &RecordBatch) -> Evaluation {
        let mut failures = Vec::new();
        let features = 0..self.features.len();
        Evaluation {
            columns: features
                .map(|feature| self.column(feature, batch, &mut failures))
                .collect(),
            failures,
        }
    }

    /// Evaluates one feature, by its index, as [`RequestPlan::evaluate`] does all.
    ///
    /// # Panics
    /// When there is no such feature.
    #[must_use]
    pub fn column(
        &self,
        feature: usize,
        batch: &RecordBatch,
        failures: &mut Vec<EvaluationError>,
    ) -> ArrayRef {
        let feature = &self.features[feature];
        let mut pieces = Vec::new();
        evaluate(feature, batch, 0, &mut pieces, failures);
        joined(pieces, feature, batch)
    }

    /// Evaluates one feature, by its index, on one row: one scalar an input, of its declared type. The same value as
    /// [`RequestPlan::column`] gives, some twenty times sooner; `None` where only that can tell, which is so for
    /// features that are more than arithmetic, and for rows in which a feature may have no value.
    ///
    /// # Panics
    /// When there is no such feature, or the row is too short.
    #[must_use]
    pub fn scalar(&self, feature: usize, row: &[Scalar]) -> Option<Scalar> {
        let program = self.features[feature].program.as_ref()?;
        program.evaluate(row).ok()
    }
}

/// The batch schema for these inputs.
pub(crate) fn input_schema(inputs: &[(impl Input, DataType)]) -> Schema {
    let fields = inputs.iter().map(|(input, data_type)| {
        Field::new(input.to_string(), data_type.in_sql().to_arrow(), true)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Appends the values of a feature over a batch whose first row has number `first`. Where a batch fails its halves are
/// evaluated by themselves, down to the rows that fail: a few failures cost a few more evaluations, however long it is.
fn evaluate(
    feature: &PlannedFeature,
    batch: &RecordBatch,
    first: usize,
    pieces: &mut Vec<ArrayRef>,
    failures: &mut Vec<EvaluationError>,
) {
    let rows = batch.num_rows();
    match values(&feature.expression, batch) {
        Ok(values) => pieces.push(values),
        Err(error) if rows <= 1 => {
            pieces.push(nulls(feature, batch));
            failures.extend((0..rows).map(|_| EvaluationError {
                feature: feature.reference.clone(),
                row: first,
                message: crate::sql::engine_fault("", &error).message,
            }));
        }
        Err(_) => {
            let half = rows / 2;
            evaluate(feature, &batch.slice(0, half), first, pieces, failures);
            let rest = batch.slice(half, rows - half);
            evaluate(feature, &rest, first + half, pieces, failures);
        }
    }
}

/// The values of an expression. Some functions of the engine panic on some values, like `rpad` on the least integer; what a
/// request brings ends no thread of a server.
fn values(
    expression: &Arc<dyn PhysicalExpr>,
    batch: &RecordBatch,
) -> Result<ArrayRef, DataFusionError> {
    let evaluated = catch_unwind(AssertUnwindSafe(|| {
        let value = expression.evaluate(batch)?;
        value.into_array(batch.num_rows())
    }));
    let panicked = |_| {
        Err(DataFusionError::Execution(
            "a function cannot take these values".to_owned(),
        ))
    };
    evaluated.unwrap_or_else(panicked)
}

fn joined(mut pieces: Vec<ArrayRef>, feature: &PlannedFeature, batch: &RecordBatch) -> ArrayRef {
    if pieces.len() == 1 {
        return pieces.remove(0);
    }
    let arrays: Vec<&dyn arrow::array::Array> = pieces.iter().map(AsRef::as_ref).collect();
    // Pieces of one expression have one type.
    concat(&arrays).unwrap_or_else(|_| nulls(feature, batch))
}

fn nulls(feature: &PlannedFeature, batch: &RecordBatch) -> ArrayRef {
    let data_type = feature.expression.data_type(&batch.schema());
    let data_type = data_type.unwrap_or(arrow::datatypes::DataType::Null);
    arrow::array::new_null_array(&data_type, batch.num_rows())
}
