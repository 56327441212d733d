//! The functions that SQL in definitions may use, the same when definitions are checked, by night and by day.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{Result, TableReference, plan_err};
use datafusion_expr::logical_plan::builder::LogicalTableSource;
use datafusion_expr::planner::{ContextProvider, ExprPlanner};
use datafusion_expr::{
    AggregateUDF, HigherOrderUDF, ScalarUDF, TableSource, Volatility, WindowUDF,
};
use datafusion_functions::core::planner::CoreFunctionPlanner;
use datafusion_functions::datetime::planner::DatetimeFunctionPlanner;
use datafusion_functions::unicode::planner::UnicodeFunctionPlanner;
use datafusion_functions_aggregate::planner::AggregateFunctionPlanner;
use datafusion_functions_nested::planner::{FieldAccessPlanner, NestedFunctionPlanner};
use datafusion_functions_window::planner::WindowFunctionPlanner;

use crate::sql::arithmetic::CheckedArithmetic;

/// The allowed functions by kind, and the planners that give syntax like `extract(... from ...)` its function.
#[derive(Debug)]
pub struct Functions {
    /// One row in, one value out.
    pub scalar: Vec<Arc<ScalarUDF>>,
    /// Many rows in, one value out.
    pub aggregate: Vec<Arc<AggregateUDF>>,
    /// Over windows of rows.
    pub window: Vec<Arc<WindowUDF>>,
    /// Planners of special syntax.
    pub planners: Vec<Arc<dyn ExprPlanner>>,
}

/// Functions whose result is not decided by their arguments, with the reason that is told.
pub(crate) const REFUSED: [(&str, &str); 26] = [
    ("now", CLOCK),
    ("current_timestamp", CLOCK),
    ("current_date", CLOCK),
    ("current_time", CLOCK),
    ("today", CLOCK),
    ("localtime", CLOCK),
    ("localtimestamp", CLOCK),
    ("getdate", CLOCK),
    ("random", CHANCE),
    ("rand", CHANCE),
    ("uuid", CHANCE),
    ("version", "its value changes with the program"),
    ("range", LENGTH),
    ("generate_series", LENGTH),
    ("array_repeat", LENGTH),
    ("list_repeat", LENGTH),
    ("array_resize", LENGTH),
    ("list_resize", LENGTH),
    ("map", MAPS),
    ("make_map", MAPS),
    (
        "array_dims",
        "its value is of a type that features do not have",
    ),
    ("any_value", ORDER),
    ("approx_distinct", ORDER),
    ("approx_median", ORDER),
    ("approx_percentile_cont", ORDER),
    ("approx_percentile_cont_with_weight", ORDER),
];

/// The rows that the value of an expression is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Those of a query.
    Many,
    /// One of a request.
    OneRequest,
    /// One of a source.
    OneEvent,
}

/// What to write instead of a refused function.
pub(crate) fn instead(reason: &str, rows: Rows) -> &'static str {
    match (reason, rows) {
        (CLOCK, Rows::Many) => "use `$as_of`, the instant from which the view looks, or a column",
        (CLOCK, Rows::OneRequest) => "use a request field or a stored feature",
        (CLOCK, Rows::OneEvent) => {
            "windows look back from as-of; compare with a column or a literal"
        }
        (ORDER, Rows::Many | Rows::OneRequest) => {
            "use an exact function, like `median`, `percentile_cont` or `count(DISTINCT ...)`"
        }
        _ => "",
    }
}

const CLOCK: &str = "it reads the clock, so that a training set and a served value would differ";
const CHANCE: &str = "its value is random, so that a training set and a served value would differ";
const LENGTH: &str = "its length is a value, and one row could take all memory";
const MAPS: &str = "there are no maps among the types";
const ORDER: &str = "its value depends on the order in which rows are read";

