//! How often each value of a window was seen.

use std::cmp::Ordering;
use std::collections::HashMap;

use feature_defs::value::Value;

use super::Distinct;
use crate::column::Cell;

/// The different values that were added, each with its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frequencies {
    counts: HashMap<Distinct, u64>,
    /// One of the values, which the others are like.
    like: Option<Value>,
}

impl Frequencies {
    /// Adds a value that is not null.
    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        self.like.get_or_insert_with(|| cell.to_value());
        *self.counts.entry(Distinct::of(cell)).or_default() += 1;
    }

    /// The most frequent values, at most so many; of equally frequent ones the least come first.
    pub(crate) fn most_frequent(&self, length: usize) -> Vec<Value> {
        let Some(like) = &self.like else {
            return Vec::new();
        };
        let counts = self.counts.iter();
        let mut values: Vec<(u64, Value)> = counts
            .map(|(value, count)| (*count, value.like(like)))
            .collect();
        let order =
            |(count, value): &(u64, Value), (other_count, other): &(u64, Value)| -> Ordering {
                other_count.cmp(count).then_with(|| value.order(other))
            };
        if values.len() > length {
            values.select_nth_unstable_by(length - 1, order);
            values.truncate(length);
        }
        values.sort_unstable_by(order);
        values.into_iter().map(|(_, value)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most_frequent(cells: &[Cell<'static>], length: usize) -> Vec<Value> {
        let mut frequencies = Frequencies::default();
        cells.iter().for_each(|cell| frequencies.add(*cell));
        frequencies.most_frequent(length)
    }

    #[test]
    fn the_most_frequent_come_first_and_ties_go_by_value() {
        let cells = ["b", "c", "a", "c", "b", "d"].map(Cell::String);
        let texts = |texts: &[&str]| -> Vec<Value> {
            texts
                .iter()
                .map(|text| Value::String((*text).to_owned()))
                .collect()
        };
        assert_eq!(most_frequent(&cells, 1), texts(&["b"]));
        assert_eq!(most_frequent(&cells, 3), texts(&["b", "c", "a"]));
        assert_eq!(most_frequent(&cells, 9), texts(&["b", "c", "a", "d"]));
        assert_eq!(most_frequent(&[], 3), []);
    }

    #[test]
    fn values_come_back_in_their_own_type() {
        let uuid: &[u8] = &[7; 16];
        let cents = Cell::Decimal {
            unscaled: -150,
            scale: 2,
        };
        for cell in [
            Cell::Bool(true),
            Cell::Int(-3),
            Cell::UInt(u64::MAX),
            Cell::Float(0.5),
            cents,
            Cell::String("x"),
            Cell::Bytes(&[0, 255]),
            Cell::Uuid(uuid),
            Cell::Date(-1),
            Cell::Timestamp(5),
        ] {
            assert_eq!(most_frequent(&[cell, cell], 2), [cell.to_value()]);
        }
    }

    #[test]
    fn floats_are_counted_by_number_and_nan_is_the_greatest() {
        let (nan, negative) = (f64::NAN, -f64::NAN);
        let cells = [0.0, -0.0, negative, nan, 9.0, 1.0, 1.0].map(Cell::Float);
        let shown = format!("{:?}", most_frequent(&cells, 3));
        assert_eq!(shown, "[Float(0.0), Float(1.0), Float(NaN)]");
    }
}
