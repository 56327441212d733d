//! A feature service, resolved against one release: which rows to read, what to compute, in which order to answer.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use feature_defs::article::with_article;
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::expression::{RequestInput, RequestPlan};
use feature_defs::feature_service::{FeatureService, Origin};
use feature_defs::name::{FeatureRef, Name};
use feature_defs::request_view::RequestField;
use feature_defs::time::Ttl;
use feature_defs::value::Value;
use store::online::row::RowLayout;
use store::release::Release;

use crate::predict::body::Column;
use crate::predict::plan::PlanError;

/// A service, ready to answer.
#[derive(Debug)]
pub(crate) struct ServicePlan {
    pub(crate) name: Name,
    /// Key columns of a request, each once.
    pub(crate) keys: Vec<Column>,
    /// Request fields, each once.
    pub(crate) fields: Vec<Column>,
    /// For each entity that is read, its key parts as positions in `keys`, in the order of its definition.
    pub(crate) entities: Vec<Vec<usize>>,
    pub(crate) views: Vec<ViewPlan>,
    pub(crate) request_views: Vec<RequestViewPlan>,
    /// In the service's order.
    pub(crate) features: Vec<FeaturePlan>,
}

/// A stored view that the service reads, itself or through a request view.
#[derive(Debug)]
pub(crate) struct ViewPlan {
    pub(crate) name: Name,
    /// Index into the release's views.
    pub(crate) address: usize,
    /// Index into [`ServicePlan::entities`].
    pub(crate) entity: usize,
    pub(crate) layout: RowLayout,
    pub(crate) ttl: Ttl,
    /// Whether all that the service reads of it has a default: that an entity has no row is an expected answer then.
    pub(crate) may_be_missing: bool,
}

/// A request view that the service reads.
#[derive(Debug)]
pub(crate) struct RequestViewPlan {
    pub(crate) name: Name,
    pub(crate) plan: RequestPlan,
    pub(crate) inputs: Vec<Input>,
    /// Names of its features, in order.
    pub(crate) features: Vec<Name>,
}

impl RequestViewPlan {
    /// Evaluates the view over one row of nulls.
    pub(crate) fn warm_up(&self) -> Result<(), String> {
        let schema = self.plan.schema();
        let nulls = schema
            .fields()
            .iter()
            .map(|field| new_null_array(field.data_type(), 1));
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(schema), nulls.collect(), &options);
        let batch = batch.map_err(|error| error.to_string())?;
        // That nulls have a value is not asked.
        let _ = self.plan.evaluate(&batch);
        Ok(())
    }
}

/// Where an input of a request view comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A request field, by its position in [`ServicePlan::fields`].
    Field(usize),
    /// A stored feature: its value as stored, null where the row cannot be used. A request view belongs to no service, so
    /// no service's default is seen here.
    Stored {
        /// Position in [`ServicePlan::views`].
        view: usize,
        /// The feature's position in its view.
        position: usize,
    },
}

/// A feature of the service.
#[derive(Debug)]
pub(crate) struct FeaturePlan {
    /// `view.feature`
    pub(crate) name: String,
    pub(crate) data_type: DataType,
    pub(crate) default: Option<Value>,
    pub(crate) source: FeatureSource,
}

/// Where a feature of the service comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FeatureSource {
    /// A stored row.
    Stored {
        /// Position in [`ServicePlan::views`].
        view: usize,
        /// The feature's position in its view.
        position: usize,
    },
    /// A request view.
    Computed {
        /// Position among the computed features: those of all request views, in order.
        feature: usize,
        /// The stored views that it reads, as positions in [`ServicePlan::views`].
        reads: Vec<usize>,
    },
}

/// Why a release does not answer a service.
pub(crate) type Unserved = String;

