//! The rows of a row group that are still of the table: they are counted from 0, whatever was deleted among them.

use std::ops::Range;

/// What deletions leave of a row group.
#[derive(Debug)]
pub(super) struct KeptRows {
    /// Runs of rows by their numbers in the row group, ascending.
    runs: Vec<Range<usize>>,
    /// How many rows are kept before each run.
    before: Vec<usize>,
    rows: usize,
}

impl KeptRows {
    /// Takes the numbers of rows in the file that are deleted, ascending. `None` where none is of the row group.
    pub(super) fn new(deleted: &[u64], first_row: u64, rows: usize) -> Option<Self> {
        let end = first_row + rows as u64;
        let start = deleted.partition_point(|row| *row < first_row);
        let deleted = &deleted[start..];
        let deleted = &deleted[..deleted.partition_point(|row| *row < end)];
        if deleted.is_empty() {
            return None;
        }
        let mut kept = Self {
            runs: Vec::new(),
            before: Vec::new(),
            rows: 0,
        };
        let mut next = 0;
        let gaps = deleted
            .iter()
            .map(|row| usize::try_from(row - first_row).unwrap_or(rows));
        for gap in gaps.chain([rows]) {
            if next < gap {
                kept.before.push(kept.rows);
                kept.rows += gap - next;
                kept.runs.push(next..gap);
            }
            next = gap + 1;
        }
        Some(kept)
    }

    /// How many rows are kept.
    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// The number in the row group of the `nth` row that is kept.
    pub(super) fn place(&self, nth: usize) -> usize {
        let run = self.before.partition_point(|before| *before <= nth);
        let run = run.saturating_sub(1);
        let start = self.runs.get(run).map_or(0, |run| run.start);
        start + nth - self.before.get(run).copied().unwrap_or_default()
    }

    /// The numbers in the row group of some of the rows that are kept.
    pub(super) fn ranges(&self, kept: &Range<usize>) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let runs = self.runs.iter().zip(&self.before);
        for (run, before) in runs {
            let start = kept.start.max(*before) - before;
            let end = kept.end.min(before + run.len()).saturating_sub(*before);
            if start < end {
                ranges.push(run.start + start..run.start + end);
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_as_if_the_deleted_ones_had_never_been() {
        let none = KeptRows::new(&[1, 2, 30], 10, 10);
        assert!(none.is_none(), "{none:?}");
        for deleted in [
            vec![10],
            vec![19],
            vec![10, 11, 13, 19],
            vec![3, 12, 14, 15, 25],
            (10..20).collect(),
            (0..100).step_by(2).collect(),
        ] {
            let kept = KeptRows::new(&deleted, 10, 10).expect("deleted");
            let expected: Vec<usize> = (0..10)
                .filter(|row| !deleted.contains(&(10 + *row as u64)))
                .collect();
            assert_eq!(kept.rows(), expected.len(), "{deleted:?}");
            let places: Vec<usize> = (0..kept.rows()).map(|nth| kept.place(nth)).collect();
            assert_eq!(places, expected, "{deleted:?}");
            for start in 0..=expected.len() {
                for end in start..=expected.len() {
                    let ranges = kept.ranges(&(start..end));
                    let rows: Vec<usize> = ranges.into_iter().flatten().collect();
                    assert_eq!(rows, expected[start..end], "{deleted:?}");
                }
            }
        }
    }
}
