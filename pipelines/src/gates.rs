//! Gates: the declared checks of the night's new snapshots, before any of their rows is staged.
//!
//! ```text
//!   statistics of the new snapshot ------+
//!   number of rows that are served ------+--> passed | warned | blocked | not compared
//!   both snapshots' values (psi) --------+
//! ```

mod distribution;

use feature_defs::check::{Check, Demand, OnFailure};
use feature_defs::feature_view::FeatureView;
use feature_defs::name::Name;
use feature_defs::value::Value;
use store::offline::{ColumnStatistics, OfflineStore, SnapshotIdentity, SnapshotManifest};
use store::release::ReleaseView;

use crate::error::{Error, Result};
use distribution::indices;

/// What came of one check.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CheckReport {
    /// The view.
    pub view: Name,
    /// The feature; none where rows are checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<Name>,
    /// What was demanded, as definition files say it.
    pub check: String,
    /// What was found, for people.
    pub found: String,
    /// What follows.
    pub outcome: CheckOutcome,
}

/// What follows from a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It holds.
    Passed,
    /// There is nothing to compare with: the view, as it is defined now, is not served, or its snapshot is not kept.
    NotCompared,
    /// It does not hold, and only says so.
    Warned,
    /// It does not hold, and no release is made.
    Blocked,
}

impl CheckReport {
    /// What was found beside what was demanded: `` `spend.spend_7d`: 12% null (nulls: 0%) ``.
    #[must_use]
    pub fn describe(&self) -> String {
        let feature = self.feature.as_ref();
        let feature = feature.map_or_else(String::new, |feature| format!(".{feature}"));
        format!("`{}{feature}`: {} ({})", self.view, self.found, self.check)
    }
}

/// Checks a view's new snapshot. `served` is its snapshot that is served, of the same meaning.
pub(crate) async fn check_view(
    view: &FeatureView,
    new: &SnapshotManifest,
    served: Option<&ReleaseView>,
    offline: &dyn OfflineStore,
) -> Result<Vec<CheckReport>> {
    let kept = kept_snapshot(view, served, offline).await?;
    let compared: Vec<&Name> = view
        .checks
        .iter()
        .filter(|check| matches!(check.demand, Demand::Psi(_)))
        .filter_map(|check| check.feature.as_ref())
        .collect();
    let mut psi = indices(&compared, kept.as_ref(), new, offline)
        .await?
        .into_iter();
    let mut reports = Vec::with_capacity(view.checks.len());
    for check in &view.checks {
        let finding = match &check.demand {
            Demand::Psi(most) => psi_finding(psi.next().flatten(), *most),
            demand => finding(check, demand, new, served)?,
        };
        reports.push(report(view, check, finding));
    }
    Ok(reports)
}

/// Refuses to go on where a check blocks.
pub(crate) fn open(reports: &[CheckReport]) -> Result<()> {
    let blocking = reports
        .iter()
        .filter(|report| report.outcome == CheckOutcome::Blocked);
    let lines: Vec<String> = blocking.map(CheckReport::describe).collect();
    match lines.as_slice() {
        [] => Ok(()),
        [line] => Err(Error::Refused(format!(
            "a check fails, so nothing is released: {line}; `--allow-failed-checks` releases it all the same"
        ))),
        lines => Err(Error::Refused(format!(
            "{} checks fail, so nothing is released; `--allow-failed-checks` releases it all the same:\n  {}",
            lines.len(),
            lines.join("\n  ")
        ))),
    }
}

/// The served snapshot, as it is kept offline.
async fn kept_snapshot(
    view: &FeatureView,
    served: Option<&ReleaseView>,
    offline: &dyn OfflineStore,
) -> Result<Option<SnapshotManifest>> {
    let Some(served) = served else {
        return Ok(None);
    };
    let identity = SnapshotIdentity {
        view: view.name.clone(),
        fingerprint: served.fingerprint,
        as_of: served.as_of,
    };
    Ok(offline.manifest(&identity).await?)
}

