//! What differs between two versions of the definitions, and what follows from it.
//!
//! A change is *compatible* when every value that is kept or served keeps its meaning: a description, a TTL, a schedule, a
//! new object. It is *incompatible* when the object has another fingerprint from then on: what was computed under the
//! old one is never mixed with what is computed under the new one.

mod compared;
mod source;

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::Serialize;

use crate::about::About;
use crate::definitions::Definitions;
use crate::entity::Entity;
use crate::feature_service::{FeatureService, ServiceFeature};
use crate::feature_view::{Computation, Feature, FeatureView};
use crate::fingerprint::Fingerprint;
use crate::model::{Model, Transform};
use crate::name::Name;
use crate::object::ObjectKind;
use crate::request_view::{RequestFeature, RequestView};

use compared::{Compared, quoted};
use source::source;

/// What differs between two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The objects that came, changed or went, by kind, then in the order of the newer definitions, those gone last.
    pub objects: Vec<ObjectChange>,
    /// Views whose rows the next night computes anew, because they are new or have another meaning, and the views that
    /// these read.
    pub recomputed: Vec<Name>,
    /// Services and models that the next release does not serve any more.
    pub unserved: Vec<Name>,
    /// Models that read another thing than before: their bundle may not fit.
    pub affected_models: Vec<Name>,
}

/// One object that came, changed or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ObjectChange {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name.
    pub name: Name,
    /// The name that it had before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<Name>,
    /// What happened to it.
    pub change: Change,
    /// What is different about it, a line each.
    pub details: Vec<String>,
}

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added,
    /// It changed, and means what it meant.
    Compatible,
    /// It changed, and has another meaning, and fingerprint, from now on.
    Incompatible,
    /// It has another name, and so another meaning to whoever names it, from now on.
    Renamed,
    /// It is gone.
    Removed,
}

