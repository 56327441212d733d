//! Feature views: references, key columns, feature types.

use crate::aggregation::{Aggregate, AggregateFunction, output_type};
use crate::data_type::DataType;
use crate::entity::Entity;
use crate::error::Span;
use crate::feature_view::{Computation, Feature, FeatureView, Latest, Windows};
use crate::fingerprint::Fingerprint;
use crate::name::Name;
use crate::parse::objects::{DeclaredAggregate, DeclaredComputation, DeclaredView};
use crate::parse::reader::Placed;
use crate::parse::yaml::Text;
use crate::source::Source;
use crate::suggestion::accepted;
use crate::validate::{Validator, fingerprint};

impl Validator<'_> {
    /// Checks one feature view.
    pub(super) fn view(
        &mut self,
        name: &Name,
        span: &Span,
        declared: DeclaredView,
    ) -> Option<FeatureView> {
        let entity = self.find(self.entities, "entity", &declared.entity);
        let (computation, features, canonical) = match declared.computation {
            DeclaredComputation::Sql { text, features } => {
                self.sql_view(name, entity?, &text, features)?
            }
            DeclaredComputation::Windows {
                source,
                join,
                aggregates,
                windows,
            } => {
                let source = self.find(self.sources, "source", &source);
                let (entity, source) = (entity?, source?);
                let key_columns = self.key_columns(span, entity, source, &join);
                let features = self.window_features(entity, source, &aggregates, &windows)?;
                let windows = Windows {
                    source: source.name.clone(),
                    key_columns: key_columns?,
                    aggregates: aggregates
                        .into_iter()
                        .map(|aggregate| Aggregate {
                            name: aggregate.name.value,
                            function: aggregate.function,
                            column: aggregate.column,
                        })
                        .collect(),
                    windows: windows.into_iter().map(|window| window.value).collect(),
                };
                (Computation::Windows(windows), features, String::new())
            }
            DeclaredComputation::Latest {
                source,
                join,
                columns,
            } => {
                let source = self.find(self.sources, "source", &source);
                let (entity, source) = (entity?, source?);
                let key_columns = self.key_columns(span, entity, source, &join);
                let features = self.latest_features(entity, source, &columns)?;
                let latest = Latest {
                    source: source.name.clone(),
                    key_columns: key_columns?,
                    columns: columns.into_iter().map(|column| column.text).collect(),
                };
                (Computation::Latest(latest), features, String::new())
            }
        };
        let mut view = FeatureView {
            name: name.clone(),
            description: declared.description,
            entity: entity?.name.clone(),
            ttl: declared.ttl,
            schedule: declared.schedule,
            computation,
            features,
            fingerprint: Fingerprint::of([""]),
        };
        view.fingerprint = fingerprint::view(&view, entity?, self.sources, &canonical);
        Some(view)
    }

    /// The source's columns that hold the entity's key parts, in the order of the entity's definition.
    fn key_columns(
        &mut self,
        span: &Span,
        entity: &Entity,
        source: &Source,
        join: &[(Text, Text)],
    ) -> Option<Vec<String>> {
        let mut whole = true;
        for (key, _) in join {
            if entity
                .keys
                .iter()
                .all(|part| part.name.as_str() != key.text)
            {
                let names: Vec<&str> = entity.keys.iter().map(|part| part.name.as_str()).collect();
                let message = format!("`{}` is not a key of `{}`", key.text, entity.name);
                self.refuse(&key.span, message, accepted(&key.text, &names));
                whole = false;
            }
        }
        let mut columns = Vec::new();
        for part in &entity.keys {
            let joined = join.iter().find(|(key, _)| key.text == part.name.as_str());
            let (column, place) = match joined {
                Some((_, column)) => (column.text.as_str(), &column.span),
                None => (part.name.as_str(), span),
            };
            match source.columns.get(column) {
                Some(found) if found.data_type == part.data_type => columns.push(column.to_owned()),
                Some(found) => {
                    let message = format!(
                        "the key `{}` is {}, and the column `{column}` of `{}` is {}",
                        part.name, part.data_type, source.name, found.data_type
                    );
                    self.refuse(
                        place,
                        message,
                        format!(
                            "declare the column as {}: files may hold narrower types",
                            part.data_type
                        ),
                    );
                    whole = false;
                }
                None => {
                    let names: Vec<&String> = source.columns.keys().collect();
                    let message = format!(
                        "`{}` has no column `{column}` for the key `{}`",
                        source.name, part.name
                    );
                    let help = format!(
                        "write `join: {{{}: column}}`; {}",
                        part.name,
                        accepted(column, &names)
                    );
                    self.refuse(place, message, help);
                    whole = false;
                }
            }
        }
        whole.then_some(columns)
    }

    fn column_type(&mut self, source: &Source, column: &str, span: &Span) -> Option<DataType> {
        if let Some(found) = source.columns.get(column) {
            return Some(found.data_type);
        }
        let names: Vec<&String> = source.columns.keys().collect();
        let help = accepted(column, &names);
        self.refuse(
            span,
            format!("`{}` has no column `{column}`", source.name),
            help,
        );
        None
    }

    fn window_features(
        &mut self,
        entity: &Entity,
        source: &Source,
        aggregates: &[DeclaredAggregate],
        windows: &[Placed<crate::aggregation::Window>],
    ) -> Option<Vec<Feature>> {
        let mut features: Vec<Feature> = Vec::new();
        let mut whole = true;
        for aggregate in aggregates {
            let column = match &aggregate.column {
                Some(column) => {
                    let found = self.column_type(source, column, &aggregate.span);
                    whole &= found.is_some();
                    if found.is_none() {
                        continue;
                    }
                    found
                }
                None => None,
            };
            let data_type = match output_type(aggregate.function, column) {
                Ok(data_type) => data_type,
                Err(error) => {
                    self.refuse(&aggregate.span, error.to_string(), "");
                    whole = false;
                    continue;
                }
            };
            let counts = matches!(
                aggregate.function,
                AggregateFunction::Count | AggregateFunction::DistinctCount
            );
            for window in windows {
                let text = format!("{}_{}", aggregate.name.value, window.value);
                let Ok(name) = Name::parse(&text) else {
                    self.refuse(
                        &aggregate.name.span,
                        format!("the feature name `{text}` is too long"),
                        "shorten the aggregate's name",
                    );
                    whole = false;
                    continue;
                };
                whole &= self.new_feature(entity, &name, &features, &aggregate.name.span);
                features.push(Feature {
                    name,
                    data_type,
                    nullable: !counts,
                    description: None,
                });
            }
        }
        whole.then_some(features)
    }

    fn latest_features(
        &mut self,
        entity: &Entity,
        source: &Source,
        columns: &[Text],
    ) -> Option<Vec<Feature>> {
        let mut features: Vec<Feature> = Vec::new();
        let mut whole = true;
        for column in columns {
            let data_type = self.column_type(source, &column.text, &column.span);
            let name = match Name::parse(&column.text) {
                Ok(name) => name,
                Err(error) => {
                    self.refuse(
                        &column.span,
                        error.to_string(),
                        "a column becomes a feature of the same name",
                    );
                    whole = false;
                    continue;
                }
            };
            whole &=
                data_type.is_some() && self.new_feature(entity, &name, &features, &column.span);
            features.extend(data_type.map(|data_type| Feature {
                name,
                data_type,
                nullable: true,
                description: None,
            }));
        }
        whole.then_some(features)
    }

    /// Whether a feature's name is free: not another feature's, a key's or the stamp's.
    pub(super) fn new_feature(
        &mut self,
        entity: &Entity,
        name: &Name,
        features: &[Feature],
        span: &Span,
    ) -> bool {
        let taken = if features.iter().any(|feature| feature.name == *name) {
            "another feature of the view"
        } else if entity.keys.iter().any(|part| part.name == *name) {
            "a key of the entity"
        } else if name.as_str() == "event_time" {
            "the stamp of each row"
        } else {
            return true;
        };
        self.refuse(
            span,
            format!("the feature name `{name}` is taken by {taken}"),
            "give the feature another name",
        );
        false
    }
}
