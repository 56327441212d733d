//! `GET /healthz`: the process runs.

use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, HeaderName};

pub(crate) async fn healthz() -> ([(HeaderName, HeaderValue); 1], &'static str) {
    ([(CONTENT_TYPE, super::JSON)], r#"{"healthy":true}"#)
}
