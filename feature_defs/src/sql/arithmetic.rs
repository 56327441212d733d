//! Integer arithmetic that fails where the engine's own operators wrap (rule 9).
//!
//! The planner turns `a + b`, `a - b` and `a * b` of integers into functions of the operators' types. Floats, decimals,
//! dates and intervals stay with the engine's operators.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, Datum};
use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::DataType as ArrowType;
use arrow::error::ArrowError;
use datafusion_common::{DFSchema, Result, exec_err};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
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
        let operator = match expr.op {
            BinaryOperator::Plus => Operator::Plus,
            BinaryOperator::Minus => Operator::Minus,
            BinaryOperator::Multiply => Operator::Multiply,
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let types = (type_of(&expr.left, schema), type_of(&expr.right, schema));
        let integers = match types {
            (Some(left), Some(right)) => integer_types(operator, &left, &right),
            _ => None,
        };
        if integers.is_none() {
            return Ok(PlannerResult::Original(expr));
        }
        let function = Checked::new(operator, &expr.left, &expr.right);
        let call = ScalarFunction::new_udf(
            Arc::new(ScalarUDF::new_from_impl(function)),
            vec![expr.left, expr.right],
        );
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// The type of an expression. The engine would name every part of a chain of ours for it; this walks down the chain.
fn type_of(expr: &Expr, schema: &DFSchema) -> Option<ArrowType> {
    let mut rights = Vec::new();
    let mut left = expr;
    while let Some((checked, [first, second])) = parts(left) {
        rights.push((checked.operator, second));
        left = first;
    }
    let leftmost = left.get_type(schema).ok()?;
    rights
        .into_iter()
        .rev()
        .try_fold(leftmost, |left, (operator, right)| {
            let right = type_of(right, schema)?;
            let (left, right) = integer_types(operator, &left, &right)?;
            let coercer = BinaryTypeCoercer::new(&left, &operator, &right);
            coercer.get_result_type().ok()
        })
}

/// The operator of a function that is checked arithmetic.
pub(crate) fn checked_operator(function: &ScalarUDF) -> Option<Operator> {
    let function: &dyn std::any::Any = function.inner().as_ref();
    Some(function.downcast_ref::<Checked>()?.operator)
}

/// The function and the two sides of a checked operation.
fn parts(expr: &Expr) -> Option<(&Checked, &[Expr; 2])> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let function: &dyn std::any::Any = call.func.inner().as_ref();
    Some((
        function.downcast_ref()?,
        call.args.as_slice().try_into().ok()?,
    ))
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
    /// What the operation is called, made once: the engine asks for the names of all parts of a chain, over and over.
    name: String,
    signature: Signature,
}

impl Checked {
    /// Longer names are cut off and end in a hash.
    const LONGEST_NAME: usize = 100;

    fn new(operator: Operator, left: &Expr, right: &Expr) -> Self {
        let name_of = |side: &Expr| match parts(side) {
            Some((checked, _)) => checked.name.clone(),
            None => side.schema_name().to_string(),
        };
        let mut name = format!("({} {operator} {})", name_of(left), name_of(right));
        if name.len() > Self::LONGEST_NAME {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            let start = name
                .chars()
                .take(Self::LONGEST_NAME / 2)
                .collect::<String>();
            name = format!("{start}...{:016x}", hasher.finish());
        }
        Self {
            operator,
            name,
            signature: Signature::user_defined(Volatility::Immutable),
        }
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
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn display_name(&self, _arguments: &[Expr]) -> Result<String> {
        Ok(self.name.clone())
    }

    fn schema_name(&self, _arguments: &[Expr]) -> Result<String> {
        Ok(self.name.clone())
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
