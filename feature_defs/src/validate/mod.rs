//! Objects to [`Definitions`]: every reference, type, SQL text and expression is checked, and every problem recorded.
//!
//! An object with a problem takes part with all that is known of it. What would only be wrong because of a problem that
//! is recorded is passed over in silence.

mod check;
mod events;
mod features;
mod filter;
pub(crate) mod fingerprint;
mod inputs;
mod key_columns;
mod known;
mod meaning;
mod model;
mod renames;
mod request_view;
mod retention;
pub(crate) mod schedule;
mod service;
pub(crate) mod sql_tables;
mod sql_view;
mod view;
mod view_order;

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::definitions::{DefinitionFile, Definitions};
use crate::entity::{Entity, KeyPart};
use crate::error::{Problem, Span};
use crate::expression::RequestInput;
use crate::feature_view::{FeatureView, Schedule};
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::parse::members::Members;
use crate::parse::objects::{Declared, DeclaredEntity, DeclaredSource, Objects, Section, Unread};
use crate::parse::reader::Reader;
use crate::parse::request_view::read_value;
use crate::parse::yaml::{Node, Text};
use crate::project::Project;
use crate::request_view::RequestView;
use crate::source::Source;
use crate::suggestion::accepted;
use crate::time::TimeSpan;
use crate::value::Value;
use known::KnownView;
use view_order::ReadViews;

/// What is known so far, and where problems go.
struct Validator<'a> {
    files: &'a [DefinitionFile],
    entities: &'a Section<DeclaredEntity>,
    sources: &'a Section<DeclaredSource>,
    unread: &'a Unread,
    /// Names of all feature views.
    view_names: Vec<Name>,
    /// Names of all request views.
    request_view_names: Vec<Name>,
    /// What views read of each other.
    read_views: ReadViews,
    /// What decides which rows each of `views` has.
    row_meanings: HashMap<Name, Fingerprint>,
    /// Views of both kinds that were looked at.
    known: IndexMap<Name, KnownView>,
    /// Those of them that are feature views without a problem.
    views: IndexMap<Name, FeatureView>,
    /// Those of them that are request views without a problem.
    request_views: IndexMap<Name, RequestView>,
    /// Every stored feature that an expression may read, once it is known.
    stored_inputs: Option<Vec<(RequestInput, DataType)>>,
    /// Longest gaps between firings that were worked out.
    gaps: HashMap<Schedule, Option<TimeSpan>>,
    found: &'a mut Vec<Problem>,
}

/// Checks everything that lies between objects. `None` when the settings or an object have problems.
pub(crate) fn resolve(
    project: Option<Project>,
    mut objects: Objects,
    files: &[DefinitionFile],
    found: &mut Vec<Problem>,
) -> Option<Definitions> {
    let read_views = view_order::read_views(&objects.views);
    let order = view_order::view_order(&objects.views, &read_views, found);
    let mut validator = Validator {
        files,
        entities: &objects.entities,
        sources: &objects.sources,
        unread: &objects.unread,
        view_names: objects.views.keys().cloned().collect(),
        request_view_names: objects.request_views.keys().cloned().collect(),
        read_views,
        row_meanings: HashMap::new(),
        known: IndexMap::new(),
        views: IndexMap::new(),
        request_views: IndexMap::new(),
        stored_inputs: None,
        gaps: HashMap::new(),
        found,
    };
    validator.renames(&objects);
    for name in order {
        if let Some(declared) = objects.views.swap_remove(&name) {
            validator.view(&name, declared);
        }
    }
    validator.as_declared();
    validator.fields_agree(&objects.request_views);
    for (name, declared) in objects.request_views {
        validator.request_view(&name, declared);
    }
    let services = validator.services(objects.services);
    let models = validator.models(objects.models, &services);
    let Validator {
        views,
        request_views,
        ..
    } = validator;
    let entities = objects.entities.iter().map(|(name, declared)| {
        let entity = entity(name, declared.about.whole(), &declared.object)?;
        Some((name.clone(), entity))
    });
    let sources = objects.sources.iter().map(|(name, declared)| {
        let source = Source {
            about: declared.about.whole(),
            ..declared.object.source.clone()?
        };
        Some((name.clone(), source))
    });
    let services = services
        .into_iter()
        .map(|(name, service)| Some((name, service.whole?)));
    let mut definitions = Definitions {
        project: project?,
        entities: entities.collect::<Option<_>>()?,
        sources: sources.collect::<Option<_>>()?,
        views,
        request_views,
        services: services.collect::<Option<_>>()?,
        models,
        fingerprint: Fingerprint::of([""]),
        files: Vec::new(),
    };
    definitions.fingerprint = fingerprint::definitions(&definitions);
    Some(definitions)
}

/// The entity, if all of it is known.
fn entity(name: &Name, about: About, declared: &DeclaredEntity) -> Option<Entity> {
    let part = |key: &crate::parse::objects::DeclaredKey| {
        Some(KeyPart {
            name: key.name.clone(),
            data_type: key.data_type?,
        })
    };
    let keys = declared.keys.items.iter().map(part);
    Some(Entity {
        name: name.clone(),
        about,
        keys: keys.collect::<Option<_>>()?,
    })
}

impl Validator<'_> {
    /// Puts the feature views back into the order of their declarations.
    fn as_declared(&mut self) {
        let names = self.view_names.iter().enumerate();
        let places: HashMap<&Name, usize> = names.map(|(place, name)| (name, place)).collect();
        self.known.sort_by_key(|name, _| places.get(name).copied());
        self.views.sort_by_key(|name, _| places.get(name).copied());
    }

    fn refuse(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Problem::new(span.clone(), message, help));
    }

    /// A literal of a declared type that stands in a file.
    fn literal(&mut self, file: &str, node: &Node, data_type: DataType) -> Option<Value> {
        let file = self.files.iter().find(|known| known.path == file)?;
        let mut reader = Reader {
            file,
            files: self.files,
            unreadable: &[],
            unnamed_sql: &[],
            timezone: chrono_tz::UTC,
            databases: None,
            roots: None,
            found: self.found,
        };
        read_value(&mut reader, node, data_type)
    }

    /// Looks up a reference. `None` when it does not resolve, and when nothing is certain of what it names.
    fn find<'s, T>(
        &mut self,
        section: &'s Section<T>,
        what: &str,
        text: &Text,
    ) -> Option<(&'s Name, &'s T)> {
        if let Some((name, declared)) = section.get_key_value(text.text.as_str()) {
            return Some((name, certain(declared)?));
        }
        if !self.unread.may_declare(&text.text) {
            let names: Vec<&str> = section.keys().map(Name::as_str).collect();
            let help = accepted(&text.text, &names);
            self.refuse(&text.span, format!("unknown {what} `{}`", text.text), help);
        }
        None
    }

    /// Keeps what is known of a view. Nothing is, if it is doubtful what its name stands for.
    fn know(&mut self, name: &Name, mut known: KnownView, doubtful: bool) {
        if doubtful || self.known.contains_key(name) {
            known.features = Members::unknown();
        }
        self.known.insert(name.clone(), known);
    }
}

fn certain<T>(declared: &Declared<T>) -> Option<&T> {
    (!declared.doubtful).then_some(&declared.object)
}
