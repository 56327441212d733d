//! How long each step of an answer took.

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
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(step);
            text.push_str(";dur=");
            push_millis(tenths_of_micros(duration), &mut text);
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

/// Digit by digit: formatting six numbers took as long as reading a row.
fn push_millis(tenths_of_micros: u64, text: &mut String) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut rest = tenths_of_micros;
    // Four digits behind the point, and at least one before it.
    while rest > 0 || first > digits.len() - 5 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    for (place, digit) in digits.iter().enumerate().skip(first) {
        if place == digits.len() - 4 {
            text.push('.');
        }
        text.push(char::from(*digit));
    }
}

fn tenths_of_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_have_four_decimals_of_any_length() {
        let cases = [0, 1, 42, 9_999, 10_000, 123_456, 1_234_567_890, u64::MAX];
        for tenths in cases {
            let mut text = String::new();
            push_millis(tenths, &mut text);
            assert_eq!(text, format!("{}.{:04}", tenths / 10_000, tenths % 10_000));
        }
    }

    #[test]
    fn server_timing_names_each_step() {
        let durations = [0, 28_100, 1_000_000, 99, 100, 12_345_678].map(Duration::from_nanos);
        let text = Timings { durations }.server_timing();
        assert_eq!(
            text,
            "parse;dur=0.0000, fetch;dur=0.0281, request;dur=1.0000, assemble;dur=0.0000, score;dur=0.0001, respond;dur=12.3456"
        );
    }
}
