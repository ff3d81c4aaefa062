//! Searching the messages of an application, or of all applications of an account, with the progress of each.
//!
//! A search reads the rows that its conditions name: waiting deliveries, attempts that did not succeed, or else all messages,
//! each in the order of message ids. It scans a bounded number of them. If the scan stops at this limit, the page has an
//! iterator that continues it.

use std::collections::HashMap;

use jiff::SignedDuration;

use super::failure_search::FailedWith;
use crate::caller::Caller;
use crate::error::{FieldError, ProviderError, ProviderResult};
use crate::ids;
use crate::messages::history::HistoryRequest;
use crate::model::{Application, Id, Message, Role};
use crate::page::ListPage;
use crate::port::{
    AttemptEnd, FailureFilter, MessageConditions, MessageFilter, MessageKey, MessageProgress, MessageScope,
    MessageSource, Order, ProgressFilter, ScanResult, SearchText,
};
use crate::provider::Provider;

/// Messages that are read in one batch.
const BATCH: usize = 100;
/// Messages that a page scans at most, without reading their payloads.
const SCANNED_MAX: usize = 50_000;
/// Messages whose payloads a page searches at most.
const SEARCHED_MAX: usize = 20_000;
/// Messages whose deliveries a page reads at most.
const PROGRESS_MAX: usize = 1_000;
/// The longest time span of a search for a text.
pub const TEXT_SPAN_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The state of a message at all its endpoints together: that of the endpoint that fares worst. A search for a state finds
/// the messages that have it at one endpoint at least, except for those that all endpoints must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// Every endpoint received it.
    Delivered,
    /// At least one endpoint did not receive it, and no attempt at this endpoint will follow.
    Failed,
    /// An attempt failed, and another will follow.
    Retrying,
    /// The first attempt has not been made.
    Waiting,
    /// A person ended its deliveries to the endpoints that did not receive it.
    Skipped,
    /// No endpoint receives it.
    NotSent,
}

impl MessageState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Delivered, Self::Failed, Self::Retrying, Self::Waiting, Self::Skipped, Self::NotSent];

    /// Stable name, for addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Retrying => "retrying",
            Self::Waiting => "waiting",
            Self::Skipped => "skipped",
            Self::NotSent => "not-sent",
        }
    }

    /// The state that this progress describes.
    pub fn of(progress: &MessageProgress) -> Self {
        let from_worst = [Self::NotSent, Self::Failed, Self::Retrying, Self::Waiting, Self::Skipped];
        from_worst.into_iter().find(|state| state.applies_to(progress)).unwrap_or(Self::Delivered)
    }

    /// Whether a search for this state finds a message with this progress.
    pub fn applies_to(self, progress: &MessageProgress) -> bool {
        // Every endpoint that succeeded has one successful attempt at least.
        let has_failure = progress.attempts > progress.succeeded;
        let MessageProgress { endpoints, succeeded, skipped, waiting, .. } = *progress;
        match self {
            Self::NotSent => endpoints == 0,
            Self::Delivered => endpoints > 0 && waiting == 0 && succeeded == endpoints,
            Self::Failed => progress.failed() > 0,
            Self::Retrying => waiting > 0 && has_failure,
            Self::Waiting => waiting > 0 && !has_failure,
            Self::Skipped => skipped > 0,
        }
    }
}

/// The conditions of a search. A message matches if it meets all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageSearch {
    /// The message has this id or event id.
    pub named: Option<String>,
    /// Event types, channel and tag.
    pub messages: MessageFilter,
    /// The message was attempted at this endpoint or waits for it. State, status code and cause are those at this endpoint.
    pub endpoint: Option<Id>,
    /// One of these states applies to the message; any if there are none.
    pub states: Vec<MessageState>,
    /// An attempt of the message failed so.
    pub failed_with: Option<FailedWith>,
    /// The id, the event id or the payload contains this text, whatever its case. White space between the tokens of JSON does
    /// not count. The time span of the request must be
    /// at most [`TEXT_SPAN_MAX`].
    pub text: Option<String>,
}

impl MessageSearch {
    /// The rows that lead to the matching messages.
    fn source(&self) -> MessageSource {
        use MessageState::{Failed, Retrying, Skipped, Waiting};
        let end = self.failed_with.map(FailedWith::end);
        let is_one_of =
            |states: &[MessageState]| !self.states.is_empty() && self.states.iter().all(|state| states.contains(state));
        match &self.named {
            Some(name) => MessageSource::Named(name.clone()),
            None if end.is_none() && is_one_of(&[Waiting, Retrying]) => MessageSource::Waiting(self.endpoint.clone()),
            None if end.is_some() || is_one_of(&[Failed, Skipped, Retrying]) => self.failures(end),
            None => MessageSource::Accepted,
        }
    }

    fn failures(&self, end: Option<AttemptEnd>) -> MessageSource {
        MessageSource::Failed(FailureFilter { endpoint: self.endpoint.clone(), end })
    }

    /// Whether the search reads attempts of existing endpoints only.
    pub fn omits_deleted_endpoints(&self) -> bool {
        matches!(self.source(), MessageSource::Failed(_))
    }

    fn matches(&self, progress: &MessageProgress) -> bool {
        (self.endpoint.is_none() || progress.endpoints > 0)
            && (self.states.is_empty() || self.states.iter().any(|state| state.applies_to(progress)))
            && (self.failed_with.is_none() || progress.failure.is_some())
    }
}

/// A message of a list, with its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The message, without its payload.
    pub message: Message,
    /// Its deliveries.
    pub progress: MessageProgress,
}

