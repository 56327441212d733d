//! A snapshot from its begin to its completion.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use super::backend::Backend;
use super::records::{Change, FORMAT, SNAPSHOTS, THIS_FORMAT, VIEWS, staging_field, view_field};
use super::staging::Staging;
use super::sweep::sweep;
use super::view_record::{Snapshot, ViewRecord};
use crate::error::{Error, ErrorKind, Result};
use crate::online::{self, Checksum, StagedRow};
use crate::release::SnapshotId;

/// The snapshots that this process stages. One is taken out while it is worked on: a call that is dropped, or that fails
/// halfway, leaves none behind that could be completed.
#[derive(Debug, Default)]
pub(super) struct Stagings(Mutex<HashMap<SnapshotId, Box<Staging>>>);

impl Stagings {
    fn take(&self, id: SnapshotId) -> Option<Box<Staging>> {
        let mut stagings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stagings.remove(&id)
    }

    fn put(&self, id: SnapshotId, staging: Box<Staging>) {
        let mut stagings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stagings.insert(id, staging);
    }

    fn forget(&self, view: &Name) {
        let mut stagings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stagings.retain(|_, staging| staging.view() != view);
    }
}

pub(super) async fn begin(
    backend: &dyn Backend,
    stagings: &Stagings,
    view: &Name,
    content: Fingerprint,
    rows: u64,
) -> Result<online::Staging> {
    let field = view_field(view);
    let names = [field.as_str(), FORMAT, SNAPSHOTS, VIEWS];
    loop {
        let fields = backend.fields(&names).await?;
        fields.check_format()?;
        let mut record: ViewRecord = fields.json(&field)?.unwrap_or_default();
        if let Some(complete) = record.kept.iter().find(|kept| kept.content == content) {
            return Ok(online::Staging::Complete(complete.id));
        }
        backend.prepare().await?;

        let mut change = Change::from(&fields, &names);
        if record.number == 0 {
            record.number = fields.number(VIEWS)?.unwrap_or(0) + 1;
            change.set(VIEWS, record.number.to_string());
        }
        record.abandon();
        let id = SnapshotId(fields.number(SNAPSHOTS)?.unwrap_or(0) + 1);
        let snapshot = Snapshot {
            id,
            content,
            void: record.void.clone(),
            rows: 0,
            sum: 0,
        };
        record.staging = Some(snapshot.clone());
        change.set(SNAPSHOTS, id.0.to_string());
        change.set(&staging_field(view), id.0.to_string());
        change.set(FORMAT, THIS_FORMAT);
        change.set_json(&field, &record)?;
        if !backend.apply(&change).await? {
            continue;
        }
        stagings.forget(view);
        sweep(backend, view).await?;
        let staging = Staging::new(backend, view, &record, snapshot, rows);
        stagings.put(id, Box::new(staging));
        return Ok(online::Staging::Open(id));
    }
}

pub(super) async fn write(
    backend: &Arc<dyn Backend>,
    stagings: &Stagings,
    id: SnapshotId,
    rows: &[StagedRow<'_>],
) -> Result<()> {
    let mut staging = stagings.take(id).ok_or_else(|| no_longer_staged(id))?;
    if !staging.follow(rows) {
        stagings.put(id, staging);
        return Err(Error::new(
            ErrorKind::Invalid,
            "staged keys do not ascend, or one comes twice",
        ));
    }
    is_staged(&**backend, staging.view(), id).await?;
    staging.write(backend, rows).await?;
    stagings.put(id, staging);
    Ok(())
}

/// Fails when somebody else began another snapshot of the view, and this one counts for nobody.
async fn is_staged(backend: &dyn Backend, view: &Name, id: SnapshotId) -> Result<()> {
    let field = staging_field(view);
    let staging = backend.fields(&[&field]).await?.number(&field)?;
    match staging == Some(id.0) {
        true => Ok(()),
        false => Err(no_longer_staged(id)),
    }
}

pub(super) async fn complete(
    backend: &Arc<dyn Backend>,
    stagings: &Stagings,
    id: SnapshotId,
    expected: Checksum,
) -> Result<()> {
    let Some(mut staging) = stagings.take(id) else {
        return complete_again(&**backend, id, expected).await;
    };
    staging.finish(backend).await?;
    let view = staging.view().clone();
    let verified = match check(id, &view, staging.found(), expected) {
        Ok(()) => staging.read_back(&**backend).await,
        differs => differs,
    };
    if let Err(error) = verified {
        stagings.put(id, staging);
        return Err(error);
    }
    let field = view_field(&view);
    loop {
        let fields = backend.fields(&[&field]).await?;
        let mut record: ViewRecord = fields.json(&field)?.unwrap_or_default();
        let mut snapshot = match record.staging.take() {
            Some(staging) if staging.id == id => staging,
            _ => return Err(no_longer_staged(id)),
        };
        snapshot.rows = expected.rows;
        snapshot.sum = expected.sum;
        let (changed, all) = staging.runs();
        record.complete(snapshot, changed, all);
        let mut change = Change::from(&fields, &[&field]);
        change.set_json(&field, &record)?;
        change.remove(&staging_field(&view));
        if backend.apply(&change).await? {
            return Ok(());
        }
    }
}

/// A snapshot that is complete already.
async fn complete_again(backend: &dyn Backend, id: SnapshotId, expected: Checksum) -> Result<()> {
    let fields = backend.all().await?;
    for view in fields.views()? {
        let record: ViewRecord = fields.json(&view_field(&view))?.unwrap_or_default();
        if let Some(kept) = record.kept.iter().find(|kept| kept.id == id) {
            let (rows, sum) = (kept.rows, kept.sum);
            return check(id, &view, Checksum { rows, sum }, expected);
        }
    }
    Err(no_longer_staged(id))
}

fn check(id: SnapshotId, view: &Name, found: Checksum, expected: Checksum) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Corrupt,
        format!(
            "snapshot `{}` of view `{view}` holds {} rows with checksum {:016x}, expected {} with {:016x}",
            id.0, found.rows, found.sum, expected.rows, expected.sum
        ),
    ))
}

fn no_longer_staged(id: SnapshotId) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("snapshot `{}` is no longer being staged", id.0),
    )
}
