//! Releases: numbered, immutable sets of one snapshot a view, model versions and a definitions fingerprint.

use std::fmt;

use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::time::Instant;

/// A release's number: 1, 2, 3, ... in a project.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct ReleaseNumber(pub u64);

impl fmt::Display for ReleaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A snapshot's number within one online store, given by that store when the snapshot is staged.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct SnapshotId(pub u64);

/// What a release is made of. It never changes once it is registered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Release {
    /// Its number.
    pub number: ReleaseNumber,
    /// The instant from which the night looked.
    pub as_of: Instant,
    /// When the release was registered.
    pub created_at: Instant,
    /// The version of the definitions in the registry.
    pub definitions_version: u64,
    /// The fingerprint of those definitions.
    pub definitions: Fingerprint,
    /// One snapshot a view, sorted by view.
    pub views: Vec<ReleaseView>,
    /// One bundle a model, sorted by model.
    pub models: Vec<ReleaseModel>,
}

/// A view's snapshot in a release.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReleaseView {
    /// The view.
    pub view: Name,
    /// The view's fingerprint when the snapshot was computed.
    pub fingerprint: Fingerprint,
    /// The snapshot's as-of.
    pub as_of: Instant,
    /// Hash of the snapshot's content.
    pub content: Fingerprint,
    /// Number of rows, one an entity.
    pub rows: u64,
    /// Where the online store has it.
    pub snapshot: SnapshotId,
}

/// A model's bundle in a release.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReleaseModel {
    /// The model.
    pub model: Name,
    /// Hash of its bundle.
    pub bundle: Fingerprint,
}
