//! Filters of aggregates: a condition over the columns of one source, planned once and evaluated on batches of its rows.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Schema};
use datafusion_physical_expr::PhysicalExpr;

use super::plan::{A_CONDITION, Input, Readable, Reader, check, plan_for};
use super::{input_schema, values};
use crate::aggregation::Filter;
use crate::article::with_article;
use crate::data_type::DataType;
use crate::parse::members::Elsewhere;
use crate::source::Source;
use crate::sql::{Fault, engine_fault};

/// A column of a source, as a condition names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceColumn(pub(crate) String);

impl fmt::Display for SourceColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Input for SourceColumn {
    fn view(&self) -> Option<&str> {
        None
    }

    fn name(&self) -> &str {
        &self.0
    }
}

/// What a filter may read.
pub(crate) struct FilteredSource<'a> {
    /// The source's name.
    pub(crate) name: &'a str,
    /// Its columns of known types.
    pub(crate) columns: &'a [(SourceColumn, DataType)],
    /// The names of all of its columns.
    pub(crate) names: &'a [&'a str],
    /// What is known of a column of another name.
    pub(crate) elsewhere: &'a dyn Fn(&str) -> Elsewhere,
}

/// Checks a condition over a source. `None` when what it reads is not known.
pub(crate) fn check_filter(
    text: &str,
    source: &FilteredSource<'_>,
) -> Result<Option<Filter>, Vec<Fault>> {
    let readable = Readable {
        inputs: source.columns,
        fields: source.names,
        elsewhere: &|_, name| (source.elsewhere)(name),
        reader: Reader::Filter(source.name),
    };
    let Some(checked) = check(text, &readable)? else {
        return Ok(None);
    };
    if checked.data_type != DataType::Bool {
        let found = with_article(checked.data_type);
        let message = format!("the filter gives {found}, which says neither yes nor no");
        return Err(vec![Fault::new(message, None, A_CONDITION)]);
    }
    if checked.reads.is_empty() {
        let message = "the filter reads no column: it says the same of every event";
        let help = format!("columns of `{}`: {}", source.name, source.names.join(", "));
        return Err(vec![Fault::new(message, None, help)]);
    }
    let reads = checked.reads.iter();
    Ok(Some(Filter {
        condition: text.to_owned(),
        canonical: checked.canonical,
        columns: reads
            .map(|index| source.columns[*index].0.0.clone())
            .collect(),
    }))
}

/// A filter that cannot be planned. Never for the views of checked definitions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter `{condition}`: {message}")]
pub struct FilterError {
    /// The filter as written.
    pub condition: String,
    /// Why.
    pub message: String,
}

/// A filter, planned: build it once, evaluate it once a batch.
#[derive(Debug)]
pub struct FilterPlan {
    filter: Filter,
    types: Vec<DataType>,
    schema: Arc<Schema>,
    condition: Arc<dyn PhysicalExpr>,
}

impl FilterPlan {
    /// Plans a filter over its source.
    ///
    /// # Errors
    /// [`FilterError`] when it cannot be planned, which checked definitions rule out.
    pub fn new(filter: &Filter, source: &Source) -> Result<Self, FilterError> {
        let failed = |message: String| FilterError {
            condition: filter.condition.clone(),
            message,
        };
        let mut inputs = Vec::new();
        for name in &filter.columns {
            let column = source.columns.get(name);
            let column =
                column.ok_or_else(|| failed(format!("`{}` has no `{name}`", source.name)))?;
            inputs.push((SourceColumn(name.clone()), column.data_type));
        }
        let reader = Reader::Filter(source.name.as_str());
        let planned = plan_for(reader, &filter.condition, &inputs);
        let planned = planned.map_err(|faults| {
            let message = faults.into_iter().map(|fault| fault.message).next();
            failed(message.unwrap_or_default())
        })?;
        Ok(Self {
            filter: filter.clone(),
            types: inputs.iter().map(|(_, data_type)| *data_type).collect(),
            schema: Arc::new(input_schema(&inputs)),
            condition: planned.physical,
        })
    }

    /// The filter.
    #[must_use]
    pub const fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The declared types of the columns that it reads, in the order of [`Filter::columns`].
    #[must_use]
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Which rows it lets through: those that are true, and neither false nor null. Takes one column each of
    /// [`Filter::columns`], of its declared type in SQL ([`DataType::in_sql`]).
    ///
    /// # Errors
    /// [`FilterError`] when the condition has no value in a row (rule 9), as where it divides by zero.
    pub fn passes(&self, columns: &[ArrayRef]) -> Result<BooleanArray, FilterError> {
        let failed = |message: String| FilterError {
            condition: self.filter.condition.clone(),
            message,
        };
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns.to_vec());
        let batch = batch.map_err(|error| failed(error.to_string()))?;
        let found = values(&self.condition, &batch);
        let found = found.map_err(|error| failed(engine_fault("", &error).message))?;
        match found.data_type() {
            ArrowType::Boolean => Ok(found.as_boolean().clone()),
            other => Err(failed(format!("it gives {other}"))),
        }
    }
}
