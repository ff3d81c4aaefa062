//! Calls to the provider of a customer: the test of the credentials, and the registration of event types.

use std::time::Duration;

use bytes::Bytes;
use contract::event::EventType;
use contract::event_type::definition;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use kit_outbound::{Destination, Request, Response};
use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::{CredentialTest, provider_key_context};
use crate::error::{PlatformError, PlatformResult};
use crate::{Caller, Platform, Scope};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const DEADLINE: Duration = Duration::from_secs(15);
const RESPONSE_BYTES_MAX: usize = 16 << 10;
const EXCERPT_CHARS_MAX: usize = 300;

/// What happened to an event type in a customer's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTypeOutcome {
    /// It was not there.
    Created,
    /// It was there, and has our description and schema now.
    Updated,
}

/// An event type that is registered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTypeRegistration {
    /// The event type.
    pub event_type: EventType,
    /// What happened to it.
    pub registered: EventTypeOutcome,
}

/// A customer's provider with the credentials to use.
struct Provider {
    customer: Uuid,
    url: String,
    application_id: String,
    key: Secret,
}

impl Platform {
    /// Registers both event types in the customer's provider account: creates them, or updates those that exist. It can
    /// be repeated as often as one likes.
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn register_event_types(
        &self,
        caller: &Caller,
        customer: Uuid,
    ) -> PlatformResult<Vec<EventTypeRegistration>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let provider = self.provider(customer).await?;
        let mut registrations = Vec::new();
        for &event_type in EventType::ALL {
            let registered = self.register(&provider, event_type).await?;
            registrations.push(EventTypeRegistration { event_type, registered });
        }
        Ok(registrations)
    }

    async fn register(&self, provider: &Provider, event_type: EventType) -> PlatformResult<EventTypeOutcome> {
        let body = serde_json::to_string(&definition(event_type))
            .map_err(|error| PlatformError::Internal(format!("an event type can't be written: {error}")))?;
        let created = self.call(provider, Method::POST, "/api/v1/event-type/", body.clone()).await?;
        if created.status != StatusCode::CONFLICT {
            return accepted(provider, &created).map(|()| EventTypeOutcome::Created);
        }
        let path = format!("/api/v1/event-type/{}/", event_type.name());
        let updated = self.call(provider, Method::PUT, &path, body).await?;
        accepted(provider, &updated).map(|()| EventTypeOutcome::Updated)
    }

    /// What the provider says when it is asked for the consumer application. Errors: those that are not the provider's.
    pub(super) async fn tested(&self, customer: Uuid) -> PlatformResult<CredentialTest> {
        match self.test_provider(customer).await {
            Ok(()) => Ok(CredentialTest::Accepted),
            Err(PlatformError::Provider(why)) => Ok(CredentialTest::Refused(why)),
            Err(error) => Err(error),
        }
    }

    /// Asks the provider for the consumer application.
    pub(super) async fn test_provider(&self, customer: Uuid) -> PlatformResult<()> {
        let provider = self.provider(customer).await?;
        let path = format!("/api/v1/app/{}/", provider.application_id);
        let answer = self.call(&provider, Method::GET, &path, String::new()).await?;
        accepted(&provider, &answer)
    }

    async fn provider(&self, customer: Uuid) -> PlatformResult<Provider> {
        let consumer = self.store().consumer(customer).await?.ok_or(PlatformError::NotFound("connection"))?;
        let application_id = consumer
            .application_id
            .ok_or_else(|| PlatformError::invalid("/applicationId", "is missing: connect the customer first"))?;
        let sealed = consumer
            .api_key
            .ok_or_else(|| PlatformError::invalid("/apiKey", "is missing: connect the customer first"))?;
        let key = self
            .vault()
            .open(&provider_key_context(customer), &sealed)
            .map_err(|error| PlatformError::Internal(format!("the provider API key can't be opened: {error}")))?;
        Ok(Provider { customer, url: consumer.provider_url, application_id, key })
    }

    async fn call(&self, provider: &Provider, method: Method, path: &str, body: String) -> PlatformResult<Response> {
        let to = format!("{}{path}", provider.url)
            .parse()
            .map_err(|_| PlatformError::Internal(format!("{} is no address to send to", provider.url)))?;
        let bearer = format!("Bearer {}", provider.key.expose_str().unwrap_or_default());
        let mut authorization = HeaderValue::from_str(&bearer)
            .map_err(|_| PlatformError::Internal("the provider API key can't stand in a header".into()))?;
        authorization.set_sensitive(true);
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(ACCEPT, JSON);
        headers.insert(AUTHORIZATION, authorization);
        if !body.is_empty() {
            headers.insert(CONTENT_TYPE, JSON);
        }
        let request = Request {
            method,
            to: Destination::new(to, &provider.customer.to_string()),
            headers: headers.into(),
            body: Bytes::from(body),
            deadline: DEADLINE,
            response_bytes_max: RESPONSE_BYTES_MAX,
        };
        self.client().send(request).await.map_err(|error| PlatformError::Provider(error.to_string()))
    }
}

fn accepted(provider: &Provider, answer: &Response) -> PlatformResult<()> {
    if answer.status.is_success() {
        return Ok(());
    }
    let body = String::from_utf8_lossy(&answer.body);
    let told: String = body.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(EXCERPT_CHARS_MAX).collect();
    let told = match provider.key.expose_str() {
        Some(key) if !key.is_empty() => told.replace(key, "[redacted]"),
        _ => told,
    };
    Err(PlatformError::Provider(format!("it answered {}: {told}", answer.status.as_u16())))
}
