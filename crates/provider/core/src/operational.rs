//! Operational webhooks: an account's endpoints for events about its applications' endpoints and attempts.
//!
//! They are endpoints of an application like any other, so that everything that holds for deliveries holds for them. The
//! application is hidden: it belongs to an account that has no keys and is in no list ([`hidden_account`]), and is made
//! with the first endpoint. `events` has the events and their payloads; `worker` turns them into messages.

pub mod events;
pub(crate) mod worker;

use std::collections::BTreeMap;

use crate::accounts::caller::Caller;
use crate::applications::{ApplicationInput, IfExists};
use crate::endpoints::EndpointInput;
use crate::error::{ProviderError, ProviderResult};
use crate::event_types::EventTypeInput;
use crate::idempotency::Idempotency;
use crate::model::{Endpoint, Id};
use crate::page::{ListPage, PageRequest};
use crate::provider::{Created, Provider, Put};

/// Uid of the hidden application.
pub(crate) const APPLICATION: &str = "operational";
/// What the hidden account's id ends with. No id of an account holds a slash.
const HIDDEN: &str = "/operational";

/// The account that an account's operational application belongs to.
pub fn hidden_account(account: &str) -> Id {
    format!("{account}{HIDDEN}").into()
}

/// Whether this is the hidden account of an account.
pub(crate) fn is_hidden(account: &str) -> bool {
    account.ends_with(HIDDEN)
}

/// The account itself, or the one that a hidden account belongs to.
pub(crate) fn owner(account: &str) -> &str {
    account.strip_suffix(HIDDEN).unwrap_or(account)
}

impl Provider {
    /// Makes an operational endpoint; `render` makes the JSON of the 201 that is kept for the idempotency key. Its event
    /// types are those of [`events::EVENT_TYPES`]. 409 (uid), 422, 400 `limit_reached`.
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

    /// The account's operational endpoints, newest first unless asked otherwise.
    pub async fn list_operational_endpoints(
        &self,
        caller: &Caller,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<Endpoint>> {
        match self.list_endpoints(&hidden(caller), APPLICATION, page).await {
            // There never was one.
            Err(ProviderError::NotFound) => Ok(page.slice(Vec::new(), |endpoint: &Endpoint| &endpoint.id)),
            listed => listed,
        }
    }

    /// Replaces an operational endpoint, or makes one when there is none of that id or uid; the id in the path is not
    /// used then. Its secret stays.
    pub async fn put_operational_endpoint(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        input: EndpointInput,
    ) -> ProviderResult<Put<Endpoint>> {
        let hidden = self.ensure_operational(caller).await?;
        self.put_endpoint(&hidden, APPLICATION, id_or_uid, input).await
    }

    /// Deletes an operational endpoint and whatever waits for it. 404.
    pub async fn delete_operational_endpoint(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<()> {
        self.delete_endpoint(&hidden(caller), APPLICATION, id_or_uid).await
    }

    /// What the receiver verifies with. 404.
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

    /// The hidden application with its event types, created when it does not exist. The event types are created first, and
    /// the newest of them last, so that a caller that finds the application and that one finds all.
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
