//! Who still reads what is deprecated.

use crate::definitions::Definitions;
use crate::name::Name;
use crate::object::{Object, ObjectKind};

/// One line a deprecated object and an object that is not deprecated and reads it, in the order of the readers.
#[must_use]
pub fn deprecations(definitions: &Definitions) -> Vec<String> {
    let deprecated: Vec<Object<'_>> = definitions
        .objects()
        .filter(|object| object.about.deprecated.is_some())
        .collect();
    if deprecated.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for reader in definitions
        .objects()
        .filter(|o| o.about.deprecated.is_none())
    {
        let read = reads(definitions, reader);
        for object in &deprecated {
            if read.contains(&(object.kind, object.name)) {
                lines.push(format!(
                    "{} `{}` reads {} `{}`, which is deprecated: {}",
                    reader.kind.as_str(),
                    reader.name,
                    object.kind.as_str(),
                    object.name,
                    object
                        .about
                        .deprecated
                        .as_deref()
                        .unwrap_or_default()
                        .trim()
                ));
            }
        }
    }
    lines
}

/// What an object names directly.
fn reads<'a>(definitions: &'a Definitions, object: Object<'_>) -> Vec<(ObjectKind, &'a Name)> {
    match object.kind {
        ObjectKind::Entity | ObjectKind::Source => Vec::new(),
        ObjectKind::FeatureView => {
            let view = &definitions.views[object.name];
            let sources = view.computation.sources().iter();
            let sources = sources.map(|name| (ObjectKind::Source, name));
            let views = view.computation.views().iter();
            let views = views.map(|name| (ObjectKind::FeatureView, name));
            sources
                .chain(views)
                .chain([(ObjectKind::Entity, &view.entity)])
                .collect()
        }
        ObjectKind::RequestView => {
            let features = definitions.request_views[object.name].features.iter();
            let read = features.flat_map(|feature| &feature.features);
            read.map(|reference| (ObjectKind::FeatureView, &reference.view))
                .collect()
        }
        ObjectKind::FeatureService => {
            let features = definitions.services[object.name].features.iter();
            let views = features.map(|feature| &feature.reference.view);
            let kind = |view: &Name| match definitions.views.contains_key(view) {
                true => ObjectKind::FeatureView,
                false => ObjectKind::RequestView,
            };
            views.map(|view| (kind(view), view)).collect()
        }
        ObjectKind::Model => vec![(
            ObjectKind::FeatureService,
            &definitions.models[object.name].service,
        )],
    }
}
