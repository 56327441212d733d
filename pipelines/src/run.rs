//! The night, top to bottom: `lease -> due views -> compute -> keep offline -> gates -> stage -> register -> flip ->
//! record`.
//!
//! Each step can be repeated and state moves last (rule 13): killed at any instant, a night leaves the served release
//! as it was, and the next night finds what is done and goes on.

mod refusals;

use std::sync::Arc;

use feature_defs::definitions::Definitions;
use feature_defs::feature_view::FeatureView;
use feature_defs::name::Name;
use feature_defs::time::{Clock, Instant, Stopwatch, TimeSpan};
use store::offline::OfflineStore;
use store::online::OnlineStore;
use store::registry::{NewRun, Registry, RunOutcome};
use store::release::{Release, ReleaseModel, ReleaseNumber, ReleaseView};

use crate::bundles::newest_bundles;
use crate::error::{Error, Result};
use crate::gates::{self, CheckReport};
use crate::lease::HeldLease;
use crate::progress::{Event, Progress};
use crate::publish::{Kept, keep, stage};
use crate::session::Session;
use crate::sources::OpenSources;
use crate::view_rows::KeptViews;

/// What a night works with.
#[derive(Debug, Clone)]
pub struct Night {
    /// The engine.
    pub session: Session,
    /// The record.
    pub registry: Arc<dyn Registry>,
    /// Where snapshots are kept.
    pub offline: Arc<dyn OfflineStore>,
    /// Where releases are served from.
    pub online: Arc<dyn OnlineStore>,
    /// The time for stamps of the record; never for what is computed.
    pub clock: Arc<dyn Clock>,
}

/// What a night is asked for.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The instant from which the night looks.
    pub as_of: Instant,
    /// The views to compute, all of them for `None`. The others keep their served snapshots.
    pub views: Option<Vec<Name>>,
    /// Whether a view may be published without any row where the served release has some. Refused else: sources that are
    /// empty by mistake would take every customer's features away.
    pub allow_empty: bool,
    /// Whether the night may look from before the served release's as-of, so that serving goes back in time.
    pub allow_earlier: bool,
    /// Whether a release is made although checks fail that block one.
    pub allow_failed_checks: bool,
    /// Who runs it, for the lease.
    pub holder: String,
    /// How long the lease of a night that died keeps the next one waiting.
    pub lease_length: TimeSpan,
}

/// What a night did.
#[derive(Debug, Clone, serde::Serialize)]
pub struct RunReport {
    /// The instant from which it looked.
    pub as_of: Instant,
    /// The release that was served before.
    pub from: Option<ReleaseNumber>,
    /// The release that is served now; equal to `from` when nothing had changed.
    pub to: ReleaseNumber,
    /// One entry a view, in the order of definitions.
    pub views: Vec<ViewReport>,
    /// One entry a check of the views that were computed, by view, then in the order of definitions.
    pub checks: Vec<CheckReport>,
    /// Seconds in all.
    pub seconds: f64,
}

/// What a night did for one view.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ViewReport {
    /// The view.
    pub view: Name,
    /// The as-of of its snapshot: earlier than the night's when the snapshot was kept from the served release.
    pub as_of: Instant,
    /// Whether the night computed it.
    pub computed: bool,
    /// Rows of sources that were seen; 0 when not computed.
    pub rows_read: u64,
    /// Rows that were passed over because their key has a null; 0 when not computed.
    pub rows_without_key: u64,
    /// Rows of the snapshot, one a key.
    pub keys: u64,
    /// Rows of the snapshot that was served before; none where the view was not served.
    pub rows_before: Option<u64>,
    /// Whether the snapshot has other content than the one that was served before.
    pub changed: bool,
    /// Rows written to the online store; 0 when it had this content already.
    pub rows_written: u64,
    /// Seconds for the view.
    pub seconds: f64,
}

impl RunReport {
    /// Whether another release is served than before.
    #[must_use]
    pub fn flipped(&self) -> bool {
        self.from != Some(self.to)
    }
}

