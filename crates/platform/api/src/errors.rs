//! Errors as problem details (RFC 9457) with a stable `code`. One `match` maps every error of the platform to its
//! status.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};
use kit_http::bearer::BearerError;
use kit_http::json::JsonError;
pub(crate) use kit_http::problem::Problem;
use kit_http::problem::ProblemError;
use kit_runtime::log_throttle::LogThrottle;
use platform_core::catalogue::{ImportReport, RowError};
use platform_core::users::{Refusal, UserRefusal};
use platform_core::{PlatformError, Problem as InputProblem};
use platform_rules::Rejection;

/// `Retry-After` of a 503, in seconds.
const RETRY_AFTER_S: &str = "1";
/// `Retry-After` while the disk is full, in seconds: an operator has to act.
const DISK_RETRY_AFTER_S: u64 = 10;

/// Limits the log while the database is not available: otherwise every request would log it.
static UNAVAILABLE: LogThrottle = LogThrottle::new();

/// An error response, with the seconds for `Retry-After` if they are known.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Problem>, Option<u64>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
        }
        if let Some(seconds) = self.1 {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, detail: impl ToString) -> Self {
        ApiError(Box::new(Problem::new(status, code, detail.to_string())), None)
    }

    fn with_errors(mut self, errors: Vec<ProblemError>) -> Self {
        self.0.errors = errors;
        self
    }

    /// 400.
    pub(crate) fn bad_request(code: &'static str, detail: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// 422 for the field of the body at `pointer`.
    pub(crate) fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::from(PlatformError::invalid(pointer, message))
    }

    /// The problems with the input, without a status: for an entry of a bulk edit, which has a result of its own.
    pub(crate) fn into_problems(self) -> Vec<InputProblem> {
        let Problem { errors, detail, .. } = *self.0;
        if errors.is_empty() {
            return vec![InputProblem::new("", detail)];
        }
        errors.into_iter().map(|error| InputProblem::new(error.pointer.unwrap_or_default(), error.detail)).collect()
    }

    /// 400 for a parameter of the query.
    pub(crate) fn invalid_query(name: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(StatusCode::BAD_REQUEST, "query_invalid", format!("the query parameter {name} {message}"))
    }

    /// 429.
    pub(crate) fn rate_limited(retry_after_s: u64) -> Self {
        let detail = format!(
            "this API key has used its quota: wait {retry_after_s} s, as Retry-After says, and spread the requests; the \
             RateLimit headers of every response show what is left"
        );
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail)
    }

    /// 428.
    pub(crate) fn precondition_required() -> Self {
        Self::new(
            StatusCode::PRECONDITION_REQUIRED,
            "precondition_required",
            "If-Match is missing: read the record, then send its ETag as If-Match, so that you change only the state that you have seen",
        )
    }

    /// 413.
    pub(crate) fn too_large(bytes_max: u64) -> Self {
        let detail = format!("the body is larger than {bytes_max} bytes; split it into several requests");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", detail)
    }

    /// 415.
    pub(crate) fn unsupported_media_type(wanted: &str) -> Self {
        let detail = format!("send the body as Content-Type: {wanted}");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    /// 422 with the errors of a catalogue.
    pub(crate) fn catalogue(report: &ImportReport) -> Self {
        let count = report.error_count;
        let detail =
            format!("the catalogue has {count} {}; nothing was imported", if count == 1 { "error" } else { "errors" });
        let place = |error: &RowError| ProblemError::on_line(error.line, error.column.clone(), error.message.clone());
        let errors = report.errors.iter().map(place);
        let mut error =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, "catalogue_invalid", detail).with_errors(errors.collect());
        error.0.error_count = Some(count);
        error
    }
}

