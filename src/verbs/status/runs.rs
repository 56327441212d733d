//! What became of a run.

use serde_json::{Value, json};
use store::registry::{Run, RunOutcome};

pub(super) fn row(run: &Run) -> Vec<String> {
    vec![
        run.id.0.to_string(),
        run.run.as_of.to_string(),
        run.run.started_at.to_string(),
        outcome(run),
    ]
}

pub(super) fn json(run: &Run) -> Value {
    json!({
        "run": run.id,
        "as_of": run.run.as_of,
        "definitions_version": run.run.definitions_version,
        "started_at": run.run.started_at,
        "finished_at": run.finished.as_ref().map(|(at, _)| at),
        "outcome": run.finished.as_ref().map(|(_, outcome)| outcome),
    })
}

/// In one line: the rest of a longer message is in the JSON.
fn outcome(run: &Run) -> String {
    match &run.finished {
        None => "not finished".to_owned(),
        Some((_, RunOutcome::Published { release })) => format!("published release {release}"),
        Some((_, RunOutcome::Unchanged { release })) => {
            format!("nothing changed: release {release} stays served")
        }
        Some((_, RunOutcome::Failed { message })) => {
            let mut lines = message.lines();
            let first = lines.next().unwrap_or_default().trim_end();
            let rest = if lines.next().is_some() { " ..." } else { "" };
            format!("failed: {first}{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use feature_defs::time::Instant;
    use store::registry::{NewRun, RunId};

    use super::*;

    fn ended(outcome: RunOutcome) -> Run {
        let at = Instant::from_micros(0);
        Run {
            id: RunId(1),
            run: NewRun {
                as_of: at,
                definitions_version: 1,
                started_at: at,
            },
            finished: Some((at, outcome)),
        }
    }

    #[test]
    fn a_failure_is_told_in_one_line() {
        for (message, told) in [
            ("`spend` overflows", "failed: `spend` overflows"),
            ("two\nlines", "failed: two ..."),
            ("", "failed: "),
        ] {
            let message = message.to_owned();
            assert_eq!(outcome(&ended(RunOutcome::Failed { message })), told);
        }
    }

    #[test]
    fn a_run_that_changed_nothing_published_nothing() {
        let release = store::release::ReleaseNumber(3);
        for (run, told) in [
            (RunOutcome::Published { release }, "published release 3"),
            (
                RunOutcome::Unchanged { release },
                "nothing changed: release 3 stays served",
            ),
        ] {
            assert_eq!(outcome(&ended(run)), told);
        }
    }
}
