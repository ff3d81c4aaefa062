//! Operational webhooks: an account's endpoints for events about its applications' endpoints and attempts.
//!
//! They are endpoints of a hidden application, so that deliveries to them have the usual guarantees. The application
//! belongs to an account without keys that no list contains ([`hidden_account`]), and is created with the first
//! endpoint. `events` defines the events and their payloads; `worker` sends them as messages.

pub mod events;
pub(crate) mod worker;

use std::collections::BTreeMap;

use crate::applications::{ApplicationInput, IfExists};
use crate::caller::Caller;
use crate::endpoints::EndpointInput;
use crate::error::{ProviderError, ProviderResult};
use crate::event_types::EventTypeInput;
use crate::model::Endpoint;
pub use crate::model::hidden_account::hidden_account;
pub(crate) use crate::model::hidden_account::{APPLICATION, is_hidden, owner};
use crate::page::{ListPage, PageRequest};
use crate::provider::Provider;
use crate::steps::idempotency::Idempotency;
use crate::steps::written::{Created, Put};

impl Provider {
    /// Creates an operational endpoint. `render` makes the JSON of the 201 response, which is stored for the
    /// idempotency key. The event types are those of [`events::EVENT_TYPES`]. 409 (uid), 422, 400 `limit_reached`.
    pub async fn create_operational_endpoint(
        &self,
        caller: &Caller,
        input: EndpointInput,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&Endpoint) -> String + Send,
    ) -> ProviderResult<Created<Endpoint>> {
        let hidden = self.ensure_operational(caller).await?;
        self.create_endpoint(&hidden, APPLICATION, input, idempotency, render).await
    }

    /// An operational endpoint by id or uid. 404.
    pub async fn operational_endpoint(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<Endpoint> {
        self.endpoint(&hidden(caller), APPLICATION, id_or_uid).await
    }

    /// The account's operational endpoints, by default newest first.
    pub async fn list_operational_endpoints(
        &self,
        caller: &Caller,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<Endpoint>> {
        match self.list_endpoints(&hidden(caller), APPLICATION, page).await {
            // The account has no operational application yet.
            Err(ProviderError::NotFound) => Ok(page.slice(Vec::new(), |endpoint: &Endpoint| &endpoint.id)),
            listed => listed,
        }
    }

    /// As [`Provider::put_endpoint`].
    pub async fn put_operational_endpoint(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        input: EndpointInput,
    ) -> ProviderResult<Put<Endpoint>> {
        let hidden = self.ensure_operational(caller).await?;
        self.put_endpoint(&hidden, APPLICATION, id_or_uid, input).await
    }

    /// Deletes an operational endpoint and its waiting deliveries. 404.
    pub async fn delete_operational_endpoint(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<()> {
        self.delete_endpoint(&hidden(caller), APPLICATION, id_or_uid).await
    }

    /// As [`Provider::endpoint_secret`].
    pub async fn operational_secret(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<String> {
        self.endpoint_secret(&hidden(caller), APPLICATION, id_or_uid).await
    }

    /// As [`Provider::rotate_endpoint_secret`].
    pub async fn rotate_operational_secret(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        secret: Option<&str>,
        grace_seconds: Option<i64>,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<String> {
        let hidden = hidden(caller);
        self.rotate_endpoint_secret(&hidden, APPLICATION, id_or_uid, secret, grace_seconds, idempotency).await
    }

    /// As [`Provider::endpoint_headers`].
    pub async fn operational_headers(
        &self,
        caller: &Caller,
        id_or_uid: &str,
    ) -> ProviderResult<BTreeMap<String, String>> {
        self.endpoint_headers(&hidden(caller), APPLICATION, id_or_uid).await
    }

    /// As [`Provider::put_endpoint_headers`].
    pub async fn put_operational_headers(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        headers: &BTreeMap<String, String>,
    ) -> ProviderResult<()> {
        self.put_endpoint_headers(&hidden(caller), APPLICATION, id_or_uid, headers).await
    }

    /// Creates the hidden application with its event types, unless it exists. The event types are created first, and
    /// the newest one last, so that all exist if the application and the newest event type exist.
    async fn ensure_operational(&self, caller: &Caller) -> ProviderResult<Caller> {
        let hidden = hidden(caller);
        let is_complete = self.store().event_type(&hidden.account, events::NEWEST_EVENT_TYPE).await?.is_some();
        if is_complete && self.snapshots().of_caller(&hidden.account, APPLICATION).await?.is_some() {
            return Ok(hidden);
        }
        for (name, description) in events::EVENT_TYPES {
            let input = EventTypeInput { description: description.to_owned(), ..EventTypeInput::default() };
            match self.create_event_type(&hidden, name, input, None, |_| String::new()).await {
                Ok(_) | Err(ProviderError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let input = ApplicationInput {
            name: "Operational webhooks".to_owned(),
            uid: Some(APPLICATION.to_owned()),
            ..ApplicationInput::default()
        };
        self.create_application(&hidden, input, IfExists::Get, None, |_| String::new()).await?;
        Ok(hidden)
    }
}

fn hidden(caller: &Caller) -> Caller {
    Caller { account: hidden_account(&caller.account), ..caller.clone() }
}
