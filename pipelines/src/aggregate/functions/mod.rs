//! `sum` and `avg` of SQL views, exact: with the same names, argument and result types as the engine's own.

mod accumulator;
mod groups;
mod outcome;
mod partial;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature,
};

use accumulator::ExactAccumulator;
use groups::ExactGroups;
use outcome::Outcome;

/// The functions that take the place of the engine's.
pub(crate) fn exact_functions() -> Vec<AggregateUDF> {
    [sum_udaf(), avg_udaf()]
        .into_iter()
        .map(|engine| AggregateUDF::new_from_impl(ExactFunction { engine }))
        .collect()
}

/// An aggregate function of the engine, with exact accumulators where it sums numbers.
#[derive(Clone)]
struct ExactFunction {
    engine: Arc<AggregateUDF>,
}

impl fmt::Debug for ExactFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exact {}", self.engine.name())
    }
}

impl PartialEq for ExactFunction {
    fn eq(&self, other: &Self) -> bool {
        self.engine.name() == other.engine.name()
    }
}

impl Eq for ExactFunction {}

impl Hash for ExactFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.engine.name().hash(state);
    }
}

impl ExactFunction {
    fn outcome(&self, arguments: &AccumulatorArgs<'_>, input: &DataType) -> Outcome {
        let divides_by_count = self.engine.name() == "avg";
        Outcome::new(
            arguments.name,
            input,
            arguments.return_type(),
            divides_by_count,
        )
    }
}

impl AggregateUDFImpl for ExactFunction {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn signature(&self) -> &Signature {
        self.engine.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.engine.return_type(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.engine.coerce_types(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let input = arguments.expr_fields[0].data_type().clone();
        if !is_exact(&input) {
            return self.engine.accumulator(arguments);
        }
        let outcome = self.outcome(&arguments, &input);
        let accumulator = ExactAccumulator::new(outcome, &input, arguments.is_distinct);
        Ok(Box::new(accumulator))
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs<'_>) -> bool {
        if is_exact(arguments.expr_fields[0].data_type()) {
            return !arguments.is_distinct;
        }
        self.engine.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let input = arguments.expr_fields[0].data_type().clone();
        if !is_exact(&input) {
            return self.engine.create_groups_accumulator(arguments);
        }
        let outcome = self.outcome(&arguments, &input);
        Ok(Box::new(ExactGroups::new(outcome, &input)))
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if !is_exact(arguments.input_fields[0].data_type()) {
            return self.engine.state_fields(arguments);
        }
        let name = format_state_name(arguments.name, "exact");
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, false))])
    }
}

/// Whether sums of this type are ours; durations and intervals stay the engine's.
const fn is_exact(input: &DataType) -> bool {
    matches!(
        input,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Decimal128(_, _)
    )
}
