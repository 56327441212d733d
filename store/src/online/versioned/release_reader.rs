//! What it takes to read a release.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::backend::Backend;
use super::error::gone;
use super::records::view_field;
use super::view_record::ViewRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::online::versions::Horizon;
use crate::online::{RowAddress, RowState, Rows};
use crate::release::{Release, ReleaseNumber};

/// Releases whose readers are remembered: those that are served by turns, and some that are asked for by number.
const REMEMBERED: usize = 32;

/// What it takes to read each view of a release.
#[derive(Debug)]
pub(crate) struct ReleaseReader {
    pub(crate) number: ReleaseNumber,
    views: Vec<ViewReader>,
}

#[derive(Debug)]
pub(crate) struct ViewReader {
    /// What the names of its rows start with.
    pub(crate) row_prefix: Vec<u8>,
    pub(crate) horizon: Horizon,
}

/// The readers of releases. A release never changes, so each is made once.
#[derive(Debug, Default)]
pub(super) struct ReleaseReaders(RwLock<BTreeMap<ReleaseNumber, Arc<ReleaseReader>>>);

impl ReleaseReaders {
    /// The reader of a release, made when it is first asked for.
    pub(super) async fn of(
        &self,
        backend: &dyn Backend,
        release: &Release,
    ) -> Result<Arc<ReleaseReader>> {
        let known = {
            let readers = self.0.read().unwrap_or_else(PoisonError::into_inner);
            readers.get(&release.number).cloned()
        };
        if let Some(known) = known.filter(|known| known.reads(release)) {
            return Ok(known);
        }
        let reader = Arc::new(ReleaseReader::of(backend, release).await?);
        let mut readers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        while readers.len() >= REMEMBERED {
            readers.pop_first();
        }
        readers.insert(release.number, Arc::clone(&reader));
        Ok(reader)
    }
}

impl ReleaseReader {
    async fn of(backend: &dyn Backend, release: &Release) -> Result<Self> {
        let names: Vec<String> = release
            .views
            .iter()
            .map(|view| view_field(&view.view))
            .collect();
        let mut views = Vec::with_capacity(names.len());
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let fields = backend.fields(&names).await?;
            for (view, name) in release.views.iter().zip(names) {
                let record: Option<ViewRecord> = fields.json(name)?;
                let record = record.ok_or_else(|| gone(release.number))?;
                let mut kept = record.kept.iter();
                let snapshot = kept
                    .find(|kept| kept.id == view.snapshot && kept.content == view.content)
                    .ok_or_else(|| gone(release.number))?;
                let base = record.base_of(snapshot.id);
                views.push(ViewReader {
                    row_prefix: backend.row_prefix(record.number, base),
                    horizon: snapshot.horizon(),
                });
            }
        }
        Ok(Self {
            number: release.number,
            views,
        })
    }

    fn reads(&self, release: &Release) -> bool {
        self.views.len() == release.views.len()
            && (self.views.iter().zip(&release.views))
                .all(|(reader, view)| reader.horizon.snapshot() == view.snapshot)
    }

    /// # Errors
    /// `Invalid` when an address names a view that the release does not have.
    pub(super) fn check(&self, addresses: &[RowAddress<'_>]) -> Result<()> {
        match addresses
            .iter()
            .find(|address| address.view >= self.views.len())
        {
            None => Ok(()),
            Some(address) => Err(Error::new(
                ErrorKind::Invalid,
                format!("release `{}` has no view {}", self.number, address.view),
            )),
        }
    }

    /// The reader of an address's view, which was checked.
    pub(crate) fn view(&self, address: &RowAddress<'_>) -> &ViewReader {
        &self.views[address.view]
    }
}

impl ViewReader {
    /// Adds the row that the release has among these versions; none that read is unavailable.
    pub(crate) fn push_row(&self, versions: &[u8], rows: &mut Rows) {
        self.push(self.horizon.row(versions), rows);
    }

    /// Adds what was found for an address.
    pub(crate) fn push(&self, row: Result<Option<&[u8]>>, rows: &mut Rows) {
        rows.push(match row {
            Ok(row) => row.map_or(RowState::Missing, RowState::Found),
            Err(error) => {
                tracing::error!(%error, "a row cannot be read");
                RowState::Unavailable
            }
        });
    }
}
