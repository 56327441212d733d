//! Aggregate functions, what they take and what they give.

use std::fmt;

use crate::aggregation::{ListLength, ParameterError, Portion};
use crate::article::with_article;
use crate::data_type::{DataType, MAX_DECIMAL_PRECISION, StructField};

/// An aggregate function. Nulls in the argument are passed over, except by [`AggregateFunction::First`] and
/// [`AggregateFunction::Last`], also those of several values.
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
    /// The value below which this part of the values lies, as float64, between two neighbours where it lies between
    /// them, from exact numbers and rounded once; null of nothing. NaN is greater than every number.
    Quantile(Portion),
    /// Least value, of the column's type; null of nothing. NaN is greater than every number.
    Min,
    /// Greatest value, of the column's type; null of nothing. NaN is greater than every number.
    Max,
    /// The value of the oldest row, null when that row's value is null (rule 6) or there is no row.
    First,
    /// The values of so many of the oldest rows, the oldest first, nulls among them: a list, empty of no rows.
    FirstValues(ListLength),
    /// The value of the newest row, null when that row's value is null (rule 6) or there is no row.
    Last,
    /// The values of so many of the newest rows, the newest first, nulls among them: a list, empty of no rows.
    LastValues(ListLength),
    /// So many of the most frequent values, the most frequent first, and of equally frequent ones the least: a list, empty
    /// of nothing.
    TopK(ListLength),
    /// Number of different non-null values: int64, 0 of nothing.
    DistinctCount,
}

impl AggregateFunction {
    /// The functions without a parameter, by the names that definitions use.
    const PLAIN: [(&'static str, Self); 13] = [
        ("count", Self::Count),
        ("sum", Self::Sum),
        ("mean", Self::Mean),
        ("variance", Self::Variance),
        ("stddev", Self::Stddev),
        ("variance_pop", Self::VariancePop),
        ("stddev_pop", Self::StddevPop),
        ("median", Self::Quantile(Portion::HALF)),
        ("min", Self::Min),
        ("max", Self::Max),
        ("first", Self::First),
        ("last", Self::Last),
        ("distinct_count", Self::DistinctCount),
    ];

    /// The names of all functions.
    pub const NAMES: [&'static str; 15] = [
        "count",
        "sum",
        "mean",
        "variance",
        "stddev",
        "variance_pop",
        "stddev_pop",
        "quantile",
        "median",
        "min",
        "max",
        "first",
        "last",
        "top_k",
        "distinct_count",
    ];

    /// Whether a call may have a parameter behind the column.
    #[must_use]
    pub fn takes_parameter(name: &str) -> bool {
        matches!(name, "first" | "last" | "quantile" | "top_k")
    }

    /// The function of a call: by its name, and what stands behind the column. `None` for a name that is none.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter that the function does not take.
    pub fn called(name: &str, parameter: Option<&str>) -> Option<Result<Self, ParameterError>> {
        let name = Self::NAMES.into_iter().find(|known| *known == name)?;
        Some(match (name, parameter) {
            ("first", Some(length)) => ListLength::parse(length).map(Self::FirstValues),
            ("last", Some(length)) => ListLength::parse(length).map(Self::LastValues),
            ("top_k", Some(length)) => ListLength::parse(length).map(Self::TopK),
            ("top_k", None) => Err(ParameterError::NoLength(name)),
            ("quantile", Some(portion)) => Portion::parse(portion).map(Self::Quantile),
            ("quantile", None) => Err(ParameterError::NoPortion(name)),
            (_, Some(_)) => Err(ParameterError::Unexpected(name)),
            (_, None) => {
                let mut plain = Self::PLAIN.into_iter();
                let found = plain.find(|(known, _)| *known == name);
                return found.map(|(_, function)| Ok(function));
            }
        })
    }

    /// Whether the order of rows of one time decides its value.
    #[must_use]
    pub const fn is_of_order(self) -> bool {
        matches!(
            self,
            Self::First | Self::FirstValues(_) | Self::Last | Self::LastValues(_)
        )
    }

    /// Whether its value is never null.
    #[must_use]
    pub const fn is_never_null(self) -> bool {
        matches!(
            self,
            Self::Count
                | Self::DistinctCount
                | Self::FirstValues(_)
                | Self::LastValues(_)
                | Self::TopK(_)
        )
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
            Self::Quantile(_) => "quantile",
            Self::Min => "min",
            Self::Max => "max",
            Self::First | Self::FirstValues(_) => "first",
            Self::Last | Self::LastValues(_) => "last",
            Self::TopK(_) => "top_k",
            Self::DistinctCount => "distinct_count",
        }
    }
}

/// Its name and its parameter, as fingerprints hold them.
impl fmt::Display for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::FirstValues(length) | Self::LastValues(length) | Self::TopK(length) => {
                write!(f, " {length}")
            }
            Self::Quantile(portion) => write!(f, " {portion}"),
            _ => Ok(()),
        }
    }
}

/// Why a function cannot aggregate an argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// What gives a list, of a type that no list has.
    #[error("`{}` of several values does not take {}: types stand in each other up to 8 deep", .0, with_article(.1))]
    TooDeep(&'static str, DataType),
    /// What compares values, over lists, vectors or structs.
    #[error("values are not told apart by {}: there is no order of such values", with_article(.0))]
    NestedBuckets(DataType),
    /// A column that is no name of a field beside `value`.
    #[error("values told apart by `{0}` are no struct: its fields would be `{0}` and `value`")]
    BucketName(String),
}

