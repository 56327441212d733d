//! The online store over a server.

use std::sync::Arc;

use async_trait::async_trait;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;

use super::backend::Backend;
use super::release_reader::ReleaseReaders;
use super::releases;
use super::stage::{self, Stagings};
use crate::error::Result;
use crate::online::{Checksum, OnlineStore, RowAddress, Rows, StagedRow, Staging};
use crate::release::{Release, ReleaseNumber, SnapshotId};

/// An [`OnlineStore`] on a server. The day and the night ask it by connections of their own, so that no read waits for a
/// night's writes.
#[derive(Debug)]
pub struct VersionedStore {
    day: Arc<dyn Backend>,
    night: Arc<dyn Backend>,
    readers: ReleaseReaders,
    stagings: Stagings,
}

impl VersionedStore {
    pub(crate) fn new(day: Arc<dyn Backend>, night: Arc<dyn Backend>) -> Self {
        Self {
            day,
            night,
            readers: ReleaseReaders::default(),
            stagings: Stagings::default(),
        }
    }
}

#[async_trait]
impl OnlineStore for VersionedStore {
    async fn begin(&self, view: &Name, content: Fingerprint, rows: u64) -> Result<Staging> {
        stage::begin(&*self.night, &self.stagings, view, content, rows).await
    }

    async fn write(&self, snapshot: SnapshotId, rows: &[StagedRow<'_>]) -> Result<()> {
        stage::write(&self.night, &self.stagings, snapshot, rows).await
    }

    async fn complete(&self, snapshot: SnapshotId, expected: Checksum) -> Result<()> {
        stage::complete(&self.night, &self.stagings, snapshot, expected).await
    }

    async fn register(&self, release: &Release) -> Result<()> {
        releases::register(&*self.night, release).await
    }

    async fn flip(&self, from: Option<ReleaseNumber>, to: ReleaseNumber) -> Result<()> {
        releases::flip(&*self.night, from, to).await
    }

    async fn served(&self) -> Result<Option<ReleaseNumber>> {
        releases::served(&*self.day).await
    }

    async fn rolled_back(&self) -> Result<Vec<ReleaseNumber>> {
        releases::rolled_back(&*self.day).await
    }

    async fn release(&self, number: ReleaseNumber) -> Result<Release> {
        let release = releases::release(&*self.day, number).await?;
        self.readers.of(&*self.day, &release).await?;
        Ok(release)
    }

    async fn releases(&self) -> Result<Vec<Release>> {
        self.night.all().await?.releases()
    }

    async fn drop_release(&self, number: ReleaseNumber) -> Result<()> {
        releases::drop_release(&*self.night, number).await
    }

    async fn read(
        &self,
        release: &Release,
        addresses: &[RowAddress<'_>],
        rows: &mut Rows,
    ) -> Result<()> {
        rows.clear();
        if addresses.is_empty() {
            return Ok(());
        }
        let reader = self.readers.of(&*self.day, release).await?;
        reader.check(addresses)?;
        let read = self.day.read(&reader, addresses, rows).await;
        if read.is_err() {
            rows.clear();
        }
        read
    }

    async fn ping(&self) -> Result<()> {
        self.day.ping().await
    }
}
