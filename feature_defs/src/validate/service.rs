//! Feature services: wildcards expanded, each feature once, keys and request fields that do not collide.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::about::About;
use crate::data_type::DataType;
use crate::error::Span;
use crate::feature_service::{FeatureService, Origin, ServiceFeature};
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::parse::members::{Members, Typed};
use crate::parse::objects::{Declared, DeclaredService, DeclaredServiceFeature, Section};
use crate::parse::reader::Placed;
use crate::parse::yaml::Node;
use crate::suggestion::accepted;
use crate::validate::known::{KnownFeature, KnownView};
use crate::validate::{Validator, fingerprint};
use crate::value::Value;

/// All services, as far as they are known.
pub(super) type Services = IndexMap<Name, KnownService>;

/// A service, as far as it is known.
pub(super) struct KnownService {
    pub(super) features: Members<DraftServiceFeature>,
    /// All of it, if there is no problem.
    pub(super) whole: Option<FeatureService>,
}

/// A service's feature whose type may not be known.
#[derive(Debug, Clone)]
pub(super) struct DraftServiceFeature {
    /// What it is called, and where that is said.
    called: Placed<String>,
    pub(super) reference: FeatureRef,
    data_type: Option<DataType>,
    origin: Origin,
    default: Option<Value>,
}

impl Typed for DraftServiceFeature {
    fn name(&self) -> &str {
        self.reference.feature.as_str()
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}

impl Validator<'_> {
    /// Checks all services.
    pub(super) fn services(&mut self, declared: Section<DeclaredService>) -> Services {
        self.aliases(&declared);
        let mut services = IndexMap::new();
        for (name, declared) in declared {
            let service = self.service(&name, declared);
            services.insert(name, service);
        }
        services
    }

    /// No alias is a service's name, or another's alias.
    fn aliases(&mut self, declared: &Section<DeclaredService>) {
        let mut taken: BTreeMap<&Name, &Name> = BTreeMap::new();
        for (service, one) in declared {
            for alias in &one.object.aliases {
                if declared.contains_key(&alias.value) {
                    let message = format!("the alias `{}` is the name of a service", alias.value);
                    self.refuse(&alias.span, message, "give the alias another name");
                } else if let Some(other) = taken.insert(&alias.value, service) {
                    let message = format!(
                        "`{}` is an alias of the service `{other}` already",
                        alias.value
                    );
                    self.refuse(&alias.span, message, "leave one of the two out");
                }
            }
        }
    }

    fn service(&mut self, name: &Name, declared: Declared<DeclaredService>) -> KnownService {
        let Declared {
            span,
            about,
            object: service,
            doubtful,
        } = declared;
        let mut features = Members::none().whole_if(service.features.whole);
        for entry in &service.features.items {
            let found = self.entry(entry, service.full_names);
            features.whole &= found.whole;
            for feature in found.items {
                self.add_service_feature(&mut features, feature, entry);
            }
        }
        self.keys_agree(name, &span, &features.items);
        let aliases = service.aliases.into_iter().map(|alias| alias.value);
        let aliases = aliases.collect();
        let whole = self.whole_service(name, about.whole(), aliases, &features);
        KnownService {
            features: if doubtful {
                Members::unknown()
            } else {
                features
            },
            whole,
        }
    }

    fn whole_service(
        &self,
        name: &Name,
        about: About,
        aliases: Vec<Name>,
        features: &Members<DraftServiceFeature>,
    ) -> Option<FeatureService> {
        let feature = |draft: &DraftServiceFeature| {
            Some(ServiceFeature {
                name: draft.called.value.clone(),
                reference: draft.reference.clone(),
                data_type: draft.data_type?,
                fingerprint: self.meaning(&draft.reference)?,
                origin: draft.origin,
                default: draft.default.clone(),
            })
        };
        let mut service = FeatureService {
            name: name.clone(),
            about,
            aliases,
            features: features.items.iter().map(feature).collect::<Option<_>>()?,
            fingerprint: Fingerprint::of([""]),
        };
        service.fingerprint = fingerprint::service(&service);
        Some(service)
    }

    /// The fingerprint of a feature, if its view has no problem.
    fn meaning(&self, reference: &FeatureRef) -> Option<Fingerprint> {
        let FeatureRef { view, feature } = reference;
        match self.views.get(view) {
            Some(view) => Some(view.feature(feature)?.fingerprint),
            None => Some(self.request_views.get(view)?.feature(feature)?.fingerprint),
        }
    }

    fn add_service_feature(
        &mut self,
        features: &mut Members<DraftServiceFeature>,
        feature: DraftServiceFeature,
        entry: &DeclaredServiceFeature,
    ) {
        let mut earlier = features.items.iter();
        if earlier.any(|earlier| earlier.reference == feature.reference) {
            let message = format!(
                "the feature `{}` stands in the service twice",
                feature.reference
            );
            let help = "keep one; `view.*` takes all features of a view";
            self.refuse(&entry.span, message, help);
            return;
        }
        let mut earlier = features.items.iter();
        if let Some(earlier) = earlier.find(|earlier| earlier.called.value == feature.called.value)
        {
            let message = format!(
                "`{}` and `{}` are both called `{}` in the service",
                earlier.reference, feature.reference, feature.called.value
            );
            let help = format!("write `{}: {{ as: another_name }}`", feature.reference);
            self.refuse(&feature.called.span, message, help);
            return;
        }
        features.items.push(feature);
    }

