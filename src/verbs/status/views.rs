//! How old each view is, and which ones nobody is served yet.

use feature_defs::age::Age;
use feature_defs::as_of::within_ttl;
use feature_defs::definitions::Definitions;
use feature_defs::feature_view::FeatureView;
use feature_defs::name::Name;
use feature_defs::time::Instant;
use serde::Serialize;
use store::release::{Release, ReleaseView};

/// A view that is served, or that is applied and waits for a night.
#[derive(Debug, Serialize)]
pub(super) struct ViewStatus {
    view: Name,
    rows: Option<u64>,
    as_of: Option<Instant>,
    age_seconds: Option<u64>,
    #[serde(skip)]
    age: Option<Age>,
    ttl: Option<String>,
    state: &'static str,
}

/// The views of the served release, by the definitions that it was made by, then the applied ones that it lacks.
pub(super) fn of(
    served: Option<&Release>,
    served_by: Option<&Definitions>,
    applied: Option<&Definitions>,
    now: Instant,
) -> Vec<ViewStatus> {
    let served: Vec<&ReleaseView> = served
        .into_iter()
        .flat_map(|release| &release.views)
        .collect();
    let mut views: Vec<ViewStatus> = served
        .iter()
        .map(|view| of_served(view, served_by.and_then(|by| by.views.get(&view.view)), now))
        .collect();
    let applied = applied
        .into_iter()
        .flat_map(|applied| applied.views.values());
    let lacking = applied.filter(|view| served.iter().all(|held| held.view != view.name));
    views.extend(lacking.map(of_applied));
    views
}

fn of_served(view: &ReleaseView, declared: Option<&FeatureView>, now: Instant) -> ViewStatus {
    let age = Age::at(now, view.as_of);
    let expired = declared.is_some_and(|declared| !within_ttl(view.as_of, declared.ttl, now));
    ViewStatus {
        view: view.view.clone(),
        rows: Some(view.rows),
        as_of: Some(view.as_of),
        age_seconds: Some(age.seconds()),
        age: Some(age),
        ttl: declared.map(|declared| declared.ttl.to_string()),
        state: if expired { "expired" } else { "fresh" },
    }
}

fn of_applied(view: &FeatureView) -> ViewStatus {
    ViewStatus {
        view: view.name.clone(),
        rows: None,
        as_of: None,
        age_seconds: None,
        age: None,
        ttl: Some(view.ttl.to_string()),
        state: "in no release yet: the next `nightfill run` computes it",
    }
}

impl ViewStatus {
    pub(super) fn row(&self) -> Vec<String> {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        vec![
            self.view.to_string(),
            shown(self.rows.map(|rows| rows.to_string())),
            shown(self.as_of.map(|as_of| as_of.to_string())),
            shown(self.age.map(|age| age.to_string())),
            shown(self.ttl.clone()),
            self.state.to_owned(),
        ]
    }
}
