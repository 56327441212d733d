//! Everything about a release that requests need, resolved once: names to positions, rows to layouts, features to
//! columns. A request looks up nothing by name but what it names itself.

use std::sync::Arc;

use feature_defs::article::with_article;
use feature_defs::definitions::Definitions;
use feature_defs::model::Transform;
use feature_defs::name::Name;
use feature_defs::suggestion::named;
use indexmap::IndexMap;
use scorer::Scorer;
use scorer::input::{is_readable, number};
use store::release::Release;

use crate::error::{Error, ErrorKind, Result};
use crate::predict::service_plan::{FeatureSource, ServicePlan};

/// A release, ready to answer.
#[derive(Debug)]
pub struct ReleasePlan {
    pub(crate) release: Release,
    pub(crate) definitions: Definitions,
    services: IndexMap<Name, Servable<ServicePlan>>,
    models: IndexMap<Name, Servable<ModelPlan>>,
}

/// What is declared and can be answered, or why it cannot be from this release.
type Servable<T> = std::result::Result<Arc<T>, String>;

/// A model's bundle, opened.
#[derive(Debug)]
pub(crate) struct OpenBundle {
    /// The first digits of its hash.
    pub(crate) short: String,
    /// `view.feature` of each input, in the scorer's order.
    pub(crate) inputs: Vec<String>,
    pub(crate) scorer: Arc<dyn Scorer>,
    pub(crate) transform: Transform,
}

/// A model, ready to score.
#[derive(Debug)]
pub(crate) struct ModelPlan {
    pub(crate) name: Name,
    pub(crate) output: Name,
    pub(crate) transform: Transform,
    /// `model@hash`.
    pub(crate) bundle: String,
    pub(crate) scorer: Arc<dyn Scorer>,
    pub(crate) service: Arc<ServicePlan>,
    /// For each stored view of the service, what it brings to the matrix.
    pub(crate) stored: Vec<Vec<StoredInput>>,
    /// What request views bring to the matrix.
    pub(crate) computed: Vec<ComputedInput>,
}

/// A matrix column that is read from a stored row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredInput {
    pub(crate) column: usize,
    /// The feature's position in its view.
    pub(crate) position: usize,
    /// Taken for missing and expired rows; NaN where no default is declared.
    pub(crate) default: f64,
}

/// A matrix column that is computed for the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ComputedInput {
    pub(crate) column: usize,
    /// Position among the computed features.
    pub(crate) feature: usize,
}

/// Why a release cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct PlanError(pub(crate) String);

impl ReleasePlan {
    /// Resolves a release. A model with a bundle that its service does not fit is an error; a service that reads a view
    /// that the release does not have, or a model without a bundle, is not served and says why.
    pub(crate) fn new(
        definitions: Definitions,
        release: Release,
        mut bundles: IndexMap<Name, OpenBundle>,
    ) -> std::result::Result<Self, PlanError> {
        let mut services = IndexMap::new();
        for (name, service) in &definitions.services {
            let plan = ServicePlan::new(&definitions, &release, service)?;
            services.insert(name.clone(), plan.map(Arc::new));
        }
        let mut models = IndexMap::new();
        for (name, model) in &definitions.models {
            let bundle = bundles.swap_remove(name);
            let plan = match (&services[&model.service], bundle) {
                (Ok(service), Some(bundle)) => Ok(Arc::new(ModelPlan::new(
                    model,
                    Arc::clone(service),
                    bundle,
                )?)),
                (Err(reason), Some(_)) => {
                    return Err(PlanError(format!("model `{name}`: {reason}")));
                }
                (_, None) => Err(format!(
                    "release {} has no bundle of model `{name}`: it was published before one was imported; `nightfill run` publishes one that has it",
                    release.number
                )),
            };
            models.insert(name.clone(), plan);
        }
        if let Some((model, _)) = bundles.first() {
            return Err(PlanError(format!(
                "the release has a bundle of model `{model}`, which its definitions do not declare"
            )));
        }
        Ok(Self {
            release,
            definitions,
            services,
            models,
        })
    }

    /// The release.
    #[must_use]
    pub const fn release(&self) -> &Release {
        &self.release
    }

