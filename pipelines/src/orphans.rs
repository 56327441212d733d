//! Snapshots of views that are no longer defined: finding them, and taking them away once somebody says so.
//!
//! Taking a view out of the definitions takes nothing away: its snapshots stay readable until [`drop_view`]. Releases are
//! no reason to keep them, because the online store has its own copy of every row that a release serves; the served
//! release is one all the same, so that nothing is dropped that somebody is being answered with.

use std::path::PathBuf;
use std::sync::Arc;

use feature_defs::definitions::Definitions;
use feature_defs::name::Name;
use feature_defs::time::{Clock, TimeSpan};
use store::offline::{KeptSnapshots, OfflineStore};
use store::online::OnlineStore;
use store::registry::Registry;

use crate::applied::applied;
use crate::error::{Error, Result};
use crate::lease::HeldLease;
use crate::progress::Progress;

/// A view that is not defined, and of which snapshots are kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Orphan {
    /// The view.
    pub view: Name,
    /// How much is kept of it.
    #[serde(flatten)]
    pub kept: KeptSnapshots,
}

/// The views that definitions do not have and of which snapshots are kept, sorted.
///
/// # Errors
/// When the store does not answer.
pub async fn orphans(offline: &dyn OfflineStore, definitions: &Definitions) -> Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for view in offline.views().await? {
        if !definitions.views.contains_key(&view) {
            let kept = offline.kept(&view).await?;
            orphans.push(Orphan { view, kept });
        }
    }
    Ok(orphans)
}

/// What a clean-up works with.
#[derive(Debug, Clone)]
pub struct CleanUp {
    /// The record.
    pub registry: Arc<dyn Registry>,
    /// Where snapshots are kept.
    pub offline: Arc<dyn OfflineStore>,
    /// Where releases are served from.
    pub online: Arc<dyn OnlineStore>,
    /// The time, for the lease.
    pub clock: Arc<dyn Clock>,
}

/// What a clean-up is asked for.
#[derive(Debug, Clone)]
pub struct DropRequest {
    /// The view whose snapshots go.
    pub view: Name,
    /// The project's root.
    pub root: PathBuf,
    /// Who cleans up, for the lease.
    pub holder: String,
    /// How long the lease of a night or a clean-up that died keeps the next one waiting.
    pub lease_length: TimeSpan,
}

/// Takes away all snapshots of a view that is neither applied nor served, under the lease of nights. Killed anywhere, it
/// leaves whole snapshots or none, and the same call again takes away the rest; where nothing is left it does nothing.
///
/// # Errors
/// When the view is applied, or in the served release, or nothing was applied yet; `Conflict` when a night is running;
/// when a store does not answer.
pub async fn drop_view(
    clean_up: &CleanUp,
    request: &DropRequest,
    progress: &dyn Progress,
) -> Result<KeptSnapshots> {
    let lease = HeldLease::acquire(
        &clean_up.registry,
        &clean_up.clock,
        &request.holder,
        request.lease_length,
        progress,
    )
    .await?;
    let dropped = drop_under_lease(clean_up, request, &lease).await;
    let released = lease.release().await;
    let dropped = dropped?;
    released?;
    Ok(dropped)
}

async fn drop_under_lease(
    clean_up: &CleanUp,
    request: &DropRequest,
    lease: &HeldLease,
) -> Result<KeptSnapshots> {
    // Under the lease, because an apply or a night may have come before it.
    refuse_what_is_needed(clean_up, request).await?;
    lease.check()?;
    Ok(clean_up.offline.drop_view(&request.view).await?)
}

/// What [`drop_view`] would take away now, without doing it.
///
/// # Errors
/// As [`drop_view`], but for the lease, which is not taken.
pub async fn would_drop(clean_up: &CleanUp, request: &DropRequest) -> Result<KeptSnapshots> {
    refuse_what_is_needed(clean_up, request).await?;
    Ok(clean_up.offline.kept(&request.view).await?)
}

async fn refuse_what_is_needed(clean_up: &CleanUp, request: &DropRequest) -> Result<()> {
    let view = &request.view;
    let Some((definitions, version)) = applied(&*clean_up.registry, &request.root).await? else {
        return Err(Error::Refused(
            "no definitions are applied yet, so that no view is known to be gone: run `nightfill apply` first".to_owned(),
        ));
    };
    if definitions.views.contains_key(view) {
        return Err(Error::Refused(format!(
            "view `{view}` is applied (version {version}): take it out of the definition files and `nightfill apply` them first"
        )));
    }
    let Some(served) = clean_up.online.served().await? else {
        return Ok(());
    };
    let release = clean_up.online.release(served).await?;
    if release.views.iter().any(|kept| kept.view == *view) {
        return Err(Error::Refused(format!(
            "release {served}, which is served, has view `{view}`: `nightfill run` publishes one without it"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
