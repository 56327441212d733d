//! What is answered instead of a result, and the only map from it to HTTP codes.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::json;

/// A result of serving.
pub type Result<T> = std::result::Result<T, Error>;

/// Seconds after which a refused caller may try again.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// What kind of answer an [`Error`] is. Each has one HTTP code and one word in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The body is not JSON.
    InvalidJson,
    /// The body is JSON and not a request of this model or service.
    InvalidRequest,
    /// There is no such path.
    UnknownPath,
    /// The path takes another method.
    UnknownMethod,
    /// The release has no such model or service.
    UnknownName,
    /// The request looks from before the release.
    AsOfBeforeRelease,
    /// The body or the number of entities is over its limit.
    TooLarge,
    /// The body did not arrive in time.
    SlowBody,
    /// No release is served yet.
    NoRelease,
    /// The online store did not answer.
    StoreUnavailable,
    /// More requests are being answered than the server takes at once.
    Overloaded,
    /// The request was not answered before its deadline.
    Deadline,
    /// A fault of ours.
    Internal,
}

impl ErrorKind {
    /// The word in the body's `code`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidRequest => "invalid_request",
            Self::UnknownPath => "unknown_path",
            Self::UnknownMethod => "unknown_method",
            Self::UnknownName => "unknown_name",
            Self::AsOfBeforeRelease => "as_of_before_release",
            Self::TooLarge => "too_large",
            Self::SlowBody => "slow_body",
            Self::NoRelease => "no_release",
            Self::StoreUnavailable => "store_unavailable",
            Self::Overloaded => "overloaded",
            Self::Deadline => "deadline",
            Self::Internal => "internal",
        }
    }

    /// The HTTP code.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::InvalidJson | Self::InvalidRequest => StatusCode::BAD_REQUEST,
            Self::UnknownPath | Self::UnknownName => StatusCode::NOT_FOUND,
            Self::UnknownMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::AsOfBeforeRelease => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::NoRelease | Self::StoreUnavailable | Self::Overloaded => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Deadline => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    const fn may_retry(self) -> bool {
        matches!(
            self,
            Self::NoRelease | Self::StoreUnavailable | Self::Overloaded | Self::Deadline
        )
    }
}

/// An answer that is not a result: `{"error": {"code", "message", "path"}}`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", path.as_ref().map(|path| format!("`{path}`: ")).unwrap_or_default())]
pub struct Error {
    /// What kind.
    pub kind: ErrorKind,
    /// What is wrong: lower case, no full stop, names in backticks, no secrets.
    pub message: String,
    /// Where in the request's body: a JSON path like `$.request.amount[1]`.
    pub path: Option<String>,
}

impl Error {
    /// An error that is about no place in the body.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            path: None,
        }
    }

    /// The same error, saying where in the body.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// An error of the online store while it was read. What the store says of itself is logged, not answered.
    #[must_use]
    pub fn from_store(error: &store::error::Error) -> Self {
        use store::error::ErrorKind as Store;
        match error.kind() {
            Store::Unavailable | Store::Conflict | Store::NotFound => Self::new(
                ErrorKind::StoreUnavailable,
                "the online store did not answer",
            ),
            Store::Invalid | Store::Corrupt | Store::Unsupported | Store::Internal => Self::new(
                ErrorKind::Internal,
                "the online store could not be read; the server's log says why",
            ),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response<Body> {
        let error = json!({"code": self.kind.code(), "message": self.message, "path": self.path});
        let mut response = Response::new(Body::from(json!({ "error": error }).to_string()));
        *response.status_mut() = self.kind.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.kind.may_retry() {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        response
    }
}
