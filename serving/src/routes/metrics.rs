//! `GET /metrics`: the Prometheus text format.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use axum::response::IntoResponse;

use crate::app::App;
use crate::error::{Error, ErrorKind};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response<Body> {
    let now = app.predictor.clock().now();
    match app.predictor.metrics().text(now) {
        Ok(text) => {
            let mut response = Response::new(Body::from(text));
            response.headers_mut().insert(CONTENT_TYPE, TEXT);
            response
        }
        Err(error) => {
            tracing::error!(%error, "metrics cannot be written");
            Error::new(ErrorKind::Internal, "metrics cannot be written").into_response()
        }
    }
}