impl ServicePlan {
    /// Resolves a service. `Ok(Err(_))` says why this release does not answer it; `Err` is a broken release.
    pub(crate) fn new(
        definitions: &Definitions,
        release: &Release,
        service: &FeatureService,
    ) -> Result<Result<Self, Unserved>, PlanError> {
        let mut builder = Builder {
            definitions,
            release,
            plan: Self {
                name: service.name.clone(),
                keys: Vec::new(),
                fields: Vec::new(),
                entities: Vec::new(),
                views: Vec::new(),
                request_views: Vec::new(),
                features: Vec::new(),
            },
            entities: Vec::new(),
            computed: Vec::new(),
        };
        for feature in &service.features {
            let source = match feature.origin {
                Origin::Stored => builder.stored(&feature.reference),
                Origin::Request => builder.computed(&feature.reference),
            };
            let source = match source {
                Ok(source) => source,
                Err(Stop::Unserved(reason)) => return Ok(Err(reason)),
                Err(Stop::Broken(error)) => {
                    return Err(PlanError(format!("service `{}`: {error}", service.name)));
                }
            };
            builder.plan.features.push(FeaturePlan {
                name: feature.name.clone(),
                data_type: feature.data_type,
                default: feature.default.clone(),
                source,
            });
        }
        builder.unread_fields();
        builder.expected_to_be_missing();
        Ok(Ok(builder.plan))
    }
}

enum Stop {
    Unserved(Unserved),
    Broken(PlanError),
}

fn broken(message: String) -> Stop {
    Stop::Broken(PlanError(message))
}

struct Builder<'d> {
    definitions: &'d Definitions,
    release: &'d Release,
    plan: ServicePlan,
    /// Names of `plan.entities`.
    entities: Vec<Name>,
    /// The computed features, so far.
    computed: Vec<FeatureRef>,
}

