//! A text to exactly one `SELECT` over declared sources.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion_sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, Ident, ObjectName, ObjectNamePart, Query, Select, SetExpr,
    Spanned, Statement, TableFactor, Value as SqlValue, Visit, Visitor, visit_expressions_mut,
};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::Token;

use crate::sql::chain;
use crate::sql::functions::{REFUSED, names};
use crate::sql::{Fault, parser_fault, range_of};
use crate::suggestion::{accepted, nearest};
use crate::time::Instant;

const ONLY_SELECT: &str = "only one SELECT over declared sources";

/// Why a checked text cannot be read again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SqlError(pub String);

/// Reads the text of a SQL view and puts `as_of` in the place of `$as_of`.
///
/// # Errors
/// [`SqlError`] for a text that is not one `SELECT`: never for one that was checked.
pub fn bind(text: &str, as_of: Instant) -> Result<Statement, SqlError> {
    let mut statement = parse(text).map_err(|fault| SqlError(fault.message))?;
    bind_as_of(&mut statement, as_of);
    Ok(statement)
}

/// Puts an instant in the place of `$as_of`.
pub(crate) fn bind_as_of(statement: &mut Statement, as_of: Instant) {
    let literal = format!(
        "arrow_cast({}, 'Timestamp(Microsecond, Some(\"UTC\"))')",
        as_of.micros()
    );
    let parsed = Parser::new(&GenericDialect {})
        .try_with_sql(&literal)
        .and_then(|mut parser| parser.parse_expr());
    let Ok(literal) = parsed else {
        return;
    };
    let _: ControlFlow<()> = visit_expressions_mut(statement, |expr| {
        if matches!(placeholder(expr), Some(name) if name == "$as_of") {
            *expr = literal.clone();
        }
        ControlFlow::Continue(())
    });
}

fn placeholder(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            SqlValue::Placeholder(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// The one statement of a text, if it is a query.
pub(crate) fn parse(text: &str) -> Result<Statement, Fault> {
    if let Some(fault) = chain::too_long(text) {
        return Err(fault);
    }
    let mut parser = Parser::new(&GenericDialect {})
        .try_with_sql(text)
        .map_err(|e| parser_fault(text, &e))?;
    while parser.consume_token(&Token::SemiColon) {}
    let first = parser.peek_token();
    if let Token::Word(word) = &first.token {
        let starts_query = matches!(word.value.to_ascii_lowercase().as_str(), "select" | "with");
        if !starts_query {
            let message = format!("`{}` does not start a SELECT", word.value);
            return Err(Fault::new(message, range_of(text, first.span), ONLY_SELECT));
        }
    } else if first.token == Token::EOF {
        return Err(Fault::new("there is no SQL", None, ONLY_SELECT));
    }
    let statement = parser
        .parse_statement()
        .map_err(|e| parser_fault(text, &e))?;
    let mut ended = false;
    while parser.consume_token(&Token::SemiColon) {
        ended = true;
    }
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let range = range_of(text, next.span);
        return Err(match ended {
            true => Fault::new("a second statement", range, ONLY_SELECT),
            false => Fault::new(
                format!("this is not SQL: `{}` is not expected here", next.token),
                range,
                "",
            ),
        });
    }
    Ok(statement)
}

/// Everything that a query may not say, and the declared sources that it reads, sorted.
pub(crate) fn inspect(
    text: &str,
    statement: &Statement,
    sources: &[&str],
) -> (Vec<Fault>, BTreeSet<String>) {
    let mut inspector = Inspector {
        text,
        sources,
        ctes: BTreeSet::new(),
        faults: Vec::new(),
        read: BTreeSet::new(),
    };
    let _ = statement.visit(&mut inspector);
    (inspector.faults, inspector.read)
}

struct Inspector<'a> {
    text: &'a str,
    sources: &'a [&'a str],
    ctes: BTreeSet<String>,
    faults: Vec<Fault>,
    read: BTreeSet<String>,
}

impl Inspector<'_> {
    fn refuse(
        &mut self,
        message: impl Into<String>,
        place: &impl Spanned,
        help: impl Into<String>,
    ) {
        let range = range_of(self.text, place.span());
        self.faults.push(Fault::new(message, range, help));
    }
}