/// What was found, and whether it is as demanded; the latter is `None` where there was nothing to compare with.
struct Finding {
    found: String,
    holds: Option<bool>,
}

impl Finding {
    fn new(found: impl Into<String>, holds: bool) -> Self {
        Self {
            found: found.into(),
            holds: Some(holds),
        }
    }

    fn not_compared() -> Self {
        Self {
            found: "nothing is served to compare with".to_owned(),
            holds: None,
        }
    }
}

fn finding(
    check: &Check,
    demand: &Demand,
    new: &SnapshotManifest,
    served: Option<&ReleaseView>,
) -> Result<Finding> {
    let rows = new.rows;
    let column = || {
        let name = check.feature.as_ref().map_or("", Name::as_str);
        let mut columns = new.columns.iter();
        let column = columns.find(|column| column.name == name);
        column.ok_or_else(|| {
            Error::view(
                &new.identity.view,
                format!("its snapshot has no column `{name}`"),
            )
        })
    };
    let finding = match demand {
        Demand::MinRows(least) => Finding::new(counted(rows), rows >= *least),
        Demand::MaxRows(most) => Finding::new(counted(rows), rows <= *most),
        Demand::Change(share) => match served {
            Some(served) => {
                let found = format!("{} -> {}", served.rows, counted(rows));
                Finding::new(found, share.allows(served.rows.abs_diff(rows), served.rows))
            }
            None => Finding::not_compared(),
        },
        Demand::Nulls(share) => {
            let nulls = column()?.nulls;
            let found = format!("null in {nulls} of {}", counted(rows));
            Finding::new(found, share.allows(nulls, rows))
        }
        Demand::Min(bound, data_type) => {
            let column = column()?;
            let least = statistic(column.min.as_ref(), *data_type)?;
            bounds(column, "least", least.as_ref(), |least| {
                least.order(bound).is_ge()
            })
        }
        Demand::Max(bound, data_type) => {
            let column = column()?;
            let greatest = statistic(column.max.as_ref(), *data_type)?;
            bounds(column, "greatest", greatest.as_ref(), |greatest| {
                greatest.order(bound).is_le()
            })
        }
        // Compared by [`indices`].
        Demand::Psi(_) => Finding::not_compared(),
    };
    Ok(finding)
}

fn bounds(
    column: &ColumnStatistics,
    which: &str,
    value: Option<&Value>,
    within: impl Fn(&Value) -> bool,
) -> Finding {
    let shown = match which {
        "least" => &column.min,
        _ => &column.max,
    };
    let shown = shown.as_ref().map(ToString::to_string);
    match (column.nans, shown) {
        (0, None) => Finding::new("no value", true),
        (0, Some(shown)) => Finding::new(
            format!("its {which} value is {shown}"),
            value.is_none_or(within),
        ),
        (nans, _) => Finding::new(format!("NaN in {}", counted(nans)), false),
    }
}

fn statistic(
    json: Option<&serde_json::Value>,
    data_type: feature_defs::data_type::DataType,
) -> Result<Option<Value>> {
    let value = json
        .map(|json| Value::from_json(json, data_type))
        .transpose();
    value.map_err(|error| Error::Refused(format!("a statistic of a snapshot is damaged: {error}")))
}

fn psi_finding(psi: Option<f64>, most: f64) -> Finding {
    match psi {
        Some(psi) => Finding::new(format!("psi {psi:.4}"), psi <= most),
        None => Finding::not_compared(),
    }
}

fn counted(rows: u64) -> String {
    match rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    }
}

fn report(view: &FeatureView, check: &Check, finding: Finding) -> CheckReport {
    let outcome = match (finding.holds, check.on_failure) {
        (None, _) => CheckOutcome::NotCompared,
        (Some(true), _) => CheckOutcome::Passed,
        (Some(false), OnFailure::Warn) => CheckOutcome::Warned,
        (Some(false), OnFailure::Block) => CheckOutcome::Blocked,
    };
    CheckReport {
        view: view.name.clone(),
        feature: check.feature.clone(),
        check: check.demand.to_string(),
        found: finding.found,
        outcome,
    }
}