impl From<PlatformError> for ApiError {
    fn from(error: PlatformError) -> Self {
        let status = match &error {
            PlatformError::NotFound(_) => StatusCode::NOT_FOUND,
            PlatformError::Rejected(Rejection::FieldInvalid { .. } | Rejection::ReasonRequired) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            PlatformError::Rejected(_) | PlatformError::Taken(_) | PlatformError::Busy => StatusCode::CONFLICT,
            PlatformError::NotConnected | PlatformError::LaterPublished(_) => StatusCode::CONFLICT,
            PlatformError::PreconditionFailed { .. } => StatusCode::PRECONDITION_FAILED,
            PlatformError::Invalid(_)
            | PlatformError::ApiKeyRequired
            | PlatformError::IdempotencyMismatch
            | PlatformError::OtherCurrency { .. }
            | PlatformError::CursorBeyondEnd(_) => StatusCode::UNPROCESSABLE_ENTITY,
            PlatformError::Unauthenticated => StatusCode::UNAUTHORIZED,
            PlatformError::Forbidden(_) => StatusCode::FORBIDDEN,
            PlatformError::Identity(refusal) => of_refusal(refusal),
            PlatformError::User(refusal) => of_users(refusal),
            PlatformError::Saleroom(_) => StatusCode::CONFLICT,
            PlatformError::Provider { .. } => StatusCode::BAD_GATEWAY,
            PlatformError::DiskFull
            | PlatformError::Unavailable(_)
            | PlatformError::ListenersFull { .. }
            | PlatformError::UploadsFull { .. } => StatusCode::SERVICE_UNAVAILABLE,
            PlatformError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let detail = match &error {
            // The details of an internal error go to the log only.
            PlatformError::Internal(_) => {
                tracing::error!(%error, "a request failed");
                "an internal error; the server's log has its details under the request id".to_owned()
            }
            PlatformError::Unavailable(source) => {
                if let Some(suppressed) = UNAVAILABLE.allow() {
                    tracing::error!(%error, %source, suppressed, "a request failed");
                }
                error.to_string()
            }
            _ => error.to_string(),
        };
        let mut rendered = Self::new(status, error.code(), detail);
        match error {
            PlatformError::DiskFull => rendered.1 = Some(DISK_RETRY_AFTER_S),
            PlatformError::Invalid(problems) => rendered.0.errors = problems.into_iter().map(at_pointer).collect(),
            PlatformError::Rejected(Rejection::FieldInvalid { field, problem }) => {
                rendered.0.errors = vec![ProblemError::at(format!("/{field}"), format!("{field} {problem}"))];
            }
            PlatformError::Rejected(Rejection::ReasonRequired) => {
                rendered.0.errors = vec![ProblemError::at("/reason", "reason is missing")];
            }
            PlatformError::Rejected(Rejection::FieldsMissing { fields }) => {
                let missing = |field| ProblemError::at(format!("/{field}"), format!("{field} is missing"));
                rendered.0.errors = fields.into_iter().map(missing).collect();
            }
            PlatformError::Rejected(Rejection::IllegalTransition { legal, .. }) => {
                rendered.0.legal_next_statuses = Some(legal);
            }
            PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
                rendered.1 = Some(retry_after.as_secs());
            }
            _ => {}
        }
        rendered
    }
}

/// A wrong password or code at sign-in is 401. From a signed-in user it is 403, so that a client does not take it for
/// the end of the session.
fn of_refusal(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::SignInRefused | Refusal::CodeRequired | Refusal::CodeRefused => StatusCode::UNAUTHORIZED,
        Refusal::PasswordRefused | Refusal::OwnCodeRefused => StatusCode::FORBIDDEN,
        Refusal::TooManyAttempts { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::InvitationRefused | Refusal::SecondFactorOn | Refusal::SecondFactorOff => StatusCode::CONFLICT,
    }
}

fn of_users(refusal: &UserRefusal) -> StatusCode {
    match refusal {
        UserRefusal::NewPasswordRequired | UserRefusal::ClerkNotAssigned => StatusCode::FORBIDDEN,
        UserRefusal::SetupCodeRefused
        | UserRefusal::TooManyInvitations { .. }
        | UserRefusal::LastAdministrator
        | UserRefusal::HasSignedIn
        | UserRefusal::NoPassword
        | UserRefusal::NotAClerk
        | UserRefusal::TooManyClerks { .. } => StatusCode::CONFLICT,
    }
}

fn at_pointer(problem: InputProblem) -> ProblemError {
    ProblemError::at(problem.pointer, problem.message)
}

impl From<JsonError> for ApiError {
    fn from(error: JsonError) -> Self {
        let errors = error.positions().into_iter().map(|(pointer, detail)| ProblemError::at(pointer, detail));
        Self::new(error.status(), error.code(), error.to_string()).with_errors(errors.collect())
    }
}

impl From<BearerError> for ApiError {
    fn from(error: BearerError) -> Self {
        let code = match error {
            BearerError::Missing => "authorization_missing",
            BearerError::Malformed => "unauthenticated",
        };
        Self::new(StatusCode::UNAUTHORIZED, code, error)
    }
}
