//! Nights by the clock: each view when its cron expression says so, in its own zone.
//!
//! A tick comes each minute (from `tokio-cron-scheduler`); at a tick, the views whose schedule fell due since the tick
//! before are computed in one night, as of the newest instant that was due, or of the served release's as-of if that is
//! later. A night that takes longer than a minute
//! holds the ticks back, and what fell due meanwhile is one night: nights never overlap, and none is run twice.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;

use chrono::DateTime;
use chrono_tz::Tz;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::Schedule;
use feature_defs::name::Name;
use feature_defs::time::{Instant, TimeSpan};
use store::release::Release;
use tokio::sync::mpsc;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::applied::applied;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::run::{Night, RunReport, RunRequest, run, served_release};

/// How nights are run by the clock.
#[derive(Debug, Clone)]
pub struct ScheduleSettings {
    /// The project's root, where sources are.
    pub root: PathBuf,
    /// Who runs the nights, for their leases.
    pub holder: String,
    /// How long the lease of a night that died keeps the next one waiting.
    pub lease_length: TimeSpan,
}

/// A night that the clock asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The newest instant at which one of the views fell due.
    pub as_of: Instant,
    /// The views that fell due, in the order of definitions.
    pub views: Vec<Name>,
}

impl Due {
    /// Looks from the served release's as-of if that is later: a night that somebody ran by hand meanwhile has views
    /// as of then, and a release keeps nothing later than its as-of.
    fn not_before(&mut self, served: Option<&Release>, now: Instant) {
        let served = served.map(|release| release.as_of);
        if let Some(served) = served.filter(|served| *served <= now) {
            self.as_of = self.as_of.max(served);
        }
    }
}

/// The first instant after `now` at which a schedule falls due.
#[must_use]
pub fn next_due(schedule: &Schedule, now: Instant) -> Option<Instant> {
    let minute = minute_of(now, schedule)?;
    let cron = Schedule::read_cron(&schedule.cron)?;
    let next = cron.find_next_occurrence(&minute, false).ok()?;
    Some(Instant::from_micros(next.timestamp_micros()))
}

/// The second at which ticks come, each minute.
const EACH_MINUTE: &str = "0 * * * * *";

/// Runs nights with the newest applied definitions until `stop` is ready; a night that is going on then is finished
/// first. A night that fails is told to `report` like one that succeeds, and the next is tried when it falls due.
/// Schedules that fell due before the start are not caught up with.
///
/// # Errors
/// When the clock cannot be started. Failures of nights end nothing.
pub async fn run_forever(
    night: &Night,
    settings: &ScheduleSettings,
    progress: &dyn Progress,
    report: &(dyn Fn(&Due, Result<RunReport>) + Send + Sync),
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let failed = |e: JobSchedulerError| Error::Refused(format!("the clock cannot be started: {e}"));
    let (sender, mut ticks) = mpsc::channel(1);
    let mut clock = JobScheduler::new().await.map_err(failed)?;
    let job = Job::new_async(EACH_MINUTE, move |_, _| {
        // A tick that finds another one waiting adds nothing to it.
        let _ = sender.try_send(());
        Box::pin(std::future::ready(()))
    });
    clock.add(job.map_err(failed)?).await.map_err(failed)?;
    clock.start().await.map_err(failed)?;

    let mut stop = pin!(stop);
    let mut since = night.clock.now();
    loop {
        let ticked = tokio::select! {
            biased;
            () = &mut stop => false,
            tick = ticks.recv() => tick.is_some(),
        };
        if !ticked {
            return clock.shutdown().await.map_err(failed);
        }
        let now = night.clock.now();
        at_tick(night, settings, (since, now), progress, report).await;
        since = now;
    }
}

/// Runs what fell due after `since` and not after `now`.
async fn at_tick(
    night: &Night,
    settings: &ScheduleSettings,
    (since, now): (Instant, Instant),
    progress: &dyn Progress,
    report: &(dyn Fn(&Due, Result<RunReport>) + Send + Sync),
) {
    let (definitions, version) = match applied(&*night.registry, &settings.root).await {
        Ok(Some(applied)) => applied,
        Ok(None) => return,
        Err(error) => {
            tracing::error!(%error, "the applied definitions cannot be read");
            return;
        }
    };
    if let Some(mut due) = due(&definitions, since, now) {
        match served_release(night).await {
            Ok(served) => due.not_before(served.as_ref(), now),
            Err(error) => return report(&due, Err(error)),
        }
        let request = RunRequest {
            allow_empty: false,
            allow_failed_checks: false,
            // The served release is as of the future: somebody's clock was wrong, and nights go on.
            allow_earlier: true,
            as_of: due.as_of,
            views: Some(due.views.clone()),
            holder: settings.holder.clone(),
            lease_length: settings.lease_length,
        };
        let result = run(night, &definitions, version, &request, progress).await;
        report(&due, result);
    }
}

