//! One SQL expression to a physical expression over named inputs.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion_common::{DFSchema, TableReference};
use datafusion_expr::Expr;
use datafusion_expr::execution_props::ExecutionProps;
use datafusion_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion_expr::simplify::SimplifyContext;
use datafusion_optimizer::simplify_expressions::ExprSimplifier;
use datafusion_physical_expr::expressions::cast;
use datafusion_physical_expr::{PhysicalExpr, create_physical_expr};
use datafusion_sql::planner::{PlannerContext, SqlToRel};
use datafusion_sql::sqlparser::ast::{
    Expr as SqlExpr, Ident, Spanned, Value as SqlValue, visit_expressions, visit_expressions_mut,
};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::Token;

use crate::data_type::DataType;
use crate::expression::{RequestInput, input_schema};
use crate::parse::members::Elsewhere;
use crate::sql::chain;
use crate::sql::dialects;
use crate::sql::functions::{Planning, settings};
use crate::sql::mixed;
use crate::sql::statement::{fields_in_brackets, folded, function_fault, operator_fault};
use crate::sql::types::described;
use crate::sql::{Fault, engine_faults, parser_fault, quoted, range_of};
use crate::suggestion::{accepted, nearest};

/// What an expression is planned to.
#[derive(Debug)]
pub(crate) struct PlannedExpression {
    /// Evaluates over the columns of the inputs, in their order.
    pub(crate) physical: Arc<dyn PhysicalExpr>,
    /// The type of its values.
    pub(crate) data_type: DataType,
}

/// What is known of an expression that plans.
#[derive(Debug)]
pub(crate) struct CheckedExpression {
    /// The type of its values.
    pub(crate) data_type: DataType,
    /// Indexes of the inputs that it reads, ascending.
    pub(crate) reads: Vec<usize>,
    /// The expression in its one canonical form, without comments.
    pub(crate) canonical: String,
}

/// What an expression may read.
pub(crate) struct Readable<'a> {
    /// Request fields and stored features.
    pub(crate) inputs: &'a [(RequestInput, DataType)],
    /// Names of all request fields, those of unknown types too.
    pub(crate) fields: &'a [&'a str],
    /// What is known of any other field, or of any other feature of a view.
    pub(crate) elsewhere: &'a dyn Fn(Option<&str>, &str) -> Elsewhere,
}

/// Plans `text` over `inputs`.
pub(crate) fn plan(
    text: &str,
    inputs: &[(RequestInput, DataType)],
) -> Result<PlannedExpression, Vec<Fault>> {
    let fields: Vec<&str> = inputs
        .iter()
        .filter_map(|(input, _)| match input {
            RequestInput::Field(field) => Some(field.as_str()),
            RequestInput::Feature(_) => None,
        })
        .collect();
    let readable = Readable {
        inputs,
        fields: &fields,
        elsewhere: &|_, _| Elsewhere::Nowhere,
    };
    let parsed = parse(text).map_err(|fault| vec![fault])?;
    resolve(text, &parsed, &readable)?.ok_or_else(Vec::new)?;
    typed(text, parsed, inputs)
}

/// Checks `text` over what it may read. `None` when what it reads is not known.
pub(crate) fn check(
    text: &str,
    readable: &Readable<'_>,
) -> Result<Option<CheckedExpression>, Vec<Fault>> {
    let parsed = parse(text).map_err(|fault| vec![fault])?;
    let Some(reads) = resolve(text, &parsed, readable)? else {
        return Ok(None);
    };
    let canonical = parsed.to_string();
    // Only over what it reads: there may be ten thousand features that it does not.
    let inputs: Vec<_> = reads
        .iter()
        .map(|index| readable.inputs[*index].clone())
        .collect();
    let planned = typed(text, parsed, &inputs)?;
    Ok(Some(CheckedExpression {
        data_type: planned.data_type,
        reads,
        canonical,
    }))
}

/// The expression over these inputs, and its type.
fn typed(
    text: &str,
    parsed: SqlExpr,
    inputs: &[(RequestInput, DataType)],
) -> Result<PlannedExpression, Vec<Fault>> {
    let (physical, arrow_type) = physical(text, qualified(parsed), inputs)?;
    let Some(data_type) = DataType::from_arrow(&arrow_type).map(DataType::in_sql) else {
        return Err(vec![untyped(&arrow_type)]);
    };
    let schema = input_schema(inputs);
    let physical = cast(physical, &schema, data_type.to_arrow())
        .map_err(|error| engine_faults(text, &error))?;
    Ok(PlannedExpression {
        physical,
        data_type,
    })
}

