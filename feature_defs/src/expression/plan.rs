//! One SQL expression to a physical expression over named inputs.

use std::ops::{ControlFlow, Range};
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
use crate::sql::functions::{Planning, Rows, settings};
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

/// Something that an expression reads by its name; shown, it is as a batch names it.
pub(crate) trait Input: std::fmt::Display + Clone {
    /// The view that it is a feature of; `None` where it is written without one.
    fn view(&self) -> Option<&str>;
    /// Its own name.
    fn name(&self) -> &str;
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader<'a> {
    /// In a request view: it reads request fields and stored features.
    RequestView,
    /// In the filter of an aggregate: it reads columns of the source with this name.
    Filter(&'a str),
}

/// What an expression may read.
pub(crate) struct Readable<'a, I> {
    /// Request fields and stored features, or columns.
    pub(crate) inputs: &'a [(I, DataType)],
    /// Names of all request fields or columns, those of unknown types too.
    pub(crate) fields: &'a [&'a str],
    /// What is known of any other field, or of any other feature of a view.
    pub(crate) elsewhere: &'a dyn Fn(Option<&str>, &str) -> Elsewhere,
    /// Where the expression stands.
    pub(crate) reader: Reader<'a>,
}

/// Plans a request-time feature's `text` over `inputs`.
pub(crate) fn plan(
    text: &str,
    inputs: &[(RequestInput, DataType)],
) -> Result<PlannedExpression, Vec<Fault>> {
    plan_for(Reader::RequestView, text, inputs)
}

/// Plans `text` over `inputs`.
pub(super) fn plan_for(
    reader: Reader<'_>,
    text: &str,
    inputs: &[(impl Input, DataType)],
) -> Result<PlannedExpression, Vec<Fault>> {
    let fields = inputs.iter().filter(|(input, _)| input.view().is_none());
    let fields: Vec<&str> = fields.map(|(input, _)| input.name()).collect();
    let readable = Readable {
        inputs,
        fields: &fields,
        elsewhere: &|_, _| Elsewhere::Nowhere,
        reader,
    };
    let parsed = parse(text).map_err(|fault| vec![fault])?;
    resolve(text, &parsed, &readable)?.ok_or_else(Vec::new)?;
    typed(text, parsed, inputs, reader)
}

/// Checks `text` over what it may read. `None` when what it reads is not known.
pub(crate) fn check(
    text: &str,
    readable: &Readable<'_, impl Input>,
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
    let planned = typed(text, parsed, &inputs, readable.reader)?;
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
    inputs: &[(impl Input, DataType)],
    reader: Reader<'_>,
) -> Result<PlannedExpression, Vec<Fault>> {
    let (physical, arrow_type) = physical(text, qualified(parsed), inputs)?;
    let Some(data_type) = DataType::from_arrow(&arrow_type).map(DataType::in_sql) else {
        return Err(vec![untyped(&arrow_type, reader)]);
    };
    let schema = input_schema(inputs);
    let physical = cast(physical, &schema, data_type.to_arrow())
        .map_err(|error| engine_faults(text, &error))?;
    Ok(PlannedExpression {
        physical,
        data_type,
    })
}

/// What to write for a filter.
pub(super) const A_CONDITION: &str = "write a condition, like `amount > 100`";

