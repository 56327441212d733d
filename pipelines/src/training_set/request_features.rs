//! Features of request views over a frame: the columns of the frame are the request, and each row its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use feature_defs::definitions::Definitions;
use feature_defs::expression::{RequestInput, RequestPlan};
use feature_defs::feature_service::{FeatureService, Origin};
use feature_defs::name::{FeatureRef, Name};
use feature_defs::value::Value;

use super::frame::Frame;
use crate::error::{Error, Result};

/// The features of all request views that a service reads. Stored features come in as they are, without the service's
/// defaults, as in a request.
pub(super) fn compute(
    definitions: &Definitions,
    service: &FeatureService,
    frame: &Frame,
    stored: &dyn Fn(&FeatureRef, Option<&Value>) -> Result<ArrayRef>,
) -> Result<BTreeMap<FeatureRef, ArrayRef>> {
    let of_requests = service
        .features
        .iter()
        .filter(|f| f.origin == Origin::Request);
    let mut views: Vec<&Name> = of_requests.map(|feature| &feature.reference.view).collect();
    views.sort_unstable();
    views.dedup();
    let mut features = BTreeMap::new();
    for name in views {
        let view = &definitions.request_views[name];
        let plan =
            RequestPlan::new(definitions, view).map_err(|e| Error::view(name, e.to_string()))?;
        let mut columns = Vec::with_capacity(plan.inputs().len());
        for input in plan.inputs() {
            columns.push(match input {
                RequestInput::Feature(reference) => stored(reference, None)?,
                RequestInput::Field(field) => {
                    let declared = view.inputs.iter().find(|input| input.name == *field);
                    let declared = declared
                        .ok_or_else(|| Error::view(name, format!("has no field `{field}`")))?;
                    frame.field(declared)?
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(frame.batch().num_rows()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(plan.schema()), columns, &options)
            .map_err(|e| Error::view(name, e.to_string()))?;
        let evaluated = plan
            .evaluate(&batch)
            .map_err(|e| Error::view(name, e.to_string()))?;
        for (feature, column) in view.features.iter().zip(evaluated) {
            let reference = FeatureRef {
                view: name.clone(),
                feature: feature.name.clone(),
            };
            features.insert(reference, column);
        }
    }
    Ok(features)
}
