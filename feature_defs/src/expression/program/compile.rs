//! From the engine's physical expression to a [`Program`], where every part of it is plain arithmetic.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Schema};
use datafusion_common::ScalarValue;
use datafusion_expr::Operator;
use datafusion_physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, IsNotNullExpr, IsNullExpr, Literal, NegativeExpr,
    NotExpr,
};
use datafusion_physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use crate::expression::program::{Arithmetic, Comparison, FloatFunction, Program};
use crate::expression::scalar::Scalar;
use crate::sql::arithmetic::checked_operator;

/// What a program computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Float,
}

/// The expression as a program, unless a part of it takes the engine.
pub(crate) fn compile(expression: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Program> {
    typed(expression, schema).map(|(program, _)| program)
}

fn typed(expression: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<(Program, Kind)> {
    let part: &dyn Any = expression.as_ref();
    if let Some(column) = part.downcast_ref::<Column>() {
        let kind = kind(schema.field(column.index()).data_type())?;
        return Some((Program::Input(column.index()), kind));
    }
    if let Some(literal) = part.downcast_ref::<Literal>() {
        return constant(literal.value());
    }
    if let Some(cast) = part.downcast_ref::<CastExpr>() {
        return converted(cast, schema);
    }
    if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
        return operation(binary, schema);
    }
    if let Some(case) = part.downcast_ref::<CaseExpr>() {
        return chosen(case, schema);
    }
    if let Some(call) = part.downcast_ref::<ScalarFunctionExpr>() {
        return called(call, schema);
    }
    if let Some(negative) = part.downcast_ref::<NegativeExpr>() {
        let (of, kind) = typed(negative.arg(), schema)?;
        let negated = Program::Negated(Box::new(of));
        return (kind != Kind::Bool).then_some((negated, kind));
    }
    if let Some(not) = part.downcast_ref::<NotExpr>() {
        let of = of_kind(not.arg(), schema, Kind::Bool)?;
        return Some((Program::Not(Box::new(of)), Kind::Bool));
    }
    if let Some(is_null) = part.downcast_ref::<IsNullExpr>() {
        let (of, _) = typed(is_null.arg(), schema)?;
        return Some((Program::IsNull(Box::new(of)), Kind::Bool));
    }
    if let Some(is_not_null) = part.downcast_ref::<IsNotNullExpr>() {
        let (of, _) = typed(is_not_null.arg(), schema)?;
        let is_null = Program::IsNull(Box::new(of));
        return Some((Program::Not(Box::new(is_null)), Kind::Bool));
    }
    None
}

fn kind(data_type: &ArrowType) -> Option<Kind> {
    match data_type {
        ArrowType::Boolean => Some(Kind::Bool),
        ArrowType::Int64 => Some(Kind::Int),
        ArrowType::Float64 => Some(Kind::Float),
        _ => None,
    }
}

fn of_kind(expression: &Arc<dyn PhysicalExpr>, schema: &Schema, wanted: Kind) -> Option<Program> {
    let (program, kind) = typed(expression, schema)?;
    (kind == wanted).then_some(program)
}

fn of_one_kind(
    left: &Arc<dyn PhysicalExpr>,
    right: &Arc<dyn PhysicalExpr>,
    schema: &Schema,
) -> Option<(Box<[Program; 2]>, Kind)> {
    let (left, kind) = typed(left, schema)?;
    let right = of_kind(right, schema, kind)?;
    Some((Box::new([left, right]), kind))
}

fn constant(value: &ScalarValue) -> Option<(Program, Kind)> {
    let (scalar, kind) = match value {
        ScalarValue::Boolean(value) => (value.map(Scalar::Bool), Kind::Bool),
        ScalarValue::Int64(value) => (value.map(Scalar::Int), Kind::Int),
        ScalarValue::Float64(value) => (value.map(Scalar::Float), Kind::Float),
        _ => return None,
    };
    Some((Program::Constant(scalar.unwrap_or(Scalar::Null)), kind))
}

/// Casts that lose nothing, and whole numbers to floats.
fn converted(cast: &CastExpr, schema: &Schema) -> Option<(Program, Kind)> {
    let target = kind(cast.cast_type())?;
    let inner: &dyn Any = cast.expr().as_ref();
    if let Some(column) = inner.downcast_ref::<Column>() {
        let input = Program::Input(column.index());
        return match (schema.field(column.index()).data_type(), target) {
            (narrow, Kind::Int) if is_narrow(narrow) => Some((input, Kind::Int)),
            (narrow, Kind::Float) if is_narrow(narrow) || *narrow == ArrowType::Float32 => {
                Some((Program::Widened(Box::new(input)), Kind::Float))
            }
            (other, _) => widened(input, kind(other)?, target),
        };
    }
    let (inner, kind) = typed(cast.expr(), schema)?;
    widened(inner, kind, target)
}

fn widened(program: Program, kind: Kind, target: Kind) -> Option<(Program, Kind)> {
    match (kind, target) {
        (Kind::Int, Kind::Float) => Some((Program::Widened(Box::new(program)), target)),
        _ => (kind == target).then_some((program, kind)),
    }
}

/// Whether a type's values are whole numbers that all fit an int64.
const fn is_narrow(data_type: &ArrowType) -> bool {
    use ArrowType::{Int8, Int16, Int32, UInt8, UInt16, UInt32};
    matches!(data_type, Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32)
}

fn operation(binary: &BinaryExpr, schema: &Schema) -> Option<(Program, Kind)> {
    let (sides, kind) = of_one_kind(binary.left(), binary.right(), schema)?;
    let is_number = kind != Kind::Bool;
    let operator = *binary.op();
    let program = match operator {
        Operator::And if kind == Kind::Bool => Program::And(sides),
        Operator::Or if kind == Kind::Bool => Program::Or(sides),
        Operator::IsDistinctFrom => Program::Distinct(sides),
        Operator::IsNotDistinctFrom => Program::Not(Box::new(Program::Distinct(sides))),
        // Whole numbers are added by functions of ours; the engine's own operators would wrap.
        Operator::Plus | Operator::Minus | Operator::Multiply if kind != Kind::Float => {
            return None;
        }
        _ => {
            if let Some(arithmetic) = arithmetic(operator) {
                return is_number.then_some((Program::Arithmetic(arithmetic, sides), kind));
            }
            Program::Compared(comparison(operator)?, sides)
        }
    };
    Some((program, Kind::Bool))
}

const fn arithmetic(operator: Operator) -> Option<Arithmetic> {
    Some(match operator {
        Operator::Plus => Arithmetic::Add,
        Operator::Minus => Arithmetic::Subtract,
        Operator::Multiply => Arithmetic::Multiply,
        Operator::Divide => Arithmetic::Divide,
        Operator::Modulo => Arithmetic::Remainder,
        _ => return None,
    })
}

const fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::Unequal,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn chosen(case: &CaseExpr, schema: &Schema) -> Option<(Program, Kind)> {
    let mut result = None;
    let mut value = |expression| {
        let (program, kind) = typed(expression, schema)?;
        (*result.get_or_insert(kind) == kind).then_some(program)
    };
    let mut branches = Vec::new();
    for (when, then) in case.when_then_expr() {
        let condition = match case.expr() {
            Some(subject) => {
                let (sides, kind) = of_one_kind(subject, when, schema)?;
                if kind == Kind::Float {
                    // Whether zeros of two signs are one here depends on how the engine looks the branches up.
                    return None;
                }
                Program::Compared(Comparison::Equal, sides)
            }
            None => of_kind(when, schema, Kind::Bool)?,
        };
        branches.push([condition, value(then)?]);
    }
    let otherwise = match case.else_expr() {
        Some(otherwise) => Some(Box::new(value(otherwise)?)),
        None => None,
    };
    let case = Program::Case {
        branches,
        otherwise,
    };
    Some((case, result?))
}

fn called(call: &ScalarFunctionExpr, schema: &Schema) -> Option<(Program, Kind)> {
    match call.args() {
        [left, right] => {
            let (sides, kind) = of_one_kind(left, right, schema)?;
            if let Some(operator) = checked_operator(call.fun()) {
                let sum = Program::Arithmetic(arithmetic(operator)?, sides);
                return (kind == Kind::Int).then_some((sum, kind));
            }
            (call.fun().name() == "nullif").then_some((Program::NullIf(sides), kind))
        }
        [only] => {
            let function = function(call.fun().name())?;
            let of = of_kind(only, schema, Kind::Float)?;
            Some((Program::Function(function, Box::new(of)), Kind::Float))
        }
        _ => None,
    }
}

/// Functions that are the same method of a float in the engine, which refuses what has no root or logarithm.
fn function(name: &str) -> Option<FloatFunction> {
    Some(match name {
        "abs" => |value| Some(value.abs()),
        "ceil" => |value| Some(value.ceil()),
        "floor" => |value| Some(value.floor()),
        "exp" => |value| Some(value.exp()),
        "sqrt" => |value| (value >= 0.0 || value.is_nan()).then(|| value.sqrt()),
        "ln" => |value| (value > 0.0 || value.is_nan()).then(|| value.ln()),
        _ => return None,
    })
}
