//! The router: every endpoint, in one list.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use crate::predict::Predictor;
use crate::release_watch::Failure;
use crate::routes;

/// What handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) predictor: Arc<Predictor>,
    pub(crate) failure: Arc<Failure>,
    pub(crate) slots: Semaphore,
    pub(crate) deadline: Duration,
}

impl App {
    /// An app that answers at most `concurrent_requests` at once, each within `deadline`.
    #[must_use]
    pub fn new(
        predictor: Arc<Predictor>,
        failure: Arc<Failure>,
        concurrent_requests: usize,
        deadline: Duration,
    ) -> Self {
        Self {
            predictor,
            failure,
            slots: Semaphore::new(concurrent_requests),
            deadline,
        }
    }

    /// The whole HTTP interface.
    pub fn router(self) -> Router {
        Router::new()
            .route("/v1/predict/{model}", post(routes::predict::predict))
            .route("/v1/features/{service}", post(routes::features::features))
            .route("/healthz", get(routes::healthz::healthz))
            .route("/readyz", get(routes::readyz::readyz))
            .route("/metrics", get(routes::metrics::metrics))
            .route("/openapi.json", get(routes::openapi::openapi))
            .fallback(routes::unknown::path)
            .method_not_allowed_fallback(routes::unknown::method)
            .with_state(Arc::new(self))
    }
}
