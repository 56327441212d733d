//! How a night, or a training set, shows that it works: a bar on a terminal, plain lines elsewhere, both on standard error.

use std::io::{IsTerminal, stderr};

use feature_defs::time::Instant;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipelines::progress::{Event, Progress};

use crate::output::{self, counted};

/// Steps of the bar a view: half of them for computing it, half for staging its rows.
const STEPS: u64 = 100;

/// From so many different instants on, a training set over a view of SQL takes long enough to say why.
const MANY: usize = 100;

/// Shows a night's events, and a training set's.
#[derive(Debug)]
pub(crate) struct Shown {
    /// None where standard error is no terminal.
    bar: Option<ProgressBar>,
}

impl Shown {
    /// A bar where standard error is a terminal, lines elsewhere.
    pub(crate) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr()).with_style(style)
        });
        Self { bar }
    }
}

impl Drop for Shown {
    /// The bar leaves no trace: what the night did is its answer.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Shown {
    fn event(&self, event: Event<'_>) {
        match &self.bar {
            Some(bar) => draw(bar, event),
            None => tell(event),
        }
    }
}

fn draw(bar: &ProgressBar, event: Event<'_>) {
    let view_start = bar.position() / STEPS * STEPS;
    match event {
        Event::Waiting { until } => bar.set_message(waiting(until)),
        Event::Planned { views } => bar.set_length(views as u64 * STEPS),
        Event::CopyStarted { source } => bar.set_message(format!("{source}: copying the table")),
        Event::Copied { source, rows } => {
            bar.set_message(format!("{source}: {} copied", counted(rows, "row")));
        }
        Event::ViewStarted { view } => bar.set_message(format!("{view}: computing")),
        Event::Computed { view, rows } => {
            bar.set_message(format!("{view}: {} computed", counted(rows, "key")));
        }
        Event::Kept { .. } => bar.inc(STEPS / 2),
        Event::Staged { view, rows, of } => {
            bar.set_message(format!("{view}: {rows} of {} staged", counted(of, "key")));
        }
        Event::ViewFinished { view, keys } => {
            bar.inc(STEPS / 2);
            bar.set_message(format!("{view}: {}", counted(keys, "key")));
        }
        Event::Instants { view, done, of } => {
            bar.set_position(view_start + (done as u64 * STEPS / of.max(1) as u64).min(STEPS - 1));
            bar.set_message(format!("{view}: {done} of {}", counted(of, "instant")));
        }
        Event::Joined { view } => {
            bar.set_position(view_start + STEPS);
            bar.set_message(view.to_string());
        }
        Event::Flipped { to, .. } => bar.set_message(format!("serving release {to}")),
    }
}

fn waiting(until: Instant) -> String {
    format!("another night runs, or died and left its lease: waiting, until {until} at most")
}

fn tell(event: Event<'_>) {
    match event {
        Event::Waiting { until } => output::note(waiting(until)),
        Event::CopyStarted { source } => {
            output::note(format_args!("{source}: copying the table"));
        }
        Event::Copied { source, rows } => {
            output::note(format_args!("{source}: {} copied", counted(rows, "row")));
        }
        Event::ViewStarted { view } => output::note(format_args!("{view}: computing")),
        Event::ViewFinished { view, keys } => {
            output::note(format_args!("{view}: {}", counted(keys, "key")));
        }
        Event::Flipped {
            from: Some(from),
            to,
        } => output::note(format_args!("flipped: {from} -> {to}")),
        Event::Flipped { from: None, to } => output::note(format_args!("flipped: none -> {to}")),
        Event::Instants { view, done: 0, of } if of >= MANY => output::note(format_args!(
            "{view}: {of} different instants, each a query of its own; an `as_of` rounded to the nights makes them fewer"
        )),
        Event::Instants { view, done, of } if of >= MANY && done % of.div_ceil(10) == 0 => {
            output::note(format_args!("{view}: {done} of {of} instants"));
        }
        Event::Planned { .. }
        | Event::Computed { .. }
        | Event::Kept { .. }
        | Event::Staged { .. }
        | Event::Instants { .. }
        | Event::Joined { .. } => {}
    }
}
