//! Checks before a release.

use feature_defs::check::{Check, Demand, OnFailure, Percent};
use feature_defs::value::Value;

use super::*;
use crate::gates::CheckOutcome::{self, Blocked, NotCompared, Passed, Warned};

/// A project whose view `counts` has these checks: the feature, the demand, what follows.
async fn checked(checks: Vec<(Option<&str>, Demand, OnFailure)>) -> Project {
    let mut project = Project::new().await;
    let checks = checks
        .into_iter()
        .map(|(feature, demand, on_failure)| Check {
            feature: feature.map(name),
            demand,
            on_failure,
        });
    project.definitions.views[&name("counts")].checks = checks.collect();
    project
}

fn share(text: &str) -> Percent {
    Percent::parse(text).expect("a share")
}

fn outcomes(report: &RunReport) -> Vec<(CheckOutcome, &str)> {
    let checks = report.checks.iter();
    checks
        .map(|check| (check.outcome, check.found.as_str()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_whose_checks_hold_is_released_and_says_what_was_found() {
    let block = OnFailure::Block;
    let project = checked(vec![
        (None, Demand::MinRows(2), block),
        (None, Demand::MaxRows(2), block),
        (None, Demand::Change(share("0%")), block),
        (Some("sum_lifetime"), Demand::Nulls(share("0%")), block),
        (
            Some("sum_lifetime"),
            Demand::Min(Value::Int(9), DataType::Int64),
            block,
        ),
        (
            Some("sum_lifetime"),
            Demand::Max(Value::Int(12), DataType::Int64),
            block,
        ),
        (Some("sum_lifetime"), Demand::Psi(0.1), block),
    ])
    .await;
    let first = project.run("2024-01-03", None).await.expect("first");
    assert_eq!(
        outcomes(&first),
        [
            (Passed, "2 rows"),
            (Passed, "2 rows"),
            (NotCompared, "nothing is served to compare with"),
            (Passed, "null in 0 of 2 rows"),
            (Passed, "its least value is 9"),
            (Passed, "its greatest value is 12"),
            (NotCompared, "nothing is served to compare with"),
        ]
    );
    let next = project.run("2024-01-04", None).await.expect("next");
    let next = outcomes(&next);
    assert_eq!(next[2], (Passed, "2 -> 2 rows"));
    assert_eq!(next[6], (Passed, "psi 0.0000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_that_fail_are_told_together_and_nothing_is_released() {
    let block = OnFailure::Block;
    let project = checked(vec![
        (None, Demand::Change(share("49%")), block),
        (
            Some("sum_lifetime"),
            Demand::Max(Value::Int(11), DataType::Int64),
            block,
        ),
        (Some("sum_lifetime"), Demand::Nulls(share("10%")), block),
        (Some("sum_lifetime"), Demand::Psi(0.2), block),
    ])
    .await;
    project.write("k,at,v\n1,2024-01-01,5\n0,2024-01-02,9\n");
    project.run("2024-01-03", None).await.expect("first");
    project.write("k,at,v\n1,2024-01-01,5\n1,2024-01-02,7\n0,2024-01-02,\n2,2024-01-02,1\n");
    let refused = project.run("2024-01-04", None).await.expect_err("refused");
    // Five and nine, a tenth each and the outer ones open: halves become a third, nothing, a third, and a third of nulls.
    let said = refused.to_string();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "4 checks fail, so nothing is released; `--allow-failed-checks` releases it all the same:",
            "  `counts`: 2 -> 3 rows (change: 49%)",
            "  `counts.sum_lifetime`: its greatest value is 12 (max: 11)",
            "  `counts.sum_lifetime`: null in 1 of 3 rows (nulls: 10%)",
        ]
    );
    assert!(
        lines[4].starts_with("  `counts.sum_lifetime`: psi "),
        "{said}"
    );
    let served = project.served().await.expect("served");
    assert_eq!(served.number, ReleaseNumber(1));
    assert_eq!(project.sum(1).await, int(5));
    let runs = project.night.registry.runs(1).await.expect("runs");
    let Some((_, RunOutcome::Failed { message })) = &runs[0].finished else {
        panic!("{runs:?}");
    };
    assert_eq!(*message, said);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_only_warns_lets_the_release_through() {
    let project = checked(vec![(None, Demand::MinRows(3), OnFailure::Warn)]).await;
    let report = project.run("2024-01-03", None).await.expect("released");
    assert_eq!(outcomes(&report), [(Warned, "2 rows")]);
    assert!(report.flipped());
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_checks_that_are_allowed_are_released_and_told() {
    let mut project = checked(vec![(None, Demand::MinRows(3), OnFailure::Block)]).await;
    let said = project.run("2024-01-03", None).await.expect_err("refused");
    assert_eq!(
        said.to_string(),
        "a check fails, so nothing is released: `counts`: 2 rows (min: 3); `--allow-failed-checks` releases it all the same"
    );
    assert_eq!(project.served().await, None);
    project.allow_failed_checks = true;
    let report = project.run("2024-01-03", None).await.expect("released");
    assert_eq!(outcomes(&report), [(Blocked, "2 rows")]);
    assert!(report.flipped());
}