fn untyped(arrow_type: &ArrowType) -> Fault {
    let (what, help) = described(arrow_type);
    let message = match arrow_type {
        ArrowType::Null => "the expression is always null".to_owned(),
        _ => format!("the expression is {what}"),
    };
    let help = match (arrow_type, help) {
        // Whatever its zone, it has nanoseconds.
        (ArrowType::Timestamp(..), _) => {
            "make it a number with `to_unixtime(...)`, or let the request bring a `timestamp`"
                .to_owned()
        }
        (_, "") => format!(
            "accepted: {}",
            DataType::names().collect::<Vec<_>>().join(", ")
        ),
        (_, help) => help.to_owned(),
    };
    Fault::new(message, None, help)
}

fn parse(text: &str) -> Result<SqlExpr, Fault> {
    if let Some(fault) = chain::too_long(text) {
        return Err(fault);
    }
    let mut parser = Parser::new(&GenericDialect {})
        .try_with_sql(text)
        .map_err(|e| parser_fault(text, &e))?;
    let mut parsed = parser.parse_expr().map_err(|e| parser_fault(text, &e))?;
    let next = parser.peek_token();
    if next.token == Token::EOF {
        fields_in_brackets(&mut parsed);
        return Ok(parsed);
    }
    let message = format!(
        "this is not one expression: `{}` is not expected here",
        next.token
    );
    let help = dialects::operator(&next.token.to_string());
    Err(Fault::new(
        message,
        range_of(text, next.span),
        help.unwrap_or_default(),
    ))
}

