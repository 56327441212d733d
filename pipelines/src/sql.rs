//! SQL views: one `SELECT` over sources that are already cut at as-of, and over other views as of the same instant.

mod in_turn;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::{FunctionRegistry, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, Expr, SessionContext, cast, ident};
use datafusion::sql::parser::Statement;
use feature_defs::definitions::Definitions;
use feature_defs::entity::Entity;
use feature_defs::feature_view::{FeatureView, SqlSnapshot};
use feature_defs::sql::{bind, functions, is_orderless, settings};
use feature_defs::time::Instant;
use futures::{StreamExt, TryStreamExt, stream};

use crate::aggregate::exact_functions;
use crate::error::{Error, Result};
use crate::exact_cast::exact_cast;
use crate::keyed::{batch_of, stamp};
use crate::keys;
use crate::scan::{Cut, CutSource, KEY, RowCount, RowKind};
use crate::session::Session;
use crate::snapshot::{self, Counts, Snapshot};
use crate::view_rows::{KeptViews, ViewTable};

/// The snapshot of a SQL view.
pub(crate) async fn compute(
    session: &Session,
    definitions: &Definitions,
    view: &FeatureView,
    sql: &SqlSnapshot,
    as_of: Instant,
    kept: Option<&KeptViews>,
) -> Result<Snapshot> {
    let failed = |e: DataFusionError| failed(view, sql, &e);
    let without_key = Arc::new(AtomicU64::new(0));
    let mut tables = Tables::open(session, definitions, sql, as_of, kept).await?;
    let mut context = tables.context(session, session.threads()).map_err(failed)?;
    let mut plan = plan(&context, sql, as_of).await.map_err(failed)?;
    let ordered = depends_on_order(&plan).map_err(failed)?;
    if ordered {
        tables = tables.in_total_order();
        context = tables.context(session, 1).map_err(failed)?;
        plan = self::plan(&context, sql, as_of).await.map_err(failed)?;
    }
    let rows = context.execute_logical_plan(plan).await.map_err(failed)?;
    let sorted = by_key(rows, definitions.entity_of(view), view).map_err(failed)?;
    let stream = match ordered {
        true => in_turn::execute(sorted).await,
        false => sorted.execute_stream().await,
    };
    let stream = stream.map_err(failed)?;
    let schema = snapshot::schema(definitions, view);
    let state = Output {
        stream,
        view: view.clone(),
        sql: sql.clone(),
        entity: definitions.entity_of(view).clone(),
        schema: Arc::clone(&schema),
        as_of,
        last_key: None,
        without_key: Arc::clone(&without_key),
    };
    let batches = stream::try_unfold(state, |mut state| async move {
        let batch = state.next_batch().await?;
        Ok(batch.map(|batch| (batch, state)))
    });
    Ok(Snapshot {
        schema,
        batches: batches.boxed(),
        counts: Counts::new(tables.rows_read(), without_key),
    })
}

/// What a query reads, by name.
struct Tables(Vec<(String, Table)>);

/// A source or a view that a query reads.
#[derive(Clone)]
enum Table {
    Source(CutSource),
    View(ViewTable),
}

impl Table {
    fn in_total_order(self) -> Self {
        match self {
            Self::Source(source) => Self::Source(source.in_total_order()),
            Self::View(view) => Self::View(view.in_total_order()),
        }
    }

    fn provider(&self) -> Arc<dyn TableProvider> {
        match self {
            Self::Source(source) => Arc::new(source.clone()),
            Self::View(view) => Arc::new(view.clone()),
        }
    }

    fn rows_read(&self) -> Arc<RowCount> {
        match self {
            Self::Source(source) => source.rows_read(),
            Self::View(view) => view.rows_read(),
        }
    }
}

