//! Searching an application's messages by state, status code and text, with the progress of each.
//!
//! A search scans a bounded number of messages. If the scan stops at this limit, the page has an iterator that
//! continues it.

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::messages::history::{HistoryRequest, SCANNED_JOINED_ROWS_MAX};
use crate::model::{Id, Message};
use crate::page::ListPage;
use crate::port::{MessageFilter, MessageProgress, Order, PayloadRead, ScanResult};
use crate::provider::Provider;

/// Messages that are read in one batch.
const BATCH: usize = 100;

/// The state of a message at all its endpoints together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// Every endpoint received it.
    Delivered,
    /// At least one endpoint did not receive it, and no attempt will follow.
    Failed,
    /// An attempt failed, and another will follow.
    Retrying,
    /// The first attempt has not been made.
    Waiting,
    /// No endpoint receives it.
    NotSent,
}

impl MessageState {
    /// All states.
    pub const ALL: [Self; 5] = [Self::Delivered, Self::Failed, Self::Retrying, Self::Waiting, Self::NotSent];

    /// Stable name, for addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Retrying => "retrying",
            Self::Waiting => "waiting",
            Self::NotSent => "not-sent",
        }
    }

    /// The state that this progress describes.
    pub fn of(progress: &MessageProgress) -> Self {
        // Every endpoint that succeeded has one successful attempt at least.
        let has_failure = progress.attempts > progress.succeeded;
        match progress {
            MessageProgress { endpoints: 0, .. } => Self::NotSent,
            MessageProgress { waiting: 0, endpoints, succeeded, .. } if succeeded == endpoints => Self::Delivered,
            MessageProgress { waiting: 0, .. } => Self::Failed,
            _ if has_failure => Self::Retrying,
            _ => Self::Waiting,
        }
    }
}

/// The conditions of a search. A message matches if it meets all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageSearch {
    /// Event types, channel and tag.
    pub messages: MessageFilter,
    /// The message was attempted at this endpoint or waits for it. State and status code are those at this endpoint.
    pub endpoint: Option<Id>,
    /// The message is in this state.
    pub state: Option<MessageState>,
    /// The response to the latest attempt has a status code in the hundred that begins with this number; 0 for none.
    pub code_class: Option<u16>,
    /// The id, the sender's id or the payload contains this text, whatever its case.
    pub text: Option<String>,
}

impl MessageSearch {
    fn matches(&self, message: &Message, progress: &MessageProgress) -> bool {
        let code = progress.latest.map(|(_, code)| code / 100 * 100);
        (self.endpoint.is_none() || progress.endpoints > 0)
            && self.state.is_none_or(|state| state == MessageState::of(progress))
            && self.code_class.is_none_or(|class| code == Some(class))
            && self.text.as_ref().is_none_or(|text| contains(message, &text.to_ascii_lowercase()))
    }
}

fn contains(message: &Message, text: &str) -> bool {
    let has = |own: &str| own.to_ascii_lowercase().contains(text);
    has(&message.id)
        || message.event_id.as_deref().is_some_and(has)
        || message.payload.as_ref().is_some_and(|payload| has(&String::from_utf8_lossy(payload.text())))
}

/// A message of a list, with its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The message.
    pub message: Message,
    /// Its deliveries.
    pub progress: MessageProgress,
}

impl Provider {
    /// An application's messages that the search matches, newest first. 404.
    pub async fn search_messages(
        &self,
        caller: &Caller,
        application: &str,
        search: &MessageSearch,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<MessageRow>> {
        let request = request.into();
        let application = self.application(caller, application).await?;
        let found = self.scan_messages(&application.id, search, &request).await?;
        Ok(request.slice(found, |row| &row.message.id))
    }

    async fn scan_messages(
        &self,
        application: &Id,
        search: &MessageSearch,
        request: &HistoryRequest,
    ) -> ProviderResult<ScanResult<MessageRow>> {
        let mut scan = request.scan(ids::MESSAGE, self.now(), SCANNED_JOINED_ROWS_MAX);
        let wanted = std::mem::replace(&mut scan.limit, BATCH);
        let content = if search.text.is_some() { PayloadRead::Include } else { PayloadRead::Skip };
        let (mut rows, mut scanned) = (Vec::new(), 0);
        loop {
            let batch = self.store().find_messages(application, &search.messages, &scan, content).await?;
            let ids: Vec<Id> = batch.rows.iter().map(|message| message.id.clone()).collect();
            let last = batch.stopped_at.clone().or_else(|| ids.last().cloned());
            let is_whole = ids.len() < BATCH && batch.stopped_at.is_none();
            scanned += ids.len();
            let progress = self.store().message_progress(application, &ids, search.endpoint.as_deref()).await?;
            for (mut message, progress) in batch.rows.into_iter().zip(progress) {
                self.hide_expired_payload(&mut message);
                if search.matches(&message, &progress) {
                    rows.push(MessageRow { message, progress });
                }
                if rows.len() >= wanted {
                    return Ok(ScanResult { rows, stopped_at: None });
                }
            }
            let Some(last) = last.filter(|_| !is_whole) else { return Ok(ScanResult { rows, stopped_at: None }) };
            if batch.stopped_at.is_some() || scanned >= SCANNED_JOINED_ROWS_MAX {
                return Ok(ScanResult { rows, stopped_at: Some(last) });
            }
            match scan.direction {
                Order::Ascending => scan.above = last.to_string(),
                Order::Descending => scan.below = last.to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AttemptStatus;

    #[test]
    fn a_message_is_delivered_when_every_endpoint_received_it() {
        use AttemptStatus::{Fail, Success};
        for (endpoints, succeeded, waiting, attempts, latest, expected) in [
            (0, 0, 0, 0, None, MessageState::NotSent),
            (1, 0, 1, 0, None, MessageState::Waiting),
            (2, 2, 0, 3, Some((Success, 200)), MessageState::Delivered),
            (2, 1, 0, 9, Some((Fail, 500)), MessageState::Failed),
            (2, 1, 1, 2, Some((Fail, 500)), MessageState::Retrying),
            (2, 1, 1, 2, Some((Success, 200)), MessageState::Retrying),
            (2, 1, 1, 1, Some((Success, 200)), MessageState::Waiting),
        ] {
            let progress = MessageProgress {
                message: "msg_1".into(),
                endpoints,
                succeeded,
                waiting,
                next_at: None,
                attempts,
                latest,
                url: String::new(),
                detail: None,
                failure: String::new(),
            };
            assert_eq!(MessageState::of(&progress), expected, "{progress:?}");
        }
    }
}
