//! Calls to the provider of a customer, and the test of the credentials.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use jiff::Timestamp;
use kit_outbound::{Destination, Request, Response, TransportError, retry_after};
use kit_runtime::vault::Secret;
use serde::Deserialize;
use uuid::Uuid;

use super::CredentialTest;
use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Consumer, Contact, ContactRecord, ProviderAddress};
use crate::provider_access::answer_text::answer_text;
use crate::provider_access::is_unsent;
use crate::provider_access::provider_key_context;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const DEADLINE: Duration = Duration::from_secs(15);
const RESPONSE_BYTES_MAX: usize = 16 << 10;

/// Limits of one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// From the name lookup to the last byte of the response.
    pub(super) deadline: Duration,
    /// Bytes of the response's body.
    pub(super) response_bytes_max: usize,
}

/// A page of a list of the provider.
#[derive(Deserialize)]
pub(super) struct ListBody<T> {
    pub(super) data: Vec<T>,
    /// False when further entries follow.
    #[serde(default)]
    pub(super) done: bool,
}

/// A customer's provider with the credentials to use.
pub(super) struct Provider {
    customer: Uuid,
    address: ProviderAddress,
    application_id: String,
    key: Secret,
    /// The change of the connection that these are of.
    updated_at: Timestamp,
}

impl Provider {
    /// The consumer application.
    pub(super) fn application_id(&self) -> &str {
        &self.application_id
    }
}

impl Platform {
    /// What the provider says when it is asked for the consumer application. Errors: those that are not the provider's.
    pub(super) async fn tested(&self, customer: Uuid) -> PlatformResult<CredentialTest> {
        match self.test_provider(customer).await {
            Ok(()) => Ok(CredentialTest::Accepted),
            Err(PlatformError::Provider { text, .. }) => Ok(CredentialTest::Refused(text)),
            Err(error) => Err(error),
        }
    }

    /// Asks the provider for the consumer application, and records what that showed.
    pub(super) async fn test_provider(&self, customer: Uuid) -> PlatformResult<()> {
        let provider = self.provider(customer).await?;
        let path = format!("/api/v1/app/{}/", provider.application_id);
        let tested = match self.call(&provider, Method::GET, &path, String::new()).await {
            Ok(answer) => accepted(&answer),
            Err(error) => Err(error),
        };
        let (contact, detail) = match &tested {
            Ok(()) => (Contact::Working, None),
            Err(PlatformError::Provider { contact, text }) => (*contact, Some(text.clone())),
            Err(_) => return tested,
        };
        let record = ContactRecord { contact, since: self.now(), detail };
        self.store().record_contact(customer, provider.updated_at, record).await?;
        tested
    }

    pub(super) async fn provider(&self, customer: Uuid) -> PlatformResult<Provider> {
        let consumer = self.store().consumer(customer).await?.ok_or(PlatformError::NotFound("connection"))?;
        if consumer.application_id.is_none() {
            return Err(PlatformError::invalid("/applicationId", "is missing: connect the customer first"));
        }
        self.provider_of(consumer)
    }

    /// The provider of a connection, which may have no application yet.
    pub(super) fn provider_of(&self, consumer: Consumer) -> PlatformResult<Provider> {
        let key = self.provider_key(&consumer)?;
        let Consumer { customer, provider: address, application_id, updated_at, .. } = consumer;
        Ok(Provider { customer, address, application_id: application_id.unwrap_or_default(), key, updated_at })
    }

    /// The API key of a connection.
    pub(super) fn provider_key(&self, consumer: &Consumer) -> PlatformResult<Secret> {
        let missing = || PlatformError::invalid("/apiKey", "is missing: connect the customer first");
        let sealed = consumer.api_key.as_ref().ok_or_else(missing)?;
        let opened = self.vault().open(&provider_key_context(consumer.customer), sealed);
        opened.map_err(|error| PlatformError::Internal(format!("the provider API key can't be opened: {error}")))
    }

    /// The provider's response. A node of the embedded provider that can't be reached is passed over.
    pub(super) async fn call(
        &self,
        provider: &Provider,
        method: Method,
        path: &str,
        body: String,
    ) -> PlatformResult<Response> {
        let limits = CallLimits { deadline: DEADLINE, response_bytes_max: RESPONSE_BYTES_MAX };
        self.call_within(provider, method, path, body, limits).await
    }

    /// The same within other limits.
    pub(super) async fn call_within(
        &self,
        provider: &Provider,
        method: Method,
        path: &str,
        body: String,
        limits: CallLimits,
    ) -> PlatformResult<Response> {
        let unreachable = |text| PlatformError::Provider { contact: Contact::Unreachable, text };
        let route =
            self.provider_access().route(&provider.address).await.map_err(|none| unreachable(none.to_string()))?;
        let mut failure = None;
        for base in &route.base_urls {
            let request = request(provider, method.clone(), &format!("{base}{path}"), body.clone(), limits)?;
            match route.client.send(request).await {
                Ok(response) => return Ok(response),
                Err(error) if is_unsent(&error) => failure = Some(error),
                Err(error) => return Err(unreachable(route.failure_text(&error))),
            }
        }
        Err(unreachable(route.failure_text(&failure.unwrap_or(TransportError::Closed))))
    }
}

fn request(
    provider: &Provider,
    method: Method,
    url: &str,
    body: String,
    limits: CallLimits,
) -> PlatformResult<Request> {
    let to = url.parse().map_err(|_| PlatformError::Internal(format!("{url} is no address to send to")))?;
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
    Ok(Request {
        method,
        to: Destination::new(to, &provider.customer.to_string()),
        headers: headers.into(),
        body: Bytes::from(body),
        deadline: limits.deadline,
        response_bytes_max: limits.response_bytes_max,
    })
}

/// The same for what a person asked for: the text says when to repeat it.
pub(super) fn accepted_now(answer: &Response, now: Timestamp) -> PlatformResult<()> {
    if answer.status != StatusCode::TOO_MANY_REQUESTS {
        return accepted(answer);
    }
    let wait = retry_after(&answer.headers, now).map_or("a minute".to_owned(), |wait| match wait.as_secs() {
        seconds @ ..=90 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds.div_ceil(60)),
    });
    let text = format!("the provider answered 429: it limits the requests of the account. Repeat this in {wait}");
    Err(PlatformError::Provider { contact: Contact::Unreachable, text })
}

/// Whether the provider did what was asked of it.
pub(super) fn accepted(answer: &Response) -> PlatformResult<()> {
    let status = answer.status.as_u16();
    let contact = match status {
        200..=299 => return Ok(()),
        408 | 429 | 500..=599 => Contact::Unreachable,
        _ => Contact::Refused,
    };
    Err(PlatformError::Provider { contact, text: answer_text(answer.status, &answer.body) })
}
