//! Gates: the declared checks of the night's new snapshots, before any of their rows is staged.
//!
//! ```text
//!   statistics of the new snapshot ------+
//!   number of rows that are served ------+--> passed | warned | blocked | not compared
//!   both snapshots' values (psi) --------+
//! ```

mod distribution;

use feature_defs::check::{Check, Demand, OnFailure, Percent};
use feature_defs::data_type::DataType;
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
    let compared: Vec<&Name> = view
        .checks
        .iter()
        .filter(|check| matches!(check.demand, Demand::Psi(_)))
        .filter_map(|check| check.feature.as_ref())
        .collect();
    let kept = match served.filter(|_| !compared.is_empty()) {
        Some(served) => kept_snapshot(view, served, offline).await?,
        None => None,
    };
    let psi = match &kept {
        Some(kept) => indices(&compared, kept, new, offline).await?,
        None => vec![None; compared.len()],
    };
    let mut psi = psi.into_iter();
    let mut reports = Vec::with_capacity(view.checks.len());
    for check in &view.checks {
        let finding = match &check.demand {
            Demand::Psi(most) => psi_finding(psi.next().flatten(), *most),
            Demand::MinRows(least) => Finding::new(counted(new.rows), new.rows >= *least),
            Demand::MaxRows(most) => Finding::new(counted(new.rows), new.rows <= *most),
            Demand::Change(share) => change(*share, new.rows, served),
            Demand::Nulls(share) => nulls(*share, column(check, new)?, new.rows),
            Demand::Min(bound, data_type) => {
                let column = column(check, new)?;
                let is_within = |least: &Value| least.order(bound).is_ge();
                bounds(column, "least", column.min.as_ref(), *data_type, is_within)?
            }
            Demand::Max(bound, data_type) => {
                let column = column(check, new)?;
                let is_within = |greatest: &Value| greatest.order(bound).is_le();
                bounds(
                    column,
                    "greatest",
                    column.max.as_ref(),
                    *data_type,
                    is_within,
                )?
            }
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
    served: &ReleaseView,
    offline: &dyn OfflineStore,
) -> Result<Option<SnapshotManifest>> {
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

/// The statistics of the feature that is checked.
fn column<'a>(check: &Check, new: &'a SnapshotManifest) -> Result<&'a ColumnStatistics> {
    let name = check.feature.as_ref().map_or("", Name::as_str);
    let mut columns = new.columns.iter();
    let column = columns.find(|column| column.name == name);
    column.ok_or_else(|| {
        let message = format!("its snapshot has no column `{name}`");
        Error::view(&new.identity.view, message)
    })
}

fn change(most: Percent, rows: u64, served: Option<&ReleaseView>) -> Finding {
    let Some(served) = served else {
        return Finding::not_compared();
    };
    let found = format!("{} -> {}", served.rows, counted(rows));
    Finding::new(found, most.allows(served.rows.abs_diff(rows), served.rows))
}

fn nulls(most: Percent, column: &ColumnStatistics, rows: u64) -> Finding {
    let found = format!("null in {} of {}", column.nulls, counted(rows));
    Finding::new(found, most.allows(column.nulls, rows))
}

/// Whether the column's least or greatest value, as its statistics have it, is within a bound.
fn bounds(
    column: &ColumnStatistics,
    which: &str,
    value: Option<&serde_json::Value>,
    data_type: DataType,
    is_within: impl Fn(&Value) -> bool,
) -> Result<Finding> {
    if column.nans > 0 {
        let found = format!("NaN in {}", counted(column.nans));
        return Ok(Finding::new(found, false));
    }
    let Some(json) = value else {
        return Ok(Finding::new("no value", true));
    };
    let value = Value::from_json(json, data_type).map_err(|error| {
        Error::Refused(format!("a statistic of a snapshot is damaged: {error}"))
    })?;
    let found = format!("its {which} value is {json}");
    Ok(Finding::new(found, is_within(&value)))
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
