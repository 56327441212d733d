//! Windowed aggregations: what is computed over which windows.

use std::fmt;

use crate::article::with_article;
use crate::data_type::{DataType, MAX_DECIMAL_PRECISION};
use crate::name::Name;
use crate::time::TimeSpan;

/// A window that ends at as-of: `[as_of - span, as_of)`, or everything before as-of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    /// The last `span` before as-of, lower edge included.
    Last(TimeSpan),
    /// Everything before as-of.
    Lifetime,
}

impl Window {
    /// The window's length; `None` for the lifetime.
    #[must_use]
    pub const fn span(self) -> Option<TimeSpan> {
        match self {
            Self::Last(span) => Some(span),
            Self::Lifetime => None,
        }
    }
}

/// As it ends a feature's name: `30d`, `lifetime`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last(span) => span.fmt(f),
            Self::Lifetime => f.write_str("lifetime"),
        }
    }
}

/// An aggregate function. Nulls in the argument are passed over, except by [`AggregateFunction::First`] and
/// [`AggregateFunction::Last`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// `count()` counts rows, `count(column)` non-null values: int64, 0 of nothing.
    Count,
    /// Sum: int64 for signed and uint64 for unsigned integers, `decimal(38,s)` for decimals, float64 (correctly
    /// rounded, whatever the order) for floats; null of nothing; an error when it does not fit (rule 9).
    Sum,
    /// Mean as float64, the exact sum divided once; null of nothing.
    Mean,
    /// Variance of a sample as float64, from exact sums and rounded once; null of fewer than 2 values; an error beyond
    /// the greatest float.
    Variance,
    /// Square root of the variance of a sample, rounded once.
    Stddev,
    /// Variance of values that are all there are; null of nothing.
    VariancePop,
    /// Its square root, rounded once.
    StddevPop,
    /// Least value, of the column's type; null of nothing. NaN is greater than every number.
    Min,
    /// Greatest value, of the column's type; null of nothing. NaN is greater than every number.
    Max,
    /// The value of the oldest row, null when that row's value is null (rule 6) or there is no row.
    First,
    /// The value of the newest row, null when that row's value is null (rule 6) or there is no row.
    Last,
    /// Number of different non-null values: int64, 0 of nothing.
    DistinctCount,
}

impl AggregateFunction {
    /// The functions by the names that definitions use.
    pub const NAMED: [(&'static str, Self); 12] = [
        ("count", Self::Count),
        ("sum", Self::Sum),
        ("mean", Self::Mean),
        ("variance", Self::Variance),
        ("stddev", Self::Stddev),
        ("variance_pop", Self::VariancePop),
        ("stddev_pop", Self::StddevPop),
        ("min", Self::Min),
        ("max", Self::Max),
        ("first", Self::First),
        ("last", Self::Last),
        ("distinct_count", Self::DistinctCount),
    ];

    /// Whether the order of rows of one time decides its value.
    #[must_use]
    pub const fn is_of_order(self) -> bool {
        matches!(self, Self::First | Self::Last)
    }

    /// The function's name, as definitions write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Variance => "variance",
            Self::Stddev => "stddev",
            Self::VariancePop => "variance_pop",
            Self::StddevPop => "stddev_pop",
            Self::Min => "min",
            Self::Max => "max",
            Self::First => "first",
            Self::Last => "last",
            Self::DistinctCount => "distinct_count",
        }
    }
}

/// Why a function cannot aggregate an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AggregateTypeError {
    /// Only `count()` goes without a column.
    #[error("`{}` needs a column", .0.name())]
    NoColumn(AggregateFunction),
    /// What compares values, over lists, vectors or structs.
    #[error("`{}` does not take {}: there is no order of such values", .0.name(), with_article(.1))]
    Nested(AggregateFunction, DataType),
    /// What calculates, of a type without arithmetic.
    #[error("`{}` needs a number, not {}", .0.name(), with_article(.1))]
    NotNumeric(AggregateFunction, DataType),
}

