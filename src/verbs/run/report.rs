//! What a night did, for people.

use pipelines::gates::{CheckOutcome, CheckReport};
use pipelines::run::{RunReport, ViewReport};

use crate::output::{counted, table};

/// What a night did, in a line.
pub(crate) fn summary(report: &RunReport) -> String {
    let keys: u64 = report.views.iter().map(|view| view.keys).sum();
    let views = counted(report.views.len(), "view");
    let release = report.to;
    if report.flipped() {
        format!(
            "release {release} as of {}: {views}, {}",
            report.as_of,
            counted(keys, "row")
        )
    } else {
        format!(
            "release {release} as of {} is served already: nothing changed",
            report.as_of
        )
    }
}

/// What a night did: its release, a line a view, the flip.
pub(crate) fn describe(report: &RunReport) -> String {
    let rows: Vec<Vec<String>> = report
        .views
        .iter()
        .map(|view| {
            vec![
                format!("  {}", view.view),
                format!("{} read", counted(view.rows_read, "row")),
                counted(view.keys, "key"),
                format!("{:.2} s", view.seconds),
                outcome(view),
            ]
        })
        .collect();
    let from = report
        .from
        .map_or_else(|| "none".to_owned(), |from| from.to_string());
    let flip = if report.flipped() {
        format!("  flip {from} -> {}, now serving", report.to)
    } else {
        format!("  nothing changed: {} keeps serving", report.to)
    };
    let head = format!(
        "release {}  as of {}  {:.2} s",
        report.to, report.as_of, report.seconds
    );
    let views = table(&["  view", "", "", "", ""], &[1, 2, 3], &rows);
    let views: Vec<&str> = views.lines().skip(1).collect();
    let checks = checks(&report.checks);
    format!("{head}\n{}\n{checks}{flip}", views.join("\n"))
}

/// How many checks there were and what came of them, with a line for each that does not hold; nothing where none is
/// declared.
fn checks(checks: &[CheckReport]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let told = [
        (CheckOutcome::Passed, "passed"),
        (CheckOutcome::Warned, "warned"),
        (CheckOutcome::Blocked, "failed and was allowed to"),
        (
            CheckOutcome::NotCompared,
            "without anything to compare with",
        ),
    ];
    let number = |outcome| {
        checks
            .iter()
            .filter(|check| check.outcome == outcome)
            .count()
    };
    let numbers: Vec<String> = told
        .into_iter()
        .filter(|(outcome, _)| *outcome == CheckOutcome::Passed || number(*outcome) > 0)
        .map(|(outcome, word)| format!("{} {word}", number(outcome)))
        .collect();
    let failed = checks
        .iter()
        .filter(|check| matches!(check.outcome, CheckOutcome::Warned | CheckOutcome::Blocked));
    let lines: String = failed
        .map(|check| format!("    {}\n", check.describe()))
        .collect();
    format!("  checks: {}\n{lines}", numbers.join(", "))
}

/// What became of a view's rows, beside those that were served before.
fn outcome(view: &ViewReport) -> String {
    let rows = rows(view);
    match view.rows_without_key {
        0 => rows,
        without => format!("{rows}; {without} without a key passed over"),
    }
}

fn rows(view: &ViewReport) -> String {
    if !view.computed {
        return format!("kept as of {}", view.as_of);
    }
    if !view.changed {
        return "no row changed".to_owned();
    }
    let (rows, keys) = (counted(view.keys, "row"), view.keys);
    match view.rows_before {
        Some(before) if before > keys => {
            format!(
                "{} -> {rows}: {} fewer",
                counted(before, "row"),
                before - keys
            )
        }
        Some(before) if before < keys => {
            format!("{rows} published, {} more", keys - before)
        }
        _ => format!("{rows} published"),
    }
}

#[cfg(test)]
mod tests {
    use feature_defs::name::Name;
    use feature_defs::time::Instant;

    use super::*;

    #[test]
    fn a_view_says_what_became_of_its_rows() {
        let as_of = Instant::parse("1997-10-01").expect("an instant");
        let view = |computed, rows_before, keys, changed| ViewReport {
            view: Name::parse("spend").expect("a name"),
            as_of,
            computed,
            rows_read: 0,
            rows_without_key: 0,
            keys,
            rows_before,
            changed,
            rows_written: 0,
            seconds: 0.0,
        };
        for (view, told) in [
            (
                view(false, Some(5), 5, false),
                "kept as of 1997-10-01T00:00:00Z",
            ),
            (view(true, None, 1, true), "1 row published"),
            (view(true, Some(5), 5, false), "no row changed"),
            (view(true, Some(5), 5, true), "5 rows published"),
            (view(true, Some(5), 7, true), "7 rows published, 2 more"),
            (view(true, Some(5), 0, true), "5 rows -> 0 rows: 5 fewer"),
        ] {
            assert_eq!(outcome(&view), told);
        }
    }
}