/// The functions that SQL in definitions may use.
#[must_use]
pub fn functions() -> &'static Functions {
    static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
        let allowed = |name: &str, volatility: Volatility| {
            volatility != Volatility::Volatile
                && REFUSED.iter().all(|(refused, _)| *refused != name)
        };
        Functions {
            scalar: datafusion_functions::all_default_functions()
                .into_iter()
                .chain(datafusion_functions_nested::all_default_nested_functions())
                .filter(|udf| !udf.name().starts_with("map"))
                .filter(|udf| allowed(udf.name(), udf.signature().volatility))
                .collect(),
            aggregate: datafusion_functions_aggregate::all_default_aggregate_functions()
                .into_iter()
                .filter(|udf| allowed(udf.name(), udf.signature().volatility))
                .collect(),
            window: datafusion_functions_window::all_default_window_functions(),
            planners: vec![
                Arc::new(CheckedArithmetic),
                Arc::new(NestedFunctionPlanner),
                Arc::new(FieldAccessPlanner),
                Arc::new(CoreFunctionPlanner::default()),
                Arc::new(DatetimeFunctionPlanner),
                Arc::new(UnicodeFunctionPlanner),
                Arc::new(AggregateFunctionPlanner),
                Arc::new(WindowFunctionPlanner),
            ],
        }
    });
    &FUNCTIONS
}

/// The engine's settings under which SQL in definitions is planned.
#[must_use]
pub fn settings() -> ConfigOptions {
    let mut settings = ConfigOptions::new();
    settings.sql_parser.collect_spans = true;
    settings.sql_parser.map_string_types_to_utf8view = false;
    // `timestamptz` and times in texts are instants, as all times of ours.
    settings.execution.time_zone = Some("UTC".to_owned());
    settings
}

/// Functions by their names and aliases, and tables without rows: enough to plan.
pub(crate) struct Planning {
    tables: BTreeMap<String, SchemaRef>,
    settings: ConfigOptions,
    names: &'static Names,
}

/// The allowed functions by name and alias.
pub(crate) struct Names {
    pub(crate) scalar: BTreeMap<String, Arc<ScalarUDF>>,
    pub(crate) aggregate: BTreeMap<String, Arc<AggregateUDF>>,
    pub(crate) window: BTreeMap<String, Arc<WindowUDF>>,
}

pub(crate) fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| {
        let mut names = Names {
            scalar: BTreeMap::new(),
            aggregate: BTreeMap::new(),
            window: BTreeMap::new(),
        };
        for udf in &functions().scalar {
            for name in std::iter::once(udf.name()).chain(udf.aliases().iter().map(String::as_str))
            {
                names.scalar.insert(name.to_owned(), udf.clone());
            }
        }
        for udf in &functions().aggregate {
            for name in std::iter::once(udf.name()).chain(udf.aliases().iter().map(String::as_str))
            {
                names.aggregate.insert(name.to_owned(), udf.clone());
            }
        }
        for udf in &functions().window {
            for name in std::iter::once(udf.name()).chain(udf.aliases().iter().map(String::as_str))
            {
                names.window.insert(name.to_owned(), udf.clone());
            }
        }
        names
    });
    &NAMES
}

/// Whether SQL has an aggregate function of a name.
pub(crate) fn is_sql_aggregate(name: &str) -> bool {
    names().aggregate.contains_key(name)
}

impl Planning {
    pub(crate) fn new(tables: BTreeMap<String, SchemaRef>) -> Self {
        Self {
            tables,
            settings: settings(),
            names: names(),
        }
    }
}

impl ContextProvider for Planning {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        match self.tables.get(name.table()) {
            Some(schema) => Ok(Arc::new(LogicalTableSource::new(schema.clone()))),
            None => plan_err!("unknown source `{}`", name.table()),
        }
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &functions().planners
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.names.scalar.get(name).cloned()
    }

    fn get_higher_order_meta(&self, _name: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.names.aggregate.get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.names.window.get(name).cloned()
    }

    fn get_variable_type(&self, _variable_names: &[String]) -> Option<ArrowType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.settings
    }

    fn udf_names(&self) -> Vec<String> {
        self.names.scalar.keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.names.aggregate.keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.names.window.keys().cloned().collect()
    }
}
