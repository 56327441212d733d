//! What plans and yet has no result on any rows, which the engine would say only by night: casts that it does not have,
//! casts of written values that are none of their type, and sub-queries that it cannot join to the query around them.

use std::ops::Range;
use std::sync::Arc;

use arrow::compute::can_cast_types;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, ScalarValue, plan_datafusion_err};
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{Cast, Expr, ExprSchemable, LogicalPlan, TryCast};
use datafusion_optimizer::{Optimizer, OptimizerContext};

use crate::sql::functions::settings;
use crate::sql::types::described;
use crate::sql::{Fault, engine_fault, engine_faults};

/// All of it in an analysed plan.
pub(super) fn faults(text: &str, plan: &LogicalPlan) -> Vec<Fault> {
    let mut faults = Vec::new();
    let walked = plan.apply_with_subqueries(|node| {
        let mut schema = merge_schema(&node.inputs());
        schema.merge(node.schema());
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                faults.extend(cast_fault(text, part, &schema));
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    if let Err(error) = walked {
        faults.extend(engine_faults(text, &error));
    }
    if faults.is_empty() {
        faults.extend(correlated_faults(text, plan));
    }
    faults.dedup();
    faults
}

fn cast_fault(text: &str, expression: &Expr, schema: &DFSchema) -> Option<Fault> {
    let (Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })) = expression
    else {
        return None;
    };
    let to = field.data_type();
    if let Ok(from) = expr.get_type(schema)
        && !can_cast_types(&from, to)
    {
        let error = plan_datafusion_err!("Unsupported CAST from {from} to {to}");
        return Some(engine_fault(text, &error));
    }
    let (Expr::Cast(_), Expr::Literal(value, _)) = (expression, expr.as_ref()) else {
        return None;
    };
    let error = value.cast_to(to).err()?;
    if value.try_as_str().is_none() {
        let message = format!("{value} does not fit into {}", described(to).0);
        return Some(Fault::new(message, None, "cast it to a wider type"));
    }
    let mut fault = engine_fault(text, &error);
    fault.range = fault.range.or_else(|| place_of(text, value));
    Some(fault)
}

/// Where a text stands that is written once.
fn place_of(text: &str, value: &ScalarValue) -> Option<Range<usize>> {
    let written = format!("'{}'", value.try_as_str()??.replace('\'', "''"));
    let mut places = text.match_indices(&written);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Some(start..start + written.len()),
        _ => None,
    }
}

/// The engine computes a sub-query that reads columns of the query around it only where it can be made a join: what its
/// own rules leave over has no result.
fn correlated_faults(text: &str, plan: &LogicalPlan) -> Vec<Fault> {
    if !is_correlated(plan) {
        return Vec::new();
    }
    let context = OptimizerContext::new_with_config_options(Arc::new(settings()));
    match Optimizer::new().optimize(plan.clone(), &context, |_, _| {}) {
        Ok(joined) if is_correlated(&joined) => vec![Fault::new(
            "a sub-query reads columns of the query around it at a place where it cannot be computed",
            None,
            "join what it reads, or compute it before in a `WITH`",
        )],
        Ok(_) => Vec::new(),
        Err(error) => engine_faults(text, &error),
    }
}

/// Whether a sub-query reads columns of the query around it.
fn is_correlated(plan: &LogicalPlan) -> bool {
    let mut correlated = false;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                correlated |= matches!(part, Expr::OuterReferenceColumn(..));
                Ok(match correlated {
                    true => TreeNodeRecursion::Stop,
                    false => TreeNodeRecursion::Continue,
                })
            })
        })
    });
    correlated || walked.is_err()
}
