//! SQL views: one `SELECT` over sources that are already cut at as-of.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::{ColumnarValue, LogicalPlan, Volatility, create_udf};
use datafusion::prelude::{DataFrame, Expr, SessionContext, cast, ident};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, visit_expressions_mut};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::feature_view::{FeatureView, SqlSnapshot};
use feature_defs::time::Instant;
use futures::{StreamExt, TryStreamExt, stream};

use crate::aggregate::exact_functions;
use crate::error::{Error, Result};
use crate::exact_cast::exact_cast;
use crate::keyed::{batch_of, stamp};
use crate::keys;
use crate::scan::{Cut, CutSource, KEY, RowKind};
use crate::session::Session;
use crate::snapshot::{self, RowsRead, Snapshot};

/// Aggregates whose results do not depend on the order of rows, with exact sums in place of the engine's.
const ORDERLESS: [&str; 14] = [
    "sum",
    "avg",
    "mean",
    "count",
    "min",
    "max",
    "median",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "bit_xor",
    "grouping",
    "approx_distinct",
];

/// The snapshot of a SQL view.
pub(crate) async fn compute(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    sql: &SqlSnapshot,
    as_of: Instant,
) -> Result<Snapshot> {
    let context = session.context(session.threads());
    let mut rows_read = Vec::new();
    for name in &sql.sources {
        let cut = Cut {
            as_of,
            rows: RowKind::Events,
        };
        let table = CutSource::open(definitions, &definitions.sources[name], cut).await?;
        rows_read.push(table.rows_read());
        context
            .register_table(name.as_str(), Arc::new(table))
            .map_err(|e| Error::engine(format!("`{}`", view.name), &e))?;
    }
    let failed = |e: DataFusionError| failed(view, sql, &e);
    let plan = plan(&context, sql, as_of).await.map_err(failed)?;
    let context = if depends_on_order(&plan).map_err(failed)? {
        session.context(1)
    } else {
        context
    };
    let rows = context.execute_logical_plan(plan).await.map_err(failed)?;
    let sorted = by_key(rows, definitions.entity_of(view), view).map_err(failed)?;
    let stream = sorted.execute_stream().await.map_err(failed)?;
    let schema = snapshot::schema(definitions, view);
    let state = Output {
        stream,
        view: view.clone(),
        sql: sql.clone(),
        entity: definitions.entity_of(view).clone(),
        schema: Arc::clone(&schema),
        as_of,
        last_key: None,
    };
    let batches = stream::try_unfold(state, |mut state| async move {
        let batch = state.next_batch().await?;
        Ok(batch.map(|batch| (batch, state)))
    });
    Ok(Snapshot {
        schema,
        batches: batches.boxed(),
        rows_read: RowsRead::new(rows_read),
    })
}

fn failed(view: &FeatureView, sql: &SqlSnapshot, error: &DataFusionError) -> Error {
    match Error::engine("", error) {
        Error::Engine { message, .. } => Error::view(
            &view.name,
            format!("the SQL in `{}` failed: {message}", sql.file),
        ),
        ours => ours,
    }
}

/// Plans the one `SELECT` with exact sums and `$as_of`.
async fn plan(
    context: &SessionContext,
    sql: &SqlSnapshot,
    as_of: Instant,
) -> std::result::Result<LogicalPlan, DataFusionError> {
    for function in exact_functions() {
        context.register_udaf(function);
    }
    context.register_udf(as_of_function(as_of));
    let state = context.state();
    let dialect = state.config().options().sql_parser.dialect;
    let mut statement = state.sql_to_statement(&sql.text, &dialect)?;
    bind_as_of(&mut statement)?;
    let plan = state.statement_to_plan(statement).await?;
    SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false)
        .verify_plan(&plan)?;
    Ok(plan)
}

const AS_OF_FUNCTION: &str = "__as_of";

/// A function without arguments that is as-of, so that its type is known while the query is planned.
fn as_of_function(as_of: Instant) -> datafusion::logical_expr::ScalarUDF {
    let value = ScalarValue::TimestampMicrosecond(Some(as_of.micros()), Some("UTC".into()));
    let result = move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(value.clone()));
    create_udf(
        AS_OF_FUNCTION,
        Vec::new(),
        DataType::Timestamp.to_arrow(),
        Volatility::Immutable,
        Arc::new(result),
    )
}

