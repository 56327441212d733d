//! Windowed aggregations: what is computed over which windows.

use std::fmt;

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

/// An aggregate function. Nulls in the argument are passed over, except by [`AggregateFunction::Last`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// `count()` counts rows, `count(column)` non-null values: int64, 0 of nothing.
    Count,
    /// Sum: int64 for signed and uint64 for unsigned integers, `decimal(38,s)` for decimals, float64 (correctly
    /// rounded, whatever the order) for floats; null of nothing; an error when it does not fit (rule 9).
    Sum,
    /// Mean as float64, the exact sum divided once; null of nothing.
    Mean,
    /// Least value, of the column's type; null of nothing. NaN is greater than every number.
    Min,
    /// Greatest value, of the column's type; null of nothing. NaN is greater than every number.
    Max,
    /// The value of the newest row, null when that row's value is null (rule 6) or there is no row.
    Last,
    /// Number of different non-null values: int64, 0 of nothing.
    DistinctCount,
}

impl AggregateFunction {
    /// The functions by the names that definitions use.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("count", Self::Count),
        ("sum", Self::Sum),
        ("mean", Self::Mean),
        ("min", Self::Min),
        ("max", Self::Max),
        ("last", Self::Last),
        ("distinct_count", Self::DistinctCount),
    ];
}

/// One declared aggregate; it makes one feature a window, named `<name>_<window>`.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// First part of its features' names.
    pub name: Name,
    /// What is computed.
    pub function: AggregateFunction,
    /// The source column it is computed from; `None` only for `count()`.
    pub column: Option<String>,
}
