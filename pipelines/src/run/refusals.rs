//! What a night refuses, each with what to do instead.

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use store::offline::SnapshotManifest;
use store::release::Release;

use super::{RunRequest, snapshot_of};
use crate::error::{Error, Result};

/// Refuses names of views that are not declared.
pub(super) fn unknown_views(definitions: &Definitions, request: &RunRequest) -> Result<()> {
    for name in request.views.iter().flatten() {
        if !definitions.views.contains_key(name) {
            let known: Vec<&str> = definitions.views.keys().map(Name::as_str).collect();
            return Err(Error::unknown("view", name, &known));
        }
    }
    Ok(())
}

/// Refuses an as-of that has not come: the same night would give other rows later (rule 10).
pub(super) fn the_future(as_of: Instant, now: Instant) -> Result<()> {
    if as_of <= now {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "as-of {as_of} is in the future, it is {now} now: what will be known then is not known yet; look from now or earlier"
    )))
}

/// Refuses an as-of before the served release's, unless it is allowed: serving would forget what is known since.
pub(super) fn earlier(request: &RunRequest, served: Option<&Release>) -> Result<()> {
    let served = served.filter(|served| served.as_of > request.as_of);
    let Some(served) = served.filter(|_| !request.allow_earlier) else {
        return Ok(());
    };
    Err(Error::Refused(format!(
        "release {}, which is served, is as of {}, later than {}: with this night, serving would go back in time; `nightfill features --as-of` and `nightfill training-set` look at the past, `nightfill release rollback` serves an earlier release, and `--allow-earlier` runs this night all the same",
        served.number, served.as_of, request.as_of
    )))
}

/// Refuses to keep snapshots of later instants: a release holds nothing that was not known at its as-of.
pub(super) fn later_snapshots(
    definitions: &Definitions,
    request: &RunRequest,
    served: Option<&Release>,
    due: &[&Name],
) -> Result<()> {
    for view in definitions.views.values() {
        let kept = served.and_then(|release| snapshot_of(release, view));
        let kept = kept.filter(|kept| !due.contains(&&view.name) && kept.as_of > request.as_of);
        if let Some(kept) = kept {
            return Err(Error::Refused(format!(
                "view `{}` would be kept as of {}, which is later than this night's as-of {}: a release holds nothing that was not known at its as-of; compute `{}` too, or look from {} or later",
                view.name, kept.as_of, request.as_of, view.name, kept.as_of
            )));
        }
    }
    Ok(())
}

/// Refuses a view without any row where the served release has some.
pub(super) fn emptied(
    served: Option<&Release>,
    new: &SnapshotManifest,
    as_of: Instant,
) -> Result<()> {
    let Some(served) = served.filter(|_| new.rows == 0) else {
        return Ok(());
    };
    let mut views = served.views.iter();
    let before = views.find(|before| before.view == new.identity.view && before.rows > 0);
    before.map_or(Ok(()), |before| {
        let message = format!(
            "has no row as of {as_of}, where release {} serves {}: are its sources empty by mistake? `--allow-empty` publishes it all the same",
            served.number, before.rows
        );
        Err(Error::view(&new.identity.view, message))
    })
}
