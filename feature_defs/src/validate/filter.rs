//! Filters of aggregates: conditions that plan over the columns of the aggregate's source.

use crate::aggregation::Filter;
use crate::data_type::DataType;
use crate::expression::{FilteredSource, SourceColumn, check_filter};
use crate::parse::members::{Elsewhere, Found};
use crate::parse::objects::DeclaredFilter;
use crate::validate::Validator;
use crate::validate::events::{Argument, Events};

/// The filter of an aggregate that is known, if it has one.
pub(super) struct Filtered(pub(super) Option<Filter>);

impl Validator<'_> {
    /// What an aggregate's filter is, as far as it is known.
    pub(super) fn filter(
        &mut self,
        events: &Events<'_>,
        declared: &DeclaredFilter,
        argument: Option<&Argument<'_>>,
    ) -> Option<Filtered> {
        let condition = match declared {
            DeclaredFilter::None => return Some(Filtered(None)),
            DeclaredFilter::Unreadable => return None,
            DeclaredFilter::Condition(condition) => condition,
        };
        let argument = argument?;
        let Some((name, source)) = argument.source else {
            if argument.sure {
                let message = "`count()` counts events of all sources, and a filter reads one";
                let each = events.names().into_iter();
                let each = each.map(|source| format!("`count({source}.*)`"));
                let help = format!("write {}", each.collect::<Vec<_>>().join(" or "));
                self.refuse(&condition.span, message, help);
            }
            return None;
        };
        let typed = source.columns.items.iter();
        let columns: Vec<(SourceColumn, DataType)> = typed
            .filter_map(|column| Some((SourceColumn(column.name.clone()), column.data_type?)))
            .collect();
        let elsewhere = |column: &str| match source.columns.find(column) {
            Found::Nowhere => Elsewhere::Nowhere,
            Found::As(_) | Found::Unsure => Elsewhere::Unsure,
        };
        let source = FilteredSource {
            name: name.as_str(),
            columns: &columns,
            names: &source.columns.names(),
            elsewhere: &elsewhere,
        };
        match check_filter(&condition.text, &source) {
            Ok(filter) => Some(Filtered(Some(filter?))),
            Err(faults) => {
                let problems = faults.into_iter().map(|fault| condition.problem(fault));
                self.found.extend(problems);
                None
            }
        }
    }
}