/// Runs a night with `definitions`, which are version `version` in the registry.
///
/// # Errors
/// A request that looks from the future, or from before the served release without being allowed to, names an unknown
/// view, or would keep a later snapshot; those of sources and computations; `Conflict` when another night runs or published meanwhile. What was served
/// before stays served.
pub async fn run(
    night: &Night,
    definitions: &Definitions,
    version: u64,
    request: &RunRequest,
    progress: &dyn Progress,
) -> Result<RunReport> {
    refusals::unknown_views(definitions, request)?;
    refusals::the_future(request.as_of, night.clock.now())?;
    refusals::earlier(request, served_release(night).await?.as_ref())?;
    let lease = HeldLease::acquire(
        &night.registry,
        &night.clock,
        &request.holder,
        request.lease_length,
        progress,
    )
    .await?;
    let new_run = NewRun {
        as_of: request.as_of,
        definitions_version: version,
        started_at: night.clock.now(),
    };
    let run = night.registry.start_run(&new_run).await?;
    let result = publish(night, definitions, version, request, &lease, progress).await;
    let outcome = match &result {
        Ok(report) if report.flipped() => RunOutcome::Published { release: report.to },
        Ok(report) => RunOutcome::Unchanged { release: report.to },
        Err(error) => RunOutcome::Failed {
            message: error.to_string(),
        },
    };
    let recorded = night
        .registry
        .finish_run(run, night.clock.now(), &outcome)
        .await;
    let released = lease.release().await;
    let report = result?;
    recorded?;
    released?;
    Ok(report)
}

/// The work of the night, under its lease.
async fn publish(
    night: &Night,
    definitions: &Definitions,
    version: u64,
    request: &RunRequest,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<RunReport> {
    let watch = Stopwatch::start();
    let served = served_release(night).await?;
    let models = models(night, definitions).await?;
    let due = due_views(definitions, request, served.as_ref());
    // Another night may have published while this one waited for the lease.
    refusals::earlier(request, served.as_ref())?;
    refusals::later_snapshots(definitions, request, served.as_ref(), &due)?;
    progress.event(Event::Planned { views: due.len() });
    let sources = OpenSources::of_views(
        &night.session,
        definitions,
        due.iter().copied(),
        request.as_of,
        progress,
    );
    let sources = Arc::new(sources.await?);
    let reading = &Night {
        session: night.session.reading(Arc::clone(&sources)),
        ..night.clone()
    };

    let mut reports = Vec::new();
    let mut views = Vec::new();
    let mut checks = Vec::new();
    let mut computed = Vec::new();
    let mut kept_views = KeptViews::new(Arc::clone(&night.offline));
    for view in definitions.with_read_views(definitions.views.keys()) {
        let before = served
            .as_ref()
            .and_then(|release| snapshot_of(release, view));
        if let Some(kept) = before.filter(|_| !due.contains(&&view.name)) {
            reports.push(kept_report(kept));
            views.push(kept.clone());
            continue;
        }
        let as_of = request.as_of;
        let kept = compute_view(
            reading,
            definitions,
            view,
            as_of,
            &kept_views,
            lease,
            progress,
        );
        let kept = kept.await?;
        let manifest = &kept.snapshot.manifest;
        if !request.allow_empty {
            refusals::emptied(served.as_ref(), manifest, as_of)?;
        }
        checks.extend(gates::check_view(view, manifest, before, night.offline.as_ref()).await?);
        kept_views.add(manifest.clone());
        computed.push(kept);
    }
    sources.check(definitions).await?;
    if !request.allow_failed_checks {
        gates::open(&checks)?;
    }
    for kept in computed {
        let staged = stage_view(night, definitions, kept, lease, progress).await?;
        reports.push(staged.report(served.as_ref()));
        views.push(staged.release_view);
    }
    views.sort_by(|a, b| a.view.cmp(&b.view));
    reports.sort_by_key(|report| definitions.views.get_index_of(&report.view));

    let proposed = Release {
        number: ReleaseNumber(0),
        as_of: request.as_of,
        created_at: night.clock.now(),
        definitions_version: version,
        definitions: definitions.fingerprint,
        views,
        models,
    };
    let to = serve(night, served.as_ref(), proposed, lease, progress).await?;
    Ok(RunReport {
        as_of: request.as_of,
        from: served.map(|release| release.number),
        to,
        views: reports,
        checks,
        seconds: watch.elapsed().as_secs_f64(),
    })
}

pub(crate) async fn served_release(night: &Night) -> Result<Option<Release>> {
    match night.online.served().await? {
        Some(number) => Ok(Some(night.online.release(number).await?)),
        None => Ok(None),
    }
}

/// The views that were asked for, those that the served release does not have as they are defined now, and all that these
/// read: a view and what it reads are computed as of one instant.
fn due_views<'a>(
    definitions: &'a Definitions,
    request: &RunRequest,
    served: Option<&Release>,
) -> Vec<&'a Name> {
    let asked = |name: &Name| {
        request
            .views
            .as_ref()
            .is_none_or(|names| names.contains(name))
    };
    let views = definitions.views.values();
    let views = views.filter(|view| {
        asked(&view.name) || served.is_none_or(|release| snapshot_of(release, view).is_none())
    });
    let due = definitions.with_read_views(views.map(|view| &view.name));
    due.into_iter().map(|view| &view.name).collect()
}

