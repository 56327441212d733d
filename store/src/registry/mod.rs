//! The registry: versioned definitions, runs, releases, models and leases, in SQL.

pub mod sql;

use std::fmt;

use async_trait::async_trait;
use feature_defs::definitions::DefinitionFile;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::{Instant, TimeSpan};

use crate::error::Result;
use crate::release::{Release, ReleaseNumber};

/// The system of record.
///
/// An implementation MUST make each method one transaction, durable when it returns, and MUST keep history: nothing
/// here overwrites a definition, a finished run, a release or the bytes of a bundle. Methods have no default bodies.
#[async_trait]
pub trait Registry: Send + Sync + fmt::Debug {
    /// Adds a version of the definitions if `expected` is still the newest one (0: none yet), else fails with `Conflict`;
    /// likewise if the newest one was applied by a project that is neither theirs nor called `former`.
    /// The same fingerprint of the same project as the newest version's adds nothing. Returns the newest version.
    async fn apply(
        &self,
        expected: u64,
        definitions: &NewDefinitions,
        former: Option<&Name>,
    ) -> Result<u64>;

    /// A version of the definitions, the newest for `None`; `None` when there is none.
    async fn definitions(&self, version: Option<u64>) -> Result<Option<AppliedDefinitions>>;

    /// All versions of the definitions, oldest first, without their files.
    async fn history(&self) -> Result<Vec<VersionEntry>>;

    /// Records that a run started.
    async fn start_run(&self, run: &NewRun) -> Result<RunId>;

    /// Records how a run ended. Idempotent for the same outcome.
    async fn finish_run(&self, run: RunId, at: Instant, outcome: &RunOutcome) -> Result<()>;

    /// The newest runs, newest first, at most `limit`.
    async fn runs(&self, limit: u32) -> Result<Vec<Run>>;

    /// The number that the next new release takes: one more than the greatest recorded or reserved, reserved with this call.
    async fn reserve_release_number(&self) -> Result<ReleaseNumber>;

    /// Records a published release. Recording the same release again changes nothing.
    async fn record_release(&self, release: &Release) -> Result<()>;

    /// Recorded releases, by ascending number.
    async fn releases(&self) -> Result<Vec<Release>>;

    /// Keeps a bundle, as the newest of its model. The same bundle again becomes the newest again.
    async fn put_bundle(&self, bundle: &NewBundle) -> Result<()>;

    /// The bytes of a bundle, or `NotFound`.
    async fn bundle(&self, fingerprint: Fingerprint) -> Result<Vec<u8>>;

    /// All bundles, by model, then by when they were imported last, the newest last.
    async fn bundles(&self) -> Result<Vec<BundleEntry>>;

    /// Takes a lease that nobody holds at `now`, or fails with `Conflict` naming the holder and until when. Each
    /// grant has a greater fence than all before.
    async fn acquire_lease(
        &self,
        name: &str,
        holder: &str,
        now: Instant,
        length: TimeSpan,
    ) -> Result<Lease>;

    /// Extends a lease, or fails with `Conflict` when another grant was made since.
    async fn renew_lease(&self, lease: &Lease, now: Instant, length: TimeSpan) -> Result<()>;

    /// Gives a lease back. Nothing happens when another grant was made since.
    async fn release_lease(&self, lease: &Lease) -> Result<()>;
}

/// Definitions on their way into the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDefinitions {
    /// Whose they are; unknown of versions that were applied before this was recorded.
    pub project: Option<Name>,
    /// Hash of the objects.
    pub fingerprint: Fingerprint,
    /// The files as they were read.
    pub files: Vec<DefinitionFile>,
    /// When.
    pub applied_at: Instant,
    /// By whom.
    pub applied_by: String,
}

/// A version of the definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedDefinitions {
    /// 1, 2, 3, ...
    pub version: u64,
    /// What was applied.
    pub definitions: NewDefinitions,
}

/// A version of the definitions, without its files.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct VersionEntry {
    /// 1, 2, 3, ...
    pub version: u64,
    /// Whose it is; unknown of versions that were applied before this was recorded.
    pub project: Option<Name>,
    /// Hash of the objects.
    pub fingerprint: Fingerprint,
    /// When.
    pub applied_at: Instant,
    /// By whom.
    pub applied_by: String,
}

/// A run's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

/// A run that starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The instant from which it looks.
    pub as_of: Instant,
    /// The version of the definitions.
    pub definitions_version: u64,
    /// When it started.
    pub started_at: Instant,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome")]
pub enum RunOutcome {
    /// It published a release. In runs recorded before [`RunOutcome::Unchanged`] was: or found it served already.
    Published {
        /// Which.
        release: ReleaseNumber,
    },
    /// It found nothing changed: the release that was served stays served.
    Unchanged {
        /// Which.
        release: ReleaseNumber,
    },
    /// It failed; the last release keeps being served.
    Failed {
        /// Why.
        message: String,
    },
}

/// A recorded run. Without an outcome it is going on, or its process died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// What was started.
    pub run: NewRun,
    /// When and how it ended.
    pub finished: Option<(Instant, RunOutcome)>,
}

/// A bundle on its way into the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBundle {
    /// Which model it is a version of.
    pub model: Name,
    /// Hash of `bytes`.
    pub fingerprint: Fingerprint,
    /// The whole bundle.
    pub bytes: Vec<u8>,
    /// When it was imported.
    pub imported_at: Instant,
}

/// A kept bundle, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntry {
    /// Which model it is a version of.
    pub model: Name,
    /// Its hash.
    pub fingerprint: Fingerprint,
    /// Its size in bytes.
    pub size: u64,
    /// When it was imported.
    pub imported_at: Instant,
}

/// A granted lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is leased.
    pub name: String,
    /// By whom.
    pub holder: String,
    /// Grows with each grant of this name.
    pub fence: u64,
    /// Until when, unless renewed.
    pub until: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_stored_as_ever() {
        for (outcome, json) in [
            (
                RunOutcome::Published {
                    release: ReleaseNumber(7),
                },
                r#"{"outcome":"published","release":7}"#,
            ),
            (
                RunOutcome::Unchanged {
                    release: ReleaseNumber(7),
                },
                r#"{"outcome":"unchanged","release":7}"#,
            ),
            (
                RunOutcome::Failed {
                    message: "why".to_owned(),
                },
                r#"{"outcome":"failed","message":"why"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&outcome).expect("JSON"), json);
            let read: RunOutcome = serde_json::from_str(json).expect("an outcome");
            assert_eq!(read, outcome);
        }
    }
}
