//! Values side by side of types that only a cast puts together which may fail on a row.
//!
//! The engine compares a text with a number by making the text a number, and has no value for a row whose text is none.
//! That is known before there is a row: such places are refused. A text in quotes is a value of the other type if it
//! reads as one: `at >= '2026-01-01'`.

use std::ops::Range;

use arrow::datatypes::DataType as ArrowType;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion_expr::expr::{AggregateFunction, Case, InList, InSubquery, WindowFunction};
use datafusion_expr::type_coercion::binary::comparison_coercion;
use datafusion_expr::type_coercion::functions::{UDFCoercionExt, fields_with_udf};
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{
    Between, BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, WindowFunctionDefinition,
};

use crate::article::with_article;
use crate::sql::fault::{in_our_words, sql_span};
use crate::sql::{Fault, range_of};

/// All such places of a query that is planned and not yet coerced.
pub(crate) fn in_plan(text: &str, plan: &LogicalPlan) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let mut finder = Finder {
            text,
            schema: &schema,
            faults: &mut faults,
        };
        if let LogicalPlan::Join(join) = node {
            for (left, right) in &join.on {
                finder.compared("JOIN", &[left, right]);
            }
            if let Some(condition) = &join.filter {
                finder.condition("ON", condition);
            }
        }
        node.apply_expressions(|expression| finder.expression(expression))
    })?;
    Ok(faults)
}

/// All such places of an expression that is planned and not yet coerced.
pub(crate) fn in_expression(text: &str, expression: &Expr, schema: &DFSchema) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut finder = Finder {
        text,
        schema,
        faults: &mut faults,
    };
    // Looking never fails.
    let _ = finder.expression(expression);
    faults
}

struct Finder<'a> {
    text: &'a str,
    schema: &'a DFSchema,
    faults: &'a mut Vec<Fault>,
}

