//! An aggregate that is computed apart for each value of a column.

use std::collections::HashMap;

use feature_defs::aggregation::AggregateFunction;
use feature_defs::value::Value;

use super::{Accumulator, Distinct, OutOfRange};
use crate::column::Cell;

/// One aggregate a category.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    function: AggregateFunction,
    rows: bool,
    /// Null is a category like others.
    held: HashMap<Option<Distinct>, (Value, Accumulator)>,
}

impl Buckets {
    /// Of no event; `rows` when the aggregate has no argument and counts rows.
    pub(crate) fn new(function: AggregateFunction, rows: bool) -> Self {
        Self {
            function,
            rows,
            held: HashMap::new(),
        }
    }

    /// Adds a row of a category; rows come newest first.
    pub(crate) fn add(&mut self, category: Cell<'_>, cell: Cell<'_>) {
        let distinct = (category != Cell::Null).then(|| Distinct::of(category));
        let (function, rows) = (self.function, self.rows);
        let (_, accumulator) = self.held.entry(distinct).or_insert_with_key(|distinct| {
            let category = category.to_value();
            let category = distinct.as_ref().map(|distinct| distinct.like(&category));
            let accumulator = Accumulator::new(function, rows);
            (category.unwrap_or(Value::Null), accumulator)
        });
        accumulator.add(cell);
    }

    /// A struct of the category and the aggregate each, sorted by category, null last.
    pub(crate) fn value(&mut self) -> Result<Value, OutOfRange> {
        let mut buckets: Vec<(Value, Value)> = Vec::with_capacity(self.held.len());
        for (category, accumulator) in self.held.values_mut() {
            buckets.push((category.clone(), accumulator.value()?));
        }
        buckets.sort_by(|(one, _), (other, _)| {
            let is_null = |value: &Value| *value == Value::Null;
            is_null(one)
                .cmp(&is_null(other))
                .then_with(|| one.order(other))
        });
        let buckets = buckets.into_iter();
        let buckets = buckets.map(|(category, value)| Value::Struct(vec![category, value]));
        Ok(Value::List(buckets.collect()))
    }
}
