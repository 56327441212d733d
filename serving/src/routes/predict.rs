//! `POST /v1/predict/{model}`: the score of each entity, with the state of every input.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::Response;

use crate::app::App;
use crate::error::{ErrorKind, Result};
use crate::limits::{read_body, slot, within_deadline};
use crate::predict::Answered;

pub(crate) async fn predict(
    State(app): State<Arc<App>>,
    model: std::result::Result<Path<String>, PathRejection>,
    body: Body,
) -> Response<Body> {
    let answer = answer(&app, super::name_of(model), body).await;
    super::reply(&app, "predict", answer)
}

async fn answer(app: &App, model: Result<String>, body: Body) -> Result<(Answered, Vec<u8>)> {
    let model = model?;
    let _slot = slot(app)?;
    let _in_flight = app.predictor.metrics().enter();
    let body = read_body(body, app.predictor.limits().body_bytes);
    let bytes = within_deadline(app, ErrorKind::SlowBody, body).await?;
    let mut out = Vec::with_capacity(1_024);
    let answered = app.predictor.predict(&model, &bytes, &mut out);
    let answered = within_deadline(app, ErrorKind::Deadline, answered).await?;
    Ok((answered, out))
}
