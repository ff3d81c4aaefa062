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
    /// Events in order of their cursors.
    pub(crate) data: Vec<EventView>,
    /// The cursor to send as `after` for the following events. Keep it to continue later.
    pub(crate) next: i64,
    /// True if no event followed `next` at this time.
    pub(crate) done: bool,
}

/// An announced event, as the platform publishes it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event)]
pub(crate) struct EventView {
    /// Position in the feed.
    pub(crate) cursor: i64,
    /// `ITEM_STATUS_CHANGE` or `AUCTION_STATUS_CHANGE`.
    pub(crate) event_type: &'static str,
    /// The `eventId` at the provider: `<subject>.<sequence>`, followed by `.r<number>` if the event was announced again after
    /// the platform was restored from a backup.
    pub(crate) event_id: String,
    /// When the status changed, by the server's clock.
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
            event_id: row.event_id().unwrap_or_default(),
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
    /// UUID of the auction or item.
    pub(crate) subject: Uuid,
    /// Number of the change of its subject, from 1 without gaps.
    pub(crate) sequence: i64,
    /// Status before; null for the creation.
    pub(crate) from: Option<String>,
    /// Status after.
    pub(crate) to: String,
    /// Stable code of the cause, such as `end_reached`.
    pub(crate) cause: String,
    /// Who acted: `timer`, `test clock`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub(crate) actor: String,
    /// The reason that the actor gave; null without one.
    pub(crate) reason: Option<String>,
    /// True if the platform announced the change to customers.
    pub(crate) announced: bool,
    /// When the status changed.
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