/// The views whose schedules fell due after `since` and not after `now`, if any.
#[must_use]
pub fn due(definitions: &Definitions, since: Instant, now: Instant) -> Option<Due> {
    let mut views = Vec::new();
    let mut newest = None;
    for view in definitions.views.values() {
        let last = view
            .schedule
            .as_ref()
            .and_then(|schedule| last_due(schedule, now));
        if let Some(last) = last.filter(|last| *last > since) {
            views.push(view.name.clone());
            newest = newest.max(Some(last));
        }
    }
    newest.map(|as_of| Due { as_of, views })
}

/// The newest instant, not after `now`, at which a schedule fell due.
fn last_due(schedule: &Schedule, now: Instant) -> Option<Instant> {
    let minute = minute_of(now, schedule)?;
    let cron = Schedule::read_cron(&schedule.cron)?;
    let last = cron.find_previous_occurrence(&minute, true).ok()?;
    Some(Instant::from_micros(last.timestamp_micros()))
}

/// The start of an instant's minute, in the zone of a schedule, which says minutes: a search keeps what is below its last
/// field.
fn minute_of(instant: Instant, schedule: &Schedule) -> Option<DateTime<Tz>> {
    let minute = instant.micros() - instant.micros().rem_euclid(60_000_000);
    let utc = DateTime::from_timestamp_micros(minute)?;
    Some(utc.with_timezone(&schedule.timezone))
}

#[cfg(test)]
mod tests {
    use feature_defs::aggregation::AggregateFunction;

    use super::*;
    use crate::testing::*;

    fn scheduled(schedules: &[(&str, &str, chrono_tz::Tz)]) -> Definitions {
        let mut definitions = cdnow();
        for (view, cron, timezone) in schedules {
            let aggregates = [("n", AggregateFunction::Count, None)];
            add_windows(
                &mut definitions,
                view,
                "customer",
                "purchases",
                &aggregates,
                &["7d"],
            );
            let schedule = Schedule {
                cron: (*cron).to_owned(),
                timezone: *timezone,
            };
            definitions.views[&name(view)].schedule = Some(schedule);
        }
        definitions
    }

    #[test]
    fn views_fall_due_in_their_own_zone_and_missed_ticks_are_one_night() {
        let berlin = chrono_tz::Europe::Berlin;
        let definitions = scheduled(&[("a", "0 2 * * *", berlin), ("b", "30 * * * *", berlin)]);
        let due = |since, now| due(&definitions, at(since), at(now));
        let night = |as_of, views: &[&str]| Due {
            as_of: at(as_of),
            views: views.iter().map(|view| name(view)).collect(),
        };
        // 02:00 in Berlin is 00:00 UTC in summer and 01:00 UTC in winter.
        assert_eq!(due("2024-07-01T00:00:00Z", "2024-07-01T00:29:00Z"), None);
        let summer = due("2024-06-30T23:59:00Z", "2024-07-01T00:00:00.4Z");
        assert_eq!(summer, Some(night("2024-07-01T00:00:00Z", &["a"])));
        let winter = due("2024-01-01T00:59:00Z", "2024-01-01T01:00:00Z");
        assert_eq!(winter, Some(night("2024-01-01T01:00:00Z", &["a"])));
        let long_pause = due("2024-01-01T12:00:00Z", "2024-01-04T01:10:00Z");
        assert_eq!(long_pause, Some(night("2024-01-04T01:00:00Z", &["a", "b"])));
    }

    #[test]
    fn the_next_instant_is_after_now_and_in_the_zone_of_the_schedule() {
        let next = |cron: &str, timezone, now| {
            let cron = cron.to_owned();
            next_due(&Schedule { cron, timezone }, at(now))
        };
        let berlin = chrono_tz::Europe::Berlin;
        for (now, expected) in [
            ("2024-06-30T23:59:59.5Z", "2024-07-01T00:00:00Z"),
            ("2024-07-01T00:00:00Z", "2024-07-02T00:00:00Z"),
            ("2024-01-01T00:00:00.5Z", "2024-01-01T01:00:00Z"),
        ] {
            let found = next("0 2 * * *", berlin, now).map(|next| next.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{now}");
        }
    }

    #[test]
    fn a_night_looks_from_no_earlier_than_the_served_release() {
        let served = |as_of| {
            let mut release = store::conformance::online::release(1, Vec::new());
            release.as_of = at(as_of);
            release
        };
        for (served, expected) in [
            (None, "2024-01-02"),
            (Some(served("2024-01-01")), "2024-01-02"),
            (Some(served("2024-01-03")), "2024-01-03"),
            (Some(served("2024-01-05")), "2024-01-02"),
        ] {
            let mut due = Due {
                as_of: at("2024-01-02"),
                views: vec![name("a")],
            };
            due.not_before(served.as_ref(), at("2024-01-04"));
            assert_eq!(due.as_of, at(expected), "{served:?}");
        }
    }

    #[test]
    fn views_without_a_schedule_never_fall_due() {
        let mut definitions = scheduled(&[("a", "* * * * *", chrono_tz::UTC)]);
        definitions.views[&name("a")].schedule = None;
        assert_eq!(due(&definitions, at("2024-01-01"), at("2025-01-01")), None);
    }
}
