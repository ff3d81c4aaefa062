//! Errors as problem details (RFC 9457) with the stable codes of the use cases.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};
use kit_http::bearer::BearerError;
use kit_http::json::JsonError;
pub(crate) use kit_http::problem::Problem;
use kit_http::problem::ProblemError;
use platform_core::PlatformError;
use platform_core::saleroom::SaleroomRefusal;
use platform_core::users::Refusal;
use platform_rules::Rejection;

/// `Retry-After` of a 503, in seconds.
const RETRY_AFTER_S: u64 = 1;

/// An error response, with the seconds for `Retry-After` if they are known.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Problem>, Option<u64>);

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl ToString) -> Self {
        Self(Box::new(Problem::new(status, code, detail.to_string())), None)
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self(self.0, Some(seconds))
    }

    pub(crate) fn bad_request(code: &'static str, detail: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such record at this house")
    }

    /// 401 for a token that does not work here.
    pub(crate) fn unauthenticated() -> Self {
        let detail = "the access token is unknown, has ended, or belongs to another site or house: get another one";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        if let Some(seconds) = self.1 {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<PlatformError> for ApiError {
    fn from(error: PlatformError) -> Self {
        let status = match &error {
            // What a house keeps to itself is no record of its visitors.
            PlatformError::NotFound(_) | PlatformError::Forbidden(_) => return Self::not_found(),
            PlatformError::Rejected(Rejection::BidderBlocked | Rejection::PersonErased) => {
                let detail = "the house does not take the registration: contact the house";
                return Self::new(StatusCode::CONFLICT, "registration_refused", detail);
            }
            PlatformError::Saleroom(SaleroomRefusal::GrantVoid) | PlatformError::Unauthenticated => {
                return Self::unauthenticated();
            }
            PlatformError::Identity(Refusal::TooManyAttempts { .. }) => StatusCode::TOO_MANY_REQUESTS,
            PlatformError::PreconditionFailed { .. } | PlatformError::Busy => {
                let detail = "other requests change the same record at the same time: repeat the request";
                return Self::new(StatusCode::CONFLICT, "busy", detail);
            }
            PlatformError::Invalid(_)
            | PlatformError::IdempotencyMismatch
            | PlatformError::Rejected(Rejection::FieldInvalid { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
            PlatformError::Rejected(_)
            | PlatformError::Taken(_)
            | PlatformError::Saleroom(_)
            | PlatformError::Identity(_)
            | PlatformError::User(_)
            | PlatformError::OtherCurrency { .. } => StatusCode::CONFLICT,
            PlatformError::DiskFull | PlatformError::Unavailable(_) | PlatformError::ListenersFull { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            error => {
                tracing::error!(error = %error.full_message(), "a request of a bidder's site failed");
                let detail = "an internal error; the server's log has its details under the request id";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail);
            }
        };
        let mut rendered = Self::new(status, error.code(), &error);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            rendered.1 = Some(RETRY_AFTER_S);
        }
        match error {
            PlatformError::Invalid(problems) => {
                let at = |problem: platform_core::Problem| ProblemError::at(problem.pointer, problem.message);
                rendered.0.errors = problems.into_iter().map(at).collect();
            }
            PlatformError::Rejected(Rejection::FieldInvalid { field, problem }) => {
                rendered.0.errors = vec![ProblemError::at(format!("/{field}"), format!("{field} {problem}"))];
            }
            PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
                rendered.1 = Some(retry_after.as_secs());
            }
            _ => {}
        }
        rendered
    }
}

impl From<JsonError> for ApiError {
    fn from(error: JsonError) -> Self {
        let mut rendered = Self::new(error.status(), error.code(), &error);
        let errors = error.positions().into_iter().map(|(pointer, detail)| ProblemError::at(pointer, detail));
        rendered.0.errors = errors.collect();
        rendered
    }
}

impl From<BearerError> for ApiError {
    fn from(error: BearerError) -> Self {
        let code = match error {
            BearerError::Missing => "authorization_missing",
            BearerError::Malformed => "unauthenticated",
        };
        Self::new(StatusCode::UNAUTHORIZED, code, "send the access token once, as `Authorization: Bearer <token>`")
    }
}