/// A view that a night computes besides those that it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnaskedView<'a> {
    /// Which.
    pub view: &'a Name,
    /// A view that is computed and reads it; `None` where the served release does not have it as it is defined now.
    pub read_by: Option<&'a Name>,
}

/// The views that a night computes besides those that it is asked for, each behind what it reads.
#[must_use]
pub fn unasked_views<'a>(
    definitions: &'a Definitions,
    request: &RunRequest,
    served: Option<&Release>,
) -> Vec<UnaskedView<'a>> {
    let due = due_views(definitions, request, served);
    let readers = due.iter().map(|reader| &definitions.views[*reader]);
    let reader_of = |view: &Name| {
        let mut readers = readers.clone();
        readers.find(|reader| reader.computation.views().contains(view))
    };
    let is_served = |view: &Name| {
        served.is_some_and(|served| snapshot_of(served, &definitions.views[view]).is_some())
    };
    let asked = request.views.as_deref();
    due.iter()
        .filter(|view| asked.is_some_and(|asked| !asked.contains(view)))
        .map(|view| UnaskedView {
            view,
            read_by: reader_of(view)
                .filter(|_| is_served(view))
                .map(|reader| &reader.name),
        })
        .collect()
}

fn snapshot_of<'a>(release: &'a Release, view: &FeatureView) -> Option<&'a ReleaseView> {
    let mut views = release.views.iter();
    views.find(|kept| kept.view == view.name && kept.fingerprint == view.fingerprint)
}

fn kept_report(kept: &ReleaseView) -> ViewReport {
    ViewReport {
        view: kept.view.clone(),
        as_of: kept.as_of,
        computed: false,
        rows_read: 0,
        rows_without_key: 0,
        keys: kept.rows,
        rows_before: Some(kept.rows),
        changed: false,
        rows_written: 0,
        seconds: 0.0,
    }
}

/// A view that the night computed.
struct ComputedView {
    release_view: ReleaseView,
    rows_read: u64,
    rows_without_key: u64,
    rows_written: u64,
    seconds: f64,
}

impl ComputedView {
    /// What is told of it, beside what was served before.
    fn report(&self, served: Option<&Release>) -> ViewReport {
        let computed = &self.release_view;
        let mut views = served.into_iter().flat_map(|release| &release.views);
        let before = views.find(|kept| kept.view == computed.view);
        ViewReport {
            view: computed.view.clone(),
            as_of: computed.as_of,
            computed: true,
            rows_read: self.rows_read,
            rows_without_key: self.rows_without_key,
            keys: computed.rows,
            rows_before: before.map(|before| before.rows),
            changed: before.is_none_or(|before| before.content != computed.content),
            rows_written: self.rows_written,
            seconds: self.seconds,
        }
    }
}

/// A view that the night computed and kept offline.
struct KeptView<'a> {
    view: &'a FeatureView,
    snapshot: Kept,
    seconds: f64,
}

