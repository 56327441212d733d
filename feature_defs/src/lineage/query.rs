//! Which columns of sources and views decide each output column of a query: its plan walked from the scans up.
//!
//! ```text
//!   TableScan     a column is itself; rows: event time, created time    Projection, Window   values of what is computed
//!   Filter, Join  rows: what is compared                                Aggregate            rows: the group's keys
//!   Union         both sides, column by column                          Distinct             rows: all columns
//!   Sort          order: what is sorted by                              Limit                rows: order
//! ```
//!
//! Where the order of rows can show in a result, ties go by all that the query reads of a source or a view; such a place takes
//! along [`Origin::OrderOf`] it, and the columns are filled in at the end.

use std::collections::BTreeSet;

use datafusion_common::{Column, DFSchema};
use datafusion_expr::expr::{AggregateFunctionParams, Sort, WindowFunctionParams};
use datafusion_expr::logical_plan::{
    Aggregate, Distinct, DistinctOn, Join, LogicalPlan, TableScan, Unnest,
};
use datafusion_expr::utils::grouping_set_to_exprlist;
use datafusion_expr::{Expr, Subquery, WindowFrame, WindowFrameUnits, WindowFunctionDefinition};

use super::input::Input;
use crate::name::Name;
use crate::sql::{SqlError, bind, is_orderless_over_ties, logical_plan};
use crate::time::Instant;

/// A column of a source or a view, by the places of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InputPlace {
    /// Place among the sources and views that the query may read.
    pub(super) input: usize,
    /// Place among the columns that the query sees of it.
    pub(super) column: usize,
}

/// What decides an output column.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Decided {
    /// What its values are computed from.
    pub(super) values: BTreeSet<InputPlace>,
    /// What decides which rows count.
    pub(super) rows: BTreeSet<InputPlace>,
    /// What decides which rows count for it alone: its view has the same rows whatever is there.
    pub(super) filters: BTreeSet<InputPlace>,
    /// What decides between rows that are equal in all that the query orders them by.
    pub(super) ties: BTreeSet<InputPlace>,
}

/// The output columns of a view's query by name, and what decides each. Rows are found by the columns named `keys`, so
/// what decides those decides which rows count for all.
///
/// # Errors
/// [`SqlError`] when the text does not plan: never for one that was checked.
pub(super) fn decided(
    text: &str,
    inputs: &[Input<'_>],
    keys: &[&Name],
) -> Result<Vec<(String, Decided)>, SqlError> {
    let statement = bind(text, Instant::from_micros(0))?;
    let tables = inputs
        .iter()
        .map(|input| (input.name.to_owned(), input.schema()));
    let plan = logical_plan(statement, tables.collect())
        .map_err(|error| SqlError(error.strip_backtrace()))?;
    let relation = Tracer { inputs }.relation(&plan, None);
    let names: Vec<&String> = plan.schema().fields().iter().map(|f| f.name()).collect();

    let mut rows = relation.rows;
    for (name, column) in names.iter().zip(&relation.columns) {
        if keys.iter().any(|key| key.as_str() == name.as_str()) {
            rows.extend(column.all());
        }
    }
    let mut read = rows.clone();
    read.extend(relation.columns.iter().flat_map(Origins::all));
    let read = columns_of(&read);
    let outputs = names.into_iter().zip(relation.columns);
    Ok(outputs
        .map(|(name, column)| (name.clone(), fill_in(column, &rows, &read)))
        .collect())
}

/// The columns of one output, with ties filled in from all that is read.
fn fill_in(column: Origins, rows: &Set, read: &BTreeSet<InputPlace>) -> Decided {
    let mut deciding = column.rows;
    deciding.extend(rows);
    let rows = columns_of(&deciding);
    let by_order = |read: &&InputPlace| deciding.contains(&Origin::OrderOf(read.input));
    let ties = read.iter().filter(by_order);
    let ties = ties.filter(|column| !rows.contains(column));
    Decided {
        values: columns_of(&column.values),
        filters: BTreeSet::new(),
        ties: ties.copied().collect(),
        rows,
    }
}

fn columns_of(origins: &Set) -> BTreeSet<InputPlace> {
    let columns = origins.iter().filter_map(|origin| match origin {
        Origin::Column(column) => Some(*column),
        Origin::OrderOf(_) => None,
    });
    columns.collect()
}

/// Something of a source or a view that an output depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Column(InputPlace),
    /// The order of the rows of a source or a view.
    OrderOf(usize),
}

