//! What is answered to paths and methods that do not exist.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Response, Uri};
use feature_defs::suggestion::named;

use crate::app::App;
use crate::error::{Error, ErrorKind};

/// What stands under each path, as documented.
const PATHS: [&str; 6] = [
    "/v1/predict/{model}",
    "/v1/features/{service}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

pub(crate) async fn path(State(app): State<Arc<App>>, uri: Uri) -> Response<Body> {
    let message = format!("unknown path {}", named(uri.path(), PATHS));
    let error = Error::new(ErrorKind::UnknownPath, message);
    super::reply(&app, "unknown", Err(error))
}

pub(crate) async fn method(
    State(app): State<Arc<App>>,
    method: Method,
    uri: Uri,
) -> Response<Body> {
    let takes = if uri.path().starts_with("/v1/") {
        "POST"
    } else {
        "GET"
    };
    let message = format!("this path takes {takes}, not {method}");
    let error = Error::new(ErrorKind::UnknownMethod, message);
    super::reply(&app, "unknown", Err(error))
}
