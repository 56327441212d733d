//! Types that SQL gives, in the words of definitions.

use arrow::datatypes::DataType as ArrowType;

use crate::data_type::DataType;

/// A type as definitions name it, or what it is where features have none like it; and what to write instead.
pub(crate) fn described(arrow: &ArrowType) -> (String, &'static str) {
    let (what, help) = match arrow {
        ArrowType::Null => ("only nulls", "give it a type: `cast(NULL AS double)`"),
        ArrowType::Interval(_) | ArrowType::Duration(_) => (
            "an interval",
            "make it a number: `to_unixtime(a) - to_unixtime(b)` are seconds, divided by 86400.0 they are days",
        ),
        ArrowType::Timestamp(_, None) => (
            "a time without zone",
            "say in which zone it is: `(...) AT TIME ZONE 'UTC'`",
        ),
        ArrowType::Timestamp(_, Some(_)) => (
            "a time finer than microseconds",
            "make it a number with `to_unixtime(...)`",
        ),
        ArrowType::Time32(_) | ArrowType::Time64(_) => (
            "a time of day",
            "make it a number: `extract(hour FROM ...)`",
        ),
        ArrowType::Decimal256(..) => (
            "a decimal of more than 38 digits",
            "cast it: `cast(... AS decimal(38,2))`",
        ),
        other => match DataType::from_arrow(other) {
            Some(data_type) => return (data_type.to_string(), ""),
            None => ("a type that features do not have", ""),
        },
    };
    match DataType::from_arrow(arrow) {
        Some(data_type) => (data_type.to_string(), ""),
        None => (what.to_owned(), help),
    }
}
