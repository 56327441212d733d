//! Request views: fields that agree with each other, expressions that plan.

use crate::data_type::DataType;
use crate::expression::{Readable, Reader, RequestInput, check};
use crate::feature_service::Origin;
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::parse::members::{Elsewhere, Found, Members};
use crate::parse::objects::{
    Declared, DeclaredField, DeclaredRequestFeature, DeclaredRequestView, Section,
};
use crate::request_view::{RequestFeature, RequestField, RequestView};
use crate::validate::known::{KnownFeature, KnownView};
use crate::validate::{Validator, fingerprint, meaning};

/// What is made of one request-time feature.
struct Planned {
    known: KnownFeature,
    /// The feature and its canonical expression, if there is no problem.
    whole: Option<(RequestFeature, String)>,
}

impl Validator<'_> {
    /// Checks one request view against the feature views.
    pub(super) fn request_view(&mut self, name: &Name, declared: Declared<DeclaredRequestView>) {
        let Declared {
            span,
            about,
            object: view,
            doubtful,
        } = declared;
        if self.view_names.contains(name) {
            let message = format!("`{name}` names a feature view and a request view");
            self.refuse(&span, message, "give one of the two another name");
        }
        let mut inputs = self.take_stored_inputs();
        let stored = inputs.len();
        inputs.extend(request_inputs(&view.inputs));
        let features = view.features.items.into_iter();
        let planned: Vec<Planned> = features
            .map(|feature| self.planned(feature, &view.inputs, &inputs))
            .collect();
        inputs.truncate(stored);
        self.stored_inputs = Some(inputs);
        let features = planned.iter().map(|planned| planned.known.clone());
        let known = KnownView {
            origin: Origin::Request,
            entity: None,
            features: Members {
                items: features.collect(),
                whole: view.features.whole,
            },
        };
        self.know(name, known, doubtful);
        let whole: Option<Vec<_>> = planned.into_iter().map(|planned| planned.whole).collect();
        let inputs: Option<Vec<_>> = view.inputs.items.into_iter().map(whole_field).collect();
        let (Some(whole), Some(inputs)) = (whole, inputs) else {
            return;
        };
        let (mut features, canonical): (Vec<_>, Vec<_>) = whole.into_iter().unzip();
        for (feature, canonical) in features.iter_mut().zip(&canonical) {
            feature.fingerprint = meaning::computed(feature, canonical, &inputs, &self.views);
        }
        let mut view = RequestView {
            name: name.clone(),
            about: about.whole(),
            inputs,
            features,
            fingerprint: Fingerprint::of([""]),
        };
        view.fingerprint = fingerprint::request_view(&view);
        self.request_views.insert(name.clone(), view);
    }

    /// Every stored feature of a known type, to read from an expression. The feature views are all known by then, so the
    /// list is made once and handed from one request view to the next.
    fn take_stored_inputs(&mut self) -> Vec<(RequestInput, DataType)> {
        if let Some(inputs) = self.stored_inputs.take() {
            return inputs;
        }
        let mut inputs = Vec::new();
        let stored = self.known.iter();
        for (name, view) in stored.filter(|(_, view)| view.origin == Origin::Stored) {
            for feature in &view.features.items {
                let reference = FeatureRef {
                    view: name.clone(),
                    feature: feature.name.clone(),
                };
                let typed = feature.data_type;
                inputs.extend(typed.map(|typed| (RequestInput::Feature(reference), typed)));
            }
        }
        inputs
    }

    fn planned(
        &mut self,
        feature: DeclaredRequestFeature,
        fields: &Members<DeclaredField>,
        inputs: &[(RequestInput, DataType)],
    ) -> Planned {
        let name = feature.name.value;
        let unknown = Planned {
            known: KnownFeature::stored(name.clone(), None),
            whole: None,
        };
        let Some(expression) = feature.expression else {
            return unknown;
        };
        let elsewhere = |view: Option<&str>, feature: &str| match view {
            None => of(fields.find(feature)),
            Some(view) => self.feature_elsewhere(view, feature),
        };
        let names = fields.names();
        let readable = Readable {
            inputs,
            fields: &names,
            elsewhere: &elsewhere,
            reader: Reader::RequestView,
        };
        let planned = match check(&expression.text, &readable) {
            Ok(Some(planned)) => planned,
            Ok(None) => return unknown,
            Err(faults) => {
                let problems = faults.into_iter().map(|fault| expression.problem(fault));
                self.found.extend(problems);
                return unknown;
            }
        };
        let (fields, stored) = read_inputs(&planned.reads, inputs);
        let whole = RequestFeature {
            name: name.clone(),
            expression: expression.text,
            data_type: planned.data_type,
            fields: fields.clone(),
            features: stored.clone(),
            description: feature.description,
            fingerprint: Fingerprint::of([""]),
        };
        Planned {
            known: KnownFeature {
                name,
                data_type: Some(planned.data_type),
                fields,
                stored,
            },
            whole: Some((whole, planned.canonical)),
        }
    }

    /// What is known of a feature of a view that is not among the inputs.
    fn feature_elsewhere(&self, view: &str, feature: &str) -> Elsewhere {
        match self.known.get(view) {
            Some(known) if known.origin == Origin::Stored => {
                let typed = known.features.items.iter().any(|f| f.data_type.is_some());
                match known.features.find(feature) {
                    Found::Nowhere if !typed => Elsewhere::Unsure,
                    found => of(found),
                }
            }
            _ if self
                .request_view_names
                .iter()
                .any(|name| name.as_str() == view) =>
            {
                Elsewhere::Other(
                    "it is a request view: expressions read request fields and feature views",
                )
            }
            _ if self.unread.may_declare(view) => Elsewhere::Unsure,
            _ => Elsewhere::Nowhere,
        }
    }

    /// A field means the same in every request view, and hides nothing.
    pub(super) fn fields_agree(&mut self, views: &Section<DeclaredRequestView>) {
        let mut seen: Vec<(&Name, &DeclaredField)> = Vec::new();
        for (view, declared) in views {
            for field in &declared.object.inputs.items {
                let name = &field.name.value;
                if self.view_names.contains(name) {
                    let message =
                        format!("the request field `{name}` has the name of a feature view");
                    self.refuse(&field.name.span, message, "give the field another name");
                } else if name.as_str() == "as_of" {
                    let message =
                        "the name `as_of` is taken by the instant from which a request looks";
                    self.refuse(&field.name.span, message, "give the field another name");
                }
                let other = seen.iter().find(|(_, other)| other.name.value == *name);
                match other {
                    Some((other_view, other)) => self.field_agrees(field, other_view, other),
                    None => seen.push((view, field)),
                }
            }
        }
    }

    fn field_agrees(&mut self, field: &DeclaredField, view: &Name, other: &DeclaredField) {
        let name = &field.name.value;
        let types = (field.data_type, other.data_type);
        let (message, help) = match types {
            (Some(here), Some(there)) if here != there => {
                let message =
                    format!("the request field `{name}` is {here} here and {there} in `{view}`");
                (
                    message,
                    "a request has one field of each name: declare one type",
                )
            }
            _ if !field.whole || !other.whole => return,
            _ if field.default != other.default || field.nullable != other.nullable => {
                let message =
                    format!("the request field `{name}` has another default here than in `{view}`");
                (message, "declare the same `default` and `nullable`")
            }
            _ => return,
        };
        self.refuse(&field.name.span, message, help);
    }
}

const fn of(found: Found) -> Elsewhere {
    match found {
        Found::Nowhere => Elsewhere::Nowhere,
        Found::As(_) | Found::Unsure => Elsewhere::Unsure,
    }
}

fn whole_field(field: DeclaredField) -> Option<RequestField> {
    Some(RequestField {
        name: field.name.value,
        data_type: field.data_type?,
        default: field.default,
        nullable: field.nullable,
    })
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

/// Every field of a known type.
fn request_inputs(
    fields: &Members<DeclaredField>,
) -> impl Iterator<Item = (RequestInput, DataType)> {
    fields.items.iter().filter_map(|field| {
        let name = field.name.value.clone();
        Some((RequestInput::Field(name), field.data_type?))
    })
}
