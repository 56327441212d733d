//! What a query reads, as lineage sees it: named columns, some of which say when a row counts.

use arrow::datatypes::SchemaRef;

use crate::data_type::DataType;
use crate::entity::Entity;
use crate::feature_view::FeatureView;
use crate::source::Source;
use crate::validate::sql_tables::EVENT_TIME;

/// A source or a view that a query reads.
pub(super) struct Input<'a> {
    pub(super) name: &'a str,
    /// In the order in which the query sees them.
    columns: Vec<(&'a str, DataType)>,
    event_time: &'a str,
    created_time: Option<&'a str>,
    /// How many columns of a view come before its features; none of a source.
    before_features: usize,
}

/// What a column of an input is.
pub(super) enum InputColumn<'a> {
    /// A column of a source, or a feature of a view.
    Named(&'a str),
    /// A key or the event time of a view's rows: what decides which rows the view has decides it.
    OfRows,
}

impl<'a> Input<'a> {
    pub(super) fn source(source: &'a Source) -> Self {
        let columns = source.columns.iter();
        Self {
            name: source.name.as_str(),
            columns: columns
                .map(|(name, column)| (name.as_str(), column.data_type))
                .collect(),
            event_time: &source.event_time,
            created_time: source.created_time.as_deref(),
            before_features: 0,
        }
    }

    pub(super) fn view(view: &'a FeatureView, entity: &'a Entity) -> Self {
        let keys = entity.keys.iter();
        let keys = keys.map(|part| (part.name.as_str(), part.data_type));
        let features = view.features.iter();
        let features = features.map(|feature| (feature.name.as_str(), feature.data_type));
        Self {
            name: view.name.as_str(),
            columns: keys
                .chain([(EVENT_TIME, DataType::Timestamp)])
                .chain(features)
                .collect(),
            event_time: EVENT_TIME,
            created_time: None,
            before_features: entity.keys.len() + 1,
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The places of the columns that say when a row counts.
    pub(super) fn times(&self) -> impl Iterator<Item = usize> {
        let times = [Some(self.event_time), self.created_time];
        let times = times.into_iter().flatten();
        times.filter_map(|time| self.columns.iter().position(|(name, _)| *name == time))
    }

    pub(super) fn column(&self, place: usize) -> Option<InputColumn<'a>> {
        let (name, _) = self.columns.get(place)?;
        Some(match place < self.before_features {
            true => InputColumn::OfRows,
            false => InputColumn::Named(name),
        })
    }

    /// The columns as SQL sees them.
    pub(super) fn schema(&self) -> SchemaRef {
        crate::sql::schema(self.columns.iter().copied(), Some(self.event_time))
    }
}
