//! Every metric of the server, in one place, with units in the names and no entity keys as labels.

use std::time::Duration;

use feature_defs::as_of::State;
use feature_defs::time::Instant;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    Opts, Registry, TextEncoder,
};

use crate::predict::timings::{STEPS, Timings};

/// Upper edges of a step's histogram, in seconds: 1 microsecond to 1 second.
const STEP_BUCKETS: [f64; 16] = [
    1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 5e-2, 0.2, 1.0,
];

/// The states, in the order of [`StateCounts`].
const STATES: [State; 5] = [
    State::Present,
    State::Null,
    State::Missing,
    State::Expired,
    State::Unavailable,
];

/// The metrics of one server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    steps: [Histogram; STEPS.len()],
    states: [IntCounter; STATES.len()],
    defaulted: IntCounter,
    unscored: IntCounter,
    in_flight: IntGauge,
    release: IntGauge,
    release_as_of: Gauge,
    release_age: Gauge,
    release_failures: IntCounter,
}

/// How often each state was answered, counted without atomics while an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateCounts {
    states: [u64; STATES.len()],
    pub(crate) defaulted: u64,
    pub(crate) unscored: u64,
}

impl StateCounts {
    pub(crate) const fn add(&mut self, state: State) {
        let position = match state {
            State::Present => 0,
            State::Null => 1,
            State::Missing => 2,
            State::Expired => 3,
            State::Unavailable => 4,
        };
        self.states[position] += 1;
    }
}

impl Metrics {
    /// Fresh metrics.
    ///
    /// # Errors
    /// Never: names are distinct and well-formed. The signature is the metrics library's.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let requests = IntCounterVec::new(
            Opts::new(
                "nightfill_requests_total",
                "Answered requests by route and HTTP status",
            ),
            &["route", "status"],
        )?;
        let steps = HistogramVec::new(
            HistogramOpts::new(
                "nightfill_step_duration_seconds",
                "Time of each step of an answer",
            )
            .buckets(STEP_BUCKETS.to_vec()),
            &["step"],
        )?;
        let states = IntCounterVec::new(
            Opts::new(
                "nightfill_feature_states_total",
                "Answered feature values by state",
            ),
            &["state"],
        )?;
        let counter = |name: &str, help: &str| IntCounter::new(name, help);
        let metrics = Self {
            steps: STEPS.map(|step| steps.with_label_values(&[step])),
            states: STATES.map(|state| states.with_label_values(&[state.as_str()])),
            defaulted: counter(
                "nightfill_defaulted_values_total",
                "Answered feature values that a declared default replaced",
            )?,
            unscored: counter(
                "nightfill_unscored_results_total",
                "Results whose score is null because an input was unavailable",
            )?,
            in_flight: IntGauge::new(
                "nightfill_requests_in_flight",
                "Requests that are being answered",
            )?,
            release: IntGauge::new("nightfill_release_number", "The release that is served")?,
            release_as_of: Gauge::new(
                "nightfill_release_as_of_seconds",
                "As-of of the served release, seconds since 1970",
            )?,
            release_age: Gauge::new(
                "nightfill_release_age_seconds",
                "Time since the as-of of the served release",
            )?,
            release_failures: counter(
                "nightfill_release_load_failures_total",
                "Distinct failures to load a release; the one before keeps being served",
            )?,
            requests,
            registry,
        };
        metrics.register(states, steps)?;
        Ok(metrics)
    }

    fn register(
        &self,
        states: IntCounterVec,
        steps: HistogramVec,
    ) -> Result<(), prometheus::Error> {
        let all: [Box<dyn prometheus::core::Collector>; 10] = [
            Box::new(self.requests.clone()),
            Box::new(steps),
            Box::new(states),
            Box::new(self.defaulted.clone()),
            Box::new(self.unscored.clone()),
            Box::new(self.in_flight.clone()),
            Box::new(self.release.clone()),
            Box::new(self.release_as_of.clone()),
            Box::new(self.release_age.clone()),
            Box::new(self.release_failures.clone()),
        ];
        all.into_iter()
            .try_for_each(|one| self.registry.register(one))
    }

    /// Counts an answered request.
    pub(crate) fn count_request(&self, route: &str, status: &str) {
        self.requests.with_label_values(&[route, status]).inc();
    }

    /// Observes an answer's steps and states.
    pub(crate) fn observe(&self, timings: &Timings, counts: &StateCounts) {
        for (histogram, duration) in self.steps.iter().zip(timings.durations()) {
            histogram.observe(duration.as_secs_f64());
        }
        let counters = self.states.iter().zip(counts.states);
        let others = [
            (&self.defaulted, counts.defaulted),
            (&self.unscored, counts.unscored),
        ];
        for (counter, count) in counters.chain(others) {
            if count > 0 {
                counter.inc_by(count);
            }
        }
    }

    /// Counts a request as being answered until the guard is dropped.
    pub(crate) fn enter(&self) -> InFlight<'_> {
        self.in_flight.inc();
        InFlight(&self.in_flight)
    }

    /// A release is served from now on.
    pub(crate) fn serve_release(&self, number: u64, as_of: Instant) {
        self.release.set(i64::try_from(number).unwrap_or(i64::MAX));
        self.release_as_of.set(seconds(as_of.micros()));
    }

    /// A release could not be loaded.
    pub(crate) fn count_release_failure(&self) {
        self.release_failures.inc();
    }

    /// The Prometheus text format, with the release's age as of `now`.
    ///
    /// # Errors
    /// Never when writing to memory. The signature is the metrics library's.
    pub(crate) fn text(&self, now: Instant) -> Result<Vec<u8>, prometheus::Error> {
        if self.release.get() > 0 {
            let age = seconds(now.micros()) - self.release_as_of.get();
            self.release_age.set(age);
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

/// Counts a request as being answered; see [`Metrics::enter`].
#[derive(Debug)]
pub(crate) struct InFlight<'m>(&'m IntGauge);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[allow(clippy::cast_precision_loss)] // a metric for people
fn seconds(micros: i64) -> f64 {
    Duration::from_micros(micros.unsigned_abs()).as_secs_f64() * micros.signum() as f64
}
