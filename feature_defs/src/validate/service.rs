//! Feature services: wildcards expanded, each feature once, keys and request fields that do not collide.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::data_type::DataType;
use crate::definitions::DefinitionFile;
use crate::error::Span;
use crate::feature_service::{FeatureService, Origin, ServiceFeature};
use crate::feature_view::FeatureView;
use crate::fingerprint::Fingerprint;
use crate::name::{FeatureRef, Name};
use crate::parse::objects::{DeclaredService, DeclaredServiceFeature};
use crate::parse::reader::Reader;
use crate::parse::request_view::read_value;
use crate::request_view::RequestView;
use crate::suggestion::accepted;
use crate::validate::{Validator, fingerprint};
use crate::value::Value;

type Views = IndexMap<Name, FeatureView>;
type RequestViews = IndexMap<Name, RequestView>;

impl Validator<'_> {
    /// Checks one service.
    pub(super) fn service(
        &mut self,
        name: &Name,
        span: &Span,
        declared: DeclaredService,
        views: &Views,
        request_views: &RequestViews,
        files: &[DefinitionFile],
    ) -> Option<FeatureService> {
        let mut whole = true;
        let mut features: Vec<ServiceFeature> = Vec::new();
        for entry in &declared.features {
            let Some(found) = self.entry(entry, views, request_views, files) else {
                whole = false;
                continue;
            };
            for feature in found {
                if features
                    .iter()
                    .any(|earlier| earlier.reference == feature.reference)
                {
                    let message = format!(
                        "the feature `{}` stands in the service twice",
                        feature.reference
                    );
                    self.refuse(
                        &entry.span,
                        message,
                        "keep one; `view.*` takes all features of a view",
                    );
                    whole = false;
                    continue;
                }
                features.push(feature);
            }
        }
        whole &= self.keys_agree(name, span, &features, views, request_views);
        whole.then_some(())?;
        let mut service = FeatureService {
            name: name.clone(),
            description: declared.description,
            features,
            fingerprint: Fingerprint::of([""]),
        };
        service.fingerprint = fingerprint::service(&service, views, request_views);
        Some(service)
    }

    fn entry(
        &mut self,
        entry: &DeclaredServiceFeature,
        views: &Views,
        request_views: &RequestViews,
        files: &[DefinitionFile],
    ) -> Option<Vec<ServiceFeature>> {
        let Some((all, origin)) = features_of(&entry.view, views, request_views) else {
            if self
                .broken_views
                .iter()
                .all(|broken| broken.as_str() != entry.view)
            {
                let names: Vec<&str> = views
                    .keys()
                    .chain(request_views.keys())
                    .map(Name::as_str)
                    .collect();
                self.refuse(
                    &entry.span,
                    format!("unknown view `{}`", entry.view),
                    accepted(&entry.view, &names),
                );
            }
            return None;
        };
        let Some(feature) = &entry.feature else {
            return Some(
                all.into_iter()
                    .map(|(reference, t)| stored(reference, t, origin))
                    .collect(),
            );
        };
        let chosen = all
            .iter()
            .find(|(reference, _)| reference.feature.as_str() == feature);
        let Some((reference, data_type)) = chosen else {
            let names: Vec<&str> = all
                .iter()
                .map(|(reference, _)| reference.feature.as_str())
                .collect();
            let message = format!("unknown feature `{}.{feature}`", entry.view);
            self.refuse(&entry.span, message, accepted(feature, &names));
            return None;
        };
        let mut chosen = stored(reference.clone(), *data_type, origin);
        if let Some(node) = &entry.default {
            if origin == Origin::Request {
                self.refuse(
                    &node.span,
                    "a default for a request-time feature, which is never missing",
                    "give the request field a default",
                );
                return None;
            }
            let file = files.iter().find(|file| file.path == entry.span.file)?;
            let mut reader = Reader {
                file,
                files,
                timezone: chrono_tz::UTC,
                found: self.found,
            };
            let value = read_value(&mut reader, node, *data_type)?;
            if value == Value::Null {
                reader.refuse(
                    &node.span,
                    "a default of null",
                    "leave the default out: the value is null then",
                );
                return None;
            }
            chosen.default = Some(value);
        }
        Some(vec![chosen])
    }

    /// Keys of one name have one type, and no request field has the name of a key: both are columns of an entity frame.
    fn keys_agree(
        &mut self,
        name: &Name,
        span: &Span,
        features: &[ServiceFeature],
        views: &Views,
        request_views: &RequestViews,
    ) -> bool {
        let mut needed: Vec<&FeatureView> = Vec::new();
        let mut fields: Vec<&Name> = Vec::new();
        for feature in features {
            needed.extend(views.get(&feature.reference.view));
            let Some(view) = request_views.get(&feature.reference.view) else {
                continue;
            };
            let chosen = view
                .features
                .iter()
                .filter(|f| f.name == feature.reference.feature);
            for computed in chosen {
                fields.extend(&computed.fields);
                needed.extend(
                    computed
                        .features
                        .iter()
                        .filter_map(|reference| views.get(&reference.view)),
                );
            }
        }
        let mut keys: BTreeMap<&Name, DataType> = BTreeMap::new();
        let entities = self.entities;
        let parts = needed
            .iter()
            .filter_map(|view| entities.get(&view.entity)?.object.as_ref())
            .flat_map(|e| &e.keys);
        for part in parts {
            let earlier = *keys.entry(&part.name).or_insert(part.data_type);
            if earlier != part.data_type {
                let message = format!(
                    "the service `{name}` needs the key `{}` as {earlier} and as {}",
                    part.name, part.data_type
                );
                self.refuse(
                    span,
                    message,
                    "give the entities' keys one type, or different names",
                );
                return false;
            }
        }
        if let Some(field) = fields.iter().find(|field| keys.contains_key(*field)) {
            let message = format!("`{field}` is a key and a request field of the service `{name}`");
            self.refuse(span, message, "give the request field another name");
            return false;
        }
        true
    }
}

type Typed = Vec<(FeatureRef, DataType)>;

/// All features of a view of either kind.
fn features_of(name: &str, views: &Views, request_views: &RequestViews) -> Option<(Typed, Origin)> {
    let reference = |view: &Name, feature: &Name| FeatureRef {
        view: view.clone(),
        feature: feature.clone(),
    };
    if let Some(view) = views.get(name) {
        let typed = view
            .features
            .iter()
            .map(|f| (reference(&view.name, &f.name), f.data_type));
        return Some((typed.collect(), Origin::Stored));
    }
    let view = request_views.get(name)?;
    let typed = view
        .features
        .iter()
        .map(|f| (reference(&view.name, &f.name), f.data_type));
    Some((typed.collect(), Origin::Request))
}

const fn stored(reference: FeatureRef, data_type: DataType, origin: Origin) -> ServiceFeature {
    ServiceFeature {
        reference,
        data_type,
        origin,
        default: None,
    }
}
