//! Sources, cut at as-of: the only way by which rows come into a night or a training set.
//!
//! ```text
//!   files by path --> row groups that may hold visible rows --> declared columns by name, widened to declared types
//!        --> rows that are visible and known as of the instant (rules 2, 3, 4)
//! ```

mod columns;
mod convert;
mod csv;
mod csv_records;
mod csv_values;
pub(crate) mod delta;
pub(crate) mod files;
mod filtered;
mod fixed;
mod json_lines;
mod json_values;
mod kept;
mod mixed;
mod object_file;
mod ordered;
mod parquet;
mod partitions;
mod pieces;
mod places;
mod sorted;
mod table;
mod timed;

pub(crate) use convert::{Conversion, for_sql, shown_type};
pub(crate) use csv::read_frame as read_csv_frame;
pub(crate) use csv_values::{parse as parse_text, refusal as refused_text};
pub(crate) use filtered::CarriedFilter;
pub(crate) use object_file::ObjectFile;
pub(crate) use ordered::in_total_order;
pub(crate) use pieces::{is_parquet, misfits};
pub(crate) use places::{PlacedSource, RowPlace};
pub(crate) use sorted::{KEY, SortedInput, SortedRows, sorted_by_key};
pub(crate) use table::{CutSource, RowCount};
pub(crate) use timed::Timed;

use feature_defs::as_of;
use feature_defs::time::Instant;

/// What a computation may see of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The instant from which it looks.
    pub(crate) as_of: Instant,
    /// Which rule decides.
    pub(crate) rows: RowKind,
}

/// What a source's rows are to a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Events, visible strictly after they happened (rule 2).
    Events,
    /// Feature rows, visible from their event time on (rule 3).
    FeatureRows,
}

impl Cut {
    /// Whether a row is seen.
    pub(crate) fn sees(self, event_time: Instant, created_time: Option<Instant>) -> bool {
        self.may_see(event_time) && as_of::known(created_time, self.as_of)
    }

    /// Whether rows with this event time can be seen at all.
    pub(crate) fn may_see(self, event_time: Instant) -> bool {
        match self.rows {
            RowKind::Events => as_of::event_counts(event_time, None, self.as_of),
            RowKind::FeatureRows => as_of::row_visible(event_time, self.as_of),
        }
    }
}