/// Puts the function in the place of each `$as_of`.
fn bind_as_of(statement: &mut Statement) -> std::result::Result<(), DataFusionError> {
    let Statement::Statement(statement) = statement else {
        return Ok(());
    };
    let call = datafusion::sql::sqlparser::parser::Parser::new(
        &datafusion::sql::sqlparser::dialect::GenericDialect {},
    )
    .try_with_sql(&format!("{AS_OF_FUNCTION}()"))
    .and_then(|mut parser| parser.parse_expr())
    .map_err(|e| DataFusionError::SQL(Box::new(e), None))?;
    let _: ControlFlow<()> = visit_expressions_mut(statement, |expression| {
        if let ast::Expr::Value(value) = expression
            && matches!(&value.value, ast::Value::Placeholder(name) if name == "$as_of")
        {
            *expression = call.clone();
        }
        ControlFlow::Continue(())
    });
    Ok(())
}

/// Whether the order in which rows reach an operator can show in the result. Such plans run in one partition, where
/// that order is the order of files and rows.
fn depends_on_order(plan: &LogicalPlan) -> std::result::Result<bool, DataFusionError> {
    let mut depends = false;
    plan.apply_with_subqueries(|node| {
        depends |= matches!(
            node,
            LogicalPlan::Window(_)
                | LogicalPlan::Limit(_)
                | LogicalPlan::Distinct(datafusion::logical_expr::Distinct::On(_))
        );
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::AggregateFunction(aggregate) = part {
                    depends |= !ORDERLESS.contains(&aggregate.func.name());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(depends)
}

/// Key bytes, key parts and features of the query's rows, in the order of keys.
fn by_key(
    rows: DataFrame,
    entity: &Entity,
    view: &FeatureView,
) -> std::result::Result<DataFrame, DataFusionError> {
    let parts: Vec<Expr> = entity
        .keys
        .iter()
        .map(|part| {
            cast(ident(part.name.as_str()), part.data_type.to_arrow()).alias(part.name.as_str())
        })
        .collect();
    let key_parts = entity
        .keys
        .iter()
        .map(|part| cast(ident(part.name.as_str()), part.data_type.to_arrow()));
    let key = keys::function(entity).call(key_parts.collect());
    let mut projection = vec![key.alias(KEY)];
    projection.extend(parts);
    projection.extend(
        view.features
            .iter()
            .map(|feature| ident(feature.name.as_str())),
    );
    rows.select(projection)?
        .sort(vec![ident(KEY).sort(true, true)])
}

/// Turns sorted rows into a snapshot.
struct Output {
    stream: SendableRecordBatchStream,
    view: FeatureView,
    sql: SqlSnapshot,
    entity: Entity,
    schema: arrow::datatypes::SchemaRef,
    as_of: Instant,
    last_key: Option<Vec<u8>>,
}

impl Output {
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self
            .stream
            .try_next()
            .await
            .map_err(|e| failed(&self.view, &self.sql, &e))?;
        batch.map(|batch| self.convert(&batch)).transpose()
    }

    fn convert(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let (keys, rest) = batch
            .columns()
            .split_first()
            .ok_or_else(|| Error::view(&self.view.name, "the query gives no columns"))?;
        let (parts, features) = rest.split_at(self.entity.keys.len());
        self.check_keys(keys.as_binary(), parts)?;
        let mut columns: Vec<ArrayRef> = parts.to_vec();
        columns.push(stamp(self.as_of, batch.num_rows()));
        for (column, feature) in features.iter().zip(&self.view.features) {
            let column = exact_cast(column, feature.data_type).map_err(|out| Error::Value {
                view: self.view.name.clone(),
                feature: feature.name.to_string(),
                key: keys::shown(&self.entity, parts, out.row),
                message: out.message,
            })?;
            columns.push(column);
        }
        batch_of(&self.view, &self.schema, columns)
    }

    /// Each key must be whole, and another one than the key before.
    fn check_keys(&mut self, keys: &BinaryArray, parts: &[ArrayRef]) -> Result<()> {
        for row in 0..keys.len() {
            if keys.is_null(row) {
                let message = "a row of the query has a null in its key: leave such rows out with `WHERE ... IS NOT NULL`";
                return Err(Error::view(&self.view.name, message));
            }
            let key = keys.value(row);
            if self.last_key.as_deref() == Some(key) {
                let shown = keys::shown(&self.entity, parts, row);
                let message =
                    format!("the query gives more than one row for {shown}: group by the key");
                return Err(Error::view(&self.view.name, message));
            }
            if row + 1 == keys.len() {
                self.last_key = Some(key.to_vec());
            } else if keys.is_valid(row + 1) && keys.value(row + 1) == key {
                self.last_key = Some(key.to_vec());
            }
        }
        Ok(())
    }
}
