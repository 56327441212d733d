//! A text to exactly one `SELECT` over declared sources.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use datafusion_sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, Expr, Function, FunctionArgumentClause, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, Query, Select, SelectItem, SetExpr, Spanned, Statement, Subscript,
    TableFactor, Value as SqlValue, Visit, VisitMut, Visitor, visit_expressions,
    visit_expressions_mut,
};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::Token;

use crate::parse::members::Elsewhere;
use crate::sql::chain;
use crate::sql::check::Tables;
use crate::sql::dialects;
use crate::sql::functions::{REFUSED, Rows, instead, names};
use crate::sql::{Fault, parser_fault, range_of};
use crate::suggestion::{accepted, nearest};
use crate::time::Instant;

const ONLY_SELECT: &str = "only one SELECT over declared sources and views";

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
    // A byte order mark is one character, like the blank in its place: lines and columns stay.
    let plain = text.replacen('\u{feff}', " ", 1);
    let plain = if text.starts_with('\u{feff}') {
        plain.as_str()
    } else {
        text
    };
    let mut parser = Parser::new(&GenericDialect {})
        .try_with_sql(plain)
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
    let mut statement = parser
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
                dialects::operator(&next.token.to_string()).unwrap_or_default(),
            ),
        });
    }
    fields_in_brackets(&mut statement);
    Ok(statement)
}

/// Writes `['name']` for `.name` behind a bracket, as in `legs[1].name`: it names a field of a struct, and no column.
pub(crate) fn fields_in_brackets(parsed: &mut impl VisitMut) {
    let _: ControlFlow<()> = visit_expressions_mut(parsed, |expr| {
        if let Expr::CompoundFieldAccess { access_chain, .. } = expr {
            for access in access_chain {
                if let AccessExpr::Dot(Expr::Identifier(ident)) = access {
                    let name = SqlValue::SingleQuotedString(folded(ident));
                    let index = Expr::Value(name.with_span(ident.span));
                    *access = AccessExpr::Subscript(Subscript::Index { index });
                }
            }
        }
        ControlFlow::Continue(())
    });
}

/// What a query says.
pub(crate) struct Inspected {
    /// Everything that it may not say.
    pub(crate) faults: Vec<Fault>,
    /// The declared sources and views that it reads, sorted, with the place where each is named first.
    pub(crate) read: BTreeMap<String, Option<Range<usize>>>,
    /// Whether it reads nothing that may be declared where a problem stands.
    pub(crate) sure: bool,
}

/// Finds what a query reads, and refuses what it may not say.
pub(crate) fn inspect(text: &str, statement: &Statement, tables: &Tables<'_>) -> Inspected {
    let mut inspector = Inspector {
        text,
        tables,
        ctes: BTreeSet::new(),
        inspected: Inspected {
            faults: Vec::new(),
            read: BTreeMap::new(),
            sure: true,
        },
    };
    let _ = statement.visit(&mut inspector);
    inspector.inspected
}

/// Whether a query has one of these words as a name, or takes all columns.
pub(crate) fn mentions(statement: &Statement, words: &[&str]) -> bool {
    let is_word = |ident: &Ident| words.contains(&folded(ident).as_str());
    let found = visit_expressions(statement, |expr| {
        let named = match expr {
            Expr::Identifier(ident) => is_word(ident),
            Expr::CompoundIdentifier(idents) => idents.iter().any(is_word),
            Expr::Wildcard(_) | Expr::QualifiedWildcard(..) => true,
            _ => false,
        };
        match named {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let text = statement.to_string();
    found.is_break() || text.contains('*') || text.contains("USING") || text.contains("NATURAL")
}

/// An output column as a query writes it.
#[derive(Debug)]
pub(crate) struct OutputItem {
    /// Its name, if it has one that somebody wrote.
    pub(crate) name: Option<String>,
    /// Where the name stands, or the whole item.
    pub(crate) range: Option<Range<usize>>,
}

/// The output columns of a query, one each; empty when it takes all columns of something.
pub(crate) fn output_items(text: &str, statement: &Statement) -> Vec<OutputItem> {
    let Some(select) = outer_select(statement) else {
        return Vec::new();
    };
    let mut items = Vec::new();
    for item in &select.projection {
        let ident = match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias),
            SelectItem::UnnamedExpr(Expr::Identifier(ident)) => Some(ident),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(idents)) => idents.last(),
            SelectItem::UnnamedExpr(_) => None,
            _ => return Vec::new(),
        };
        items.push(OutputItem {
            name: ident.map(folded),
            range: match ident {
                Some(ident) => range_of(text, ident.span),
                None => range_of(text, item.span()),
            },
        });
    }
    items
}

/// The `SELECT` that names the columns of a query.
pub(crate) fn outer_select(statement: &Statement) -> Option<&Select> {
    match statement {
        Statement::Query(query) => first_select(&query.body),
        _ => None,
    }
}

fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

struct Inspector<'a> {
    text: &'a str,
    tables: &'a Tables<'a>,
    ctes: BTreeSet<String>,
    inspected: Inspected,
}

