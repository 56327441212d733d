//! Features of views without SQL: names that are free, types from the source's columns.

use crate::aggregation::{AggregateFunction, Window, buckets_type, output_type};
use crate::data_type::DataType;
use crate::error::Span;
use crate::feature_view::Feature;
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::parse::members::{Found, Members, Typed};
use crate::parse::objects::{DeclaredAggregate, DeclaredCall};
use crate::parse::reader::Placed;
use crate::parse::yaml::Text;
use crate::suggestion::accepted;
use crate::validate::Validator;
use crate::validate::events::Argument;
use crate::validate::view::{NamedEntity, NamedSource};

/// A feature whose type may not be known.
#[derive(Debug)]
pub(super) struct DraftFeature {
    pub(super) name: Name,
    pub(super) data_type: Option<DataType>,
    pub(super) nullable: bool,
    pub(super) description: Option<String>,
}

impl DraftFeature {
    /// The feature, if its type is known; its fingerprint comes with the whole view.
    pub(super) fn whole(self) -> Option<Feature> {
        Some(Feature {
            name: self.name,
            data_type: self.data_type?,
            nullable: self.nullable,
            description: self.description,
            fingerprint: Fingerprint::of([""]),
        })
    }
}

impl Typed for DraftFeature {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}

impl Validator<'_> {
    /// A column's type, if it is known. A column that is not there is a problem.
    pub(super) fn column(
        &mut self,
        (name, source): NamedSource<'_>,
        column: &Text,
    ) -> Option<DataType> {
        match source.columns.find(&column.text) {
            Found::As(data_type) => return Some(data_type),
            Found::Unsure => {}
            Found::Nowhere => {
                let message = format!("`{name}` has no column `{}`", column.text);
                let help = accepted(&column.text, &source.columns.names());
                self.refuse(&column.span, message, help);
            }
        }
        None
    }

    /// One feature an aggregate and window.
    pub(super) fn window_features(
        &mut self,
        entity: Option<NamedEntity<'_>>,
        aggregates: &Members<DeclaredAggregate>,
        arguments: &[Option<Argument<'_>>],
        windows: &Members<Placed<Window>>,
    ) -> Members<DraftFeature> {
        let mut features = Members::none().whole_if(aggregates.whole && windows.whole);
        for (aggregate, argument) in aggregates.items.iter().zip(arguments) {
            let call = aggregate.call.as_ref();
            let both = call.zip(argument.as_ref());
            let data_type = both.and_then(|(call, argument)| self.call_type(argument, call));
            let data_type = match (&aggregate.by, argument) {
                (Some(by), Some(argument)) => self.buckets_type(argument, by, data_type),
                (Some(_), None) => None,
                (None, _) => data_type,
            };
            let function = call.and_then(|call| call.function);
            let never_null =
                aggregate.by.is_some() || function.is_some_and(AggregateFunction::is_never_null);
            for window in &windows.items {
                let text = format!("{}_{}", aggregate.name.value, window.value);
                let Ok(name) = Name::parse(&text) else {
                    self.refuse(
                        &aggregate.name.span,
                        format!("the feature name `{text}` is too long"),
                        "shorten the aggregate's name",
                    );
                    features.whole = false;
                    continue;
                };
                let span = &aggregate.name.span;
                self.add_feature(
                    &mut features,
                    entity,
                    span,
                    DraftFeature {
                        name,
                        data_type,
                        nullable: !never_null,
                        description: None,
                    },
                );
            }
        }
        features
    }

    /// The type of a call's values, if it is known.
    fn call_type(&mut self, argument: &Argument<'_>, call: &DeclaredCall) -> Option<DataType> {
        let column = argument.column.as_ref();
        let column = column.map(|column| self.column(argument.source?, column));
        let function = call.function?;
        // What it names is not known, and told already.
        if !argument.sure && argument.column.is_none() && call.column.is_some() {
            return (function == AggregateFunction::Count).then_some(DataType::Int64);
        }
        let column = match (function, column) {
            (AggregateFunction::Count, _) | (_, None) => None,
            (AggregateFunction::DistinctCount, Some(None)) => return Some(DataType::Int64),
            (_, Some(data_type)) => Some(data_type?),
        };
        match output_type(function, column) {
            Ok(data_type) => Some(data_type),
            Err(error) => {
                let help = match call.column {
                    Some(_) => "",
                    None => "name the column in the parentheses",
                };
                self.refuse(&call.span, error.to_string(), help);
                None
            }
        }
    }

    /// The type of values that are computed apart, if it is known.
    fn buckets_type(
        &mut self,
        argument: &Argument<'_>,
        by: &Text,
        value: Option<DataType>,
    ) -> Option<DataType> {
        let Some(source) = argument.source else {
            if argument.sure {
                let message =
                    "`count()` counts events of all sources, and `by` names a column of one";
                self.refuse(
                    &by.span,
                    message,
                    "write `count(source.*)`, with the name of the source",
                );
            }
            return None;
        };
        let column = self.column(source, by)?;
        match buckets_type((&by.text, column), value?) {
            Ok(data_type) => Some(data_type),
            Err(error) => {
                self.refuse(&by.span, error.to_string(), "");
                None
            }
        }
    }

    /// One feature a column.
    pub(super) fn latest_features(
        &mut self,
        entity: Option<NamedEntity<'_>>,
        source: Option<NamedSource<'_>>,
        columns: &Members<Text>,
    ) -> Members<DraftFeature> {
        let mut features = Members::none().whole_if(columns.whole);
        for column in &columns.items {
            let data_type = source.and_then(|source| self.column(source, column));
            let absent =
                |(_, source): NamedSource<'_>| source.columns.find(&column.text) == Found::Nowhere;
            if source.is_some_and(absent) {
                features.whole = false;
                continue;
            }
            let name = match Name::parse(&column.text) {
                Ok(name) => name,
                Err(error) => {
                    let help = "a column becomes a feature of the same name";
                    self.refuse(&column.span, error.to_string(), help);
                    features.whole = false;
                    continue;
                }
            };
            self.add_feature(
                &mut features,
                entity,
                &column.span,
                DraftFeature {
                    name,
                    data_type,
                    nullable: true,
                    description: None,
                },
            );
        }
        features
    }

    /// Adds a feature whose name is free: not another feature's, a key's or the stamp's.
    pub(super) fn add_feature(
        &mut self,
        features: &mut Members<DraftFeature>,
        entity: Option<NamedEntity<'_>>,
        span: &Span,
        feature: DraftFeature,
    ) {
        let name = &feature.name;
        let is_key =
            || entity.is_some_and(|(_, e)| e.keys.items.iter().any(|part| part.name == *name));
        let taken = if features.items.iter().any(|earlier| earlier.name == *name) {
            Some("another feature of the view")
        } else if name.as_str() == "event_time" {
            Some("the stamp of each row")
        } else if is_key() {
            Some("a key of the entity")
        } else {
            None
        };
        if let Some(taken) = taken {
            let message = format!("the feature name `{name}` is taken by {taken}");
            self.refuse(span, message, "give the feature another name");
        }
        features.items.push(feature);
    }
}
