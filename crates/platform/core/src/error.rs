//! Errors of use cases: one enum for the crate, with stable codes.

use kit_runtime::disk_space::BelowReserve;
use kit_runtime::log_throttle::LogThrottle;
use platform_rules::Rejection;

pub mod saleroom_refusal;
pub mod user_refusal;

use kit_identity::Refusal;

use self::saleroom_refusal::SaleroomRefusal;
use self::user_refusal::UserRefusal;
use crate::port::{Contact, Cursor, StoreError};

/// A part of the input that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer (RFC 6901) to the value in the request, such as `/items/3/lowEstimate`; empty for the whole.
    pub pointer: String,
    /// What is wrong and what to do, for people.
    pub message: String,
}

impl Problem {
    /// A problem at `pointer`.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// Why a use case failed. Each surface maps a variant to its own response in one place.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The record does not exist or belongs to another customer; callers can't tell which.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The rules rejected the command.
    #[error("{0}")]
    Rejected(Rejection),
    /// The version changed since the caller read the record.
    #[error(
        "the current version is {current}, and If-Match names another: read it again before you repeat the request"
    )]
    PreconditionFailed {
        /// The version that the caller saw.
        expected: i64,
        /// The version that it has.
        current: i64,
    },
    /// The input is invalid; at least one problem.
    #[error("the input can't be used: {}", first_message(.0))]
    Invalid(Vec<Problem>),
    /// A unique name is taken; the field that it is in.
    #[error("the {0} is already taken")]
    Taken(&'static str),
    /// The idempotency key was used with another request.
    #[error("the idempotency key was used before with another request")]
    IdempotencyMismatch,
    /// The credentials are missing, wrong or expired.
    #[error("the API key or session is missing, unknown, revoked or expired; send it as `Authorization: Bearer lw_…`")]
    Unauthenticated,
    /// A sign-in, or a change of a user that the rules of sign-in decide on, was refused.
    #[error("{0}")]
    Identity(Refusal),
    /// Another change of a user, an invitation or a clerk was refused.
    #[error("{0}")]
    User(UserRefusal),
    /// A wish of a bidder in a saleroom was refused.
    #[error("{0}")]
    Saleroom(SaleroomRefusal),
    /// The caller's scopes do not allow the call.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// No journal row has such a cursor yet.
    #[error(
        "there is no cursor {0} yet: it is of another installation, or of a database that was put back since; read the \
         feed from a cursor that you trust, or from 0, and pass over the events that you have"
    )]
    CursorBeyondEnd(Cursor),
    /// The provider of a connection changes, and the stored API key is not for the new one.
    #[error(
        "the provider changes, and the stored API key is not sent to another provider: enter the API key for the new \
         provider in the same call"
    )]
    ApiKeyRequired,
    /// The customer has no complete connection.
    #[error("the customer is not connected: enter its consumer application and API key first")]
    NotConnected,
    /// A later event of the same auction or item has gone out: this one would be taken for news.
    #[error(
        "the event with cursor {0} comes too late: a later one of the same auction or item has gone out already. Drop it, or \
         send it out of order if the consumer looks at the order itself"
    )]
    LaterPublished(Cursor),
    /// The node, or the customer at this node, has its maximum number of listeners to live streams.
    #[error("{of} has {maximum} listeners, which is the maximum: try again in a few seconds")]
    ListenersFull {
        /// What the maximum is for.
        of: &'static str,
        /// The maximum.
        maximum: usize,
    },
    /// The uploaded files of the user, the customer or all together have their maximum number or size.
    #[error("{of} has too many uploaded files: wait until they are imported, or half an hour, and upload it again")]
    UploadsFull {
        /// Whose files they are.
        of: &'static str,
    },
    /// A file has amounts in another currency than the auction.
    #[error(
        "line {line} of the file is in {found}, and the auction in {wanted}: import the file into an auction in {found}, or \
         convert the amounts and write {wanted} into the column with the currency"
    )]
    OtherCurrency {
        /// Line of the file, from 1.
        line: u64,
        /// The currency of the file.
        found: String,
        /// The currency of the auction.
        wanted: String,
    },
    /// Others kept changing the same thing at the same time; trying again will help.
    #[error("others are changing it at the same time: try again")]
    Busy,
    /// The provider did not do what was asked of it; why, in our words. Holds no secret.
    #[error("{text}")]
    Provider {
        /// Whether it answered, or could not be reached.
        contact: Contact,
        /// The cause and what to do.
        text: String,
    },
    /// The disk is full, or below the reserve that is kept for accepted work. Nothing was written.
    #[error(
        "the server has too little free disk to accept this. Send it again later; the operator finds what to do in the \
         server's log"
    )]
    DiskFull,
    /// The database can't be reached; trying again later may help.
    #[error("the database is not available")]
    Unavailable(#[source] StoreError),
    /// Something that should not be: stored data or a secret that can't be read.
    #[error("internal error: {0}")]
    Internal(String),
}

impl PlatformError {
    /// Stable word for the error; a rejection has the code of its rule.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "not_found",
            Self::Rejected(rejection) => rejection.code(),
            Self::PreconditionFailed { .. } => "precondition_failed",
            Self::Invalid(_) => "invalid",
            Self::Taken(_) => "taken",
            Self::IdempotencyMismatch => "idempotency_mismatch",
            Self::Unauthenticated => "unauthenticated",
            Self::Identity(refusal) => refusal.code(),
            Self::User(refusal) => refusal.code(),
            Self::Saleroom(refusal) => refusal.code(),
            Self::Forbidden(_) => "forbidden",
            Self::CursorBeyondEnd(_) => "cursor_beyond_end",
            Self::ApiKeyRequired => "api_key_required",
            Self::NotConnected => "not_connected",
            Self::LaterPublished(_) => "later_published",
            Self::ListenersFull { .. } => "listeners_full",
            Self::UploadsFull { .. } => "uploads_full",
            Self::OtherCurrency { .. } => "other_currency",
            Self::Busy => "busy",
            Self::Provider { .. } => "provider_refused",
            Self::DiskFull => "disk_full",
            Self::Unavailable(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// The text for logs, with the details that the caller does not receive.
    pub fn full_message(&self) -> String {
        match self {
            Self::Unavailable(source) => source.to_string(),
            other => other.to_string(),
        }
    }

    /// One problem with the input.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem::new(pointer, message)])
    }
}

impl From<StoreError> for PlatformError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Busy,
            StoreError::Taken(field) => Self::Taken(field),
            StoreError::Replayed => Self::Busy,
            StoreError::DiskFull(text) => {
                log_disk_full(&text);
                Self::DiskFull
            }
            StoreError::Unavailable(_) | StoreError::Unusable(_) => Self::Unavailable(error),
            StoreError::Corrupt(_) => Self::Internal(error.to_string()),
        }
    }
}

impl From<BelowReserve> for PlatformError {
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

impl From<Rejection> for PlatformError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// Result of a use case.
pub type PlatformResult<T> = Result<T, PlatformError>;

/// With the name of its field, where it has one.
fn first_message(problems: &[Problem]) -> String {
    let Some(Problem { pointer, message, .. }) = problems.first() else { return "it is empty".to_owned() };
    match pointer.trim_start_matches('/') {
        "" => message.clone(),
        field => format!("{field} {message}"),
    }
}
