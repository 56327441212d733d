//! Queries that take the first rows of an order that nobody named.

use std::ops::ControlFlow;

use datafusion_sql::sqlparser::ast::{Query, Visit, Visitor};

use crate::definitions::Definitions;
use crate::feature_view::Computation;
use crate::sql::statement::parse;

/// One line a SQL view with `LIMIT` and no `ORDER BY`: the rows that it takes are always the same ones, of an order that
/// nobody chose.
#[must_use]
pub fn unordered_limits(definitions: &Definitions) -> Vec<String> {
    let mut lines = Vec::new();
    for view in definitions.views.values() {
        let Computation::Sql(sql) = &view.computation else {
            continue;
        };
        if parse(&sql.text).is_ok_and(|statement| statement.visit(&mut Limits).is_break()) {
            lines.push(format!(
                "view `{}`: `LIMIT` without `ORDER BY` takes rows by an order of all columns that the query reads: say with `ORDER BY` which ones are meant",
                view.name
            ));
        }
    }
    lines
}

/// Breaks at the first such query.
struct Limits;

impl Visitor for Limits {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        match query.limit_clause.is_some() && query.order_by.is_none() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
