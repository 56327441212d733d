//! The rows of one view, as one snapshot writes and reads them.

use feature_defs::name::Name;

use super::backend::Backend;
use super::view_record::ViewRecord;
use crate::online::versions::Horizon;
use crate::release::SnapshotId;

/// What it takes to write, prune and read back the rows of a view.
#[derive(Debug, Clone)]
pub(crate) struct ViewRows {
    pub(crate) view: Name,
    /// What its lists of keys are named by.
    pub(crate) number: u64,
    /// What the names of its rows start with.
    pub(crate) prefix: Vec<u8>,
    pub(crate) horizon: Horizon,
    /// The snapshots that may be read, ascending.
    pub(crate) kept: Vec<SnapshotId>,
}

impl ViewRows {
    /// Those that a snapshot has written, or will write, with what it sees or what can be seen by now.
    pub(super) fn of(
        backend: &dyn Backend,
        view: &Name,
        record: &ViewRecord,
        written_by: SnapshotId,
        horizon: Horizon,
    ) -> Self {
        let base = record.base_of(written_by);
        Self {
            view: view.clone(),
            number: record.number,
            prefix: backend.row_prefix(record.number, base),
            horizon,
            kept: record.kept_ids(),
        }
    }
}