    /// Refuses a word that is not `view.feature`, with the features of its name.
    fn refuse_undotted(&mut self, entry: &DeclaredServiceFeature) {
        let word = entry.view.as_str();
        let is_there =
            |known: &KnownView| known.features.items.iter().any(|f| f.name.as_str() == word);
        let views = self.known.iter().filter(|(_, known)| is_there(known));
        let of: Vec<String> = views.map(|(view, _)| format!("`{view}.{word}`")).collect();
        let help = match of.as_slice() {
            [] => format!("write `{word}.*` for all features of a view, or `view.feature`"),
            of => format!("write {}", of.join(" or ")),
        };
        self.refuse(&entry.span, format!("`{word}` is not a feature"), help);
    }

    /// The features that an entry of a service's list stands for.
    fn entry(
        &mut self,
        entry: &DeclaredServiceFeature,
        full_names: bool,
    ) -> Members<DraftServiceFeature> {
        if !entry.dotted {
            self.refuse_undotted(entry);
            return Members::unknown();
        }
        let Some((view, known)) = self.known.get_key_value(entry.view.as_str()) else {
            if !self.unread.may_declare(&entry.view) {
                let names: Vec<&str> = self.known.keys().map(Name::as_str).collect();
                let message = format!("unknown view `{}`", entry.view);
                let help = accepted(&entry.view, &names);
                self.refuse(&entry.span, message, help);
            }
            return Members::unknown();
        };
        let Some(feature) = &entry.feature else {
            let all = known.features.items.iter();
            return Members {
                items: all
                    .map(|feature| draft(view, known, feature, entry, full_names))
                    .collect(),
                whole: known.features.whole,
            };
        };
        let mut all = known.features.items.iter();
        let Some(chosen) = all.find(|known| known.name.as_str() == feature) else {
            if known.features.whole {
                let message = format!("unknown feature `{}.{feature}`", entry.view);
                let help = accepted(feature, &known.features.names());
                self.refuse(&entry.span, message, help);
            }
            return Members::unknown();
        };
        let mut chosen = draft(view, known, chosen, entry, full_names);
        if let Some(node) = &entry.default {
            chosen.default = self.default(entry, node, &chosen);
        }
        [Some(chosen)].into_iter().collect()
    }

    /// A default of the feature's type, if that is known.
    fn default(
        &mut self,
        entry: &DeclaredServiceFeature,
        node: &Node,
        feature: &DraftServiceFeature,
    ) -> Option<Value> {
        if feature.origin == Origin::Request {
            let message = "a default for a request-time feature, which is never missing";
            self.refuse(&node.span, message, "give the request field a default");
            return None;
        }
        let value = self.literal(&entry.span.file, node, feature.data_type?)?;
        if value == Value::Null {
            let help = "leave the default out: the value is null then";
            self.refuse(&node.span, "a default of null", help);
            return None;
        }
        Some(value)
    }

    /// Keys of one name have one type, and no request field has the name of a key: both are columns of an entity frame.
    fn keys_agree(&mut self, name: &Name, span: &Span, features: &[DraftServiceFeature]) {
        let mut needed: Vec<&Name> = Vec::new();
        let mut fields: Vec<&Name> = Vec::new();
        for feature in features {
            let Some(known) = self.known.get(&feature.reference.view) else {
                continue;
            };
            needed.extend(&known.entity);
            let chosen = known.features.items.iter();
            for computed in chosen.filter(|known| known.name == feature.reference.feature) {
                fields.extend(&computed.fields);
                let stored = computed.stored.iter();
                let views = stored.filter_map(|reference| self.known.get(&reference.view));
                needed.extend(views.filter_map(|view| view.entity.as_ref()));
            }
        }
        let mut keys: BTreeMap<&Name, Option<DataType>> = BTreeMap::new();
        let entities = self.entities;
        let parts = needed.iter().filter_map(|entity| entities.get(*entity));
        let mut problem = None;
        for part in parts.flat_map(|entity| &entity.object.keys.items) {
            let earlier = *keys.entry(&part.name).or_insert(part.data_type);
            if let (Some(earlier), Some(data_type)) = (earlier, part.data_type)
                && earlier != data_type
            {
                let message = format!(
                    "the service `{name}` needs the key `{}` as {earlier} and as {data_type}",
                    part.name
                );
                let help = "give the entities' keys one type, or different names";
                problem = Some((message, help));
            }
        }
        if let Some(field) = fields.iter().find(|field| keys.contains_key(*field)) {
            let message = format!("`{field}` is a key and a request field of the service `{name}`");
            problem = Some((message, "give the request field another name"));
        }
        let keys: Vec<String> = keys.keys().map(ToString::to_string).collect();
        let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
        if let Some((message, help)) = problem {
            self.refuse(span, message, help);
        }
        for feature in features {
            let Placed { value, span } = &feature.called;
            let taken = if keys.contains(value) {
                "a key"
            } else if fields.contains(value) {
                "a request field"
            } else {
                continue;
            };
            let message = format!("`{value}` is {taken} and a feature of the service `{name}`");
            let help = format!("write `{}: {{ as: another_name }}`", feature.reference);
            self.refuse(span, message, help);
        }
    }
}

fn called(
    reference: &FeatureRef,
    entry: &DeclaredServiceFeature,
    full_names: bool,
) -> Placed<String> {
    let value = match &entry.rename {
        Some(name) => name.value.to_string(),
        None if full_names => reference.to_string(),
        None => reference.feature.to_string(),
    };
    let rename = entry.rename.as_ref();
    let span = rename.map_or(&entry.span, |name| &name.span).clone();
    Placed { value, span }
}

fn draft(
    view: &Name,
    known: &KnownView,
    feature: &KnownFeature,
    entry: &DeclaredServiceFeature,
    full_names: bool,
) -> DraftServiceFeature {
    let reference = FeatureRef {
        view: view.clone(),
        feature: feature.name.clone(),
    };
    DraftServiceFeature {
        called: called(&reference, entry, full_names),
        reference,
        data_type: feature.data_type,
        origin: known.origin,
        default: None,
    }
}
