//! The rules read aloud over rows in memory: slow, obvious, and what the fast paths are held to.

use feature_defs::aggregation::{AggregateFunction, Window};
use feature_defs::time::{Instant, TimeSpan, Ttl};

/// A row of a source: its key, its times, and one number or null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: i64,
    pub(crate) event_time: Instant,
    pub(crate) created_time: Option<Instant>,
    pub(crate) value: Option<i64>,
}

fn is_known(row: &Row, as_of: Instant) -> bool {
    match row.created_time {
        Some(created) => created.micros() <= as_of.micros(),
        None => true,
    }
}

/// The later of two rows is the greater: event time, created time, value, nulls least.
fn newest(rows: &[Row]) -> Option<Row> {
    let order = |row: &Row| (row.event_time, row.created_time, row.value);
    rows.iter().copied().max_by_key(order)
}

/// What a view of newest rows answers: `None` without a usable row, else the row's value.
pub(crate) fn latest(rows: &[Row], key: i64, as_of: Instant, ttl: Ttl) -> Option<Option<i64>> {
    let visible: Vec<Row> = rows
        .iter()
        .copied()
        .filter(|row| {
            row.key == key && row.event_time.micros() <= as_of.micros() && is_known(row, as_of)
        })
        .collect();
    let row = newest(&visible)?;
    let age = as_of.micros() - row.event_time.micros();
    let usable = match ttl {
        Ttl::Unlimited => true,
        Ttl::AtMost(limit) => age <= limit.micros(),
    };
    usable.then_some(row.value)
}

/// The earlier of two rows is the lesser, by the same order.
fn oldest(rows: &[Row]) -> Option<Row> {
    let order = |row: &Row| (row.event_time, row.created_time, row.value);
    rows.iter().copied().min_by_key(order)
}

/// The value of an aggregate over whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stated {
    Null,
    /// A mean is stated as the sum, a variance as the numerator `n q - s s`, where `q` is the sum of squares, a quantile as
    /// its billionfold.
    Whole(i64),
    List(Vec<Option<i64>>),
}

/// What a windowed view answers: `None` when the key has no event before as-of. Events that do not pass the filter make
/// a row like all others.
pub(crate) fn aggregate(
    rows: &[Row],
    key: i64,
    as_of: Instant,
    function: AggregateFunction,
    window: Window,
    filter: impl Fn(&Row) -> bool,
) -> Option<Stated> {
    let before: Vec<Row> = rows
        .iter()
        .copied()
        .filter(|row| {
            row.key == key && row.event_time.micros() < as_of.micros() && is_known(row, as_of)
        })
        .collect();
    if before.is_empty() {
        return None;
    }
    let inside: Vec<Row> = before
        .into_iter()
        .filter(|row| match window {
            Window::Lifetime => true,
            Window::Last(span) => within(row.event_time, span, as_of),
        })
        .filter(filter)
        .collect();
    let values: Vec<i64> = inside.iter().filter_map(|row| row.value).collect();
    let length = |count: usize| i64::try_from(count).expect("small");
    let whole = match function {
        AggregateFunction::FirstValues(length) | AggregateFunction::LastValues(length) => {
            let mut sorted = inside;
            sorted.sort_by_key(|row| (row.event_time, row.created_time, row.value));
            if matches!(function, AggregateFunction::LastValues(_)) {
                sorted.reverse();
            }
            let values = sorted.iter().map(|row| row.value);
            return Some(Stated::List(values.take(length.get()).collect()));
        }
        AggregateFunction::TopK(length) => {
            let mut values: Vec<i64> = inside.iter().filter_map(|row| row.value).collect();
            let count = |of: i64| inside.iter().filter(|row| row.value == Some(of)).count();
            values.sort_by_key(|value| (std::cmp::Reverse(count(*value)), *value));
            values.dedup();
            let values = values.into_iter().map(Some);
            return Some(Stated::List(values.take(length.get()).collect()));
        }
        AggregateFunction::Count => Some(length(values.len())),
        AggregateFunction::Sum | AggregateFunction::Mean if values.is_empty() => None,
        AggregateFunction::Sum | AggregateFunction::Mean => Some(values.iter().sum()),
        AggregateFunction::Min => values.iter().copied().min(),
        AggregateFunction::Max => values.iter().copied().max(),
        AggregateFunction::Variance | AggregateFunction::Stddev if values.len() < 2 => None,
        AggregateFunction::VariancePop | AggregateFunction::StddevPop if values.is_empty() => None,
        AggregateFunction::Variance
        | AggregateFunction::Stddev
        | AggregateFunction::VariancePop
        | AggregateFunction::StddevPop => {
            let (sum, squares) = (
                values.iter().sum::<i64>(),
                values.iter().map(|v| v * v).sum::<i64>(),
            );
            Some(length(values.len()) * squares - sum * sum)
        }
        AggregateFunction::Quantile(_) if values.is_empty() => None,
        AggregateFunction::Quantile(portion) => {
            let mut sorted = values;
            sorted.sort_unstable();
            let place = length(sorted.len() - 1) * i64::from(portion.get());
            let (whole, part) = (place / 1_000_000_000, place % 1_000_000_000);
            let at = |place: i64| sorted.get(usize::try_from(place).expect("small"));
            let low = *at(whole).expect("there");
            let high = *at(whole + 1).unwrap_or(&low);
            Some(low * 1_000_000_000 + (high - low) * part)
        }
        AggregateFunction::First => oldest(&inside).and_then(|row| row.value),
        AggregateFunction::Last => newest(&inside).and_then(|row| row.value),
        AggregateFunction::DistinctCount => {
            let mut distinct = values;
            distinct.sort_unstable();
            distinct.dedup();
            Some(length(distinct.len()))
        }
    };
    Some(whole.map_or(Stated::Null, Stated::Whole))
}

fn within(event_time: Instant, span: TimeSpan, as_of: Instant) -> bool {
    as_of.micros() - span.micros() <= event_time.micros()
}