impl Tables {
    async fn open(
        session: &Session,
        definitions: &Definitions,
        sql: &SqlSnapshot,
        as_of: Instant,
        kept: Option<&KeptViews>,
    ) -> Result<Self> {
        let cut = Cut {
            as_of,
            rows: RowKind::Events,
        };
        let mut tables = Vec::new();
        for name in &sql.sources {
            let source =
                CutSource::open(session, definitions, &definitions.sources[name], cut).await?;
            tables.push((name.to_string(), Table::Source(source.for_sql())));
        }
        if sql.views.is_empty() {
            return Ok(Self(tables));
        }
        let shared = Arc::new(definitions.clone());
        for name in &sql.views {
            let view = ViewTable::new(session, &shared, &shared.views[name], as_of, kept);
            tables.push((name.to_string(), Table::View(view)));
        }
        Ok(Self(tables))
    }

    fn in_total_order(self) -> Self {
        let ordered = |(name, table): (String, Table)| (name, table.in_total_order());
        Self(self.0.into_iter().map(ordered).collect())
    }

    /// A context of its own, in which the query finds them.
    fn context(
        &self,
        session: &Session,
        partitions: usize,
    ) -> std::result::Result<SessionContext, DataFusionError> {
        let context = session.context(partitions);
        for (name, table) in &self.0 {
            context.register_table(name.as_str(), table.provider())?;
        }
        Ok(context)
    }

    fn rows_read(&self) -> Vec<Arc<RowCount>> {
        self.0.iter().map(|(_, table)| table.rows_read()).collect()
    }
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

/// Plans the one `SELECT` as it was checked, with `$as_of` bound and exact sums.
async fn plan(
    context: &SessionContext,
    sql: &SqlSnapshot,
    as_of: Instant,
) -> std::result::Result<LogicalPlan, DataFusionError> {
    let statement = bind(&sql.text, as_of).map_err(|e| DataFusionError::Plan(e.to_string()))?;
    let allowed = functions();
    let mut state = SessionStateBuilder::new_from_existing(context.state())
        .with_scalar_functions(allowed.scalar.clone())
        .with_aggregate_functions(allowed.aggregate.clone())
        .with_window_functions(allowed.window.clone())
        .with_expr_planners(allowed.planners.clone())
        .build();
    let checked = settings();
    let options = state.config_mut().options_mut();
    options.sql_parser = checked.sql_parser;
    options.execution.time_zone = checked.execution.time_zone;
    for function in exact_functions() {
        state.register_udaf(Arc::new(function))?;
    }
    state
        .statement_to_plan(Statement::Statement(Box::new(statement)))
        .await
}

/// Whether the order in which rows reach an operator can show in the result. Such plans run in one partition over rows
/// in an order that only the rows decide: ties go the same way whatever the files and threads (rules 3 and 10).
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
                    depends |= !is_orderless(aggregate.func.name());
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
    without_key: Arc<AtomicU64>,
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
        // In the order of keys, those that are null come first.
        let without_key = batch.column(0).null_count();
        self.without_key
            .fetch_add(without_key as u64, Ordering::Relaxed);
        let batch = batch.slice(without_key, batch.num_rows() - without_key);
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
                feature: format!("{}{}", feature.name, out.path),
                key: keys::shown(&self.entity, parts, out.row),
                message: out.message,
            })?;
            columns.push(column);
        }
        batch_of(&self.view, &self.schema, columns)
    }

    /// Each key must be another one than the key before.
    fn check_keys(&mut self, keys: &BinaryArray, parts: &[ArrayRef]) -> Result<()> {
        for row in 0..keys.len() {
            let key = keys.value(row);
            if self.last_key.as_deref() == Some(key) {
                let shown = keys::shown(&self.entity, parts, row);
                let message =
                    format!("the query gives more than one row for {shown}: group by the key");
                return Err(Error::view(&self.view.name, message));
            }
            let last_of_batch = row + 1 == keys.len();
            if last_of_batch || keys.value(row + 1) == key {
                self.last_key = Some(key.to_vec());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