impl Difference {
    /// What is different in `after`; everything is new where there was nothing before.
    #[must_use]
    pub fn between(before: Option<&Definitions>, after: &Definitions) -> Self {
        let mut objects = Vec::new();
        changes(
            &mut objects,
            ObjectKind::Entity,
            before.map(|d| &d.entities),
            &after.entities,
            |it| &it.about,
            &entity,
        );
        changes(
            &mut objects,
            ObjectKind::Source,
            before.map(|d| &d.sources),
            &after.sources,
            |it| &it.about,
            &source,
        );
        changes(
            &mut objects,
            ObjectKind::FeatureView,
            before.map(|d| &d.views),
            &after.views,
            |it| &it.about,
            &|a, b| view(a, b, before, after),
        );
        changes(
            &mut objects,
            ObjectKind::RequestView,
            before.map(|d| &d.request_views),
            &after.request_views,
            |it| &it.about,
            &request_view,
        );
        changes(
            &mut objects,
            ObjectKind::FeatureService,
            before.map(|d| &d.services),
            &after.services,
            |it| &it.about,
            &service,
        );
        changes(
            &mut objects,
            ObjectKind::Model,
            before.map(|d| &d.models),
            &after.models,
            |it| &it.about,
            &|a, b| model(a, b, before, after),
        );
        let of = |kinds: &[ObjectKind], changes: &[Change]| {
            let objects = objects.iter();
            let found = objects.filter(|o| kinds.contains(&o.kind) && changes.contains(&o.change));
            found.collect::<Vec<&ObjectChange>>()
        };
        let names = |objects: Vec<&ObjectChange>| {
            let names = objects.into_iter().map(|object| object.name.clone());
            names.collect()
        };
        let unserved = of(
            &[ObjectKind::FeatureService, ObjectKind::Model],
            &[Change::Removed, Change::Renamed],
        );
        let unserved = unserved.into_iter().map(|object| {
            let was = object.renamed_from.as_ref();
            was.unwrap_or(&object.name).clone()
        });
        let recomputed: Vec<Name> = names(of(
            &[ObjectKind::FeatureView],
            &[Change::Added, Change::Incompatible, Change::Renamed],
        ));
        let recomputed = after.with_read_views(&recomputed);
        let is_recomputed = |name: &&Name| recomputed.iter().any(|view| view.name == **name);
        Self {
            recomputed: after.views.keys().filter(is_recomputed).cloned().collect(),
            unserved: unserved.collect(),
            affected_models: names(of(
                &[ObjectKind::Model],
                &[Change::Incompatible, Change::Renamed],
            )),
            objects,
        }
    }

    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

fn changes<T: PartialEq>(
    objects: &mut Vec<ObjectChange>,
    kind: ObjectKind,
    before: Option<&IndexMap<Name, T>>,
    after: &IndexMap<Name, T>,
    about: fn(&T) -> &About,
    compare: &dyn Fn(&T, &T) -> Compared,
) {
    let mut add = |name: &Name, renamed_from, change, details| {
        objects.push(ObjectChange {
            kind,
            name: name.clone(),
            renamed_from,
            change,
            details,
        });
    };
    let was = |name: &Name| before.and_then(|before| before.get(name));
    let mut renamed = BTreeSet::new();
    for (name, new) in after {
        let old_name = about(new).renamed_from.as_ref();
        let old_name = old_name.filter(|_| was(name).is_none());
        match (was(name), old_name.and_then(|old| Some((old, was(old)?)))) {
            (None, None) => add(name, None, Change::Added, Vec::new()),
            (None, Some((old_name, old))) => {
                renamed.insert(old_name);
                let details = compare(old, new).details;
                add(name, Some(old_name.clone()), Change::Renamed, details);
            }
            (Some(old), _) if old == new => {}
            (Some(old), _) => {
                let compared = compare(old, new);
                let change = if compared.incompatible {
                    Change::Incompatible
                } else {
                    Change::Compatible
                };
                add(name, None, change, compared.details);
            }
        }
    }
    for name in before.into_iter().flat_map(IndexMap::keys) {
        if !after.contains_key(name) && !renamed.contains(name) {
            add(name, None, Change::Removed, Vec::new());
        }
    }
}

fn entity(before: &Entity, after: &Entity) -> Compared {
    let keys = |entity: &Entity| {
        let keys = entity.keys.iter();
        keys.map(|key| format!("{}: {}", key.name, key.data_type))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (old, new) = (keys(before), keys(after));
    let mut compared = Compared {
        incompatible: old != new,
        ..Compared::default()
    };
    compared.setting("keys", &old, &new, |keys| format!("{{ {keys} }}"));
    compared.about(&before.about, &after.about);
    compared
}

fn view(
    before: &FeatureView,
    after: &FeatureView,
    old: Option<&Definitions>,
    new: &Definitions,
) -> Compared {
    let mut compared = Compared::fingerprints(before.fingerprint, after.fingerprint);
    compared.setting("entity", &before.entity, &after.entity, quoted);
    compared.setting("ttl", &before.ttl, &after.ttl, ToString::to_string);
    compared.setting(
        "schedule",
        &before.schedule,
        &after.schedule,
        |schedule| match schedule {
            Some(schedule) => format!("`{}` in {}", schedule.cron, schedule.timezone),
            None => "none".to_owned(),
        },
    );
    compared.parts("check", checks(before), checks(after), |old, new| {
        format!("{old} -> {new}")
    });
    compared.parts("feature", features(before), features(after), |old, new| {
        described(old, new)
    });
    match (&before.computation, &after.computation) {
        (Computation::Sql(old), Computation::Sql(new)) => {
            if old.text != new.text {
                compared.details.push("sql: another text".to_owned());
            }
            compared.setting("sql in", &old.file, &new.file, quoted);
        }
        (Computation::Windows(old), Computation::Windows(new)) => {
            let windows = |windows: &crate::feature_view::Windows| {
                let all = windows.windows.iter().map(ToString::to_string);
                all.collect::<Vec<_>>().join(", ")
            };
            compared.setting("windows", &windows(old), &windows(new), |windows| {
                format!("[{windows}]")
            });
            if old.aggregates != new.aggregates {
                compared
                    .details
                    .push("aggregate: another computation".to_owned());
            }
            compared.setting("source", &old.sources, &new.sources, |sources| {
                let quoted: Vec<String> = sources.iter().map(quoted).collect();
                quoted.join(", ")
            });
        }
        (Computation::Latest(old), Computation::Latest(new)) => {
            compared.setting("source", &old.source, &new.source, quoted);
        }
        _ => compared.details.push("another kind of view".to_owned()),
    }
    for name in after.computation.sources() {
        let was = old.and_then(|old| old.sources.get(name));
        if was.is_some_and(|was| was.fingerprint != new.sources[name].fingerprint) {
            compared
                .details
                .push(format!("reads source `{name}`, which changed"));
        }
    }
    for name in after.computation.views() {
        let was = old.and_then(|old| old.views.get(name));
        if was.is_some_and(|was| was.fingerprint != new.views[name].fingerprint) {
            compared
                .details
                .push(format!("reads view `{name}`, which changed"));
        } else if was.is_some_and(|was| {
            // Rows of other kinds are stamped with the instant itself, and never expire for a reader.
            matches!(was.computation, Computation::Latest(_)) && was.ttl != new.views[name].ttl
        }) {
            compared
                .details
                .push(format!("reads view `{name}`, whose ttl changed"));
        }
    }
    compared.about(&before.about, &after.about);
    compared
}

/// What is checked, and how, by what it is called.
fn checks(view: &FeatureView) -> impl Iterator<Item = (String, String)> {
    view.checks.iter().map(|check| {
        let of = check.feature.as_ref().map_or("rows", Name::as_str);
        let called = format!("{of} {}", check.demand.key());
        let shown = format!("`{}`, else {}", check.demand, check.on_failure.name());
        (called, shown)
    })
}

fn features(view: &FeatureView) -> impl Iterator<Item = (String, &Feature)> {
    view.features
        .iter()
        .map(|feature| (feature.name.to_string(), feature))
}

fn described(before: &Feature, after: &Feature) -> String {
    let null = |feature: &Feature| {
        if feature.nullable {
            ", may be null"
        } else {
            ""
        }
    };
    let shown = |feature: &Feature| format!("{}{}", feature.data_type, null(feature));
    meant(
        (shown(before), before.fingerprint),
        (shown(after), after.fingerprint),
    )
}

fn request_view(before: &RequestView, after: &RequestView) -> Compared {
    let mut compared = Compared::fingerprints(before.fingerprint, after.fingerprint);
    let inputs = |view: &RequestView| -> Vec<(String, String)> {
        let inputs = view.inputs.iter().map(|field| {
            let default = field.default.as_ref().map_or("", |_| ", has a default");
            let null = if field.nullable { ", may be null" } else { "" };
            (
                field.name.to_string(),
                format!("{}{null}{default}", field.data_type),
            )
        });
        inputs.collect()
    };
    let (old, new) = (inputs(before), inputs(after));
    compared.parts("input", old, new, |old, new| format!("{old} -> {new}"));
    let shown = |feature: &RequestFeature| {
        format!("`{}` ({})", feature.expression.trim(), feature.data_type)
    };
    compared.parts("feature", computed(before), computed(after), |old, new| {
        meant((shown(old), old.fingerprint), (shown(new), new.fingerprint))
    });
    compared.about(&before.about, &after.about);
    compared
}

fn computed(view: &RequestView) -> impl Iterator<Item = (String, &RequestFeature)> {
    let features = view.features.iter();
    features.map(|feature| (feature.name.to_string(), feature))
}

fn service(before: &FeatureService, after: &FeatureService) -> Compared {
    let mut compared = Compared::fingerprints(before.fingerprint, after.fingerprint);
    compared.parts("feature", chosen(before), chosen(after), |old, new| {
        meant((named(old), old.fingerprint), (named(new), new.fingerprint))
    });
    let aliases = |service: &FeatureService| {
        let aliases: Vec<&str> = service.aliases.iter().map(Name::as_str).collect();
        format!("[{}]", aliases.join(", "))
    };
    compared.setting("aliases", &aliases(before), &aliases(after), Clone::clone);
    compared.about(&before.about, &after.about);
    compared
}

fn chosen(service: &FeatureService) -> impl Iterator<Item = (String, &ServiceFeature)> {
    let features = service.features.iter();
    features.map(|feature| (feature.reference.to_string(), feature))
}

/// What is different about a feature, as it is shown, beside its fingerprint.
fn meant(before: (String, Fingerprint), after: (String, Fingerprint)) -> String {
    if before.0 != after.0 {
        return format!("{} -> {}", before.0, after.0);
    }
    match before.1 == after.1 {
        true => "another description".to_owned(),
        false => "computed in another way".to_owned(),
    }
}

/// A service's feature beside the feature that it is.
fn named(feature: &ServiceFeature) -> String {
    let typed = typed(feature);
    match feature.name == feature.reference.to_string() {
        true => typed,
        false => format!("{typed} as `{}`", feature.name),
    }
}

fn typed(feature: &ServiceFeature) -> String {
    match &feature.default {
        Some(default) => {
            let mut json = Vec::new();
            default.write_json(feature.data_type, &mut json);
            format!(
                "{} or {}",
                feature.data_type,
                String::from_utf8_lossy(&json)
            )
        }
        None => feature.data_type.to_string(),
    }
}

fn model(before: &Model, after: &Model, old: Option<&Definitions>, new: &Definitions) -> Compared {
    let mut compared = Compared::fingerprints(before.fingerprint, after.fingerprint);
    compared.setting("service", &before.service, &after.service, quoted);
    compared.setting("output", &before.output, &after.output, quoted);
    compared.setting(
        "transform",
        &before.transform,
        &after.transform,
        |transform| {
            transform
                .map_or("the objective's", Transform::name)
                .to_owned()
        },
    );
    let was = old.and_then(|old| old.services.get(&after.service));
    if was.is_some_and(|was| was.fingerprint != new.services[&after.service].fingerprint) {
        compared
            .details
            .push(format!("reads service `{}`, which changed", after.service));
    }
    compared.about(&before.about, &after.about);
    compared
}

#[cfg(test)]
mod tests;
