//! The request that creates the message of one event at the provider, and its verdict.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use jiff::Timestamp;
use kit_outbound::{Destination, Request, TransportError};

use super::connection::Connection;
use super::verdict::{Verdict, judge};
use crate::port::{OutboxEvent, ProviderAddress};
use crate::provider_access::messages_url;
use crate::provider_access::{NoRoute, ProviderAccess, is_unsent};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The embedded provider delivers the messages of one ordering key in order to an ordered endpoint. Other providers ignore
/// the header.
const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Bytes of the provider's response that are read. The response to an accepted message has a few hundred.
const RESPONSE_BYTES_MAX: usize = 16 << 10;

/// Pause before another request when no node of the embedded provider runs. Short, because a node may start at any moment.
const EMBEDDED_PAUSE: Duration = Duration::from_secs(1);

/// Publishes an event and judges the response; `now` returns the time of the response. If a node of the embedded provider
/// can't be reached, the next node is used.
pub(super) async fn publish(
    providers: &ProviderAccess,
    connection: &Connection,
    event: &OutboxEvent,
    deadline: Duration,
    now: impl FnOnce() -> Timestamp,
) -> Verdict {
    let event_id = event.event_id();
    let body = body(event, &event_id);
    let subject = event.subject.to_string();
    let (Ok(key), Ok(subject)) = (HeaderValue::from_str(&event_id), HeaderValue::from_str(&subject)) else {
        return Verdict::Quarantine { error: "the event's id can't stand in a header".into() };
    };
    let route = match providers.route(&connection.provider).await {
        Ok(route) => route,
        Err(none @ NoRoute::NoEmbeddedNode) => {
            return Verdict::Retry { error: none.to_string(), retry_after: Some(EMBEDDED_PAUSE) };
        }
        Err(refused @ NoRoute::Refused(_)) => return Verdict::Park { reason: refused.to_string() },
    };
    let request = |to: &Destination| {
        let mut headers = HeaderMap::with_capacity(5);
        headers.insert(ACCEPT, JSON);
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(AUTHORIZATION, connection.authorization.clone());
        headers.insert(IDEMPOTENCY_KEY, key.clone());
        headers.insert(ORDERING_KEY, subject.clone());
        Request {
            method: Method::POST,
            to: to.clone(),
            headers: headers.into(),
            body: body.clone(),
            deadline,
            response_bytes_max: RESPONSE_BYTES_MAX,
        }
    };
    let mut failure = TransportError::Closed;
    for base in &route.base_urls {
        let Ok(url) = messages_url(base, &connection.application_id).parse() else {
            return Verdict::Park { reason: format!("{base} is no address to send to") };
        };
        // Two customers never share a connection to a provider, so that neither reads a response to the other.
        let to = Destination::new(url, &event.customer.to_string());
        // The provider recognises a second request by its event id.
        match route.client.send_idempotent(|| request(&to)).await {
            Ok(response) => return judge(response.status, &response.headers, &response.body, now()),
            Err(error) if is_unsent(&error) => failure = error,
            Err(error) => {
                failure = error;
                break;
            }
        }
    }
    let error = route.failure_text(&failure);
    match failure {
        // No request reaches this address until an operator changes the address or the address policy.
        TransportError::RefusedAddress { .. } => Verdict::Park { reason: error },
        _ if connection.provider == ProviderAddress::Embedded => {
            Verdict::Retry { error, retry_after: Some(EMBEDDED_PAUSE) }
        }
        _ => Verdict::Retry { error, retry_after: None },
    }
}

/// The body contains the bytes of the event unchanged: they are JSON already.
fn body(event: &OutboxEvent, event_id: &str) -> Bytes {
    let name = event.event_type.name();
    let payload = &event.body;
    Bytes::from(format!(r#"{{"eventType":"{name}","eventId":"{event_id}","payload":{payload}}}"#))
}

#[cfg(test)]
mod tests {
    use contract::event::EventType;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_message_carries_the_events_bytes_unchanged() {
        let payload = r#"{"itemUuid":"x",  "status":"SOLD"}"#;
        let event = OutboxEvent {
            cursor: 7,
            customer: Uuid::nil(),
            subject: Uuid::nil(),
            sequence: 3,
            event_type: EventType::ItemStatusChange,
            body: payload.into(),
            attempts: 0,
            at: Timestamp::UNIX_EPOCH,
            restore_number: None,
        };
        let body = body(&event, &event.event_id());
        assert_eq!(
            body,
            format!(
                r#"{{"eventType":"ITEM_STATUS_CHANGE","eventId":"00000000-0000-0000-0000-000000000000.3","payload":{payload}}}"#
            )
        );
    }
}
