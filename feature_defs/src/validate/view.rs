//! Feature views: references, computations, and what is known of their features.

use crate::about::About;
use crate::aggregation::Aggregate;
use crate::error::Span;
use crate::feature_service::Origin;
use crate::feature_view::{Computation, FeatureView, Latest, Windows};
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::parse::members::Members;
use crate::parse::objects::{
    Declared, DeclaredAggregate, DeclaredComputation, DeclaredEntity, DeclaredSource, DeclaredView,
};
use crate::parse::yaml::Text;
use crate::source::Source;
use crate::time::Ttl;
use crate::validate::events::Argument;
use crate::validate::features::DraftFeature;
use crate::validate::filter::Filtered;
use crate::validate::inputs::{Inputs, ReadView};
use crate::validate::known::{KnownFeature, KnownView};
use crate::validate::{Validator, entity, fingerprint, meaning};

/// A declared entity with its name.
pub(super) type NamedEntity<'a> = (&'a Name, &'a DeclaredEntity);

/// A declared source with its name.
pub(super) type NamedSource<'a> = (&'a Name, &'a DeclaredSource);

/// What a computation gives.
pub(super) struct Computed {
    /// The features, as far as they are known.
    pub(super) features: Members<DraftFeature>,
    /// How they come about, if that is known.
    pub(super) computation: Option<Computation>,
    /// A SQL view's statement without comments.
    pub(super) canonical: String,
}

impl Validator<'_> {
    /// Checks one feature view.
    pub(super) fn view(&mut self, name: &Name, declared: Declared<DeclaredView>) {
        let Declared {
            span,
            about,
            object: mut view,
            doubtful,
        } = declared;
        let entity = view.entity.as_ref();
        let entity = entity.and_then(|text| self.find(self.entities, "entity", text));
        self.outlasts_schedule(&view);
        let computation = view.computation.take();
        let computed = self.computed(name, &span, entity, computation);
        let checks = self.checks(name, std::mem::take(&mut view.checks), &computed.features);
        let features = computed.features.items.iter();
        let features = features
            .map(|feature| KnownFeature::stored(feature.name.clone(), feature.data_type))
            .collect();
        let known = KnownView {
            origin: Origin::Stored,
            entity: entity.map(|(name, _)| name.clone()),
            features: Members {
                items: features,
                whole: computed.features.whole,
            },
        };
        self.know(name, known, doubtful);
        let whole = self.whole_view(name, about.whole(), view, entity, computed);
        if let Some((mut whole, rows)) = whole {
            whole.checks = checks;
            self.views.insert(name.clone(), whole);
            self.row_meanings.insert(name.clone(), rows);
        }
    }

    fn computed(
        &mut self,
        name: &Name,
        span: &Span,
        entity: Option<NamedEntity<'_>>,
        computation: Option<DeclaredComputation>,
    ) -> Computed {
        let (features, computation) = match computation {
            Some(DeclaredComputation::Sql { text, features }) => {
                return self.sql_view(name, entity, text.as_ref(), features);
            }
            Some(DeclaredComputation::Windows {
                events,
                aggregates,
                windows,
            }) => {
                let events = self.events(span, entity, events);
                for source in events.named() {
                    self.are_retained(source, &windows);
                }
                let calls = aggregates.items.iter().map(|one| one.call.as_ref());
                let arguments: Vec<Option<Argument<'_>>> = calls
                    .map(|call| Some(self.argument(&events, call?)))
                    .collect();
                let features = self.window_features(entity, &aggregates, &arguments, &windows);
                let mut filters = Vec::with_capacity(arguments.len());
                for (aggregate, argument) in aggregates.items.iter().zip(&arguments) {
                    filters.push(self.filter(&events, &aggregate.filter, argument.as_ref()));
                }
                let aggregates = aggregates_of(aggregates.items, arguments, filters);
                let computation = events.windows(&windows).zip(aggregates);
                let computation = computation.map(|(windows, aggregates)| Windows {
                    aggregates,
                    ..windows
                });
                (features, computation.map(Computation::Windows))
            }
            Some(DeclaredComputation::Latest {
                source,
                join,
                columns,
            }) => {
                let source = source.and_then(|text| self.find(self.sources, "source", &text));
                let keys = self.key_columns(span, entity, source, &join);
                let features = self.latest_features(entity, source, &columns);
                let computation = latest_of(source, keys, columns.items);
                (features, computation.map(Computation::Latest))
            }
            None => (Members::unknown(), None),
        };
        Computed {
            features,
            computation,
            canonical: String::new(),
        }
    }

    /// The view with what decides which rows it has, if all of it is known.
    fn whole_view(
        &self,
        name: &Name,
        about: About,
        view: DeclaredView,
        named_entity: Option<NamedEntity<'_>>,
        computed: Computed,
    ) -> Option<(FeatureView, Fingerprint)> {
        let (entity_name, declared) = named_entity?;
        let features = computed.features.items.into_iter();
        let mut whole = FeatureView {
            name: name.clone(),
            about,
            entity: entity_name.clone(),
            ttl: view.ttl.map_or(Ttl::Unlimited, |ttl| ttl.value),
            schedule: view.schedule,
            checks: Vec::new(),
            computation: computed.computation?,
            features: features.map(DraftFeature::whole).collect::<Option<_>>()?,
            fingerprint: Fingerprint::of([""]),
        };
        let sources: Vec<&Source> = whole
            .computation
            .sources()
            .iter()
            .filter_map(|name| self.sources.get(name)?.object.source.as_ref())
            .collect();
        let read = whole.computation.views().iter();
        let read = read.map(|name| {
            Some(ReadView {
                view: self.views.get(name)?,
                rows: *self.row_meanings.get(name)?,
            })
        });
        let read: Vec<ReadView<'_>> = read.collect::<Option<_>>()?;
        let inputs = Inputs {
            entity: &entity(entity_name, About::default(), declared)?,
            sources: &sources,
            views: &read,
            canonical: &computed.canonical,
        };
        for index in 0..whole.features.len() {
            whole.features[index].fingerprint = meaning::stored(&whole, index, &inputs);
        }
        whole.fingerprint = fingerprint::view(&whole, &inputs);
        let rows = meaning::rows(&whole, &inputs);
        Some((whole, rows))
    }
}

fn aggregates_of(
    declared: Vec<DeclaredAggregate>,
    arguments: Vec<Option<Argument<'_>>>,
    filters: Vec<Option<Filtered>>,
) -> Option<Vec<Aggregate>> {
    let aggregates = declared.into_iter().zip(arguments).zip(filters);
    let aggregates = aggregates.map(|((aggregate, argument), filter)| {
        let argument = argument.filter(|argument| argument.sure)?;
        Some(Aggregate {
            name: aggregate.name.value,
            function: aggregate.call?.function?,
            source: argument.source.map(|(name, _)| name.clone()),
            column: argument.column.map(|column| column.text),
            by: aggregate.by.map(|by| by.text),
            filter: filter?.0,
        })
    });
    aggregates.collect()
}

fn latest_of(
    source: Option<NamedSource<'_>>,
    key_columns: Option<Vec<String>>,
    columns: Vec<Text>,
) -> Option<Latest> {
    Some(Latest {
        source: source?.0.clone(),
        key_columns: key_columns?,
        columns: columns.into_iter().map(|column| column.text).collect(),
    })
}
