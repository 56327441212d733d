//! What the SQL of a view may read: sources, and other views as far as they are known.

use crate::data_type::DataType;
use crate::feature_service::Origin;
use crate::name::Name;
use crate::parse::Embedded;
use crate::parse::members::{Elsewhere, Members, Typed};
use crate::parse::objects::DeclaredColumn;
use crate::sql::Fault;
use crate::sql::check::{Checked, NO_COLUMNS, Table, Tables, check};
use crate::validate::{Validator, certain};

/// The column with the event time of each row of a view, where SQL reads the view.
pub(crate) const EVENT_TIME: &str = "event_time";

impl Validator<'_> {
    /// What the SQL of a view reads and gives, if that is known.
    pub(super) fn checked(&mut self, view: &Name, text: &Embedded) -> Option<Checked> {
        if self.reads_two_of_one_name(view, text) {
            return None;
        }
        let read = self.read_views.get(view).into_iter().flatten();
        let read: Vec<(&Name, Members<DeclaredColumn>)> = read
            .map(|(name, _)| (name, self.columns_of_view(name)))
            .collect();
        let columns_of = |view: &Name| {
            let mut read = read.iter();
            read.find_map(|(name, columns)| (*name == view).then_some(columns))
        };
        let sources = self.sources.iter().map(|(name, declared)| Table {
            name: name.as_str(),
            columns: certain(declared).map_or(&NO_COLUMNS, |source| &source.columns),
            event_time: declared
                .object
                .source
                .as_ref()
                .map(|s| s.event_time.as_str()),
        });
        let views = self.view_names.iter().map(|name| Table {
            name: name.as_str(),
            columns: columns_of(name).unwrap_or(&NO_COLUMNS),
            event_time: Some(EVENT_TIME),
        });
        let elsewhere = |name: &str| {
            let mut request_views = self.request_view_names.iter();
            if request_views.any(|view| view.as_str() == name) {
                Elsewhere::Other(
                    "it is a request view, which is computed when a request is there: write its expressions here",
                )
            } else if self.unread.may_declare(name) {
                Elsewhere::Unsure
            } else {
                Elsewhere::Nowhere
            }
        };
        let tables = Tables {
            tables: sources.chain(views).collect(),
            elsewhere: &elsewhere,
        };
        match check(&text.text, &tables) {
            Ok(checked) => checked,
            Err(faults) => {
                let problems = faults.into_iter().map(|fault| text.problem(fault));
                self.found.extend(problems);
                None
            }
        }
    }

    /// Refuses the names that a text reads and that a source and a view have.
    fn reads_two_of_one_name(&mut self, view: &Name, text: &Embedded) -> bool {
        let read = self.read_views.get(view).into_iter().flatten();
        let both = read.filter(|(name, _)| self.sources.contains_key(name));
        let problems: Vec<_> = both
            .map(|(name, range)| {
                let message =
                    format!("`{name}` is a source and a feature view: SQL may mean either");
                let help = "give one of them another name";
                text.problem(Fault::new(message, range.clone(), help))
            })
            .collect();
        let refused = !problems.is_empty();
        self.found.extend(problems);
        refused
    }

    /// The columns that SQL sees of a view: keys, the event time of the row, features. Nothing is known of a view that is
    /// part of a circle.
    fn columns_of_view(&self, view: &Name) -> Members<DeclaredColumn> {
        let known = self.known.get(view);
        let Some(known) = known.filter(|known| known.origin == Origin::Stored) else {
            return Members::unknown();
        };
        let entity = known.entity.as_ref();
        let entity = entity.and_then(|name| certain(self.entities.get(name)?));
        let mut columns = Members::none().whole_if(known.features.whole && entity.is_some());
        let mut add = |name: &str, data_type: Option<DataType>| {
            columns.items.push(DeclaredColumn {
                name: name.to_owned(),
                data_type,
            });
        };
        if let Some(entity) = entity {
            columns.whole &= entity.keys.whole;
            let keys = entity.keys.items.iter();
            keys.for_each(|key| add(key.name(), key.data_type()));
        }
        add(EVENT_TIME, Some(DataType::Timestamp));
        let features = known.features.items.iter();
        features.for_each(|feature| add(feature.name(), feature.data_type()));
        columns
    }
}
