//! Where a snapshot's files stand in an offline store.
//!
//! ```text
//! <view>/as_of=19971001T000000Z/<first 8 digits of the view's fingerprint>.parquet   rows
//! <view>/as_of=19971001T000000Z/<first 8 digits of the view's fingerprint>.json      manifest, written last
//! ```

use object_store::path::Path;

use super::SnapshotIdentity;

/// End of a manifest's path.
pub(super) const MANIFEST_END: &str = ".json";

/// The path of a snapshot's Parquet file.
pub(super) fn data_path(identity: &SnapshotIdentity) -> Path {
    Path::from(format!("{}.parquet", stem(identity)))
}

/// The path of a snapshot's manifest.
pub(super) fn manifest_path(identity: &SnapshotIdentity) -> Path {
    Path::from(format!("{}{MANIFEST_END}", stem(identity)))
}

fn stem(identity: &SnapshotIdentity) -> String {
    format!(
        "{}/as_of={}/{}",
        identity.view,
        identity.as_of.path_form(),
        identity.fingerprint.short()
    )
}

#[cfg(test)]
mod tests {
    use feature_defs::fingerprint::Fingerprint;
    use feature_defs::name::Name;
    use feature_defs::time::Instant;

    use super::*;

    #[test]
    fn paths_are_pinned() {
        let identity = SnapshotIdentity {
            view: Name::parse("spend").expect("a name"),
            fingerprint: Fingerprint::parse(&"0a".repeat(32)).expect("a fingerprint"),
            as_of: Instant::parse("1997-10-01T00:00:00.5Z").expect("an instant"),
        };
        assert_eq!(
            data_path(&identity).as_ref(),
            "spend/as_of=19971001T000000.500000Z/0a0a0a0a.parquet"
        );
        assert_eq!(
            manifest_path(&identity).as_ref(),
            "spend/as_of=19971001T000000.500000Z/0a0a0a0a.json"
        );
    }
}
