//! Compares an event with the message that the provider has under the event's id.
//!
//! In normal operation the message is the event itself, from a request whose response was lost. After the restore of a
//! backup, event ids are used again, so it can be another event; the provider refuses such an event with 409, too. The
//! platform therefore reads the message before it counts the event as published
//! (docs/decisions/0021-conflicts-are-compared.md).

use bytes::Bytes;
use http::{Method, StatusCode};
use jiff::Timestamp;
use kit_outbound::{Destination, Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::PublisherParts;
use super::request::ProviderRequests;
use super::verdict::{Verdict, judge};
use crate::metrics::ExistingMessage;
use crate::port::OutboxEvent;
use crate::provider_access::answer_text::answer_text;

/// Bytes of the message that are read. That of an event has a few hundred.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Attempts after which a message that the provider has and does not show puts its event into quarantine. Before, the
/// event is posted again: the message may have been deleted, or a replica may not have it yet.
const NOT_SHOWN_ATTEMPTS: u32 = 3;

/// The fields of a message that are compared. The platform sends no channels.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageBody {
    event_type: String,
    #[serde(default)]
    payload: Value,
}

/// Reads the message with this event id, and judges the event by it.
pub(super) async fn compare_existing(
    parts: &PublisherParts,
    requests: &ProviderRequests<'_>,
    event: &OutboxEvent,
    event_id: &str,
) -> Verdict {
    let read = |to: &Destination| Request {
        response_bytes_max: MESSAGE_BYTES_MAX,
        ..requests.request(Method::GET, to, requests.headers(), Bytes::new())
    };
    let (verdict, message) = match requests.send(&format!("{event_id}/"), read).await {
        Ok(response) => judge_message(&response, event, parts.clock.now()),
        Err(verdict) => (verdict, None),
    };
    if let Some(message) = message {
        parts.metrics.conflict(message);
        if matches!(message, ExistingMessage::Expired | ExistingMessage::NoReadRight) {
            tracing::warn!(
                customer_id = %event.customer, event_id, existing = ?message,
                "the provider has this event already; its message could not be compared with the event"
            );
        }
    }
    verdict
}

/// The verdict for an event, and how the message compares; none while that is not known. Pure.
pub(super) fn judge_message(
    response: &Response,
    event: &OutboxEvent,
    now: Timestamp,
) -> (Verdict, Option<ExistingMessage>) {
    let Response { status, headers, body, truncated } = response;
    let text = || {
        format!(
            "the provider has a message under this event id, which could not be read: {}",
            answer_text(*status, body)
        )
    };
    match status.as_u16() {
        // A message that is too large to be read whole is not that of an event.
        200..=299 if *truncated => (quarantine_other("payload"), Some(ExistingMessage::Other)),
        200..=299 => match serde_json::from_slice::<MessageBody>(body) {
            Ok(message) => judge_body(&message, event),
            Err(_) => {
                let error = "the provider has a message under this event id, and did not show it as its API does";
                (Verdict::Retry { error: error.into(), retry_after: None }, None)
            }
        },
        401 | 403 => (Verdict::Published, Some(ExistingMessage::NoReadRight)),
        404 | 410 if event.attempts < NOT_SHOWN_ATTEMPTS => (Verdict::Retry { error: text(), retry_after: None }, None),
        _ => match judge(*status, headers, body, now) {
            Some(Verdict::Retry { retry_after, .. }) => (Verdict::Retry { error: text(), retry_after }, None),
            _ => (Verdict::Quarantine { error: not_shown(*status) }, Some(ExistingMessage::NotShown)),
        },
    }
}

fn judge_body(message: &MessageBody, event: &OutboxEvent) -> (Verdict, Option<ExistingMessage>) {
    let is_expired = message.payload.is_null() || message.payload == json!({"expired": true});
    // A provider may write the payload anew, so the values are compared, not the bytes.
    let is_same = || serde_json::from_str::<Value>(&event.body).is_ok_and(|payload| payload == message.payload);
    if message.event_type != event.event_type.name() {
        (quarantine_other("event type"), Some(ExistingMessage::Other))
    } else if is_expired {
        (Verdict::Published, Some(ExistingMessage::Expired))
    } else if is_same() {
        (Verdict::Published, Some(ExistingMessage::Same))
    } else {
        (quarantine_other("payload"), Some(ExistingMessage::Other))
    }
}

