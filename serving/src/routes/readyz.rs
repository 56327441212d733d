//! `GET /readyz`: whether requests are answered, from which release, and how fresh it is.
//!
//! 200 with a release, even when a newer one cannot be loaded (`failure` says why); 503 without one.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use feature_defs::as_of::within_ttl;
use feature_defs::time::Instant;
use serde_json::{Map, Value as Json, json};

use crate::app::App;
use crate::predict::plan::ReleasePlan;

const MICROS_PER_SECOND: i64 = 1_000_000;

pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Response<Body> {
    let now = app.predictor.clock().now();
    let failure = app.failure.message();
    let failure = failure.as_ref().map(|message| message.as_str());
    let (status, body) = match app.predictor.served() {
        Some(plan) => (StatusCode::OK, ready(&plan, failure, now)),
        None => {
            let reason =
                failure.unwrap_or("no release is served yet: publish one with `nightfill run`");
            let body = json!({"ready": false, "release": null, "failure": reason});
            (StatusCode::SERVICE_UNAVAILABLE, body)
        }
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, super::JSON);
    response
}

fn ready(plan: &ReleasePlan, failure: Option<&str>, now: Instant) -> Json {
    let release = plan.release();
    let age = now.micros().saturating_sub(release.as_of.micros());
    let models = plan.served_models().map(
        |model| json!({"model": model.name, "bundle": model.bundle, "service": model.service.name}),
    );
    json!({
        "ready": true,
        "release": release.number,
        "as_of": release.as_of,
        "age_seconds": age / MICROS_PER_SECOND,
        "definitions_version": release.definitions_version,
        "models": models.collect::<Vec<_>>(),
        "views": views(plan, now),
        "failure": failure,
    })
}

/// Each view's as-of and freshness: `expired` once rows stamped with its as-of are past their TTL.
fn views(plan: &ReleasePlan, now: Instant) -> Map<String, Json> {
    let release = plan.release();
    let described = release.views.iter().map(|view| {
        let ttl = plan.definitions().views.get(&view.view).map(|v| v.ttl);
        let fresh = ttl.is_none_or(|ttl| within_ttl(view.as_of, ttl, now));
        let freshness = if fresh { "fresh" } else { "expired" };
        let about = json!({"as_of": view.as_of, "rows": view.rows, "freshness": freshness});
        (view.view.to_string(), about)
    });
    described.collect()
}
