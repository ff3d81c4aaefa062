//! Searching the messages of an application, or of all applications of an account.
//!
//! A search reads existing indexes in the order of message ids, and merges those of several applications or endpoints. It
//! scans a bounded number of rows, and continues from its position: see [`Scan`].

use async_trait::async_trait;
use jiff::Timestamp;

use super::{MessageFilter, Scan, ScanResult, SearchText, StoreResult};
use crate::model::cause::FailureDetail;
use crate::model::{AttemptStatus, Id, Message};

/// Bytes of a failed attempt's response that [`LatestFailure::response`] contains: enough for its cause.
pub const FAILURE_BYTES_MAX: usize = 4_096;
/// Bytes of payloads that a search for a text reads in one call.
pub const SEARCHED_BYTES_MAX: usize = 64 * 1_024 * 1_024;

/// Whose messages a search reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageScope {
    /// Messages of this application.
    Application(Id),
    /// Messages of all applications of this account.
    Account(Id),
}

/// A message, named by its application and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageKey {
    /// The application.
    pub application: Id,
    /// The message.
    pub id: Id,
}

/// The rows that a search reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageSource {
    /// All accepted messages.
    Accepted,
    /// Messages with this id or event id.
    Named(String),
    /// Messages with an attempt at an existing endpoint that did not succeed and that this filter matches.
    Failed(FailureFilter),
    /// Messages with an unfinished delivery, to this endpoint if it is given.
    Waiting(Option<Id>),
}

/// Attempts by endpoint, status code and cause.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FailureFilter {
    /// The attempt was made at this endpoint.
    pub endpoint: Option<Id>,
    /// How the attempt ended; any end when none.
    pub end: Option<AttemptEnd>,
}

/// How attempts ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptEnd {
    /// The response had one of these status codes.
    pub codes: Vec<u16>,
    /// Attempts without a response that match, too.
    pub no_response: Option<NoResponse>,
}

/// Attempts without a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoResponse {
    /// Whatever the cause.
    Any,
    /// With one of the causes of these names.
    Causes(&'static [&'static str]),
}

/// Causes without a whole response that may have any status code, because the response began.
const CAUSES_WITH_ANY_CODE: [&str; 2] = ["answer_unfinished", "closed_early"];

impl AttemptEnd {
    /// Whether a failed attempt with this status code matches (0 without a response). None if its failure detail decides.
    pub fn decided_by_code(&self, code: u16) -> Option<bool> {
        match self.no_response {
            _ if code > 0 && self.codes.contains(&code) => Some(true),
            Some(NoResponse::Any) => Some(code == 0),
            Some(NoResponse::Causes(names))
                if code < 300 || CAUSES_WITH_ANY_CODE.iter().any(|name| names.contains(name)) =>
            {
                None
            }
            _ => Some(false),
        }
    }

    /// Whether a failed attempt with this status code and stored failure detail matches.
    pub fn matches(&self, code: u16, detail: Option<&str>) -> bool {
        self.decided_by_code(code).unwrap_or_else(|| {
            let Some(no_response) = self.no_response else { return false };
            match detail {
                Some(detail) => no_response.detail_patterns().iter().any(|pattern| detail.contains(pattern)),
                None => code == 0 && no_response.includes_unexplained(),
            }
        })
    }
}

impl NoResponse {
    /// The texts of which a stored failure detail of the causes contains one, and no other detail does: JSON escapes quotes
    /// within texts. Empty for every cause.
    pub fn detail_patterns(self) -> Vec<String> {
        match self {
            Self::Any => Vec::new(),
            Self::Causes(names) => names.iter().map(|name| format!("\"cause\":\"{name}\"")).collect(),
        }
    }

    /// Whether an attempt without a stored failure detail matches.
    pub fn includes_unexplained(self) -> bool {
        match self {
            Self::Any => true,
            Self::Causes(names) => names.contains(&"other"),
        }
    }
}

/// The conditions on a message that a search checks for each row of its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageConditions {
    /// Event types, channel and tag.
    pub messages: MessageFilter,
    /// The message was attempted at this endpoint, or waits for it.
    pub addressed: Option<Id>,
    /// Its id, its event id or its payload contains this text.
    pub text: Option<SearchText>,
}

