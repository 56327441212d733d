//! What callers are held to: how much is answered at once, how large a body is, how long an answer takes.

use std::future::Future;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::sync::SemaphorePermit;

use crate::app::App;
use crate::error::{Error, ErrorKind, Result};

/// How much of a refused body is read and thrown away, so that a caller who is still sending gets the answer: this many
/// times the limit.
const DRAINED: usize = 4;

/// A free slot, or a refusal: a queue without end would answer late and everybody.
pub(crate) fn slot(app: &App) -> Result<SemaphorePermit<'_>> {
    app.slots.try_acquire().map_err(|_| {
        let message = "the server is answering as many requests as it takes at once";
        Error::new(ErrorKind::Overloaded, message)
    })
}

/// What `work` gives, or a refusal of this kind once the app's deadline has passed.
pub(crate) async fn within_deadline<T>(
    app: &App,
    late: ErrorKind,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let done = tokio::time::timeout(app.deadline, work).await;
    done.unwrap_or_else(|_| {
        let what = match late {
            ErrorKind::SlowBody => "the body did not arrive",
            _ => "the request was not answered",
        };
        let message = format!("{what} within {} ms", app.deadline.as_millis());
        Err(Error::new(late, message))
    })
}

/// The whole body, if it has at most `limit` bytes.
pub(crate) async fn read_body(mut body: Body, limit: usize) -> Result<Bytes> {
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            tracing::debug!(%error, "a body broke off");
            Error::new(ErrorKind::InvalidRequest, "the body broke off")
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len();
        if length > limit {
            let message = format!("the body has more than {limit} bytes");
            drain(body, limit).await;
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        // Nearly every body is one frame, which needs no copy.
        match first.take() {
            None if whole.is_empty() => first = Some(data),
            None => whole.extend_from_slice(&data),
            Some(before) => {
                whole.extend_from_slice(&before);
                whole.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

async fn drain(mut body: Body, limit: usize) {
    let mut rest = limit.saturating_mul(DRAINED);
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        if length > rest {
            return;
        }
        rest -= length;
    }
}