impl Finder<'_> {
    fn expression(&mut self, expression: &Expr) -> Result<TreeNodeRecursion, DataFusionError> {
        expression.apply(|part| {
            self.part(part);
            Ok(TreeNodeRecursion::Continue)
        })
    }

    fn part(&mut self, part: &Expr) {
        match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
                self.compared(&op.to_string(), &[left, right]);
            }
            Expr::Between(Between {
                expr, low, high, ..
            }) => self.compared("BETWEEN", &[expr, low, high]),
            Expr::InList(InList { expr, list, .. }) => {
                let parts: Vec<&Expr> = std::iter::once(&**expr).chain(list).collect();
                self.compared("IN", &parts);
            }
            Expr::InSubquery(InSubquery { expr, subquery, .. }) => {
                if let Some((_, given)) = subquery.subquery.schema().iter().next() {
                    self.among(expr, given.data_type());
                }
            }
            Expr::Case(case) => self.case(case),
            Expr::ScalarFunction(call) => self.called(call.func.name(), &*call.func, &call.args),
            Expr::AggregateFunction(AggregateFunction { func, params }) => {
                self.called(func.name(), &**func, &params.args);
                if let Some(condition) = &params.filter {
                    self.condition("FILTER", condition);
                }
            }
            Expr::WindowFunction(window) => {
                let WindowFunction { fun, params } = &**window;
                match fun {
                    WindowFunctionDefinition::AggregateUDF(f) => {
                        self.called(f.name(), &**f, &params.args);
                    }
                    WindowFunctionDefinition::WindowUDF(f) => {
                        self.called(f.name(), &**f, &params.args);
                    }
                }
            }
            _ => {}
        }
    }

    /// Values that are compared with each other.
    fn compared(&mut self, what: &str, parts: &[&Expr]) {
        let Some(types) = self.types(parts) else {
            return;
        };
        let mut rest = types.iter();
        let first = rest.next().cloned();
        let common = first.and_then(|first| {
            rest.try_fold(first, |common, next| comparison_coercion(&common, next))
        });
        if let Some(common) = common {
            let wanted = vec![common; types.len()];
            self.cast(what, parts, &types, &wanted);
        }
    }

    /// A value that is looked for among those of a sub-query.
    fn among(&mut self, value: &Expr, given: &ArrowType) {
        let Ok(own) = value.get_type(self.schema) else {
            return;
        };
        if is_text(&own) == is_text(given) || own.is_null() || given.is_null() {
            return;
        }
        let message = format!(
            "`IN` does not take {} with a sub-query of {}",
            shown(value, &own),
            type_word(given)
        );
        let help = "select values of the same type, or cast one side to the type of the other";
        self.refuse(message, &[value], help);
    }

    fn case(&mut self, case: &Case) {
        let whens = case.when_then_expr.iter().map(|(when, _)| &**when);
        match &case.expr {
            Some(value) => {
                let parts: Vec<&Expr> = std::iter::once(&**value).chain(whens).collect();
                self.compared("CASE", &parts);
            }
            None => whens.for_each(|when| self.condition("WHEN", when)),
        }
        let thens = case.when_then_expr.iter().map(|(_, then)| &**then);
        let branches: Vec<&Expr> = thens.chain(case.else_expr.as_deref()).collect();
        let Some(types) = self.types(&branches) else {
            return;
        };
        let mut known = branches.iter().zip(&types).filter(|(_, t)| !t.is_null());
        let Some((first, first_type)) = known.next() else {
            return;
        };
        if let Some((other, other_type)) = known.find(|(_, t)| is_text(t) != is_text(first_type)) {
            let message = format!(
                "a `CASE` does not give {} in one branch and {} in another",
                shown(first, first_type),
                shown(other, other_type)
            );
            let help =
                "give values of one type: write `NULL` for none, or cast numbers to `varchar`";
            self.refuse(message, &[first, other], help);
        }
    }

    /// Arguments of a function.
    fn called(&mut self, name: &str, function: &impl UDFCoercionExt, arguments: &[Expr]) {
        let parts: Vec<&Expr> = arguments.iter().collect();
        let Some(types) = self.types(&parts) else {
            return;
        };
        let fields: Vec<_> = arguments
            .iter()
            .filter_map(|argument| argument.to_field(self.schema).ok())
            .map(|(_, field)| field)
            .collect();
        let Ok(wanted) = fields_with_udf(&fields, function) else {
            return;
        };
        let wanted: Vec<ArrowType> = wanted.iter().map(|f| f.data_type().clone()).collect();
        self.cast(name, &parts, &types, &wanted);
    }

    /// Refuses the first text that the engine would cast to another type, unless it is written out and is one.
    fn cast(&mut self, what: &str, parts: &[&Expr], types: &[ArrowType], wanted: &[ArrowType]) {
        for ((part, own), wanted) in parts.iter().zip(types).zip(wanted) {
            if !is_text(own) || is_text(wanted) || wanted.is_null() || is_kept(wanted) {
                continue;
            }
            let literal = match part {
                Expr::Literal(literal, _) => Some(literal),
                _ => None,
            };
            if literal.is_some_and(|literal| reads_as(literal, wanted)) {
                continue;
            }
            let mut others = parts.iter().zip(types);
            let other = others.find(|(_, t)| !is_text(t) && !t.is_null());
            let message = match (literal, other) {
                (Some(_), Some((other, other_type))) => format!(
                    "`{what}` does not take {} with {}, which is not {}",
                    shown(other, other_type),
                    name_of(part).map_or_else(|| "a text".to_owned(), |text| format!("`{text}`")),
                    with_article(type_word(wanted))
                ),
                (None, Some((other, other_type))) => format!(
                    "`{what}` does not take {} with {}",
                    shown(part, own),
                    shown(other, other_type)
                ),
                (_, None) => format!(
                    "`{what}` takes {} and not {}",
                    type_word(wanted),
                    shown(part, own)
                ),
            };
            let help = match literal {
                Some(_) => "write both sides as values of one type".to_owned(),
                None => cast_help(part, wanted),
            };
            let places: Vec<&Expr> = other.map(|(other, _)| *other).into_iter().collect();
            self.refuse(message, &[&[*part], &places[..]].concat(), help);
            return;
        }
    }

    /// A place that takes true or false.
    fn condition(&mut self, keyword: &str, condition: &Expr) {
        let Ok(own) = condition.get_type(self.schema) else {
            return;
        };
        if own == ArrowType::Boolean || own.is_null() {
            return;
        }
        let message = format!(
            "`{keyword}` needs a condition, and this is {}",
            shown(condition, &own)
        );
        self.refuse(message, &[condition], "compare it with a value");
    }

    /// The types of expressions; `None` where one is not known, of which the engine says why.
    fn types(&self, parts: &[&Expr]) -> Option<Vec<ArrowType>> {
        let types = parts.iter().map(|part| part.get_type(self.schema).ok());
        types.collect()
    }

    fn refuse(&mut self, message: String, parts: &[&Expr], help: impl Into<String>) {
        let fault = Fault::new(message, place(self.text, parts), help);
        // A query's plan may hold one expression in several places.
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

/// From the first to the last column of some expressions.
fn place(text: &str, parts: &[&Expr]) -> Option<Range<usize>> {
    let mut place: Option<Range<usize>> = None;
    for part in parts {
        let _ = part.apply(|part| {
            let span = match part {
                Expr::Column(column) => column.spans().first(),
                _ => None,
            };
            let range = span.and_then(|span| range_of(text, sql_span(span)));
            place = match (place.take(), range) {
                (Some(place), Some(range)) => {
                    Some(place.start.min(range.start)..place.end.max(range.end))
                }
                (place, range) => place.or(range),
            };
            Ok(TreeNodeRecursion::Continue)
        });
    }
    place
}

const fn compares(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
    )
}

