//! Filters of aggregates at the scan: whether an event meets a condition is found there, a batch at a time, and goes along
//! with it as one more column, so that what the condition reads need not.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::{Expr, ident};
use feature_defs::expression::FilterPlan;

use super::for_sql;

/// A filter, and the name of the column that says which events meet it: true, false, or null.
#[derive(Debug, Clone)]
pub(crate) struct CarriedFilter {
    pub(crate) plan: Arc<FilterPlan>,
    pub(crate) carried: String,
}

impl CarriedFilter {
    /// The column, from those of the source.
    pub(super) fn column(&self) -> Expr {
        let plan = Arc::clone(&self.plan);
        let types = plan.types().iter().map(|declared| declared.to_arrow());
        let types = types.collect();
        let passes = move |columns: &[ColumnarValue]| -> EngineResult<ColumnarValue> {
            let columns = ColumnarValue::values_to_arrays(columns)?;
            let columns = columns.iter().zip(plan.types());
            let columns = columns.map(|(column, declared)| for_sql(column, *declared));
            let columns: Vec<ArrayRef> = columns
                .collect::<Result<_, _>>()
                .map_err(|failure| DataFusionError::Execution(failure.message))?;
            let passes = plan
                .passes(&columns)
                .map_err(|error| DataFusionError::Execution(error.to_string()))?;
            Ok(ColumnarValue::Array(Arc::new(passes)))
        };
        let filter = self.plan.filter();
        // The engine takes functions of one name for the same.
        let function = create_udf(
            &format!("filter {} {:?}", filter.canonical, self.plan.types()),
            types,
            ArrowType::Boolean,
            Volatility::Immutable,
            Arc::new(passes),
        );
        let columns = filter.columns.iter();
        let column = function.call(columns.map(|name| ident(name.as_str())).collect());
        column.alias(self.carried.as_str())
    }
}