impl MessageConditions {
    /// Whether every message matches.
    pub fn match_all(&self) -> bool {
        *self == Self::default()
    }
}

/// The attempts that a message's progress counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgressFilter {
    /// Only the deliveries to this endpoint are counted.
    pub endpoint: Option<Id>,
    /// Only attempts that ended so are the latest failure; any failed attempt when none.
    pub failure: Option<AttemptEnd>,
}

/// The deliveries of one message to all endpoints together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageProgress {
    /// The message.
    pub message: Id,
    /// Endpoints that it was attempted at or waits for.
    pub endpoints: u64,
    /// Of these, endpoints with a successful attempt.
    pub succeeded: u64,
    /// Endpoints without a successful attempt whose latest attempt was cancelled and that it does not wait for.
    pub skipped: u64,
    /// Endpoints that it waits for.
    pub waiting: u64,
    /// The earliest time of its next attempt.
    pub next_at: Option<Timestamp>,
    /// Attempts at all endpoints.
    pub attempts: u64,
    /// Status and status code of the latest attempt; none before the first.
    pub latest: Option<(AttemptStatus, u16)>,
    /// The latest failed attempt that the filter matches.
    pub failure: Option<LatestFailure>,
}

impl MessageProgress {
    /// Endpoints that did not receive it and will not: the last attempt failed.
    pub fn failed(&self) -> u64 {
        self.endpoints.saturating_sub(self.succeeded + self.skipped + self.waiting)
    }
}

/// A failed attempt, with what its cause is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestFailure {
    /// The attempt.
    pub attempt: Id,
    /// Its endpoint.
    pub endpoint: Id,
    /// Its status code; 0 without a response.
    pub code: u16,
    /// Its URL.
    pub url: String,
    /// Its failure detail.
    pub detail: Option<FailureDetail>,
    /// The first [`FAILURE_BYTES_MAX`] bytes of its response, or its transport error.
    pub response: String,
}

/// Searches messages. The delivery path calls none of these methods.
#[async_trait]
pub trait MessageSearchStore: Send + Sync {
    /// The keys of the scope's messages in the source that meet the conditions, in the order of the scan.
    ///
    /// The scan's `scanned_rows_max` counts messages of the source. A search for a text also stops after
    /// [`SEARCHED_BYTES_MAX`] of payloads.
    async fn find_message_keys(
        &self,
        scope: &MessageScope,
        source: &MessageSource,
        conditions: &MessageConditions,
        scan: &Scan,
    ) -> StoreResult<ScanResult<MessageKey>>;
    /// The messages of these keys without payload, in their order. Messages that do not exist are omitted.
    async fn messages_by_keys(&self, keys: &[MessageKey]) -> StoreResult<Vec<Message>>;
    /// The deliveries of each of these messages, in their order. The caller has checked that the messages belong to the
    /// applications.
    async fn message_progress(
        &self,
        messages: &[MessageKey],
        filter: &ProgressFilter,
    ) -> StoreResult<Vec<MessageProgress>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_without_response_matches_by_the_cause_in_its_detail() {
        let end = |no_response| AttemptEnd { codes: vec![404, 410], no_response };
        let refused = Some(r#"{"transport":{"cause":"connection_refused","address":"192.0.2.1:80"}}"#);
        let quoted = Some(r#"{"transport":{"cause":"other","reason":"\"cause\":\"connection_refused\""}}"#);
        let by_cause = end(Some(NoResponse::Causes(&["no_dns_record", "connection_refused"])));
        assert!(by_cause.matches(0, refused) && !by_cause.matches(0, quoted) && !by_cause.matches(0, None));
        assert!(by_cause.matches(410, None) && !by_cause.matches(500, None));
        assert!(
            end(Some(NoResponse::Causes(&["other"]))).matches(0, None) && end(Some(NoResponse::Any)).matches(0, None)
        );
        assert!(!end(None).matches(0, refused));
        let broke_off = Some(r#"{"transport":{"cause":"closed_early","received_bytes":5}}"#);
        for code in [200, 500] {
            assert!(end(Some(NoResponse::Causes(&["closed_early"]))).matches(code, broke_off), "{code}");
        }
        assert!(!by_cause.matches(500, refused), "a whole response has the cause of its status code");
    }
}