fn untyped(arrow_type: &ArrowType, reader: Reader<'_>) -> Fault {
    let (what, help) = described(arrow_type);
    let message = match arrow_type {
        ArrowType::Null => "the expression is always null".to_owned(),
        _ => format!("the expression is {what}"),
    };
    if reader.rows() == Rows::OneEvent {
        return Fault::new(message, None, A_CONDITION);
    }
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
    readable: &Readable<'_, impl Input>,
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
                if let Reader::Filter(source) = readable.reader {
                    faults.push(not_a_column(source, &parts, readable.fields, range));
                    return ControlFlow::Continue(());
                }
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
            SqlExpr::Function(function) => {
                faults.extend(function_fault(text, function, readable.reader.rows()))
            }
            SqlExpr::Subquery(_) | SqlExpr::Exists { .. } | SqlExpr::InSubquery { .. } => {
                faults.push(sub_query(readable.reader, range));
            }
            SqlExpr::Value(value) => {
                if let SqlValue::Placeholder(name) = &value.value {
                    faults.push(placeholder(readable.reader, name, range));
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

impl Reader<'_> {
    /// The rows that one value is computed from.
    const fn rows(self) -> Rows {
        match self {
            Self::RequestView => Rows::OneRequest,
            Self::Filter(_) => Rows::OneEvent,
        }
    }
}

fn sub_query(reader: Reader<'_>, range: Option<Range<usize>>) -> Fault {
    match reader {
        Reader::RequestView => Fault::new(
            "sub-queries are not accepted in request-time features",
            range,
            "compute it in a feature view, and use its feature here",
        ),
        Reader::Filter(_) => Fault::new(
            "sub-queries are not accepted in filters",
            range,
            "compute the whole in a view of SQL",
        ),
    }
}

fn placeholder(reader: Reader<'_>, name: &str, range: Option<Range<usize>>) -> Fault {
    match reader {
        Reader::RequestView => Fault::new(
            format!("`{name}` is not known in request-time features"),
            range,
            "use a request field",
        ),
        Reader::Filter(_) => Fault::new(
            format!("`{name}` is not known in filters"),
            range,
            "filters read columns; windows end at as-of by themselves",
        ),
    }
}

/// A dotted name in a filter.
fn not_a_column(
    source: &str,
    parts: &[String],
    columns: &[&str],
    range: Option<Range<usize>>,
) -> Fault {
    let help = match parts {
        [of, column] if of == source => format!("write `{column}`: filters read one source"),
        [column, field] if columns.contains(&column.as_str()) => {
            format!("write `{column}['{field}']` for a field of a struct")
        }
        _ => format!("columns of `{source}`: {}", columns.join(", ")),
    };
    Fault::new(
        format!("`{}` is not a column", parts.join(".")),
        range,
        help,
    )
}

fn position(inputs: &[(impl Input, DataType)], view: Option<&str>, name: &str) -> Option<usize> {
    let mut inputs = inputs.iter();
    inputs.position(|(input, _)| input.view() == view && input.name() == name)
}

fn unknown_field(
    name: &str,
    readable: &Readable<'_, impl Input>,
    range: Option<Range<usize>>,
) -> Fault {
    if let Reader::Filter(source) = readable.reader {
        let message = format!("`{source}` has no column `{name}`");
        return Fault::new(message, range, accepted(name, readable.fields));
    }
    let mut inputs = readable.inputs.iter().map(|(input, _)| input);
    let stored = inputs.find(|input| input.view().is_some() && input.name() == name);
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
    inputs: &[(impl Input, DataType)],
    range: Option<Range<usize>>,
) -> Fault {
    let references = inputs.iter().filter_map(|(input, _)| {
        let view = input.view()?;
        Some((view, input.name()))
    });
    let of_view = references.clone().filter(|(of, _)| *of == view);
    let of_view: Vec<&str> = of_view.map(|(_, feature)| feature).collect();
    let is_field = position(inputs, None, view).is_some();
    if of_view.is_empty() && is_field {
        return Fault::new(
            format!("`{view}` is a request field, and `{view}.{feature}` none"),
            range,
            format!("write `{view}['{feature}']` for a field of a struct"),
        );
    }
    if of_view.is_empty() {
        let mut views: Vec<&str> = references.map(|(of, _)| of).collect();
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
    inputs: &[(impl Input, DataType)],
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

fn planning_schema(inputs: &[(impl Input, DataType)]) -> datafusion_common::Result<DFSchema> {
    let fields = inputs.iter().map(|(input, data_type)| {
        let qualifier = TableReference::bare(input.view().unwrap_or(FIELDS));
        let field = Field::new(input.name(), data_type.in_sql().to_arrow(), true);
        (Some(qualifier), Arc::new(field))
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
