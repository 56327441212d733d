//! Exact sums or means of many groups side by side.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryBuilder, BooleanArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, UInt64Type, i256};
use datafusion::error::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::super::ExactSum;
use super::outcome::{Outcome, no_exact};
use super::partial;

/// Sums the values of each group.
pub(super) struct ExactGroups {
    outcome: Outcome,
    /// How many values each group has.
    counts: Vec<i64>,
    totals: Totals,
}

enum Totals {
    Floats {
        sums: Vec<ExactSum>,
        /// Bytes behind the sums.
        heap: usize,
    },
    /// Integers, and decimals' digits.
    Wholes(Vec<i256>),
}

impl Totals {
    fn new(input: &DataType) -> Self {
        match input {
            DataType::Float64 => Self::Floats {
                sums: Vec::new(),
                heap: 0,
            },
            _ => Self::Wholes(Vec::new()),
        }
    }
}

/// Changes one float total, and keeps the count of bytes behind them right.
fn change(sum: &mut ExactSum, heap: &mut usize, change: impl FnOnce(&mut ExactSum)) {
    *heap -= sum.heap_size();
    change(sum);
    *heap += sum.heap_size();
}

/// Goes over the values that count, with the number of their row.
fn each<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    filter: Option<&BooleanArray>,
    mut take: impl FnMut(usize, T::Native),
) {
    let column = column.as_primitive::<T>();
    let counts = |row: usize| {
        column.is_valid(row)
            && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
    };
    if column.null_count() == 0 && filter.is_none() {
        for (row, value) in column.values().iter().enumerate() {
            take(row, *value);
        }
        return;
    }
    for (row, value) in column.values().iter().enumerate() {
        if counts(row) {
            take(row, *value);
        }
    }
}

impl ExactGroups {
    pub(super) fn new(outcome: Outcome, input: &DataType) -> Self {
        Self {
            outcome,
            counts: Vec::new(),
            totals: Totals::new(input),
        }
    }

    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        match &mut self.totals {
            Totals::Floats { sums, .. } => sums.resize_with(groups, ExactSum::default),
            Totals::Wholes(sums) => sums.resize(groups, i256::ZERO),
        }
    }

    fn add(
        &mut self,
        column: &ArrayRef,
        groups: &[usize],
        filter: Option<&BooleanArray>,
    ) -> Result<()> {
        let counts = &mut self.counts;
        match &mut self.totals {
            Totals::Floats { sums, heap } => {
                each::<Float64Type>(column, filter, |row, value| {
                    counts[groups[row]] += 1;
                    change(&mut sums[groups[row]], heap, |sum| sum.add(value));
                });
            }
            Totals::Wholes(sums) => {
                let mut add = |row: usize, value: i128| {
                    let group = groups[row];
                    counts[group] += 1;
                    sums[group] = sums[group].wrapping_add(i256::from_i128(value));
                };
                match column.data_type() {
                    DataType::Int64 => each::<Int64Type>(column, filter, |r, v| add(r, v.into())),
                    DataType::UInt64 => each::<UInt64Type>(column, filter, |r, v| add(r, v.into())),
                    DataType::Decimal128(_, _) => each::<Decimal128Type>(column, filter, add),
                    other => return Err(no_exact(other)),
                }
            }
        }
        Ok(())
    }
}