/// The type of an aggregate's features, from the type of its column (`None` for `count()`).
///
/// # Errors
/// [`AggregateTypeError`] when the function does not take such a column.
pub const fn output_type(
    function: AggregateFunction,
    column: Option<DataType>,
) -> Result<DataType, AggregateTypeError> {
    use AggregateFunction::{
        Count, DistinctCount, First, Last, Max, Mean, Min, Stddev, StddevPop, Sum, Variance,
        VariancePop,
    };
    let data_type = match (function, column) {
        (Count, _) => return Ok(DataType::Int64),
        (_, None) => return Err(AggregateTypeError::NoColumn(function)),
        (DistinctCount | Min | Max, Some(nested)) if nested.is_nested() => {
            return Err(AggregateTypeError::Nested(function, nested));
        }
        (DistinctCount, Some(_)) => return Ok(DataType::Int64),
        (_, Some(data_type)) => data_type,
    };
    match (function, data_type) {
        (Min | Max | First | Last, _) => Ok(data_type),
        (Mean | Variance | Stddev | VariancePop | StddevPop, _) if data_type.is_numeric() => {
            Ok(DataType::Float64)
        }
        (Sum, DataType::Decimal { scale, .. }) => Ok(DataType::Decimal {
            precision: MAX_DECIMAL_PRECISION,
            scale,
        }),
        (Sum, _) if data_type.is_float() => Ok(DataType::Float64),
        (Sum, DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64) => {
            Ok(DataType::UInt64)
        }
        (Sum, _) if data_type.is_integer() => Ok(DataType::Int64),
        _ => Err(AggregateTypeError::NotNumeric(function, data_type)),
    }
}

/// One declared aggregate; it makes one feature a window, named `<name>_<window>`.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// First part of its features' names.
    pub name: Name,
    /// What is computed.
    pub function: AggregateFunction,
    /// The source whose events it is computed from; `None` for those of all of the view's sources.
    pub source: Option<Name>,
    /// The source's column it is computed from; `None` only where rows are counted.
    pub column: Option<String>,
    /// Which of the source's events it is computed from; `None` for all of them.
    pub filter: Option<Filter>,
}

/// A condition that events of a source meet. It is met where it is true, and not where it is false or null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The SQL expression, as written.
    pub condition: String,
    /// The same in its one canonical form, without comments.
    pub canonical: String,
    /// The columns that it reads, in the source's declared order.
    pub columns: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_types_follow_the_column() {
        use AggregateFunction::{
            Count, DistinctCount, First, Last, Max, Mean, Min, Stddev, StddevPop, Sum, Variance,
            VariancePop,
        };
        let decimal = |precision| DataType::Decimal {
            precision,
            scale: 2,
        };
        for (function, column, output) in [
            (Count, None, DataType::Int64),
            (Count, Some(DataType::String), DataType::Int64),
            (DistinctCount, Some(DataType::Date), DataType::Int64),
            (Sum, Some(DataType::Int8), DataType::Int64),
            (Sum, Some(DataType::UInt8), DataType::UInt64),
            (Sum, Some(DataType::Float32), DataType::Float64),
            (Sum, Some(decimal(12)), decimal(38)),
            (Mean, Some(decimal(12)), DataType::Float64),
            (Variance, Some(DataType::UInt8), DataType::Float64),
            (Stddev, Some(decimal(38)), DataType::Float64),
            (First, Some(DataType::Uuid), DataType::Uuid),
            (Min, Some(DataType::String), DataType::String),
            (Max, Some(DataType::Float32), DataType::Float32),
            (Last, Some(DataType::Bool), DataType::Bool),
        ] {
            assert_eq!(
                output_type(function, column),
                Ok(output),
                "{function:?} {column:?}"
            );
        }
        let refused = output_type(Sum, Some(DataType::Date)).expect_err("dates have no sum");
        assert_eq!(refused.to_string(), "`sum` needs a number, not a date");
        let list = DataType::Bool.list_of();
        assert_eq!(output_type(Count, list), Ok(DataType::Int64));
        assert_eq!(output_type(First, list).ok(), list);
        assert_eq!(output_type(Last, list).ok(), list);
        let calculate = [Sum, Mean, Variance, Stddev, VariancePop, StddevPop];
        for function in calculate.into_iter().chain([Min, Max, DistinctCount]) {
            assert!(output_type(function, list).is_err(), "{function:?}");
        }
        let refused = output_type(Mean, None).expect_err("no column");
        assert_eq!(refused.to_string(), "`mean` needs a column");
    }

    #[test]
    fn functions_know_their_names() {
        for (name, function) in AggregateFunction::NAMED {
            assert_eq!(function.name(), name);
        }
    }
}
