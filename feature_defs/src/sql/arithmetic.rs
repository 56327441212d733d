//! Integer arithmetic that fails where the engine's own operators wrap (rule 9).
//!
//! The planner turns `a + b`, `a - b` and `a * b` of integers into functions, which keep the operators' types and the
//! names of their columns. Floats, decimals, dates and intervals stay with the engine's operators.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Datum};
use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::DataType as ArrowType;
use arrow::error::ArrowError;
use datafusion_common::{DFSchema, Result, exec_err};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use datafusion_sql::sqlparser::ast::BinaryOperator;

/// Plans integer arithmetic.
#[derive(Debug)]
pub(crate) struct CheckedArithmetic;

impl ExprPlanner for CheckedArithmetic {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let Some(function) = function_of(&expr.op) else {
            return Ok(PlannerResult::Original(expr));
        };
        let types = (expr.left.get_type(schema), expr.right.get_type(schema));
        let (Ok(left), Ok(right)) = types else {
            return Ok(PlannerResult::Original(expr));
        };
        if integer_types(function.operator, &left, &right).is_none() {
            return Ok(PlannerResult::Original(expr));
        }
        let function =
            ScalarFunction::new_udf(Arc::clone(&function.function), vec![expr.left, expr.right]);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(function)))
    }
}

struct Arithmetic {
    operator: Operator,
    function: Arc<ScalarUDF>,
}

fn function_of(operator: &BinaryOperator) -> Option<&'static Arithmetic> {
    static FUNCTIONS: LazyLock<[Arithmetic; 3]> = LazyLock::new(|| {
        [
            (Operator::Plus, "checked_add"),
            (Operator::Minus, "checked_subtract"),
            (Operator::Multiply, "checked_multiply"),
        ]
        .map(|(operator, name)| Arithmetic {
            operator,
            function: Arc::new(ScalarUDF::new_from_impl(Checked {
                operator,
                name,
                signature: Signature::user_defined(Volatility::Immutable),
            })),
        })
    });
    let position = match operator {
        BinaryOperator::Plus => 0,
        BinaryOperator::Minus => 1,
        BinaryOperator::Multiply => 2,
        _ => return None,
    };
    Some(&FUNCTIONS[position])
}

/// What both sides become when the operator is arithmetic of integers.
fn integer_types(
    operator: Operator,
    left: &ArrowType,
    right: &ArrowType,
) -> Option<(ArrowType, ArrowType)> {
    let coercer = BinaryTypeCoercer::new(left, &operator, right);
    let types = coercer.get_input_types().ok()?;
    (types.0.is_integer() && types.1.is_integer()).then_some(types)
}

/// `left operator right`, checked.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operator: Operator,
    name: &'static str,
    signature: Signature,
}

impl Checked {
    /// The operator over the same operands, for names.
    fn unchecked(&self, arguments: &[Expr]) -> Result<BinaryExpr> {
        let [left, right] = arguments else {
            return exec_err!("{} takes two arguments", self.name);
        };
        let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
        Ok(BinaryExpr::new(left, self.operator, right))
    }

    fn types(&self, types: &[ArrowType]) -> Result<(ArrowType, ArrowType)> {
        let integers = match types {
            [left, right] => integer_types(self.operator, left, right),
            _ => None,
        };
        match integers {
            Some(types) => Ok(types),
            None => exec_err!("{} takes two integers", self.name),
        }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn display_name(&self, arguments: &[Expr]) -> Result<String> {
        Ok(Expr::BinaryExpr(self.unchecked(arguments)?).to_string())
    }

    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let unchecked = Expr::BinaryExpr(self.unchecked(arguments)?);
        Ok(unchecked.schema_name().to_string())
    }

    fn coerce_types(&self, types: &[ArrowType]) -> Result<Vec<ArrowType>> {
        let (left, right) = self.types(types)?;
        Ok(vec![left, right])
    }

    fn return_type(&self, types: &[ArrowType]) -> Result<ArrowType> {
        let (left, right) = self.types(types)?;
        BinaryTypeCoercer::new(&left, &self.operator, &right).get_result_type()
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = arguments.args.as_slice() else {
            return exec_err!("{} takes two arguments", self.name);
        };
        let computed = match (left, right) {
            (ColumnarValue::Array(left), ColumnarValue::Array(right)) => self.apply(left, right),
            (ColumnarValue::Array(left), ColumnarValue::Scalar(right)) => {
                self.apply(left, &right.to_scalar()?)
            }
            (ColumnarValue::Scalar(left), ColumnarValue::Array(right)) => {
                self.apply(&left.to_scalar()?, right)
            }
            (ColumnarValue::Scalar(left), ColumnarValue::Scalar(right)) => {
                let computed = self.apply(&left.to_scalar()?, &right.to_scalar()?)?;
                let value = datafusion_common::ScalarValue::try_from_array(&computed, 0)?;
                return Ok(ColumnarValue::Scalar(value));
            }
        };
        Ok(ColumnarValue::Array(computed?))
    }
}

impl Checked {
    fn apply(
        &self,
        left: &dyn Datum,
        right: &dyn Datum,
    ) -> std::result::Result<ArrayRef, ArrowError> {
        match self.operator {
            Operator::Plus => add(left, right),
            Operator::Minus => sub(left, right),
            _ => mul(left, right),
        }
    }
}