/// Finds what the expression reads, and refuses what it may not say. `None` when what it reads is not known.
fn resolve(
    text: &str,
    parsed: &SqlExpr,
    readable: &Readable<'_>,
) -> Result<Option<Vec<usize>>, Vec<Fault>> {
    let inputs = readable.inputs;
    let mut faults = Vec::new();
    let mut reads = Vec::new();
    let mut sure = true;
    let _: ControlFlow<()> = visit_expressions(parsed, |expr| {
        let range = range_of(text, expr.span());
        faults.extend(operator_fault(text, expr));
        match expr {
            SqlExpr::Identifier(ident) => {
                let name = folded(ident);
                match (
                    position(inputs, None, &name),
                    (readable.elsewhere)(None, &name),
                ) {
                    (Some(index), _) => reads.push(index),
                    (None, Elsewhere::Unsure) => sure = false,
                    (None, _) if ident.quote_style == Some('"') => {
                        faults.push(quoted(&name, range));
                    }
                    (None, _) => faults.push(unknown_field(&name, readable, range)),
                }
            }
            SqlExpr::CompoundIdentifier(idents) => {
                let parts: Vec<String> = idents.iter().map(folded).collect();
                match parts.as_slice() {
                    [view, feature] => match position(inputs, Some(view), feature) {
                        Some(index) => reads.push(index),
                        None => match (readable.elsewhere)(Some(view), feature) {
                            Elsewhere::Unsure => sure = false,
                            Elsewhere::Nowhere => {
                                faults.push(unknown_feature(view, feature, inputs, range));
                            }
                            Elsewhere::Other(help) => {
                                let message = format!("`{view}` is not a feature view");
                                faults.push(Fault::new(message, range, help));
                            }
                        },
                    },
                    [view, feature, field] if position(inputs, Some(view), feature).is_some() => {
                        faults.push(Fault::new(
                            format!("`{}` is not a feature", parts.join(".")),
                            range,
                            format!("write `{view}.{feature}['{field}']` for a field of a struct"),
                        ));
                    }
                    _ => faults.push(Fault::new(
                        format!("`{}` is not a feature", parts.join(".")),
                        range,
                        "write `view.feature`",
                    )),
                }
            }
            SqlExpr::Function(function) => faults.extend(function_fault(text, function, false)),
            SqlExpr::Subquery(_) | SqlExpr::Exists { .. } | SqlExpr::InSubquery { .. } => {
                faults.push(Fault::new(
                    "sub-queries are not accepted in request-time features",
                    range,
                    "compute it in a feature view, and use its feature here",
                ));
            }
            SqlExpr::Value(value) => {
                if let SqlValue::Placeholder(name) = &value.value {
                    faults.push(Fault::new(
                        format!("`{name}` is not known in request-time features"),
                        range,
                        "use a request field",
                    ));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    if !faults.is_empty() {
        return Err(faults);
    }
    reads.sort_unstable();
    reads.dedup();
    Ok(sure.then_some(reads))
}

fn position(inputs: &[(RequestInput, DataType)], view: Option<&str>, name: &str) -> Option<usize> {
    inputs.iter().position(|(input, _)| match (input, view) {
        (RequestInput::Field(field), None) => field.as_str() == name,
        (RequestInput::Feature(reference), Some(view)) => {
            reference.view.as_str() == view && reference.feature.as_str() == name
        }
        _ => false,
    })
}

fn unknown_field(
    name: &str,
    readable: &Readable<'_>,
    range: Option<std::ops::Range<usize>>,
) -> Fault {
    let stored = readable.inputs.iter().find_map(|(input, _)| match input {
        RequestInput::Feature(reference) if reference.feature.as_str() == name => Some(reference),
        _ => None,
    });
    let message = format!("unknown request field `{name}`");
    if let Some(stored) = stored {
        return Fault::new(
            message,
            range,
            format!("did you mean the stored feature `{stored}`?"),
        );
    }
    if readable.fields.is_empty() {
        return Fault::new(message, range, "the request view declares no `inputs`");
    }
    Fault::new(message, range, accepted(name, readable.fields))
}

fn unknown_feature(
    view: &str,
    feature: &str,
    inputs: &[(RequestInput, DataType)],
    range: Option<std::ops::Range<usize>>,
) -> Fault {
    let references = inputs.iter().filter_map(|(input, _)| match input {
        RequestInput::Feature(reference) => Some(reference),
        RequestInput::Field(_) => None,
    });
    let of_view: Vec<&str> = references
        .clone()
        .filter(|reference| reference.view.as_str() == view)
        .map(|reference| reference.feature.as_str())
        .collect();
    let is_field = inputs
        .iter()
        .any(|(input, _)| matches!(input, RequestInput::Field(field) if field.as_str() == view));
    if of_view.is_empty() && is_field {
        return Fault::new(
            format!("`{view}` is a request field, and `{view}.{feature}` none"),
            range,
            format!("write `{view}['{feature}']` for a field of a struct"),
        );
    }
    if of_view.is_empty() {
        let mut views: Vec<&str> = references
            .map(|reference| reference.view.as_str())
            .collect();
        views.dedup();
        return Fault::new(
            format!("unknown view `{view}`"),
            range,
            accepted(view, &views),
        );
    }
    let mut fault = Fault::new(format!("unknown feature `{view}.{feature}`"), range, "");
    fault.label = format!("not a feature of `{view}`");
    fault.help = Some(match nearest(feature, of_view.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? features: {}", of_view.join(", ")),
        None => format!("features: {}", of_view.join(", ")),
    });
    fault
}

/// What stands before a request field when it is planned, so that it is never taken for a feature of its name. No view
/// can be called so.
const FIELDS: &str = "$request";

/// The expression with its request fields qualified.
fn qualified(mut parsed: SqlExpr) -> SqlExpr {
    let _: ControlFlow<()> = visit_expressions_mut(&mut parsed, |expr| {
        if let SqlExpr::Identifier(ident) = expr {
            let fields = Ident::with_quote_and_span('"', ident.span, FIELDS);
            *expr = SqlExpr::CompoundIdentifier(vec![fields, ident.clone()]);
        }
        ControlFlow::Continue(())
    });
    parsed
}

fn physical(
    text: &str,
    parsed: SqlExpr,
    inputs: &[(RequestInput, DataType)],
) -> Result<(Arc<dyn PhysicalExpr>, ArrowType), Vec<Fault>> {
    let failed = |error| engine_faults(text, &error);
    let schema = Arc::new(planning_schema(inputs).map_err(failed)?);
    let provider = Planning::new(std::collections::BTreeMap::new());
    let expr = SqlToRel::new(&provider)
        .sql_to_expr(parsed, &schema, &mut PlannerContext::new())
        .map_err(failed)?;
    let mixed = mixed::in_expression(text, &expr, &schema);
    if !mixed.is_empty() {
        return Err(mixed);
    }
    coerced(expr, &schema).map_err(failed)
}

fn planning_schema(inputs: &[(RequestInput, DataType)]) -> datafusion_common::Result<DFSchema> {
    let fields = inputs.iter().map(|(input, data_type)| match input {
        RequestInput::Field(name) => (
            Some(TableReference::bare(FIELDS)),
            Arc::new(Field::new(
                name.as_str(),
                data_type.in_sql().to_arrow(),
                true,
            )),
        ),
        RequestInput::Feature(reference) => {
            let view = TableReference::bare(reference.view.as_str());
            (
                Some(view),
                Arc::new(Field::new(
                    reference.feature.as_str(),
                    data_type.in_sql().to_arrow(),
                    true,
                )),
            )
        }
    });
    DFSchema::new_with_metadata(fields.collect(), std::collections::HashMap::new())
}

fn coerced(
    expr: Expr,
    schema: &Arc<DFSchema>,
) -> datafusion_common::Result<(Arc<dyn PhysicalExpr>, ArrowType)> {
    let context = SimplifyContext::builder()
        .with_schema(schema.clone())
        .with_config_options(Arc::new(settings()))
        .build();
    let simplifier = ExprSimplifier::new(context);
    let expr = simplifier.simplify(simplifier.coerce(expr, schema)?)?;
    let props = ExecutionProps::new();
    let physical =
        create_physical_expr(&expr, schema, &props, &PhysicalPlanningContext::default())?;
    let data_type = physical.data_type(schema.as_arrow())?;
    Ok((physical, data_type))
}