type Set = BTreeSet<Origin>;

/// What an expression, or a column of a relation, depends on.
#[derive(Debug, Clone, Default)]
struct Origins {
    values: Set,
    /// Which rows count for this value, beside those of its relation.
    rows: Set,
}

impl Origins {
    fn all(&self) -> impl Iterator<Item = Origin> {
        self.values.iter().chain(&self.rows).copied()
    }

    fn add(&mut self, other: &Self) {
        self.values.extend(&other.values);
        self.rows.extend(&other.rows);
    }

    /// The same, where only whether a row counts is asked of it.
    fn as_rows(&self) -> Set {
        self.all().collect()
    }
}

/// What a node of the plan gives.
#[derive(Debug, Default)]
struct Relation {
    /// One entry a column of its schema.
    columns: Vec<Origins>,
    /// What decides which rows there are.
    rows: Set,
    /// What decides in which order they come.
    order: Set,
}

/// What names in an expression stand for.
struct Scope<'a> {
    inputs: Vec<(&'a DFSchema, &'a [Origins])>,
    /// The scope of the query around this one.
    outer: Option<&'a Scope<'a>>,
}

impl Scope<'_> {
    fn find(&self, column: &Column) -> Option<Origins> {
        let mut inputs = self.inputs.iter();
        inputs.find_map(|(schema, columns)| {
            let index = schema.maybe_index_of_column(column)?;
            columns.get(index).cloned()
        })
    }

    fn column(&self, column: &Column) -> Origins {
        self.find(column).unwrap_or_else(|| self.everything())
    }

    /// A column of a query around this one.
    fn outer_column(&self, column: &Column) -> Origins {
        let mut around = self.outer;
        while let Some(scope) = around {
            if let Some(found) = scope.find(column) {
                return found;
            }
            around = scope.outer;
        }
        self.everything()
    }

    /// For a name that stands for nothing, which a plan does not have: naming too much is never wrong.
    fn everything(&self) -> Origins {
        let mut all = self.outer.map(Self::everything).unwrap_or_default();
        for (_, columns) in &self.inputs {
            columns.iter().for_each(|column| all.add(column));
        }
        all
    }
}

struct Tracer<'a> {
    inputs: &'a [Input<'a>],
}

