//! A checked `SELECT` and the columns that it gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use datafusion_optimizer::Analyzer;
use datafusion_sql::planner::SqlToRel;
use datafusion_sql::sqlparser::ast::Statement;

use crate::source::Source;
use crate::sql::functions::{Planning, settings};
use crate::sql::statement::{bind_as_of, inspect, parse};
use crate::sql::{Fault, engine_fault};
use crate::time::Instant;

/// What a `SELECT` reads and gives.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The sources that it reads, sorted.
    pub(crate) sources: Vec<String>,
    /// Its output columns, in order.
    pub(crate) columns: Vec<(String, ArrowType)>,
    /// The statement in its one canonical form, without comments.
    pub(crate) canonical: String,
}

/// Plans a text over the declared columns of `sources`.
pub(crate) fn check(text: &str, sources: &[&Source]) -> Result<Checked, Vec<Fault>> {
    let mut statement = parse(text).map_err(|fault| vec![fault])?;
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let (faults, read) = inspect(text, &statement, &names);
    if !faults.is_empty() {
        return Err(faults);
    }
    let canonical = statement.to_string();
    bind_as_of(&mut statement, Instant::from_micros(0));
    let columns = plan(statement, sources).map_err(|error| vec![engine_fault(text, &error)])?;
    Ok(Checked {
        sources: read.into_iter().collect(),
        columns,
        canonical,
    })
}

fn plan(
    statement: Statement,
    sources: &[&Source],
) -> datafusion_common::Result<Vec<(String, ArrowType)>> {
    let tables: BTreeMap<_, _> = sources
        .iter()
        .map(|source| (source.name.to_string(), Arc::new(table(source))))
        .collect();
    let provider = Planning::new(tables);
    let plan = SqlToRel::new(&provider).sql_statement_to_plan(statement)?;
    let plan = Analyzer::new().execute_and_check(plan, &settings(), |_, _| {})?;
    let fields = plan.schema().fields().iter();
    Ok(fields
        .map(|field| (field.name().clone(), field.data_type().clone()))
        .collect())
}

/// The columns of a source as SQL sees them. Its times are never null: a row without one is refused at the scan.
fn table(source: &Source) -> Schema {
    let fields = source.columns.iter().map(|(name, column)| {
        let nullable = *name != source.event_time;
        Field::new(name, column.data_type.to_arrow(), nullable)
    });
    Schema::new(fields.collect::<Vec<_>>())
}
