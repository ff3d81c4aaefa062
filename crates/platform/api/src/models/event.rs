//! Announced events and histories.

use platform_core::journal::JournalRow;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// Announced events, in order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Events)]
pub(crate) struct EventsView {
    pub(crate) data: Vec<EventView>,
    /// Ask with `after=` this for what comes next; keep it, to go on from there another day.
    pub(crate) next: i64,
    /// True when there was nothing after `next` at the time.
    pub(crate) done: bool,
}

/// An announced event, as it was or will be delivered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event)]
pub(crate) struct EventView {
    /// Position in the feed.
    pub(crate) cursor: i64,
    /// `ITEM_STATUS_CHANGE` or `AUCTION_STATUS_CHANGE`.
    pub(crate) event_type: &'static str,
    /// The provider's `eventId`: subject and sequence.
    pub(crate) event_id: String,
    /// Server time of the status change.
    #[schema(format = DateTime)]
    pub(crate) occurred_at: String,
    /// The exact body of the webhook.
    #[schema(value_type = Object)]
    pub(crate) payload: Option<Box<RawValue>>,
}

impl From<&JournalRow> for EventView {
    fn from(row: &JournalRow) -> Self {
        Self {
            cursor: row.cursor,
            event_type: row.kind.event_type().name(),
            event_id: format!("{}.{}", row.subject, row.sequence),
            occurred_at: time(row.at),
            payload: row.body.clone().and_then(|body| RawValue::from_string(body).ok()),
        }
    }
}

/// A status change in the history of an auction or item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatusChange)]
pub(crate) struct HistoryView {
    pub(crate) subject: Uuid,
    /// Number of the change of its subject, from 1 without gaps.
    pub(crate) sequence: i64,
    /// Status before; null for the creation.
    pub(crate) from: Option<String>,
    /// Status after.
    pub(crate) to: String,
    /// Stable word for the cause, such as `end_reached`.
    pub(crate) cause: String,
    /// Who did it: `timer`, `test clock`, `key:…`, `user:…` or `command-line`.
    pub(crate) actor: String,
    pub(crate) reason: Option<String>,
    /// If customers were told.
    pub(crate) announced: bool,
    #[schema(format = DateTime)]
    pub(crate) at: String,
}

impl From<&JournalRow> for HistoryView {
    fn from(row: &JournalRow) -> Self {
        Self {
            subject: row.subject,
            sequence: row.sequence,
            from: row.from.clone(),
            to: row.to.clone(),
            cause: row.cause.clone(),
            actor: row.actor.clone(),
            reason: row.reason.clone(),
            announced: row.body.is_some(),
            at: time(row.at),
        }
    }
}
