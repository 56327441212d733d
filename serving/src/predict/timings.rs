//! How long each step of an answer took.

use std::fmt::Write;
use std::time::Duration;

use feature_defs::time::Stopwatch;

use crate::predict::json::write_integer;

/// The steps, in order.
pub(crate) const STEPS: [&str; 6] = ["parse", "fetch", "request", "assemble", "score", "respond"];

/// How long each step of one answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    durations: [Duration; STEPS.len()],
}

/// One of [`STEPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Parse,
    Fetch,
    Request,
    Assemble,
    Score,
    Respond,
}

/// Measures step after step.
#[derive(Debug)]
pub(crate) struct Steps {
    watch: Stopwatch,
    timings: Timings,
}

impl Steps {
    pub(crate) fn start() -> Self {
        Self {
            watch: Stopwatch::start(),
            timings: Timings::default(),
        }
    }

    /// `step` ends now.
    pub(crate) fn end(&mut self, step: Step) {
        self.timings.durations[step as usize] += self.watch.lap();
    }

    pub(crate) const fn timings(&self) -> Timings {
        self.timings
    }
}

impl Timings {
    /// Each step's name and duration, in order: parse, fetch, request, assemble, score, respond.
    pub fn steps(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        STEPS.into_iter().zip(self.durations)
    }

    pub(crate) const fn durations(&self) -> [Duration; STEPS.len()] {
        self.durations
    }

    /// The value of a `Server-Timing` header, in milliseconds: `parse;dur=0.003, fetch;dur=0.005`.
    #[must_use]
    pub fn server_timing(&self) -> String {
        let mut text = String::with_capacity(128);
        for (step, duration) in self.steps() {
            let separator = if text.is_empty() { "" } else { ", " };
            let micros = tenths_of_micros(duration);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{separator}{step};dur={}.{:04}",
                micros / 10_000,
                micros % 10_000
            );
        }
        text
    }

    /// Appends `{"parse": 3.1, "fetch": 5.0, ...}` in microseconds.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (position, (step, duration)) in self.steps().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(step.as_bytes());
            out.extend_from_slice(b"\":");
            let tenths = tenths_of_micros(duration);
            write_integer(tenths / 10, out);
            out.push(b'.');
            write_integer(tenths % 10, out);
        }
        out.push(b'}');
    }
}

fn tenths_of_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}
