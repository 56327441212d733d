//! An expression over numbers and truth values, evaluated on one row without arrays.
//!
//! The engine is built for many rows; on the one row of a request, making its arrays takes longer than the arithmetic.
//! A program is a second way to the same values for the expressions that are plain arithmetic: it is compiled from the
//! engine's own plan, and where it is not sure that the engine gives a value (an overflow, a division by zero) it gives
//! none, and the engine is asked.

mod compile;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::expression::scalar::Scalar;

pub(crate) use compile::compile;

/// The program cannot tell what the engine would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsure;

/// An expression, compiled. Types were checked when it was.
#[derive(Debug)]
pub(crate) enum Program {
    /// An input, by its index.
    Input(usize),
    Constant(Scalar),
    /// A whole number or a `float32`, as a float64.
    Widened(Box<Self>),
    Negated(Box<Self>),
    Arithmetic(Arithmetic, Box<[Self; 2]>),
    Compared(Comparison, Box<[Self; 2]>),
    /// Whether the sides differ, nulls being equal to each other.
    Distinct(Box<[Self; 2]>),
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    Not(Box<Self>),
    IsNull(Box<Self>),
    /// The first, unless it equals the second. As in the engine, and unlike comparisons, zeros of two signs differ.
    NullIf(Box<[Self; 2]>),
    Case {
        /// Conditions and values.
        branches: Vec<[Self; 2]>,
        otherwise: Option<Box<Self>>,
    },
    Function(FloatFunction, Box<Self>),
}

/// A function of one float. `None` where the engine may refuse.
pub(crate) type FloatFunction = fn(f64) -> Option<f64>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Program {
    /// The value on a row of inputs.
    pub(crate) fn evaluate(&self, inputs: &[Scalar]) -> Result<Scalar, Unsure> {
        Ok(match self {
            Self::Input(index) => inputs[*index],
            Self::Constant(value) => *value,
            Self::Widened(of) => match of.evaluate(inputs)? {
                #[allow(clippy::cast_precision_loss)] // what a cast to double does
                Scalar::Int(value) => Scalar::Float(value as f64),
                other => other,
            },
            Self::Negated(of) => match of.evaluate(inputs)? {
                Scalar::Int(value) => Scalar::Int(value.checked_neg().ok_or(Unsure)?),
                Scalar::Float(value) => Scalar::Float(-value),
                other => other,
            },
            Self::Arithmetic(operation, sides) => {
                let [left, right] = both(sides, inputs)?;
                operation.apply(left, right)?
            }
            Self::Compared(comparison, sides) => {
                let [left, right] = both(sides, inputs)?;
                match order(left.signless_zero(), right.signless_zero()) {
                    Some(order) => Scalar::Bool(comparison.holds(order)),
                    None => Scalar::Null,
                }
            }
            Self::Distinct(sides) => {
                let [left, right] = both(sides, inputs)?;
                Scalar::Bool(match order(left.signless_zero(), right.signless_zero()) {
                    Some(order) => order.is_ne(),
                    None => (left == Scalar::Null) != (right == Scalar::Null),
                })
            }
            // Both sides always: where the second has no value, whether the first spares it is for the engine to say.
            Self::And(sides) => match both(sides, inputs)? {
                [Scalar::Bool(false), _] | [_, Scalar::Bool(false)] => Scalar::Bool(false),
                [Scalar::Null, _] | [_, Scalar::Null] => Scalar::Null,
                _ => Scalar::Bool(true),
            },
            Self::Or(sides) => match both(sides, inputs)? {
                [Scalar::Bool(true), _] | [_, Scalar::Bool(true)] => Scalar::Bool(true),
                [Scalar::Null, _] | [_, Scalar::Null] => Scalar::Null,
                _ => Scalar::Bool(false),
            },
            Self::Not(of) => match of.evaluate(inputs)? {
                Scalar::Bool(value) => Scalar::Bool(!value),
                other => other,
            },
            Self::IsNull(of) => Scalar::Bool(of.evaluate(inputs)? == Scalar::Null),
            Self::NullIf(sides) => {
                let [left, right] = both(sides, inputs)?;
                match order(left, right) {
                    Some(Ordering::Equal) => Scalar::Null,
                    _ => left,
                }
            }
            Self::Case {
                branches,
                otherwise,
            } => {
                for [condition, value] in branches {
                    if condition.evaluate(inputs)? == Scalar::Bool(true) {
                        return value.evaluate(inputs);
                    }
                }
                match otherwise {
                    Some(otherwise) => otherwise.evaluate(inputs)?,
                    None => Scalar::Null,
                }
            }
            Self::Function(function, of) => match of.evaluate(inputs)? {
                Scalar::Float(value) => Scalar::Float(function(value).ok_or(Unsure)?),
                other => other,
            },
        })
    }
}

fn both(sides: &[Program; 2], inputs: &[Scalar]) -> Result<[Scalar; 2], Unsure> {
    Ok([sides[0].evaluate(inputs)?, sides[1].evaluate(inputs)?])
}

impl Scalar {
    /// The value as it is compared: zeros of both signs are one.
    fn signless_zero(self) -> Self {
        match self {
            Self::Float(0.0) => Self::Float(0.0),
            other => other,
        }
    }
}

/// The engine's order of two values of one type, floats in their total order; none with a null.
fn order(left: Scalar, right: Scalar) -> Option<Ordering> {
    match (left, right) {
        (Scalar::Float(left), Scalar::Float(right)) => Some(left.total_cmp(&right)),
        (Scalar::Int(left), Scalar::Int(right)) => Some(left.cmp(&right)),
        (Scalar::Bool(left), Scalar::Bool(right)) => Some(left.cmp(&right)),
        _ => None,
    }
}

impl Arithmetic {
    fn apply(self, left: Scalar, right: Scalar) -> Result<Scalar, Unsure> {
        match (left, right) {
            (Scalar::Float(left), Scalar::Float(right)) => Ok(Scalar::Float(match self {
                Self::Add => left + right,
                Self::Subtract => left - right,
                Self::Multiply => left * right,
                Self::Divide => left / right,
                Self::Remainder => left % right,
            })),
            (Scalar::Int(left), Scalar::Int(right)) => {
                let value = match self {
                    Self::Add => left.checked_add(right),
                    Self::Subtract => left.checked_sub(right),
                    Self::Multiply => left.checked_mul(right),
                    Self::Divide => left.checked_div(right),
                    Self::Remainder => left.checked_rem(right),
                };
                value.map(Scalar::Int).ok_or(Unsure)
            }
            _ => Ok(Scalar::Null),
        }
    }
}

impl Comparison {
    const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
