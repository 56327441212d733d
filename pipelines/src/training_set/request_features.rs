//! Features of request views over a frame: the columns of the frame are the request, and each row its own.
//!
//! As in a request, a row in which a feature has no value leaves the others as they are. It is null here, and told.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use feature_defs::definitions::Definitions;
use feature_defs::expression::{RequestInput, RequestPlan};
use feature_defs::feature_service::{FeatureService, Origin};
use feature_defs::name::{FeatureRef, Name};
use feature_defs::value::Value;

use super::frame::Frame;
use crate::error::{Error, Result};

/// A request-time feature that has no value in some rows, which a server would call `unavailable`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unavailable {
    /// The feature, `view.feature`.
    pub feature: String,
    /// In how many rows; they are null.
    pub rows: usize,
    /// The first of them, counted from 1.
    pub first_row: usize,
    /// Why that one has none.
    pub message: String,
}

/// The columns of request-time features, and what they lack.
#[derive(Debug, Default)]
pub(super) struct RequestFeatures {
    pub(super) columns: BTreeMap<FeatureRef, ArrayRef>,
    pub(super) unavailable: Vec<Unavailable>,
}

/// A request view over a frame that has the fields it reads.
pub(super) struct RequestView<'a> {
    name: &'a Name,
    plan: RequestPlan,
    /// For each input of the plan its column of the frame, if it is a field.
    fields: Vec<Option<ArrayRef>>,
}

/// The request views that a service reads, with the columns of the frame that they read as fields.
///
/// # Errors
/// A field that the frame lacks, or has in another type: told before anything is computed.
pub(super) fn plan<'a>(
    definitions: &Definitions,
    service: &'a FeatureService,
    frame: &Frame,
) -> Result<Vec<RequestView<'a>>> {
    let of_requests = service
        .features
        .iter()
        .filter(|f| f.origin == Origin::Request);
    let mut views: Vec<&Name> = of_requests.map(|feature| &feature.reference.view).collect();
    views.sort_unstable();
    views.dedup();
    let mut planned = Vec::with_capacity(views.len());
    for name in views {
        let view = &definitions.request_views[name];
        let plan = RequestPlan::new(definitions, view, |feature| service.reads(name, feature))
            .map_err(|e| Error::view(name, e.to_string()))?;
        let mut fields = Vec::with_capacity(plan.inputs().len());
        for input in plan.inputs() {
            fields.push(match input {
                RequestInput::Feature(_) => None,
                RequestInput::Field(field) => {
                    let declared = view.inputs.iter().find(|input| input.name == *field);
                    let declared = declared
                        .ok_or_else(|| Error::view(name, format!("has no field `{field}`")))?;
                    Some(frame.field(declared)?)
                }
            });
        }
        planned.push(RequestView { name, plan, fields });
    }
    Ok(planned)
}

/// The features of request views. Stored features come in as they are, without the service's defaults, as in a request.
pub(super) fn compute(
    views: &[RequestView<'_>],
    rows: usize,
    stored: &dyn Fn(&FeatureRef, Option<&Value>) -> Result<ArrayRef>,
) -> Result<RequestFeatures> {
    let mut features = RequestFeatures::default();
    for RequestView { name, plan, fields } in views {
        let mut columns = Vec::with_capacity(fields.len());
        for (input, field) in plan.inputs().iter().zip(fields) {
            columns.push(match (input, field) {
                (RequestInput::Feature(reference), _) => stored(reference, None)?,
                (RequestInput::Field(_), Some(field)) => ArrayRef::clone(field),
                (RequestInput::Field(field), None) => {
                    return Err(Error::view(name, format!("has no field `{field}`")));
                }
            });
        }
        let batch = plan.batch(&columns, rows);
        let batch = batch.map_err(|e| Error::view(name, e.to_string()))?;
        let evaluation = plan.evaluate(&batch);
        let columns = plan.features().cloned().zip(evaluation.columns);
        features.columns.extend(columns);
        let failures = evaluation.failures.chunk_by(|a, b| a.feature == b.feature);
        for failures in failures {
            features.unavailable.push(Unavailable {
                feature: failures[0].feature.to_string(),
                rows: failures.len(),
                first_row: failures[0].row + 1,
                message: failures[0].message.clone(),
            });
        }
    }
    Ok(features)
}
