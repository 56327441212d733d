//! Request views: fields that agree with each other, expressions that plan.

use indexmap::IndexMap;

use crate::data_type::DataType;
use crate::expression::{RequestInput, plan};
use crate::feature_view::FeatureView;
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::parse::objects::DeclaredRequestView;
use crate::parse::reader::Placed;
use crate::request_view::{RequestFeature, RequestField, RequestView};
use crate::sql::Fault;
use crate::validate::{Validator, fingerprint};

impl Validator<'_> {
    /// Checks one request view against the feature views, and against the request views before it.
    pub(super) fn request_view(
        &mut self,
        name: &Name,
        declared: DeclaredRequestView,
        views: &IndexMap<Name, FeatureView>,
        earlier: &IndexMap<Name, RequestView>,
    ) -> Option<RequestView> {
        let mut whole = true;
        for field in &declared.inputs {
            whole &= self.field_agrees(field, views, earlier);
        }
        let inputs = plan_inputs(&declared.inputs, views);
        let mut features = Vec::new();
        let mut canonical = Vec::new();
        for feature in declared.features {
            let planned = match plan(&feature.expression.text, &inputs) {
                Ok(planned) => planned,
                Err(faults) => {
                    whole = false;
                    for fault in faults {
                        if !self.about_broken_view(&fault) {
                            self.found.push(feature.expression.problem(fault));
                        }
                    }
                    continue;
                }
            };
            let (fields, stored) = read_inputs(&planned.reads, &inputs);
            canonical.push(planned.canonical);
            features.push(RequestFeature {
                name: feature.name.value,
                expression: feature.expression.text,
                data_type: planned.data_type,
                fields,
                features: stored,
                description: feature.description,
            });
        }
        whole.then_some(())?;
        let mut view = RequestView {
            name: name.clone(),
            description: declared.description,
            inputs: declared
                .inputs
                .into_iter()
                .map(|field| field.value)
                .collect(),
            features,
            fingerprint: Fingerprint::of([""]),
        };
        view.fingerprint = fingerprint::request_view(&view, views, &canonical);
        Some(view)
    }

    /// A field means the same in every request view, and hides nothing.
    fn field_agrees(
        &mut self,
        field: &Placed<RequestField>,
        views: &IndexMap<Name, FeatureView>,
        earlier: &IndexMap<Name, RequestView>,
    ) -> bool {
        let RequestField {
            name, data_type, ..
        } = &field.value;
        if views.contains_key(name) {
            self.refuse(
                &field.span,
                format!("the request field `{name}` has the name of a feature view"),
                "give the field another name",
            );
            return false;
        }
        for view in earlier.values() {
            let Some(other) = view.inputs.iter().find(|other| other.name == *name) else {
                continue;
            };
            if other.data_type != *data_type {
                let message = format!(
                    "the request field `{name}` is {data_type} here and {} in `{}`",
                    other.data_type, view.name
                );
                self.refuse(
                    &field.span,
                    message,
                    "a request has one field of each name: declare one type",
                );
                return false;
            }
            if *other != field.value {
                let message = format!(
                    "the request field `{name}` has another default here than in `{}`",
                    view.name
                );
                self.refuse(
                    &field.span,
                    message,
                    "declare the same `default` and `nullable`",
                );
                return false;
            }
        }
        true
    }

    /// Whether a fault only says that a view with problems of its own is not there.
    fn about_broken_view(&self, fault: &Fault) -> bool {
        let name = fault
            .message
            .strip_prefix("unknown view `")
            .and_then(|rest| rest.strip_suffix('`'));
        name.is_some_and(|name| {
            self.broken_views
                .iter()
                .any(|broken| broken.as_str() == name)
        })
    }
}

/// Everything that an expression may read.
fn plan_inputs(
    fields: &[Placed<RequestField>],
    views: &IndexMap<Name, FeatureView>,
) -> Vec<(RequestInput, DataType)> {
    let mut inputs: Vec<(RequestInput, DataType)> = fields
        .iter()
        .map(|field| {
            (
                RequestInput::Field(field.value.name.clone()),
                field.value.data_type,
            )
        })
        .collect();
    for view in views.values() {
        for feature in &view.features {
            let reference = FeatureRef {
                view: view.name.clone(),
                feature: feature.name.clone(),
            };
            inputs.push((RequestInput::Feature(reference), feature.data_type));
        }
    }
    inputs
}

fn read_inputs(
    reads: &[usize],
    inputs: &[(RequestInput, DataType)],
) -> (Vec<Name>, Vec<FeatureRef>) {
    let mut fields = Vec::new();
    let mut stored = Vec::new();
    for index in reads {
        match &inputs[*index].0 {
            RequestInput::Field(name) => fields.push(name.clone()),
            RequestInput::Feature(reference) => stored.push(reference.clone()),
        }
    }
    fields.sort();
    stored.sort();
    (fields, stored)
}
