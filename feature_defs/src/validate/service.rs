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
use crate::parse::reader::Reader;
use crate::parse::request_view::read_value;
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
        let mut services = IndexMap::new();
        for (name, declared) in declared {
            let service = self.service(&name, declared);
            services.insert(name, service);
        }
        services
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
            let found = self.entry(entry);
            features.whole &= found.whole;
            for feature in found.items {
                self.add_service_feature(&mut features, feature, &entry.span);
            }
        }
        self.keys_agree(name, &span, &features.items);
        let whole = self.whole_service(name, about.whole(), &features);
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
        features: &Members<DraftServiceFeature>,
    ) -> Option<FeatureService> {
        let feature = |draft: &DraftServiceFeature| {
            Some(ServiceFeature {
                reference: draft.reference.clone(),
                data_type: draft.data_type?,
                origin: draft.origin,
                default: draft.default.clone(),
            })
        };
        let mut service = FeatureService {
            name: name.clone(),
            about,
            features: features.items.iter().map(feature).collect::<Option<_>>()?,
            fingerprint: Fingerprint::of([""]),
        };
        service.fingerprint = fingerprint::service(&service, &self.views, &self.request_views);
        Some(service)
    }

    fn add_service_feature(
        &mut self,
        features: &mut Members<DraftServiceFeature>,
        feature: DraftServiceFeature,
        span: &Span,
    ) {
        let mut earlier = features.items.iter();
        if earlier.any(|earlier| earlier.reference == feature.reference) {
            let message = format!(
                "the feature `{}` stands in the service twice",
                feature.reference
            );
            let help = "keep one; `view.*` takes all features of a view";
            self.refuse(span, message, help);
            return;
        }
        features.items.push(feature);
    }

    /// The features that an entry of a service's list stands for.
    fn entry(&mut self, entry: &DeclaredServiceFeature) -> Members<DraftServiceFeature> {
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
                items: all.map(|feature| draft(view, known, feature)).collect(),
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
        let mut chosen = draft(view, known, chosen);
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
        let file = self
            .files
            .iter()
            .find(|file| file.path == entry.span.file)?;
        let mut reader = Reader {
            file,
            files: self.files,
            unreadable: &[],
            timezone: chrono_tz::UTC,
            found: self.found,
        };
        let value = read_value(&mut reader, node, feature.data_type?)?;
        if value == Value::Null {
            let help = "leave the default out: the value is null then";
            reader.refuse(&node.span, "a default of null", help);
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
        if let Some((message, help)) = problem {
            self.refuse(span, message, help);
        }
    }
}

fn draft(view: &Name, known: &KnownView, feature: &KnownFeature) -> DraftServiceFeature {
    DraftServiceFeature {
        reference: FeatureRef {
            view: view.clone(),
            feature: feature.name.clone(),
        },
        data_type: feature.data_type,
        origin: known.origin,
        default: None,
    }
}