    /// The definitions of the release.
    #[must_use]
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Answers nobody, once: computes every request view over nulls and scores a row without values, so that the first
    /// caller finds memory and caches warm, and what cannot be computed shows before it serves.
    pub(crate) fn warm_up(&self) -> std::result::Result<(), PlanError> {
        for service in self.served_services() {
            for view in &service.request_views {
                view.warm_up()
                    .map_err(|error| PlanError(format!("request view `{}`: {error}", view.name)))?;
            }
        }
        for model in self.served_models() {
            let row = vec![f64::NAN; model.scorer.width()];
            model.scorer.score(&row, &mut [0.0]);
        }
        Ok(())
    }

    pub(crate) fn model(&self, name: &str) -> Result<&Arc<ModelPlan>> {
        answering(self.models.get(name), &self.models, "model", name)
    }

    pub(crate) fn service(&self, name: &str) -> Result<&Arc<ServicePlan>> {
        let by_alias = || self.services.get(&self.definitions.service(name)?.name);
        let plan = self.services.get(name).or_else(by_alias);
        answering(plan, &self.services, "service", name)
    }

    /// Models that this release answers, in declared order.
    pub(crate) fn served_models(&self) -> impl Iterator<Item = &Arc<ModelPlan>> {
        self.models.values().filter_map(|plan| plan.as_ref().ok())
    }

    /// Services that this release answers, in declared order.
    pub(crate) fn served_services(&self) -> impl Iterator<Item = &Arc<ServicePlan>> {
        self.services.values().filter_map(|plan| plan.as_ref().ok())
    }
}

/// The plan that was found of all, if this release answers it.
fn answering<'p, T>(
    plan: Option<&'p Servable<T>>,
    plans: &IndexMap<Name, Servable<T>>,
    what: &str,
    name: &str,
) -> Result<&'p Arc<T>> {
    match plan {
        Some(Ok(plan)) => Ok(plan),
        Some(Err(reason)) => Err(Error::new(ErrorKind::UnknownName, reason.clone())),
        None => {
            let unknown = named(name, plans.keys().map(Name::as_str));
            let message = format!("unknown {what} {unknown}");
            Err(Error::new(ErrorKind::UnknownName, message))
        }
    }
}

impl ModelPlan {
    fn new(
        model: &feature_defs::model::Model,
        service: Arc<ServicePlan>,
        bundle: OpenBundle,
    ) -> std::result::Result<Self, PlanError> {
        let refused = |why: String| PlanError(format!("model `{}`: {why}", model.name));
        if bundle.scorer.width() != bundle.inputs.len() {
            return Err(refused(format!(
                "its bundle names {} inputs and scores {}",
                bundle.inputs.len(),
                bundle.scorer.width()
            )));
        }
        let mut stored: Vec<Vec<StoredInput>> = vec![Vec::new(); service.views.len()];
        let mut computed = Vec::new();
        for (column, input) in bundle.inputs.iter().enumerate() {
            let feature = service
                .features
                .iter()
                .find(|feature| feature.name == *input)
                .ok_or_else(|| {
                    refused(format!(
                        "its bundle reads `{input}`, which service `{}` does not have",
                        service.name
                    ))
                })?;
            if !is_readable(feature.data_type) {
                return Err(refused(format!(
                    "its bundle reads `{input}`, {}, which is not a number",
                    with_article(feature.data_type)
                )));
            }
            match &feature.source {
                FeatureSource::Stored { view, position } => stored[*view].push(StoredInput {
                    column,
                    position: *position,
                    default: feature
                        .default
                        .as_ref()
                        .and_then(number)
                        .unwrap_or(f64::NAN),
                }),
                FeatureSource::Computed { feature, .. } => {
                    computed.push(ComputedInput {
                        column,
                        feature: *feature,
                    });
                }
            }
        }
        Ok(Self {
            name: model.name.clone(),
            output: model.output.clone(),
            transform: bundle.transform,
            bundle: format!("{}@{}", model.name, bundle.short),
            scorer: bundle.scorer,
            service,
            stored,
            computed,
        })
    }
}