impl Inspector<'_> {
    fn refuse(
        &mut self,
        message: impl Into<String>,
        place: &impl Spanned,
        help: impl Into<String>,
    ) {
        let range = range_of(self.text, place.span());
        self.inspected.faults.push(Fault::new(message, range, help));
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
                "this query is not a SELECT over sources and views",
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
            self.refuse("this is no declared source or view", factor, ONLY_SELECT);
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
        let names: Vec<&str> = self.tables.tables.iter().map(|table| table.name).collect();
        if names.contains(&name.as_str()) {
            let range = range_of(self.text, relation.span());
            self.inspected.read.entry(name).or_insert(range);
            return ControlFlow::Continue(());
        }
        match (self.tables.elsewhere)(&name) {
            Elsewhere::Unsure => self.inspected.sure = false,
            Elsewhere::Nowhere => {
                let help = accepted(&name, &names);
                let range = range_of(self.text, relation.span());
                let range = range.or_else(|| {
                    let start = self.text.find(&name)?;
                    Some(start..start + name.len())
                });
                let mut faults = self.inspected.faults.iter();
                if faults.all(|fault| fault.range.is_none() || fault.range != range) {
                    let message = format!("unknown source or view `{name}`");
                    self.inspected.faults.push(Fault::new(message, range, help));
                }
            }
            Elsewhere::Other(help) => {
                let message = format!("`{name}` is neither a source nor a feature view");
                self.refuse(message, relation, help);
            }
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
            && let Some(fault) = function_fault(self.text, function, Rows::Many)
        {
            self.inspected.faults.push(fault);
        }
        self.inspected
            .faults
            .extend(operator_fault(self.text, expr));
        ControlFlow::Continue(())
    }
}

/// An operator that is refused.
pub(crate) fn operator_fault(text: &str, expr: &Expr) -> Option<Fault> {
    let Expr::BinaryOp { op, .. } = expr else {
        return None;
    };
    if *op == BinaryOperator::PGOverlap {
        let help = dialects::operator("&&").unwrap_or_default();
        let range = range_of(text, expr.span());
        return Some(Fault::new("`&&` is no operator here", range, help));
    }
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

/// A function that is refused or not known; aggregates and window functions are accepted over many rows.
pub(crate) fn function_fault(text: &str, function: &Function, rows: Rows) -> Option<Fault> {
    let aggregates = rows == Rows::Many;
    let range = range_of(text, function.name.span());
    let name = match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => folded(ident),
        _ => function.name.to_string(),
    };
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Some(Fault::new(
            format!("`{name}` is not accepted: {reason}"),
            range,
            instead(reason, rows),
        ));
    }
    if name == "array_agg" && aggregates && !is_ordered(function) {
        return Some(Fault::new(
            "`array_agg` has no order: its elements would come as rows are read",
            range,
            "write `array_agg(... ORDER BY ...)`",
        ));
    }
    let names = names();
    let many_rows = names.aggregate.contains_key(&name)
        || names.window.contains_key(&name)
        || dialects::is_aggregate(&name)
        || function.over.is_some();
    if many_rows && rows == Rows::OneEvent {
        let message = format!("`{name}` is not accepted: a filter looks at one event");
        let help = "compute the whole in a view of SQL";
        return Some(Fault::new(message, range, help));
    }
    if many_rows && !aggregates {
        let message =
            format!("`{name}` is not accepted: a request has one row, and nothing to aggregate");
        return Some(Fault::new(message, range, of_one_row(&name, function)));
    }
    let is_known = names.aggregate.contains_key(&name)
        || names.window.contains_key(&name)
        || names.scalar.contains_key(&name);
    if is_known {
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
    let help = dialects::instead(&name, aggregates).unwrap_or_else(|| near(&name, &known));
    Some(Fault::new(
        format!("unknown function `{name}`"),
        range,
        help,
    ))
}

/// What to write instead of an aggregate where there is one row.
fn of_one_row(name: &str, function: &Function) -> String {
    let several = match &function.args {
        FunctionArguments::List(list) => list.args.len() > 1,
        FunctionArguments::None | FunctionArguments::Subquery(_) => false,
    };
    let of_values = match name {
        "max" if several => "for the greatest of several values write `greatest(a, b)`; else ",
        "min" if several => "for the least of several values write `least(a, b)`; else ",
        _ => "",
    };
    format!("{of_values}aggregate in a feature view, and use its feature here")
}

/// How many functions are suggested at most.
const SUGGESTED: usize = 6;

/// The functions that may have been meant, and where all of them are listed.
fn near(name: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let parts: Vec<&str> = name.split('_').filter(|part| part.len() > 2).collect();
    let mut alike: Vec<&str> = known
        .iter()
        .copied()
        .filter(|other| other.split('_').any(|part| parts.contains(&part)))
        .collect();
    alike.sort_unstable();
    alike.dedup();
    let all = "`docs/sql.md` lists all functions";
    match alike.len() {
        1..=SUGGESTED => format!("near to it are `{}`; {all}", alike.join("`, `")),
        _ => all.to_owned(),
    }
}

/// Whether a call says in which order it takes rows.
fn is_ordered(function: &Function) -> bool {
    let FunctionArguments::List(arguments) = &function.args else {
        return false;
    };
    let is_order = |clause: &FunctionArgumentClause| matches!(clause, FunctionArgumentClause::OrderBy(order) if !order.is_empty());
    arguments.clauses.iter().any(is_order)
}

/// An identifier as SQL compares it: lower case unless quoted.
pub(crate) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}
