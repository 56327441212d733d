//! One endpoint a file.

pub(crate) mod features;
pub(crate) mod healthz;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod predict;
pub(crate) mod readyz;
pub(crate) mod unknown;

use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, Response};
use axum::response::IntoResponse;

use crate::app::App;
use crate::error::{Error, ErrorKind, Result};
use crate::predict::Answered;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The name at the end of a path.
fn name_of(path: std::result::Result<Path<String>, PathRejection>) -> Result<String> {
    let refused = |_| Error::new(ErrorKind::UnknownPath, "the path is not UTF-8");
    path.map(|Path(name)| name).map_err(refused)
}

/// An answer or a refusal as HTTP, counted under its route.
fn reply(app: &App, route: &str, answer: Result<(Answered, Vec<u8>)>) -> Response<Body> {
    let response = match answer {
        Ok((answered, bytes)) => {
            let mut response = Response::new(Body::from(bytes));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, JSON);
            if let Ok(timings) = HeaderValue::try_from(answered.timings.server_timing()) {
                headers.insert(HeaderName::from_static("server-timing"), timings);
            }
            response
        }
        Err(error) => {
            log(route, &error);
            error.into_response()
        }
    };
    let metrics = app.predictor.metrics();
    metrics.count_request(route, response.status().as_str());
    response
}

/// Refusals that somebody must look into, once each; the others are the caller's to read, and counted by status.
fn log(route: &str, error: &Error) {
    match error.kind {
        ErrorKind::TooLarge | ErrorKind::SlowBody | ErrorKind::Deadline => {
            tracing::warn!(route, %error, "refused");
        }
        _ => tracing::debug!(route, %error, "refused"),
    }
}

#[cfg(test)]
mod tests;