impl Builder<'_> {
    fn stored(&mut self, reference: &FeatureRef) -> Result<FeatureSource, Stop> {
        let (view, position) = self.place(reference)?;
        Ok(FeatureSource::Stored { view, position })
    }

    /// View and position of a stored feature, planning to read the view if it is not yet read.
    fn place(&mut self, reference: &FeatureRef) -> Result<(usize, usize), Stop> {
        let definition = &self.definitions.views[&reference.view];
        let position = definition
            .features
            .iter()
            .position(|feature| feature.name == reference.feature)
            .ok_or_else(|| broken(format!("`{reference}` is not declared")))?;
        let known = self
            .plan
            .views
            .iter()
            .position(|v| v.name == reference.view);
        let view = match known {
            Some(view) => view,
            None => self.read_view(&reference.view)?,
        };
        Ok((view, position))
    }

    fn expected_to_be_missing(&mut self) {
        let features = &self.plan.features;
        for (position, view) in self.plan.views.iter_mut().enumerate() {
            view.may_be_missing = features.iter().all(|feature| match &feature.source {
                FeatureSource::Stored { view, .. } => {
                    *view != position || feature.default.is_some()
                }
                FeatureSource::Computed { reads, .. } => !reads.contains(&position),
            });
        }
    }

    fn read_view(&mut self, name: &Name) -> Result<usize, Stop> {
        let definition = &self.definitions.views[name];
        let Ok(address) = self.release.views.binary_search_by(|v| v.view.cmp(name)) else {
            return Err(Stop::Unserved(format!(
                "release {} has no rows of view `{name}`, which service `{}` reads",
                self.release.number, self.plan.name
            )));
        };
        if self.release.views[address].fingerprint != definition.fingerprint {
            return Err(broken(format!(
                "rows of view `{name}` were computed by another definition of it ({}, declared is {})",
                self.release.views[address].fingerprint.short(),
                definition.fingerprint.short()
            )));
        }
        let entity = self.entity(&definition.entity)?;
        self.plan.views.push(ViewPlan {
            name: name.clone(),
            address,
            entity,
            layout: RowLayout::new(&definition.features),
            ttl: definition.ttl,
            may_be_missing: false,
        });
        Ok(self.plan.views.len() - 1)
    }

    fn entity(&mut self, name: &Name) -> Result<usize, Stop> {
        if let Some(known) = self.entities.iter().position(|entity| entity == name) {
            return Ok(known);
        }
        let mut parts = Vec::new();
        for part in &self.definitions.entities[name].keys {
            let known = self.plan.keys.iter().position(|key| key.name == part.name);
            let position = match known {
                Some(known) if self.plan.keys[known].data_type == part.data_type => known,
                Some(known) => {
                    return Err(broken(format!(
                        "key `{}` is {} for one entity and {} for `{name}`",
                        part.name,
                        with_article(self.plan.keys[known].data_type),
                        with_article(part.data_type)
                    )));
                }
                None => {
                    self.plan.keys.push(Column {
                        name: part.name.clone(),
                        data_type: part.data_type,
                        nullable: false,
                        default: None,
                    });
                    self.plan.keys.len() - 1
                }
            };
            parts.push(position);
        }
        self.entities.push(name.clone());
        self.plan.entities.push(parts);
        Ok(self.entities.len() - 1)
    }

    fn computed(&mut self, reference: &FeatureRef) -> Result<FeatureSource, Stop> {
        let view = &self.definitions.request_views[&reference.view];
        if !self
            .computed
            .iter()
            .any(|known| known.view == reference.view)
        {
            self.compute_view(&reference.view)?;
        }
        let position = self.computed.iter().position(|known| known == reference);
        let feature = view.feature(&reference.feature);
        let (Some(position), Some(feature)) = (position, feature) else {
            return Err(broken(format!("`{reference}` is not declared")));
        };
        let mut reads = Vec::new();
        for stored in &feature.features {
            let (view, _) = self.place(stored)?;
            if !reads.contains(&view) {
                reads.push(view);
            }
        }
        Ok(FeatureSource::Computed {
            feature: position,
            reads,
        })
    }

    fn compute_view(&mut self, name: &Name) -> Result<(), Stop> {
        let view = &self.definitions.request_views[name];
        let service = &self.definitions.services[&self.plan.name];
        let plan = RequestPlan::new(self.definitions, view, |feature| {
            service.reads(name, feature)
        })
        .map_err(|error| broken(format!("request view `{name}`: {error}")))?;
        for field in &view.inputs {
            if plan
                .inputs()
                .contains(&RequestInput::Field(field.name.clone()))
            {
                self.field(field);
            }
        }
        let mut inputs = Vec::new();
        for input in plan.inputs() {
            inputs.push(match input {
                RequestInput::Field(field) => {
                    let known = self.plan.fields.iter().position(|f| f.name == *field);
                    Input::Field(known.ok_or_else(|| broken(format!("`{field}` is no field")))?)
                }
                RequestInput::Feature(reference) => {
                    let (view, position) = self.place(reference)?;
                    Input::Stored { view, position }
                }
            });
        }
        self.computed.extend(plan.features().cloned());
        self.plan.request_views.push(RequestViewPlan {
            name: name.clone(),
            features: plan.features().map(|f| f.feature.clone()).collect(),
            plan,
            inputs,
        });
        Ok(())
    }

    /// Takes up the fields that its request views declare and none of its features reads: they may be sent, and may be
    /// left out.
    fn unread_fields(&mut self) {
        let views = self.plan.request_views.iter();
        let declared = views.flat_map(|view| &self.definitions.request_views[&view.name].inputs);
        for field in declared {
            if !self.plan.fields.iter().any(|f| f.name == field.name) {
                self.plan.fields.push(Column {
                    name: field.name.clone(),
                    data_type: field.data_type,
                    nullable: true,
                    default: Some(Value::Null),
                });
            }
        }
    }

    /// Takes up a field. One that several request views declare may be null only if all say so, and may be left out only
    /// if all agree on its default.
    fn field(&mut self, field: &RequestField) {
        let known = self.plan.fields.iter_mut().find(|f| f.name == field.name);
        match known {
            Some(known) => {
                known.nullable &= field.nullable;
                if known.default != field.default {
                    known.default = None;
                }
            }
            None => self.plan.fields.push(Column {
                name: field.name.clone(),
                data_type: field.data_type,
                nullable: field.nullable,
                default: field.default.clone(),
            }),
        }
    }
}