impl Provider {
    /// Messages that the search matches, newest first: those of one application, or of all applications of the caller's
    /// account. 404, 403 (a token and no application), 422 (a text and a time span over a day).
    pub async fn search_messages(
        &self,
        caller: &Caller,
        application: Option<&str>,
        search: &MessageSearch,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<MessageRow>> {
        let request = request.into();
        if search.text.is_some() && !request.is_within(TEXT_SPAN_MAX) {
            let fault = "must be at most a day before \"before\" in a search for a text";
            return Err(ProviderError::Validation(vec![FieldError::in_query("after", fault)]));
        }
        let scope = match application {
            Some(application) => MessageScope::Application(self.application(caller, application).await?.id),
            None => {
                caller.require_role(Role::Viewer)?;
                MessageScope::Account(caller.account.clone())
            }
        };
        let found = self.scan_messages(&scope, search, &request).await?;
        Ok(request.slice(found, |row| &row.message.id))
    }

    /// The applications of these messages, by id.
    pub async fn applications_of(
        &self,
        caller: &Caller,
        messages: &[MessageRow],
    ) -> ProviderResult<HashMap<Id, Application>> {
        let mut found = HashMap::new();
        for row in messages {
            let id = &row.message.application;
            if !found.contains_key(id)
                && let Some(application) = self.store().application(&caller.account, id).await?
            {
                found.insert(id.clone(), application);
            }
        }
        Ok(found)
    }

    async fn scan_messages(
        &self,
        scope: &MessageScope,
        search: &MessageSearch,
        request: &HistoryRequest,
    ) -> ProviderResult<ScanResult<MessageRow>> {
        let scanned_max = if search.text.is_some() { SEARCHED_MAX } else { SCANNED_MAX };
        let mut scan = request.scan(ids::MESSAGE, self.now(), scanned_max);
        let wanted = std::mem::replace(&mut scan.limit, BATCH);
        let source = search.source();
        let conditions = MessageConditions {
            messages: search.messages.clone(),
            addressed: search.endpoint.clone().filter(|_| source == MessageSource::Accepted),
            text: search.text.as_deref().map(|text| SearchText::new(text, self.now())),
        };
        let filter =
            ProgressFilter { endpoint: search.endpoint.clone(), failure: search.failed_with.map(FailedWith::end) };
        let (mut rows, mut scanned) = (Vec::new(), 0);
        loop {
            let batch = self.store().find_message_keys(scope, &source, &conditions, &scan).await?;
            let keys = batch.rows;
            scanned += keys.len();
            for row in self.rows_of(&keys, &filter).await? {
                if search.matches(&row.progress) {
                    rows.push(row);
                }
                if rows.len() >= wanted {
                    return Ok(ScanResult { rows, stopped_at: None });
                }
            }
            let is_whole = keys.len() < BATCH && batch.stopped_at.is_none();
            let last = batch.stopped_at.clone().or_else(|| keys.last().map(|key| key.id.clone()));
            let Some(last) = last.filter(|_| !is_whole) else { return Ok(ScanResult { rows, stopped_at: None }) };
            if batch.stopped_at.is_some() || scanned >= PROGRESS_MAX {
                return Ok(ScanResult { rows, stopped_at: Some(last) });
            }
            match scan.direction {
                Order::Ascending => scan.above = last.to_string(),
                Order::Descending => scan.below = last.to_string(),
            }
        }
    }

    /// The existing messages of these keys with their progress, in their order.
    async fn rows_of(&self, keys: &[MessageKey], filter: &ProgressFilter) -> ProviderResult<Vec<MessageRow>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let messages = self.store().messages_by_keys(keys).await?;
        let key = |message: &Message| MessageKey { application: message.application.clone(), id: message.id.clone() };
        let existing: Vec<MessageKey> = messages.iter().map(key).collect();
        let progress = self.store().message_progress(&existing, filter).await?;
        Ok(messages.into_iter().zip(progress).map(|(message, progress)| MessageRow { message, progress }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AttemptStatus;

    #[test]
    fn a_message_is_delivered_when_every_endpoint_received_it() {
        use AttemptStatus::{Fail, Success};
        for (endpoints, succeeded, skipped, waiting, attempts, latest, expected) in [
            (0, 0, 0, 0, 0, None, MessageState::NotSent),
            (1, 0, 0, 1, 0, None, MessageState::Waiting),
            (2, 2, 0, 0, 3, Some((Success, 200)), MessageState::Delivered),
            (2, 1, 0, 0, 9, Some((Fail, 500)), MessageState::Failed),
            (3, 1, 1, 0, 9, Some((Fail, 500)), MessageState::Failed),
            (3, 1, 0, 1, 9, Some((Fail, 500)), MessageState::Failed),
            (3, 1, 1, 1, 9, Some((Fail, 500)), MessageState::Retrying),
            (2, 1, 1, 0, 9, Some((Success, 200)), MessageState::Skipped),
            (2, 1, 0, 1, 2, Some((Fail, 500)), MessageState::Retrying),
            (2, 1, 0, 1, 2, Some((Success, 200)), MessageState::Retrying),
            (2, 1, 0, 1, 1, Some((Success, 200)), MessageState::Waiting),
        ] {
            let progress = MessageProgress {
                message: "msg_1".into(),
                endpoints,
                succeeded,
                skipped,
                waiting,
                next_at: None,
                attempts,
                latest,
                failure: None,
            };
            assert_eq!(MessageState::of(&progress), expected, "{progress:?}");
            assert_eq!(MessageState::Failed.applies_to(&progress), expected == MessageState::Failed, "{progress:?}");
            assert_eq!(MessageState::Skipped.applies_to(&progress), skipped > 0, "{progress:?}");
        }
    }
}
