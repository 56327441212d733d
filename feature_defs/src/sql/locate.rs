//! Which part of a `SELECT` does not plan, for faults that come without a place.

use std::ops::Range;

use datafusion_sql::sqlparser::ast::{Expr, Select, SelectItem, SetExpr, Spanned, Statement};

use crate::sql::range_of;
use crate::sql::statement::outer_select;

/// The bytes of the part of the outer `SELECT` without which the rest plans, or that does not plan alone. `None` when
/// no one part is to blame.
pub(super) fn locate(
    text: &str,
    statement: &Statement,
    plans: impl Fn(Statement) -> bool,
) -> Option<Range<usize>> {
    let select = outer_select(statement)?;
    if let Some(condition) = &select.selection
        && plans(with(statement, |select| select.selection = None)?)
    {
        return place(text, condition);
    }
    if let Some(condition) = &select.having
        && plans(with(statement, |select| select.having = None)?)
    {
        return place(text, condition);
    }
    let fails = |item: &&SelectItem| {
        let alone = with(statement, |select| {
            select.projection = vec![(*item).clone()]
        });
        alone.is_some_and(|alone| !plans(alone))
    };
    let failing: Vec<&SelectItem> = select.projection.iter().filter(fails).collect();
    if failing.len() == select.projection.len() && failing.len() > 1 {
        return None;
    }
    match failing.first()? {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => place(text, expr),
        item => range_of(text, item.span()),
    }
}

fn place(text: &str, expr: &Expr) -> Option<Range<usize>> {
    range_of(text, expr.span()).filter(|range| !range.is_empty())
}

/// The statement with its outer `SELECT` changed.
fn with(statement: &Statement, change: impl FnOnce(&mut Select)) -> Option<Statement> {
    let mut changed = statement.clone();
    let Statement::Query(query) = &mut changed else {
        return None;
    };
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    change(select);
    query.order_by = None;
    Some(changed)
}
