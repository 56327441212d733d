//! `GET /openapi.json`: the HTTP interface of the served release, from its definitions.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::http::header::CONTENT_TYPE;

use crate::app::App;
use crate::openapi::document;

pub(crate) async fn openapi(State(app): State<Arc<App>>) -> Response<Body> {
    let plan = app.predictor.served();
    let document = document(plan.as_deref(), app.predictor.limits());
    let mut response = Response::new(Body::from(document.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, super::JSON);
    response
}