impl Visitor for Inspector<'_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if !matches!(statement, Statement::Query(_)) {
            self.refuse("this statement is not a SELECT", statement, ONLY_SELECT);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            if with.recursive {
                self.refuse("recursive queries are not accepted", query, ONLY_SELECT);
            }
            self.ctes
                .extend(with.cte_tables.iter().map(|cte| folded(&cte.alias.name)));
        }
        let plain = matches!(
            *query.body,
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::SetOperation { .. }
        );
        if !plain || !query.locks.is_empty() {
            self.refuse(
                "this query is not a SELECT over sources",
                query,
                ONLY_SELECT,
            );
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if select.into.is_some() {
            self.refuse("`INTO` would write a table", select, ONLY_SELECT);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let accepted = match factor {
            TableFactor::Table {
                args,
                sample,
                version,
                json_path,
                ..
            } => args.is_none() && sample.is_none() && version.is_none() && json_path.is_none(),
            TableFactor::Derived { sample, .. } => sample.is_none(),
            TableFactor::NestedJoin { .. } => true,
            _ => false,
        };
        if !accepted {
            self.refuse("this is not a declared source", factor, ONLY_SELECT);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let name = match relation.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] => folded(ident),
            _ => relation.to_string(),
        };
        if self.ctes.contains(&name) {
            return ControlFlow::Continue(());
        }
        if self.sources.contains(&name.as_str()) {
            self.read.insert(name);
        } else {
            let help = accepted(&name, self.sources);
            self.refuse(format!("unknown source `{name}`"), relation, help);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(name) = placeholder(expr).filter(|name| *name != "$as_of") {
            let message = format!("unknown parameter `{name}`");
            self.refuse(
                message,
                expr,
                "accepted: `$as_of`, the instant from which the view looks",
            );
        }
        if let Expr::Function(function) = expr
            && let Some(fault) = function_fault(self.text, function, true)
        {
            self.faults.push(fault);
        }
        self.faults.extend(operator_fault(self.text, expr));
        ControlFlow::Continue(())
    }
}

/// An operator that is refused.
pub(crate) fn operator_fault(text: &str, expr: &Expr) -> Option<Fault> {
    let Expr::BinaryOp { op, .. } = expr else {
        return None;
    };
    let shifts = matches!(
        op,
        BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight
    );
    shifts.then(|| {
        let message = format!("`{op}` is not accepted: it drops bits without a word");
        let range = range_of(text, expr.span());
        Fault::new(message, range, "multiply or divide, which tell an overflow")
    })
}

/// A function that is refused or not known; `aggregates` says whether those and window functions are accepted.
pub(crate) fn function_fault(text: &str, function: &Function, aggregates: bool) -> Option<Fault> {
    let range = range_of(text, function.name.span());
    let name = match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => folded(ident),
        _ => function.name.to_string(),
    };
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        let help = if aggregates {
            "use `$as_of`, or a column"
        } else {
            "use a request field or a stored feature"
        };
        return Some(Fault::new(
            format!("`{name}` is not accepted: {reason}"),
            range,
            help,
        ));
    }
    let names = names();
    let many_rows = names.aggregate.contains_key(&name)
        || names.window.contains_key(&name)
        || function.over.is_some();
    if many_rows && !aggregates {
        let message =
            format!("`{name}` is not accepted: a request has one row, and nothing to aggregate");
        return Some(Fault::new(
            message,
            range,
            "aggregate in a feature view, and use its feature here",
        ));
    }
    if many_rows || names.scalar.contains_key(&name) {
        return None;
    }
    let known = names.scalar.keys();
    let known: Vec<&str> = match aggregates {
        true => known
            .chain(names.aggregate.keys())
            .chain(names.window.keys())
            .map(String::as_str)
            .collect(),
        false => known.map(String::as_str).collect(),
    };
    let help =
        nearest(&name, known).map_or_else(String::new, |near| format!("did you mean `{near}`?"));
    Some(Fault::new(
        format!("unknown function `{name}`"),
        range,
        help,
    ))
}

/// An identifier as SQL compares it: lower case unless quoted.
pub(crate) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}
