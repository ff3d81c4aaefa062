//! Errors of use cases.

use std::borrow::Cow;
use std::time::Duration;

use kit_runtime::disk_space::BelowReserve;
use kit_runtime::log_throttle::LogThrottle;

use crate::port::error::StoreError;

/// Result of a use case.
pub type ProviderResult<T> = Result<T, ProviderError>;

/// A limit on the number of requests in a time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The counted requests: those of an `account`, an `address` or an `application`, or `codes`.
    pub name: &'static str,
    /// Requests in the window.
    pub requests: u32,
    /// Length of the window in seconds.
    pub window_s: u32,
}

/// The error of a use case. A surface turns it into a response with one `match`. The comment of each variant has the
/// status code of the provider's API.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, malformed or unknown: 401.
    #[error("the API key is not valid")]
    Unauthenticated,
    /// The key or token is valid, but is not allowed to do this: 403.
    #[error("{0}")]
    Forbidden(&'static str),
    /// A rate limit was exceeded: 429, with `Retry-After`.
    #[error("{detail}; try again in {} s", retry_after.as_secs())]
    TooManyRequests {
        /// For people.
        detail: &'static str,
        /// Time until the next request is allowed, in whole seconds.
        retry_after: Duration,
        /// The limit that was exceeded.
        quota: Quota,
    },
    /// The resource does not exist, or it belongs to another account: 404.
    #[error("not found")]
    NotFound,
    /// A unique name, uid or event id is taken: 409. For a message it means that this event id was accepted before.
    #[error("{detail}")]
    Conflict {
        /// Stable name.
        code: &'static str,
        /// For people.
        detail: String,
    },
    /// The request contains values that are not allowed: 422.
    #[error("{}", FieldError::list(.0))]
    Validation(Vec<FieldError>),
    /// The request can't be executed: 400.
    #[error("{detail}")]
    BadRequest {
        /// Stable name.
        code: &'static str,
        /// For people.
        detail: String,
    },
    /// The payload is larger than the limit: 413.
    #[error("the payload is too large")]
    TooLarge,
    /// The idempotency key was used for another request before: 422. It is not 409, because for a message 409 means
    /// that the message was accepted before.
    #[error("this idempotency key was used before, for another request")]
    IdempotencyMismatch,
    /// The disk is full, or below the reserve that is kept for accepted work: 503, with `Retry-After`. Nothing was
    /// written.
    #[error(
        "the server has too little free disk to accept this. Send it again later; the operator finds what to do in the \
         server's log"
    )]
    DiskFull,
    /// The store is unavailable or busy: 503. A write may have been committed or not. The caller can retry.
    #[error("not available at the moment: {0}")]
    Unavailable(String),
    /// Stored data is not valid: 500. The text is for the log, not for the response.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ProviderError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated => "authentication_failed",
            Self::Forbidden(_) => "insufficient_access",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::NotFound => "not_found",
            Self::Conflict { code, .. } | Self::BadRequest { code, .. } => code,
            Self::Validation(_) => "validation",
            Self::TooLarge => "payload_too_large",
            Self::IdempotencyMismatch => "idempotency_key_reused",
            Self::DiskFull => "disk_full",
            Self::Unavailable(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// The error for one value in the request's body.
    pub(crate) fn invalid(field: &'static str, msg: impl Into<String>) -> Self {
        Self::Validation(vec![FieldError::in_body([field.into()], msg)])
    }
}

/// A value that is not allowed: an entry of the API's `detail` list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The place of the value: `body`, `query` or `path`, then field names and indexes.
    pub loc: Vec<Cow<'static, str>>,
    /// What is wrong, for people.
    pub msg: String,
    /// The API's `type`.
    pub kind: &'static str,
}

impl FieldError {
    /// Formats errors in one line, each with its place; `body` is omitted.
    fn list(faults: &[Self]) -> String {
        let fault = |fault: &Self| {
            let place = fault.loc.iter().skip_while(|part| *part == "body");
            let place = place.map(|part| &**part).collect::<Vec<_>>().join(".");
            if place.is_empty() { fault.msg.clone() } else { format!("{place}: {}", fault.msg) }
        };
        faults.iter().map(fault).collect::<Vec<_>>().join("; ")
    }

    /// `value_error` somewhere in the body.
    pub fn in_body(path: impl IntoIterator<Item = Cow<'static, str>>, msg: impl Into<String>) -> Self {
        let loc = std::iter::once(Cow::Borrowed("body")).chain(path).collect();
        Self { loc, msg: msg.into(), kind: "value_error" }
    }

    /// `value_error` in a query parameter.
    pub fn in_query(parameter: &'static str, msg: impl Into<String>) -> Self {
        Self { loc: vec!["query".into(), parameter.into()], msg: msg.into(), kind: "value_error" }
    }
}

impl From<StoreError> for ProviderError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Taken(field) => {
                Self::Conflict { code: "conflict", detail: format!("another one has this {field} already") }
            }
            StoreError::LimitReached => Self::BadRequest {
                code: "limit_reached",
                detail: "there are as many of these as there may be; delete one first".to_owned(),
            },
            StoreError::NotFound => Self::NotFound,
            StoreError::Conflict => Self::Unavailable("the application keeps changing".into()),
            // Use cases handle this error themselves, unless the key expires at the same time.
            StoreError::Replayed => Self::Unavailable("the first request with this key is being forgotten".into()),
            StoreError::DiskFull(text) => {
                log_disk_full(&text);
                Self::DiskFull
            }
            StoreError::Unavailable(text) | StoreError::Unusable(text) => Self::Unavailable(text),
            StoreError::Corrupt(text) => Self::Internal(text),
        }
    }
}

impl From<BelowReserve> for ProviderError {
    fn from(_: BelowReserve) -> Self {
        Self::DiskFull
    }
}

/// Requests that fail because the database's disk is full.
static DISK_FULL: LogThrottle = LogThrottle::new();

fn log_disk_full(error: &str) {
    if let Some(suppressed) = DISK_FULL.allow() {
        tracing::error!(error, suppressed, "the disk of the database is full: make room on it, or make it larger");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_error_lists_each_fault_with_its_place() {
        let faults = vec![
            FieldError::in_body(["name".into()], "must not be empty"),
            FieldError::in_body(["channels".into(), "2".into()], "is given twice"),
            FieldError::in_query("limit", "must be a number"),
            FieldError::in_body([], "must be an object"),
        ];
        let text =
            "name: must not be empty; channels.2: is given twice; query.limit: must be a number; must be an object";
        assert_eq!(ProviderError::Validation(faults).to_string(), text);
    }
}