async fn compute_view<'a>(
    night: &Night,
    definitions: &Definitions,
    view: &'a FeatureView,
    as_of: Instant,
    kept_views: &KeptViews,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<KeptView<'a>> {
    let watch = Stopwatch::start();
    progress.event(Event::ViewStarted { view: &view.name });
    lease.check()?;
    let kept = keep(
        &night.session,
        definitions,
        view,
        as_of,
        night.offline.as_ref(),
        kept_views,
        progress,
    );
    let snapshot = kept
        .await
        .map_err(|e| e.in_view(&view.name, &night.session))?;
    progress.event(Event::Kept { view: &view.name });
    Ok(KeptView {
        view,
        snapshot,
        seconds: watch.elapsed().as_secs_f64(),
    })
}

async fn stage_view(
    night: &Night,
    definitions: &Definitions,
    kept: KeptView<'_>,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<ComputedView> {
    let watch = Stopwatch::start();
    let (view, snapshot) = (kept.view, kept.snapshot);
    let (offline, online) = (night.offline.as_ref(), night.online.as_ref());
    let staged = stage(
        definitions,
        view,
        &snapshot.manifest,
        offline,
        online,
        lease,
        progress,
    );
    let staged = staged.await?;
    let keys = snapshot.manifest.rows;
    progress.event(Event::ViewFinished {
        view: &view.name,
        keys,
    });
    Ok(ComputedView {
        release_view: staged.release_view,
        rows_read: snapshot.rows_read,
        rows_without_key: snapshot.without_key,
        rows_written: if staged.written { keys } else { 0 },
        seconds: kept.seconds + watch.elapsed().as_secs_f64(),
    })
}

/// The bundles that the release takes. One that does not fit its service is refused before anything is computed.
async fn models(night: &Night, definitions: &Definitions) -> Result<Vec<ReleaseModel>> {
    let mut models = Vec::new();
    for bundle in newest_bundles(night.registry.as_ref(), definitions).await? {
        if let Some(why) = bundle.misfit {
            return Err(Error::Refused(format!(
                "the newest bundle of model `{}` cannot be released: {why}",
                bundle.model
            )));
        }
        models.push(ReleaseModel {
            model: bundle.model,
            bundle: bundle.fingerprint,
        });
    }
    Ok(models)
}

/// Serves a release with the proposed content: the one that is served already, one that a night registered before it
/// died, or a new one.
async fn serve(
    night: &Night,
    served: Option<&Release>,
    proposed: Release,
    lease: &HeldLease,
    progress: &dyn Progress,
) -> Result<ReleaseNumber> {
    let same = served.filter(|served| same_content(served, &proposed));
    if let Some(same) = same {
        night.registry.record_release(same).await?;
        return Ok(same.number);
    }
    let release = match registered_before(night, served, &proposed).await? {
        Some(registered) => registered,
        None => {
            lease.check()?;
            let number = night.registry.reserve_release_number().await?;
            let release = Release { number, ..proposed };
            lease.check()?;
            night.online.register(&release).await?;
            release
        }
    };
    let from = served.map(|served| served.number);
    lease.check()?;
    night.online.flip(from, release.number).await?;
    progress.event(Event::Flipped {
        from,
        to: release.number,
    });
    night.registry.record_release(&release).await?;
    Ok(release.number)
}

/// A release with the proposed content that was registered after the served one and never served.
async fn registered_before(
    night: &Night,
    served: Option<&Release>,
    proposed: &Release,
) -> Result<Option<Release>> {
    let releases = night.online.releases().await?;
    let recorded = night.registry.releases().await?;
    Ok(releases.into_iter().rev().find(|release| {
        let is_newer = served.is_none_or(|served| release.number > served.number);
        let was_served = recorded.iter().any(|other| other.number == release.number);
        is_newer && !was_served && same_content(release, proposed)
    }))
}

/// Whether two releases differ in number and time of registration at most.
fn same_content(a: &Release, b: &Release) -> bool {
    let b = Release {
        number: a.number,
        created_at: a.created_at,
        ..b.clone()
    };
    *a == b
}

#[cfg(test)]
mod tests;
