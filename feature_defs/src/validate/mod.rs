//! Objects to [`Definitions`]: every reference, type, SQL text and expression is checked, and every problem recorded.
//!
//! An object that refers to one with problems is passed over in silence: its own problems show once the other's are
//! mended.

pub(crate) mod fingerprint;
mod request_view;
mod service;
mod sql_view;
mod view;

use indexmap::IndexMap;

use crate::definitions::{DefinitionFile, Definitions};
use crate::entity::Entity;
use crate::error::{Problem, Span};
use crate::feature_view::FeatureView;
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::name::Name;
use crate::parse::objects::{DeclaredModel, Objects, Section};
use crate::parse::yaml::Text;
use crate::project::Project;
use crate::source::Source;
use crate::suggestion::accepted;

/// What is known so far, and where problems go.
struct Validator<'a> {
    entities: &'a Section<Entity>,
    sources: &'a Section<Source>,
    /// Names of views of both kinds that were declared with problems.
    broken_views: Vec<Name>,
    found: &'a mut Vec<Problem>,
}

/// Checks everything that lies between objects. `None` when the settings or an object have problems.
pub(crate) fn resolve(
    project: Option<Project>,
    objects: Objects,
    files: &[DefinitionFile],
    found: &mut Vec<Problem>,
) -> Option<Definitions> {
    let Objects {
        entities,
        sources,
        views: declared_views,
        request_views: declared_request_views,
        services: declared_services,
        models: declared_models,
    } = objects;
    let mut validator = Validator {
        entities: &entities,
        sources: &sources,
        broken_views: Vec::new(),
        found,
    };
    let mut views: IndexMap<Name, FeatureView> = IndexMap::new();
    for (name, declared) in declared_views {
        let view = declared
            .object
            .and_then(|object| validator.view(&name, &declared.span, object));
        match view {
            Some(view) => {
                views.insert(name, view);
            }
            None => validator.broken_views.push(name),
        }
    }
    let mut request_views = IndexMap::new();
    for (name, declared) in declared_request_views {
        if views.contains_key(&name) || validator.broken_views.contains(&name) {
            let message = format!("`{name}` names a feature view and a request view");
            validator.refuse(&declared.span, message, "give one of the two another name");
        }
        let view = declared
            .object
            .and_then(|object| validator.request_view(&name, object, &views, &request_views));
        match view {
            Some(view) => {
                request_views.insert(name, view);
            }
            None => validator.broken_views.push(name),
        }
    }
    let mut services = IndexMap::new();
    let mut broken_services = Vec::new();
    for (name, declared) in declared_services {
        let service = declared.object.and_then(|object| {
            validator.service(&name, &declared.span, object, &views, &request_views, files)
        });
        match service {
            Some(service) => {
                services.insert(name, service);
            }
            None => broken_services.push(name),
        }
    }
    let mut models = IndexMap::new();
    for (name, declared) in declared_models {
        let model = declared
            .object
            .and_then(|object| validator.model(&name, object, &services, &broken_services));
        models.extend(model.map(|model| (name, model)));
    }
    let whole = |section: Section<Entity>| {
        section
            .into_iter()
            .map(|(name, d)| d.object.map(|o| (name, o)))
            .collect()
    };
    let entities: Option<IndexMap<Name, Entity>> = whole(entities);
    let sources: Option<IndexMap<Name, Source>> = sources
        .into_iter()
        .map(|(name, declared)| declared.object.map(|object| (name, object)))
        .collect();
    let mut definitions = Definitions {
        project: project?,
        entities: entities?,
        sources: sources?,
        views,
        request_views,
        services,
        models,
        fingerprint: Fingerprint::of([""]),
        files: Vec::new(),
    };
    definitions.fingerprint = fingerprint::definitions(&definitions);
    Some(definitions)
}

impl Validator<'_> {
    fn refuse(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Problem::new(span.clone(), message, help));
    }

    /// Looks up a reference. `None` when it does not resolve, and when what it names has problems of its own.
    fn find<'s, T>(&mut self, section: &'s Section<T>, what: &str, text: &Text) -> Option<&'s T> {
        if let Some(declared) = section.get(text.text.as_str()) {
            return declared.object.as_ref();
        }
        let names: Vec<&str> = section.keys().map(Name::as_str).collect();
        let help = accepted(&text.text, &names);
        self.refuse(&text.span, format!("unknown {what} `{}`", text.text), help);
        None
    }

    fn model(
        &mut self,
        name: &Name,
        declared: DeclaredModel,
        services: &IndexMap<Name, crate::feature_service::FeatureService>,
        broken: &[Name],
    ) -> Option<Model> {
        let text = &declared.service;
        let Some(service) = services.get(text.text.as_str()) else {
            if broken.iter().all(|name| name.as_str() != text.text) {
                let names: Vec<&str> = services.keys().map(Name::as_str).collect();
                let help = accepted(&text.text, &names);
                self.refuse(&text.span, format!("unknown service `{}`", text.text), help);
            }
            return None;
        };
        let mut model = Model {
            name: name.clone(),
            description: declared.description,
            service: service.name.clone(),
            output: declared.output,
            transform: declared.transform,
            fingerprint: Fingerprint::of([""]),
        };
        model.fingerprint = fingerprint::model(&model, service);
        Some(model)
    }
}
