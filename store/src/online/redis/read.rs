//! The hot path: all rows of one request, in one round trip.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use redis::{Value, cmd};

use super::error::unexpected;
use super::keys::write_row_key;
use super::state::{State, view_field};
use super::view_record::ViewRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::online::versions::Horizon;
use crate::online::{RowAddress, RowState, Rows};
use crate::release::{Release, ReleaseNumber};

/// Releases whose readers are remembered: those that are served by turns, and some that are asked for by number.
const REMEMBERED: usize = 32;

/// What it takes to read each view of a release.
#[derive(Debug)]
struct ReleaseReader {
    marker: String,
    views: Vec<ViewReader>,
}

#[derive(Debug)]
struct ViewReader {
    row_prefix: Vec<u8>,
    horizon: Horizon,
}

/// The readers of releases. A release never changes, so each is made once.
#[derive(Debug, Default)]
pub(super) struct ReleaseReaders(RwLock<BTreeMap<ReleaseNumber, Arc<ReleaseReader>>>);

impl ReleaseReaders {
    async fn of(&self, state: &State, release: &Release) -> Result<Arc<ReleaseReader>> {
        let known = {
            let readers = self.0.read().unwrap_or_else(PoisonError::into_inner);
            readers.get(&release.number).cloned()
        };
        if let Some(known) = known.filter(|known| known.reads(release)) {
            return Ok(known);
        }
        let reader = Arc::new(ReleaseReader::of(state, release).await?);
        let mut readers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        while readers.len() >= REMEMBERED {
            readers.pop_first();
        }
        readers.insert(release.number, Arc::clone(&reader));
        Ok(reader)
    }

    /// Makes the reader of a release that will be asked for.
    pub(super) async fn prepare(&self, state: &State, release: &Release) -> Result<()> {
        self.of(state, release).await.map(|_| ())
    }
}

impl ReleaseReader {
    async fn of(state: &State, release: &Release) -> Result<Self> {
        let names: Vec<String> = release
            .views
            .iter()
            .map(|view| view_field(&view.view))
            .collect();
        let mut views = Vec::with_capacity(names.len());
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let fields = state.fields(&names).await?;
            for (view, name) in release.views.iter().zip(names) {
                let record: Option<ViewRecord> = fields.json(name)?;
                let record = record.ok_or_else(|| gone(release.number))?;
                let mut kept = record.kept.iter();
                let snapshot = kept
                    .find(|kept| kept.id == view.snapshot && kept.content == view.content)
                    .ok_or_else(|| gone(release.number))?;
                views.push(ViewReader {
                    row_prefix: state.keys.row_prefix(record.number),
                    horizon: snapshot.horizon(),
                });
            }
        }
        let marker = state.keys.release(release.number);
        Ok(Self { marker, views })
    }

    fn reads(&self, release: &Release) -> bool {
        self.views.len() == release.views.len()
            && (self.views.iter().zip(&release.views))
                .all(|(reader, view)| reader.horizon.snapshot() == view.snapshot)
    }
}

/// Reads the rows together with the release's mark, at one moment: versions go only after the mark, so where it stands,
/// a row that is not there never was.
pub(super) async fn read(
    state: &State,
    readers: &ReleaseReaders,
    release: &Release,
    addresses: &[RowAddress<'_>],
    rows: &mut Rows,
) -> Result<()> {
    rows.clear();
    if addresses.is_empty() {
        return Ok(());
    }
    let reader = readers.of(state, release).await?;
    let mut command = cmd("MGET");
    command.arg(&reader.marker);
    let mut horizons = Vec::with_capacity(addresses.len());
    let mut name = Vec::new();
    for address in addresses {
        let view = reader.views.get(address.view).ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                format!("release `{}` has no view {}", release.number, address.view),
            )
        })?;
        write_row_key(&view.row_prefix, address.key, &mut name);
        command.arg(name.as_slice());
        horizons.push(&view.horizon);
    }
    let Value::Array(values) = state.connection.read(&command).await? else {
        return Err(unexpected());
    };
    if values.len() != addresses.len() + 1 {
        return Err(unexpected());
    }
    let mut values = values.into_iter();
    if !matches!(values.next(), Some(Value::BulkString(_))) {
        return Err(gone(release.number));
    }
    for (value, horizon) in values.zip(horizons) {
        rows.push(match &value {
            Value::Nil => RowState::Missing,
            Value::BulkString(value) => match horizon.row(value) {
                Ok(row) => row.map_or(RowState::Missing, RowState::Found),
                Err(error) => {
                    tracing::error!(%error, "a row cannot be read");
                    RowState::Unavailable
                }
            },
            _ => return Err(unexpected()),
        });
    }
    Ok(())
}

fn gone(release: ReleaseNumber) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "release `{release}` is not in the online store any more: it was dropped, or the server lost its data"
        ),
    )
}
