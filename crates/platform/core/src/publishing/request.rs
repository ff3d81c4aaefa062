//! The request that creates the message of one event at the provider, and its verdict.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use kit_outbound::{Destination, Request, Response, TransportError};
use uuid::Uuid;

use super::PublisherParts;
use super::conflict::compare_existing;
use super::connection::Connection;
use super::trace::PublishTrace;
use super::verdict::{Verdict, judge};
use crate::port::{OutboxEvent, ProviderAddress};
use crate::provider_access::{NoRoute, Route, is_unsent, messages_url};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The embedded provider delivers the messages of one ordering key in order to an ordered endpoint. Other providers ignore
/// the header.
const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");
/// An event reports what has happened already: the provider accepts it also while its disk has less free room than the
/// reserve. Other providers ignore the header.
const USE_DISK_RESERVE: HeaderName = HeaderName::from_static("lotwire-use-disk-reserve");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Bytes of the provider's response that are read. The response to an accepted message has a few hundred.
const RESPONSE_BYTES_MAX: usize = 16 << 10;

/// Pause before another request when no node of the embedded provider runs. Short, because a node may start at any moment.
const EMBEDDED_PAUSE: Duration = Duration::from_secs(1);

/// Publishes an event and judges the response. If the provider has a message under the event's id, the message decides.
pub(super) async fn publish(
    parts: &PublisherParts,
    connection: &Connection,
    event: &OutboxEvent,
    restores: u32,
) -> Verdict {
    let mut trace = PublishTrace::begin(&parts.tracer, event);
    let verdict = publish_traced(parts, connection, event, restores, &mut trace).await;
    trace.end(&verdict);
    verdict
}

async fn publish_traced(
    parts: &PublisherParts,
    connection: &Connection,
    event: &OutboxEvent,
    restores: u32,
    trace: &mut PublishTrace<'_>,
) -> Verdict {
    let event_id = event.event_id();
    let subject = event.subject.to_string();
    let key = idempotency_key(&event_id, restores);
    let (Ok(key), Ok(subject)) = (HeaderValue::try_from(key), HeaderValue::from_str(&subject)) else {
        return Verdict::Quarantine { error: "the event's id can't stand in a header".into() };
    };
    let requests = match ProviderRequests::open(parts, connection, event.customer).await {
        Ok(requests) => requests,
        Err(verdict) => return verdict,
    };
    let body = body(event, &event_id);
    let post = |to: &Destination| {
        let mut headers = requests.headers();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(IDEMPOTENCY_KEY, key.clone());
        headers.insert(ORDERING_KEY, subject.clone());
        headers.insert(USE_DISK_RESERVE, HeaderValue::from_static("true"));
        trace.add_to(&mut headers);
        requests.request(Method::POST, to, headers, body.clone())
    };
    let response = match requests.send("", post).await {
        Ok(response) => response,
        Err(verdict) => return verdict,
    };
    trace.answered(&response);
    match judge(response.status, &response.headers, &response.body, parts.clock.now()) {
        Some(verdict) => verdict,
        None => compare_existing(parts, &requests, event, &event_id).await,
    }
}

/// Requests about the messages of one consumer application, at the addresses of its provider.
pub(super) struct ProviderRequests<'a> {
    route: Route,
    connection: &'a Connection,
    customer: String,
    deadline: Duration,
}

impl<'a> ProviderRequests<'a> {
    /// Finds the addresses of the provider.
    async fn open(parts: &PublisherParts, connection: &'a Connection, customer: Uuid) -> Result<Self, Verdict> {
        let route = match parts.providers.route(&connection.provider).await {
            Ok(route) => route,
            Err(none @ NoRoute::NoEmbeddedNode) => {
                return Err(Verdict::Retry { error: none.to_string(), retry_after: Some(EMBEDDED_PAUSE) });
            }
            Err(refused @ NoRoute::Refused(_)) => return Err(Verdict::Park { reason: refused.to_string() }),
        };
        Ok(Self { route, connection, customer: customer.to_string(), deadline: parts.config.request_timeout })
    }

    /// The headers of every request.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(7);
        headers.insert(ACCEPT, JSON);
        headers.insert(AUTHORIZATION, self.connection.authorization.clone());
        headers
    }

    pub(super) fn request(&self, method: Method, to: &Destination, headers: HeaderMap, body: Bytes) -> Request {
        Request {
            method,
            to: to.clone(),
            headers: headers.into(),
            body,
            deadline: self.deadline,
            response_bytes_max: RESPONSE_BYTES_MAX,
        }
    }

    /// Sends a request to a path below that of the messages. If a node of the embedded provider can't be reached, the
    /// next node is used. The provider recognises a second request by its event id.
    pub(super) async fn send(
        &self,
        path: &str,
        request: impl Fn(&Destination) -> Request,
    ) -> Result<Response, Verdict> {
        let mut failure = TransportError::Closed;
        for base in &self.route.base_urls {
            let Ok(url) = format!("{}{path}", messages_url(base, &self.connection.application_id)).parse() else {
                return Err(Verdict::Park { reason: format!("{base} is no address to send to") });
            };
            // Two customers never share a connection to a provider, so that neither reads a response to the other.
            let to = Destination::new(url, &self.customer);
            match self.route.client.send_idempotent(|| request(&to)).await {
                Ok(response) => return Ok(response),
                Err(error) if is_unsent(&error) => failure = error,
                Err(error) => {
                    failure = error;
                    break;
                }
            }
        }
        let error = self.route.failure_text(&failure);
        Err(match failure {
            // No request reaches this address until an operator changes the address or the address policy.
            TransportError::RefusedAddress { .. } => Verdict::Park { reason: error },
            _ if self.connection.provider == ProviderAddress::Embedded => {
                Verdict::Retry { error, retry_after: Some(EMBEDDED_PAUSE) }
            }
            _ => Verdict::Retry { error, retry_after: None },
        })
    }
}

/// The event id, and the number of restores of the installation, if there was one. A provider repeats its response to a
/// known key without looking at the body, and an event id is used again after a restore.
fn idempotency_key(event_id: &str, restores: u32) -> String {
    match restores {
        0 => event_id.to_owned(),
        restores => format!("{event_id}.r{restores}"),
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
    use jiff::Timestamp;

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
            trace_parent: None,
        };
        let body = body(&event, &event.event_id());
        assert_eq!(
            body,
            format!(
                r#"{{"eventType":"ITEM_STATUS_CHANGE","eventId":"00000000-0000-0000-0000-000000000000.3","payload":{payload}}}"#
            )
        );
    }

    #[test]
    fn no_two_restores_use_the_same_idempotency_key_for_an_event() {
        assert_eq!(idempotency_key("x.3", 0), "x.3");
        assert_eq!(idempotency_key("x.3", 1), "x.3.r1");
        assert_eq!(idempotency_key("x.3.r1", 1), "x.3.r1.r1");
        assert_eq!(idempotency_key("x.3.r1", 2), "x.3.r1.r2");
    }
}
