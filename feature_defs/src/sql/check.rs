//! A checked `SELECT` and the columns that it gives.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use datafusion_expr::LogicalPlan;
use datafusion_optimizer::Analyzer;
use datafusion_sql::planner::SqlToRel;
use datafusion_sql::sqlparser::ast::Statement;

use crate::data_type::DataType;
use crate::parse::members::{Elsewhere, Members};
use crate::parse::objects::DeclaredColumn;
use crate::sql::functions::{Planning, settings};
use crate::sql::locate::locate;
use crate::sql::mixed;
use crate::sql::only_by_night;
use crate::sql::statement::{OutputItem, bind_as_of, inspect, mentions, output_items, parse};
use crate::sql::{Fault, engine_faults};
use crate::time::Instant;

/// A source or a view as SQL sees it.
#[derive(Debug, Clone)]
pub(crate) struct Table<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its columns.
    pub(crate) columns: &'a Members<DeclaredColumn>,
    /// The column that is never null: a row of a source without it is refused at the scan, and every row of a view is
    /// stamped.
    pub(crate) event_time: Option<&'a str>,
}

/// What SQL may read.
pub(crate) struct Tables<'a> {
    /// The sources and the views.
    pub(crate) tables: Vec<Table<'a>>,
    /// What is known of any other name.
    pub(crate) elsewhere: &'a dyn Fn(&str) -> Elsewhere,
}

/// What a `SELECT` reads and gives.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The sources and views that it reads, sorted.
    pub(crate) read: Vec<String>,
    /// Its output columns, in order.
    pub(crate) columns: Vec<(String, ArrowType)>,
    /// The output columns as they are written, one each; empty when they are not.
    pub(crate) items: Vec<OutputItem>,
    /// The statement in its one canonical form, without comments.
    pub(crate) canonical: String,
}

/// Plans a text over the declared columns of sources and views. `None` when what it reads is not known.
pub(crate) fn check(text: &str, tables: &Tables<'_>) -> Result<Option<Checked>, Vec<Fault>> {
    let mut statement = parse(text).map_err(|fault| vec![fault])?;
    let inspected = inspect(text, &statement, tables);
    if !inspected.faults.is_empty() {
        return Err(inspected.faults);
    }
    let read = |table: &&Table<'_>| inspected.read.contains_key(table.name);
    let read: Vec<&Table<'_>> = tables.tables.iter().filter(read).collect();
    if !inspected.sure || !known(&statement, &read) {
        return Ok(None);
    }
    let canonical = statement.to_string();
    let items = output_items(text, &statement);
    bind_as_of(&mut statement, Instant::from_micros(0));
    let columns = plan(text, statement.clone(), &read).map_err(|mut faults| {
        for fault in faults.iter_mut().filter(|fault| fault.range.is_none()) {
            fault.range = locate(text, &statement, |part| plan(text, part, &read).is_ok());
        }
        faults
    })?;
    Ok(Some(Checked {
        read: inspected.read.into_keys().collect(),
        columns,
        items,
        canonical,
    }))
}

/// Those of `names` that a text reads, sorted, with the place where each is named first. Nothing of a text that is no
/// query.
pub(crate) fn reads(text: &str, names: &[&str]) -> BTreeMap<String, Option<Range<usize>>> {
    let Ok(statement) = parse(text) else {
        return BTreeMap::new();
    };
    let tables = names.iter().map(|name| Table {
        name,
        columns: &NO_COLUMNS,
        event_time: None,
    });
    let tables = Tables {
        tables: tables.collect(),
        elsewhere: &|_| Elsewhere::Unsure,
    };
    inspect(text, &statement, &tables).read
}

/// Those of something of which nothing is known.
pub(crate) static NO_COLUMNS: Members<DeclaredColumn> = Members::unknown();

/// Whether the statement names no column whose type is not known.
fn known(statement: &Statement, tables: &[&Table<'_>]) -> bool {
    let doubtful: Vec<&str> = tables
        .iter()
        .flat_map(|table| &table.columns.items)
        .filter(|column| column.data_type.is_none())
        .map(|column| column.name.as_str())
        .collect();
    tables.iter().all(|table| table.columns.whole)
        && (doubtful.is_empty() || !mentions(statement, &doubtful))
}

/// The columns that a statement gives.
fn plan(
    text: &str,
    statement: Statement,
    tables: &[&Table<'_>],
) -> Result<Vec<(String, ArrowType)>, Vec<Fault>> {
    let tables: BTreeMap<_, _> = tables
        .iter()
        .map(|table| (table.name.to_owned(), schema_of(table)))
        .collect();
    let failed = |error| engine_faults(text, &error);
    let plan = logical_plan(statement, tables).map_err(failed)?;
    let mixed = mixed::in_plan(text, &plan).map_err(failed)?;
    if !mixed.is_empty() {
        return Err(mixed);
    }
    let plan = Analyzer::new()
        .execute_and_check(plan, &settings(), |_, _| {})
        .map_err(failed)?;
    let late = only_by_night::faults(text, &plan);
    if !late.is_empty() {
        return Err(late);
    }
    let fields = plan.schema().fields().iter();
    Ok(fields
        .map(|field| (field.name().clone(), field.data_type().clone()))
        .collect())
}

fn schema_of(table: &Table<'_>) -> SchemaRef {
    let columns = table.columns.items.iter();
    let columns = columns.filter_map(|column| Some((column.name.as_str(), column.data_type?)));
    schema(columns, table.event_time)
}

/// Columns of a source or a view as SQL sees them.
pub(crate) fn schema<'c>(
    columns: impl Iterator<Item = (&'c str, DataType)>,
    event_time: Option<&str>,
) -> SchemaRef {
    let fields = columns.map(|(name, data_type)| {
        let nullable = Some(name) != event_time;
        Field::new(name, data_type.in_sql().to_arrow(), nullable)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The plan of a statement, as it is written: nothing of it is rewritten or left out.
pub(crate) fn logical_plan(
    statement: Statement,
    tables: BTreeMap<String, SchemaRef>,
) -> datafusion_common::Result<LogicalPlan> {
    let provider = Planning::new(tables);
    SqlToRel::new(&provider).sql_statement_to_plan(statement)
}