impl Tracer<'_> {
    fn relation(&self, plan: &LogicalPlan, outer: Option<&Scope<'_>>) -> Relation {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan, outer),
            LogicalPlan::EmptyRelation(_) => Relation::default(),
            LogicalPlan::SubqueryAlias(alias) => self.relation(&alias.input, outer),
            LogicalPlan::Subquery(subquery) => self.relation(&subquery.subquery, outer),
            LogicalPlan::Repartition(repartition) => self.relation(&repartition.input, outer),
            LogicalPlan::Projection(projection) => {
                let mut relation = self.relation(&projection.input, outer);
                let scope = scope(&projection.input, &relation, outer);
                relation.columns = self.each(&projection.expr, &scope);
                relation
            }
            LogicalPlan::Filter(filter) => {
                let mut relation = self.relation(&filter.input, outer);
                let scope = scope(&filter.input, &relation, outer);
                let predicate = self.expression(&filter.predicate, &scope);
                relation.rows.extend(predicate.all());
                relation
            }
            LogicalPlan::Window(window) => {
                let mut relation = self.relation(&window.input, outer);
                let scope = scope(&window.input, &relation, outer);
                let mut computed = self.each(&window.window_expr, &scope);
                for (expression, column) in window.window_expr.iter().zip(&mut computed) {
                    if ties_show(expression) {
                        column.rows.extend(&relation.order);
                    }
                }
                relation.columns.extend(computed);
                relation
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate, outer),
            LogicalPlan::Sort(sort) => {
                let mut relation = self.relation(&sort.input, outer);
                let scope = scope(&sort.input, &relation, outer);
                let sorted_by = self.sorts(&sort.expr, &scope);
                relation.order.extend(sorted_by);
                relation
            }
            LogicalPlan::Limit(limit) => {
                let mut relation = self.relation(&limit.input, outer);
                relation.rows.extend(&relation.order);
                relation
            }
            LogicalPlan::Join(join) => self.join(join, outer),
            LogicalPlan::Union(union) => {
                let inputs = union.inputs.iter();
                self.side_by_side(inputs.map(|input| self.relation(input, outer)))
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let mut relation = self.relation(input, outer);
                let columns = relation.columns.iter().flat_map(Origins::all);
                relation.rows.extend(columns);
                relation
            }
            LogicalPlan::Distinct(Distinct::On(distinct)) => self.distinct_on(distinct, outer),
            LogicalPlan::Values(values) => {
                let scope = Scope {
                    inputs: Vec::new(),
                    outer,
                };
                let rows = values.values.iter().map(|row| Relation {
                    columns: self.each(row, &scope),
                    ..Relation::default()
                });
                self.side_by_side(rows)
            }
            LogicalPlan::Unnest(unnest) => self.unnest(unnest, outer),
            other => self.mixed(other, outer),
        }
    }

    fn scan(&self, scan: &TableScan, outer: Option<&Scope<'_>>) -> Relation {
        let name = scan.table_name.table();
        let mut inputs = self.inputs.iter().enumerate();
        let Some((place, input)) = inputs.find(|(_, input)| input.name == name) else {
            return Relation::default();
        };
        let column = |column| {
            Origin::Column(InputPlace {
                input: place,
                column,
            })
        };
        let of = |index: usize| Origins {
            values: Set::from([column(index)]),
            rows: Set::new(),
        };
        let mut relation = Relation {
            columns: match &scan.projection {
                Some(projection) => projection.iter().map(|index| of(*index)).collect(),
                None => (0..input.columns()).map(of).collect(),
            },
            rows: input.times().map(column).collect(),
            order: Set::from([Origin::OrderOf(place)]),
        };
        let scope = Scope {
            inputs: vec![(&scan.projected_schema, &relation.columns)],
            outer,
        };
        let filters = self.each(&scan.filters, &scope);
        relation.rows.extend(filters.iter().flat_map(Origins::all));
        relation
    }

    fn aggregate(&self, aggregate: &Aggregate, outer: Option<&Scope<'_>>) -> Relation {
        let input = self.relation(&aggregate.input, outer);
        let scope = scope(&aggregate.input, &input, outer);
        // Grouping sets name a column more than once, and give it once.
        let keys = grouping_set_to_exprlist(&aggregate.group_expr).unwrap_or_default();
        let mut columns: Vec<Origins> = keys
            .iter()
            .map(|key| self.expression(key, &scope))
            .collect();
        let mut rows = input.rows.clone();
        rows.extend(columns.iter().flat_map(Origins::all));
        let mut computed = self.each(&aggregate.aggr_expr, &scope);
        for (expression, column) in aggregate.aggr_expr.iter().zip(&mut computed) {
            if ties_show(expression) {
                column.rows.extend(&input.order);
            }
        }
        // Between them stands which grouping set a row is of, where there are any: no column decides it.
        let fields = aggregate.schema.fields().len();
        columns.resize(fields - computed.len(), Origins::default());
        columns.extend(computed);
        Relation {
            columns,
            rows,
            order: input.order,
        }
    }

    fn join(&self, join: &Join, outer: Option<&Scope<'_>>) -> Relation {
        let left = self.relation(&join.left, outer);
        // A lateral query on the right reads columns of the left.
        let lateral = scope(&join.left, &left, outer);
        let right = self.relation(&join.right, Some(&lateral));
        let both = Scope {
            inputs: vec![
                (join.left.schema().as_ref(), &left.columns),
                (join.right.schema().as_ref(), &right.columns),
            ],
            outer,
        };
        let mut rows = left.rows.clone();
        rows.extend(&right.rows);
        let compared = join.on.iter().flat_map(|(left, right)| [left, right]);
        for expression in compared.chain(&join.filter) {
            rows.extend(self.expression(expression, &both).all());
        }
        let columns = join
            .schema
            .iter()
            .map(|(qualifier, field)| both.column(&Column::new(qualifier.cloned(), field.name())));
        let in_place = left.columns.len() + right.columns.len() == join.schema.fields().len();
        let columns = match in_place {
            true => left.columns.iter().chain(&right.columns).cloned().collect(),
            // Semi and anti joins give one side, marks none of either.
            false => columns.collect(),
        };
        let order = left.order.union(&right.order).copied().collect();
        Relation {
            columns,
            rows,
            order,
        }
    }

    /// Rows of several relations, each of the same columns.
    fn side_by_side(&self, relations: impl Iterator<Item = Relation>) -> Relation {
        let mut all = Relation::default();
        for relation in relations {
            let columns = all.columns.len().max(relation.columns.len());
            all.columns.resize(columns, Origins::default());
            for (column, more) in all.columns.iter_mut().zip(&relation.columns) {
                column.add(more);
            }
            all.rows.extend(relation.rows);
            all.order.extend(relation.order);
        }
        all
    }

    fn distinct_on(&self, distinct: &DistinctOn, outer: Option<&Scope<'_>>) -> Relation {
        let mut relation = self.relation(&distinct.input, outer);
        let scope = scope(&distinct.input, &relation, outer);
        let columns = self.each(&distinct.select_expr, &scope);
        let on = self.each(&distinct.on_expr, &scope);
        let sorted_by = self.sorts(distinct.sort_expr.as_deref().unwrap_or_default(), &scope);
        relation.columns = columns;
        relation.rows.extend(on.iter().flat_map(Origins::all));
        relation.rows.extend(sorted_by);
        relation.rows.extend(&relation.order);
        relation
    }

    fn unnest(&self, unnest: &Unnest, outer: Option<&Scope<'_>>) -> Relation {
        let input = self.relation(&unnest.input, outer);
        let scope = scope(&unnest.input, &input, outer);
        let columns = unnest.dependency_indices.iter();
        let columns = columns.map(|index| input.columns.get(*index).cloned());
        let mut rows = input.rows.clone();
        for column in &unnest.exec_columns {
            rows.extend(scope.column(column).all());
        }
        Relation {
            columns: columns.map(Option::unwrap_or_default).collect(),
            rows,
            order: input.order,
        }
    }

    /// A node that queries do not have: all of it depends on all that is below it.
    fn mixed(&self, plan: &LogicalPlan, outer: Option<&Scope<'_>>) -> Relation {
        let inputs: Vec<Relation> = plan
            .inputs()
            .into_iter()
            .map(|input| self.relation(input, outer))
            .collect();
        let mut all = Relation::default();
        let mut column = Origins::default();
        for input in &inputs {
            input.columns.iter().for_each(|other| column.add(other));
            all.rows.extend(&input.rows);
            all.order.extend(&input.order);
        }
        all.rows.extend(column.all());
        all.columns = vec![column; plan.schema().fields().len()];
        all
    }

    fn each(&self, expressions: &[Expr], scope: &Scope<'_>) -> Vec<Origins> {
        let expressions = expressions.iter();
        expressions
            .map(|expression| self.expression(expression, scope))
            .collect()
    }

    fn sorts(&self, sorts: &[Sort], scope: &Scope<'_>) -> Set {
        let sorts = sorts.iter();
        sorts
            .flat_map(|sort| self.expression(&sort.expr, scope).as_rows())
            .collect()
    }

    fn expression(&self, expression: &Expr, scope: &Scope<'_>) -> Origins {
        match expression {
            Expr::Column(column) => scope.column(column),
            Expr::OuterReferenceColumn(_, column) => scope.outer_column(column),
            Expr::ScalarSubquery(subquery) => self.subquery(subquery, scope),
            Expr::Exists(exists) => {
                let found = self.relation(&exists.subquery.subquery, Some(scope));
                Origins {
                    values: Set::new(),
                    rows: found.rows,
                }
            }
            Expr::InSubquery(membership) => {
                let mut origins = self.expression(&membership.expr, scope);
                origins.add(&self.subquery(&membership.subquery, scope));
                origins
            }
            Expr::SetComparison(comparison) => {
                let mut origins = self.expression(&comparison.expr, scope);
                origins.add(&self.subquery(&comparison.subquery, scope));
                origins
            }
            Expr::AggregateFunction(function) => self.aggregate_function(&function.params, scope),
            Expr::WindowFunction(function) => self.window_function(&function.params, scope),
            other => self.parts(other, scope),
        }
    }

    /// An expression that depends on its parts, and on nothing else.
    fn parts(&self, expression: &Expr, scope: &Scope<'_>) -> Origins {
        let mut origins = Origins::default();
        for part in direct_parts(expression) {
            origins.add(&self.expression(part, scope));
        }
        origins
    }

    /// The value, or the values, of a query in an expression.
    fn subquery(&self, subquery: &Subquery, scope: &Scope<'_>) -> Origins {
        let relation = self.relation(&subquery.subquery, Some(scope));
        let mut origins = Origins {
            values: Set::new(),
            rows: relation.rows,
        };
        relation
            .columns
            .iter()
            .for_each(|column| origins.add(column));
        origins
    }

    fn aggregate_function(&self, params: &AggregateFunctionParams, scope: &Scope<'_>) -> Origins {
        let mut origins = Origins::default();
        for argument in self.each(&params.args, scope) {
            origins.add(&argument);
        }
        if let Some(filter) = &params.filter {
            origins.rows.extend(self.expression(filter, scope).all());
        }
        origins.rows.extend(self.sorts(&params.order_by, scope));
        origins
    }

    fn window_function(&self, params: &WindowFunctionParams, scope: &Scope<'_>) -> Origins {
        let mut origins = Origins::default();
        for argument in self.each(&params.args, scope) {
            origins.add(&argument);
        }
        for part in self.each(&params.partition_by, scope) {
            origins.rows.extend(part.all());
        }
        if let Some(filter) = &params.filter {
            origins.rows.extend(self.expression(filter, scope).all());
        }
        origins.rows.extend(self.sorts(&params.order_by, scope));
        origins
    }
}

