//! The hot path: all rows of one request, in one read transaction.

use super::environment::Environment;
use super::error::failed;
use super::record;
use super::row_key::RowKey;
use crate::error::{Error, ErrorKind, Result};
use crate::online::{RowAddress, RowState, Rows};
use crate::release::Release;

pub(super) fn read(
    environment: &Environment,
    release: &Release,
    addresses: &[RowAddress<'_>],
    rows: &mut Rows,
) -> Result<()> {
    rows.clear();
    let txn = environment.read()?;
    // Of the views that lacked a row, the one whose snapshot was last seen to be there.
    let mut there = None;
    for address in addresses {
        let view = release.views.get(address.view).ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                format!("release `{}` has no view {}", release.number, address.view),
            )
        })?;
        let key = RowKey::new(view.snapshot, address.key);
        let stored = environment.rows.get(&txn, key.as_bytes()).map_err(failed)?;
        if let Some(row) = stored.and_then(|stored| key.row(address.key, stored)) {
            rows.push(RowState::Found(row));
            continue;
        }
        // Rows are deleted only after their snapshot's state says so: a row that is missing from a snapshot that is
        // still complete was never there.
        if there != Some(view.snapshot) {
            if !record::is_complete(environment, &txn, view.snapshot)? {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("release `{}` was dropped", release.number),
                ));
            }
            there = Some(view.snapshot);
        }
        rows.push(RowState::Missing);
    }
    Ok(())
}