/// The type of an aggregate that is computed apart for the values of a column: `list<struct<column: T, value: V>>`.
///
/// # Errors
/// [`AggregateTypeError`] for a column by which nothing is told apart.
pub fn buckets_type(
    (name, column): (&str, DataType),
    value: DataType,
) -> Result<DataType, AggregateTypeError> {
    if column.is_nested() {
        return Err(AggregateTypeError::NestedBuckets(column));
    }
    let field = |name: &str, data_type| StructField {
        name: name.to_owned(),
        data_type,
    };
    let bucket = DataType::struct_of(vec![field(name, column), field(VALUE, value)]);
    let buckets = bucket.and_then(DataType::list_of);
    buckets.ok_or_else(|| AggregateTypeError::BucketName(name.to_owned()))
}

/// The field that holds the value of a bucket.
const VALUE: &str = "value";

/// The type of an aggregate's features, from the type of its column (`None` for `count()`).
///
/// # Errors
/// [`AggregateTypeError`] when the function does not take such a column.
pub fn output_type(
    function: AggregateFunction,
    column: Option<DataType>,
) -> Result<DataType, AggregateTypeError> {
    use AggregateFunction::{
        Count, DistinctCount, First, FirstValues, Last, LastValues, Max, Mean, Min, Quantile,
        Stddev, StddevPop, Sum, TopK, Variance, VariancePop,
    };
    let data_type = match (function, column) {
        (Count, _) => return Ok(DataType::Int64),
        (_, None) => return Err(AggregateTypeError::NoColumn(function)),
        (DistinctCount | Min | Max | TopK(_), Some(nested)) if nested.is_nested() => {
            return Err(AggregateTypeError::Nested(function, nested));
        }
        (DistinctCount, Some(_)) => return Ok(DataType::Int64),
        (_, Some(data_type)) => data_type,
    };
    match (function, data_type) {
        (Min | Max | First | Last, _) => Ok(data_type),
        (FirstValues(_) | LastValues(_) | TopK(_), _) => {
            let too_deep = AggregateTypeError::TooDeep(function.name(), data_type);
            data_type.list_of().ok_or(too_deep)
        }
        (Mean | Variance | Stddev | VariancePop | StddevPop | Quantile(_), _)
            if data_type.is_numeric() =>
        {
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
        let length = ListLength::parse("2").expect("a length");
        let last = AggregateFunction::LastValues(length);
        assert_eq!(output_type(last, Some(DataType::Bool)).ok(), list);
        let top = AggregateFunction::TopK(length);
        assert_eq!(output_type(top, Some(DataType::Bool)).ok(), list);
        assert!(output_type(top, list).is_err());
        let refused = output_type(Mean, None).expect_err("no column");
        assert_eq!(refused.to_string(), "`mean` needs a column");
    }

    #[test]
    fn buckets_are_structs_of_the_category_and_the_value() {
        let buckets = buckets_type(("shop", DataType::String), DataType::Int64);
        let text = buckets.map(|buckets| buckets.to_string());
        assert_eq!(
            text.as_deref(),
            Ok("list<struct<shop: string, value: int64>>")
        );
        let list = DataType::Bool.list_of().expect("a list");
        for by in [
            ("shop", list),
            ("value", DataType::Int64),
            ("the shop", DataType::Int64),
        ] {
            assert!(buckets_type(by, DataType::Int64).is_err(), "{by:?}");
        }
    }

    #[test]
    fn calls_take_the_parameters_of_their_functions() {
        use AggregateFunction::{FirstValues, LastValues};
        let called = |name, parameter| AggregateFunction::called(name, Some(parameter));
        let three = ListLength::parse("3").expect("a length");
        assert_eq!(called("last", "3"), Some(Ok(LastValues(three))));
        assert_eq!(called("first", "3"), Some(Ok(FirstValues(three))));
        assert_eq!(LastValues(three).to_string(), "last 3");
        let half = AggregateFunction::Quantile(Portion::HALF);
        assert_eq!(called("quantile", "0.50"), Some(Ok(half)));
        assert_eq!(AggregateFunction::called("median", None), Some(Ok(half)));
        assert_eq!(half.to_string(), "quantile 0.5");
        for wrong in ["0", "1001", "-1", "1.5", "+3", "x", ""] {
            assert!(
                called("last", wrong).is_some_and(|it| it.is_err()),
                "{wrong}"
            );
        }
        let refused = called("sum", "3").expect("known").expect_err("none");
        assert_eq!(
            refused.to_string(),
            "`sum` takes a column and nothing behind it"
        );
        assert_eq!(called("newest", "3"), None);
    }

    #[test]
    fn functions_know_their_names() {
        for name in AggregateFunction::NAMES {
            let parameter = match name {
                "quantile" => Some("0.9"),
                "top_k" => Some("3"),
                _ => None,
            };
            let function = AggregateFunction::called(name, parameter);
            let function = function.expect("known").expect("its parameter");
            let named = if name == "median" { "quantile" } else { name };
            assert_eq!(function.name(), named);
        }
    }
}
