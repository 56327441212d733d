//! When rows happened and when they became known, as instants.

use arrow::array::{Array, ArrayRef, TimestampMicrosecondArray};
use feature_defs::source::Source;
use feature_defs::time::Instant;

use super::columns::Columns;
use super::convert::to_instants;
use super::files::SourceFile;
use crate::error::Result;
use crate::nested::Failure;

/// The times of a batch of rows.
#[derive(Debug)]
pub(crate) struct Timed {
    /// Never null.
    pub(super) event_times: TimestampMicrosecondArray,
    /// Null where a row has none; `None` where the source has none.
    pub(super) created_times: Option<TimestampMicrosecondArray>,
}

impl Timed {
    /// Reads times from columns of declared types; `first_row` is the number of the first row in the file.
    pub(super) fn of(
        columns: &Columns,
        file: &SourceFile,
        first_row: u64,
        event_times: &ArrayRef,
        created_times: Option<&ArrayRef>,
    ) -> Result<Self> {
        let source: &Source = columns.source();
        let refuse = |name: &str, failure: &Failure| {
            columns.refuse(file, name, first_row + failure.row as u64, failure)
        };
        let event_times = to_instants(event_times, source.timezone)
            .map_err(|f| refuse(&source.event_time, &f))?;
        if event_times.null_count() > 0 {
            let row = (0..event_times.len()).find(|row| event_times.is_null(*row));
            let failure = Failure::new(row.unwrap_or(0), "the event time is null");
            return Err(refuse(&source.event_time, &failure));
        }
        let name = source.created_time.as_deref().unwrap_or_default();
        let created_times = created_times
            .map(|times| to_instants(times, source.timezone).map_err(|f| refuse(name, &f)))
            .transpose()?;
        Ok(Self {
            event_times,
            created_times,
        })
    }

    pub(crate) fn event_time(&self, row: usize) -> Instant {
        Instant::from_micros(self.event_times.value(row))
    }

    pub(crate) fn created_time(&self, row: usize) -> Option<Instant> {
        let times = self.created_times.as_ref()?;
        let is_there = times.is_valid(row);
        is_there.then(|| Instant::from_micros(times.value(row)))
    }
}