/// The text contains nothing of the provider's message.
fn quarantine_other(field: &str) -> Verdict {
    let error = format!(
        "the provider has another message under this event id: its {field} differs. Event ids are used again after the \
         restore of a backup, and another installation may send to this application. If the customer does not know the \
         change yet, send the event again: in a restored installation it gets an event id of its own. Otherwise drop it"
    );
    Verdict::Quarantine { error }
}

fn not_shown(status: StatusCode) -> String {
    format!(
        "the provider has a message under this event id, and answers {} when the platform reads it. Look for the message \
         at the provider: if it is another one or none, send the event again; if it is this event, drop it",
        status.as_u16()
    )
}

/// An event that was attempted so often, to compare messages with.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn sample_event(attempts: u32) -> OutboxEvent {
    OutboxEvent {
        cursor: 7,
        customer: uuid::Uuid::nil(),
        subject: uuid::Uuid::nil(),
        sequence: 3,
        event_type: contract::event::EventType::ItemStatusChange,
        body: r#"{"itemUuid":"x","status":"SOLD"}"#.into(),
        attempts,
        at: Timestamp::UNIX_EPOCH,
        restore_number: None,
        trace_parent: None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn judged(status: u16, body: &str, attempts: u32) -> (&'static str, Option<ExistingMessage>) {
        let response = Response {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
            truncated: false,
        };
        let (verdict, message) = judge_message(&response, &sample_event(attempts), Timestamp::UNIX_EPOCH);
        let verdict = match verdict {
            Verdict::Published => "published",
            Verdict::Retry { .. } => "retry",
            Verdict::Park { .. } => "park",
            Verdict::Quarantine { .. } => "quarantine",
        };
        (verdict, message)
    }

    #[test]
    fn the_existing_message_decides() {
        let item = |payload: &str| format!(r#"{{"eventType":"ITEM_STATUS_CHANGE","payload":{payload},"id":"msg_1"}}"#);
        let auction = item(r#"{"expired":true}"#).replace("ITEM", "AUCTION");
        let (same, other) = (("published", Some(ExistingMessage::Same)), ("quarantine", Some(ExistingMessage::Other)));
        let expired = ("published", Some(ExistingMessage::Expired));
        for (body, expected) in [
            (item(r#"{"itemUuid":"x","status":"SOLD"}"#), same),
            (item(r#"{ "status" : "SO\u004cD", "itemUuid":"x" }"#), same),
            (item(r#"{"itemUuid":"x","status":"PASSED"}"#), other),
            (item(r#"{"itemUuid":"x"}"#), other),
            (item(r#"{"itemUuid":"x","status":"SOLD","expired":true}"#), other),
            (item("{}"), other),
            (item(r#"{"expired":true}"#), expired),
            (item("null"), expired),
            (auction, other),
            ("<html>".to_owned(), ("retry", None)),
            ("{}".to_owned(), ("retry", None)),
        ] {
            assert_eq!(judged(200, &body, 0), expected, "{body}");
        }
    }

    #[test]
    fn without_the_message_the_status_decides() {
        let no_right = ("published", Some(ExistingMessage::NoReadRight));
        let not_shown = ("quarantine", Some(ExistingMessage::NotShown));
        for (status, attempts, expected) in [
            (401, 0, no_right),
            (403, 0, no_right),
            (404, 0, ("retry", None)),
            (404, NOT_SHOWN_ATTEMPTS - 1, ("retry", None)),
            (404, NOT_SHOWN_ATTEMPTS, not_shown),
            (410, NOT_SHOWN_ATTEMPTS, not_shown),
            (400, 0, not_shown),
            (405, 0, not_shown),
            (409, 0, not_shown),
            (302, 0, not_shown),
            (408, 9, ("retry", None)),
            (429, 9, ("retry", None)),
            (500, 9, ("retry", None)),
            (503, 9, ("retry", None)),
        ] {
            assert_eq!(judged(status, "", attempts), expected, "{status}, {attempts} attempts");
        }
    }

    #[test]
    fn a_message_too_large_for_an_event_is_another_one() {
        let response = Response {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: Bytes::from_static(br#"{"eventType":"ITEM_STATUS_CHANGE","payload":{"a":"xx"#),
            truncated: true,
        };
        let (verdict, message) = judge_message(&response, &sample_event(0), Timestamp::UNIX_EPOCH);
        assert!(matches!(verdict, Verdict::Quarantine { .. }), "{verdict:?}");
        assert_eq!(message, Some(ExistingMessage::Other));
    }
}