fn scope<'a>(
    input: &'a LogicalPlan,
    relation: &'a Relation,
    outer: Option<&'a Scope<'a>>,
) -> Scope<'a> {
    Scope {
        inputs: vec![(input.schema().as_ref(), &relation.columns)],
        outer,
    }
}

/// The expressions right below this one.
fn direct_parts(expression: &Expr) -> Vec<&Expr> {
    use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
    let mut parts = Vec::new();
    let _ = expression.apply_children(|part| {
        parts.push(part);
        Ok(TreeNodeRecursion::Continue)
    });
    parts
}

/// Whether the order among rows that are equal in what the function orders by can show in its result.
fn ties_show(expression: &Expr) -> bool {
    match expression {
        Expr::Alias(alias) => ties_show(&alias.expr),
        Expr::AggregateFunction(function) => !is_orderless_over_ties(function.func.name()),
        Expr::WindowFunction(function) => match &function.fun {
            WindowFunctionDefinition::AggregateUDF(aggregate) => {
                let frame = &function.params.window_frame;
                !is_orderless_over_ties(aggregate.name()) || parts_ties(frame)
            }
            WindowFunctionDefinition::WindowUDF(window) => !is_orderless_over_ties(window.name()),
        },
        _ => false,
    }
}

/// Whether a frame can hold one of two rows that are equal in what it is ordered by.
fn parts_ties(frame: &WindowFrame) -> bool {
    let whole = frame.start_bound.is_unbounded() && frame.end_bound.is_unbounded();
    frame.units == WindowFrameUnits::Rows && !whole
}
