//! Windowed aggregations: what is computed over which windows.

mod function;
mod parameter;

use std::fmt;

pub use function::{AggregateFunction, AggregateTypeError, buckets_type, output_type};
pub use parameter::{ListLength, ParameterError, Portion};

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
    /// The source's column for whose values it is computed apart; `None` for one value.
    pub by: Option<String>,
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