const fn is_text(data_type: &ArrowType) -> bool {
    matches!(
        data_type,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View
    )
}

/// Whether every text becomes a value of the type.
const fn is_kept(data_type: &ArrowType) -> bool {
    matches!(
        data_type,
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView
    )
}

/// Whether a text that is written out is a value of a type.
fn reads_as(literal: &ScalarValue, data_type: &ArrowType) -> bool {
    literal.cast_to(data_type).is_ok()
}

/// How to make a text a value of a type.
fn cast_help(part: &Expr, wanted: &ArrowType) -> String {
    let sql_type = match wanted {
        ArrowType::Boolean => "boolean",
        ArrowType::Date32 | ArrowType::Date64 => "date",
        ArrowType::Timestamp(..) => "timestamp",
        t if t.is_integer() => "bigint",
        t if t.is_numeric() => "double",
        _ => return "cast it to the type of the other side".to_owned(),
    };
    let part = name_of(part).unwrap_or_else(|| "...".to_owned());
    format!(
        "compare it with a text in quotes, or write `try_cast({part} AS {sql_type})`, which is null for a text that is none"
    )
}

/// An expression and its type: `` `city` (string) ``.
fn shown(part: &Expr, data_type: &ArrowType) -> String {
    let type_word = type_word(data_type);
    match name_of(part) {
        Some(name) => format!("`{name}` ({type_word})"),
        None => type_word,
    }
}

/// A short expression as it is written.
fn name_of(part: &Expr) -> Option<String> {
    match part {
        Expr::Column(column) => {
            let relation = column.relation.as_ref().map(|relation| relation.table());
            let relation = relation.filter(|relation| !relation.starts_with('$'));
            Some(match relation {
                Some(relation) if !column.name.contains('(') => {
                    format!("{relation}.{}", column.name)
                }
                _ => column.name.clone(),
            })
        }
        Expr::Literal(literal, _) => match literal.try_as_str() {
            Some(text) => text.map(|text| format!("'{text}'")),
            None => Some(literal.to_string()),
        },
        Expr::Alias(alias) => name_of(&alias.expr),
        Expr::AggregateFunction(aggregate) => {
            let [argument] = aggregate.params.args.as_slice() else {
                return None;
            };
            let argument = name_of(argument)?;
            Some(format!("{}({argument})", aggregate.func.name()))
        }
        _ => None,
    }
}

/// A type as definitions name it.
fn type_word(data_type: &ArrowType) -> String {
    match data_type {
        ArrowType::Timestamp(..) => "timestamp".to_owned(),
        data_type => in_our_words(&data_type.to_string()),
    }
}