impl GroupsAccumulator for ExactGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        groups: usize,
    ) -> Result<()> {
        self.resize(groups);
        self.add(&values[0], group_indices, filter)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let counts = emit_to.take_needed(&mut self.counts);
        match &mut self.totals {
            Totals::Floats { sums, heap } => {
                let sums = emit_to.take_needed(sums);
                *heap -= sums.iter().map(ExactSum::heap_size).sum::<usize>();
                let results = sums.iter().zip(counts);
                let results = results.map(|(sum, count)| self.outcome.float(sum, count));
                Ok(Outcome::floats(results.collect::<Result<_>>()?))
            }
            Totals::Wholes(sums) => {
                let results = emit_to.take_needed(sums).into_iter().zip(counts);
                let results = results.map(|(sum, count)| self.outcome.whole(sum, count));
                self.outcome.wholes(results.collect::<Result<_>>()?)
            }
        }
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let counts = emit_to.take_needed(&mut self.counts);
        let mut states = BinaryBuilder::new();
        let mut bytes = Vec::new();
        match &mut self.totals {
            Totals::Floats { sums, heap } => {
                for (sum, count) in emit_to.take_needed(sums).into_iter().zip(counts) {
                    *heap -= sum.heap_size();
                    bytes.clear();
                    partial::append_float(&mut bytes, count, sum);
                    states.append_value(&bytes);
                }
            }
            Totals::Wholes(sums) => {
                for (sum, count) in emit_to.take_needed(sums).into_iter().zip(counts) {
                    bytes.clear();
                    partial::append_whole(&mut bytes, count, sum);
                    states.append_value(&bytes);
                }
            }
        }
        Ok(vec![std::sync::Arc::new(states.finish())])
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        group_indices: &[usize],
        groups: usize,
    ) -> Result<()> {
        self.resize(groups);
        let states = states[0].as_binary::<i32>();
        for (row, group) in group_indices.iter().enumerate() {
            if states.is_null(row) {
                continue;
            }
            let state = states.value(row);
            self.counts[*group] += match &mut self.totals {
                Totals::Floats { sums, heap } => {
                    let (count, other) = partial::read_float(state)?;
                    change(&mut sums[*group], heap, |sum| sum.merge(other));
                    count
                }
                Totals::Wholes(sums) => {
                    let (count, other) = partial::read_whole(state)?;
                    sums[*group] = sums[*group].wrapping_add(other);
                    count
                }
            };
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let mut one_each = Self::new(self.outcome.clone(), values[0].data_type());
        one_each.resize(rows);
        one_each.add(&values[0], &(0..rows).collect::<Vec<_>>(), filter)?;
        one_each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        let totals = match &self.totals {
            Totals::Floats { sums, heap } => sums.capacity() * size_of::<ExactSum>() + heap,
            Totals::Wholes(sums) => sums.capacity() * size_of::<i256>(),
        };
        size_of::<Self>()
            + self.outcome.heap_size()
            + self.counts.capacity() * size_of::<i64>()
            + totals
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Float64Array, Int64Array};
    use proptest::prelude::*;

    use super::*;

    const GROUPS: usize = 5;

    /// A value, its group, and whether a filter keeps it.
    type Row = (Option<i64>, usize, bool);

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let value = prop::option::of(-(1_i64 << 60)..1 << 60);
        prop::collection::vec((value, 0..GROUPS, any::<bool>()), 0..60)
    }

    fn column(rows: &[Row], floats: bool) -> ArrayRef {
        let values = rows.iter().map(|row| row.0);
        if floats {
            Arc::new(values.map(|v| v.map(as_float)).collect::<Float64Array>())
        } else {
            Arc::new(values.collect::<Int64Array>())
        }
    }

    /// Of very different sizes, so that rounding in between would show.
    fn as_float(value: i64) -> f64 {
        value as f64 * 2_f64.powi((value % 90) as i32)
    }

    fn groups(floats: bool) -> ExactGroups {
        let data_type = if floats {
            DataType::Float64
        } else {
            DataType::Int64
        };
        let outcome = Outcome::new("sum(v)", &data_type, &data_type, false);
        ExactGroups::new(outcome, &data_type)
    }

    /// Each group's sum, added up one by one.
    fn expected(rows: &[Row], floats: bool) -> ArrayRef {
        let of_group = |group| {
            let kept = rows.iter().filter(move |row| row.1 == group && row.2);
            let values: Vec<i64> = kept.filter_map(|row| row.0).collect();
            (!values.is_empty()).then_some(values)
        };
        let groups = (0..GROUPS).map(of_group);
        if !floats {
            let sums = groups.map(|values| values.map(|v| v.iter().sum::<i64>()));
            return Arc::new(sums.collect::<Int64Array>());
        }
        let sums = groups.map(|values| {
            let mut sum = ExactSum::default();
            let values = values?;
            values.iter().for_each(|value| sum.add(as_float(*value)));
            sum.value()
        });
        Arc::new(sums.collect::<Float64Array>())
    }

    proptest! {
        #[test]
        fn sums_of_groups_are_those_of_each_group_alone_however_they_are_parted(
            rows in rows(),
            cut in any::<prop::sample::Index>(),
            floats in any::<bool>(),
        ) {
            let (first, second) = rows.split_at(if rows.is_empty() { 0 } else { cut.index(rows.len()) });
            let numbers = |rows: &[Row]| rows.iter().map(|row| row.1).collect::<Vec<_>>();
            let filter = |rows: &[Row]| rows.iter().map(|row| Some(row.2)).collect::<BooleanArray>();
            let mut partial = groups(floats);
            partial.update_batch(&[column(first, floats)], &numbers(first), Some(&filter(first)), GROUPS)?;
            let mut whole = groups(floats);
            let states = groups(floats).convert_to_state(&[column(second, floats)], Some(&filter(second)))?;
            whole.merge_batch(&states, &numbers(second), GROUPS)?;
            let mut states = partial.state(EmitTo::First(2))?;
            whole.merge_batch(&states, &[0, 1], GROUPS)?;
            states = partial.state(EmitTo::All)?;
            whole.merge_batch(&states, &[2, 3, 4], GROUPS)?;
            prop_assert_eq!(&whole.evaluate(EmitTo::All)?, &expected(&rows, floats));
            for emptied in [partial, whole] {
                let Totals::Floats { sums, heap } = emptied.totals else { continue };
                prop_assert_eq!((sums.len(), heap), (0, 0));
            }
        }
    }
}
