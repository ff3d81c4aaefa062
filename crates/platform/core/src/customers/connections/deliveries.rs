//! Where an announced event is at the customer's provider: its message, and each attempt to deliver it.
//!
//! This asks the provider, which has the message under the event's id and answers over its public API, as it does for any of
//! its customers. What lists and other pages show of deliveries is what [`super::endpoints`] read before.

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::provider_api::{ListBody, Provider, accepted};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Contact, Page};
use crate::{Caller, Platform, Scope};

/// Endpoints of one message that are shown at most.
const ENDPOINTS_MAX: usize = 10;
/// Attempts of one message that are shown at most.
const ATTEMPTS_MAX: usize = 20;

/// Each of these scopes allows to send an event again: those who run sales, and those who look after customers.
pub const RESEND_SCOPES: &[Scope] = &[Scope::AuctionsWrite, Scope::CustomersWrite];

/// An announced event: the journal has its `eventId`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventName {
    /// Item or auction.
    pub subject: Uuid,
    /// Its per-subject sequence.
    pub sequence: i64,
}

/// The message of an event at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventMessage {
    /// The provider's id of the message.
    pub id: String,
    /// When the provider accepted it.
    pub accepted_at: Timestamp,
    /// The endpoints that it was sent to or waits for, at most ten.
    pub endpoints: Vec<EventEndpoint>,
}

/// Delivery of a message to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventEndpoint {
    /// The provider's id of the endpoint.
    pub id: String,
    /// Its address.
    pub url: String,
    /// The provider's word for the state, such as `success`.
    pub status: String,
    /// The next attempt; none when no further one is planned.
    pub next_attempt_at: Option<Timestamp>,
    /// The latest attempts, newest first.
    pub attempts: Vec<EventAttempt>,
}

/// An attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventAttempt {
    /// When it was made.
    pub at: Timestamp,
    /// The response's status code; 0 without a response.
    pub status_code: u16,
    /// How long the response took.
    pub duration_ms: u64,
    /// Whether the endpoint accepted the message.
    pub is_success: bool,
}

#[derive(Deserialize)]
struct MessageBody {
    id: String,
    timestamp: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EndpointBody {
    id: String,
    url: String,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    next_attempt: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttemptBody {
    endpoint_id: String,
    #[serde(default)]
    response_status_code: u16,
    #[serde(default)]
    response_duration_ms: u64,
    #[serde(default)]
    status: u8,
    timestamp: Timestamp,
}

impl Platform {
    /// The message of an event at the customer's provider; none when the provider does not have it (yet).
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn event_message(
        &self,
        caller: &Caller,
        customer: Uuid,
        event: EventName,
    ) -> PlatformResult<Option<EventMessage>> {
        caller.require(Scope::EventsRead)?;
        self.visible_customer(caller, customer).await?;
        let provider = self.provider(customer).await?;
        let Some(event_id) = self.event_id(event).await? else { return Ok(None) };
        let path = message_path(&provider, &event_id);
        let Some(message) = self.read::<MessageBody>(&provider, &path).await? else { return Ok(None) };
        let endpoints = format!("{path}endpoint/?limit={ENDPOINTS_MAX}");
        let endpoints = self.read::<ListBody<EndpointBody>>(&provider, &endpoints).await?;
        let attempts = format!(
            "/api/v1/app/{}/attempt/msg/{event_id}/?limit={ATTEMPTS_MAX}&with_content=false",
            provider.application_id()
        );
        let attempts = self.read::<ListBody<AttemptBody>>(&provider, &attempts).await?;
        let attempts = attempts.map(|list| list.data).unwrap_or_default();
        let of_endpoint = |body: EndpointBody| EventEndpoint {
            attempts: attempts.iter().filter(|attempt| attempt.endpoint_id == body.id).map(EventAttempt::of).collect(),
            id: body.id,
            url: body.url,
            status: body.status_text,
            next_attempt_at: body.next_attempt,
        };
        let endpoints = endpoints.map(|list| list.data).unwrap_or_default().into_iter().map(of_endpoint).collect();
        Ok(Some(EventMessage { id: message.id, accepted_at: message.timestamp, endpoints }))
    }

    /// Asks the provider to send an event to one endpoint once more.
    ///
    /// Errors: `not_found`, `invalid`, `provider_refused`.
    pub async fn resend_event(
        &self,
        caller: &Caller,
        customer: Uuid,
        event: EventName,
        endpoint: &str,
    ) -> PlatformResult<()> {
        caller.require_one_of(RESEND_SCOPES)?;
        self.visible_customer(caller, customer).await?;
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if endpoint.is_empty() || endpoint.len() > 100 || !endpoint.bytes().all(is_id) {
            return Err(PlatformError::invalid("/endpoint", "is not the id of an endpoint"));
        }
        let provider = self.provider(customer).await?;
        let event_id = self.event_id(event).await?.ok_or(PlatformError::NotFound("event"))?;
        let path = format!("{}endpoint/{endpoint}/resend/", message_path(&provider, &event_id));
        let answer = self.call(&provider, Method::POST, &path, "{}".into()).await?;
        accepted(&answer)?;
        self.read_endpoints_soon(customer).await
    }

    /// The provider's id of an event; none when the change was not announced.
    async fn event_id(&self, event: EventName) -> PlatformResult<Option<String>> {
        let page = Page { after: Some(event.sequence.saturating_sub(1)), limit: 1 };
        let rows = self.store().history(event.subject, page).await?;
        Ok(rows.iter().find(|row| row.sequence == event.sequence).and_then(|row| row.event_id()))
    }

    /// A document of the provider; none when it answers 404.
    async fn read<T: DeserializeOwned>(&self, provider: &Provider, path: &str) -> PlatformResult<Option<T>> {
        let answer = self.call(provider, Method::GET, path, String::new()).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        accepted(&answer)?;
        serde_json::from_slice(&answer.body).map(Some).map_err(|_| PlatformError::Provider {
            contact: Contact::Unreachable,
            text: "the provider did not answer as its API does. Check its address".into(),
        })
    }
}

impl EventAttempt {
    fn of(body: &AttemptBody) -> Self {
        let AttemptBody { timestamp, response_status_code, response_duration_ms, status, .. } = body;
        Self {
            at: *timestamp,
            status_code: *response_status_code,
            duration_ms: *response_duration_ms,
            is_success: *status == 0,
        }
    }
}

fn message_path(provider: &Provider, event_id: &str) -> String {
    format!("/api/v1/app/{}/msg/{event_id}/", provider.application_id())
}
