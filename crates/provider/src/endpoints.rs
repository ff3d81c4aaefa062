//! Endpoints: the addresses that receive an application's messages, with their secrets (provider.md, "Delivery").

mod headers;
mod secrets;

use std::collections::BTreeMap;

use crate::accounts::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::headers as rules;
use crate::idempotency::{self, Idempotency, Write};
use crate::ids;
use crate::model::{Endpoint, Id};
use crate::page::{PageRequest, Slice};
use crate::port::Order;
use crate::provider::{Created, Provider, Put};
use crate::secret::EndpointSecret;
use crate::uid::NAME_CHARS_MAX;
use crate::validation::{Checks, FILTER_TYPES_MAX};

/// Channels that an endpoint listens to at most.
const CHANNELS_MAX: usize = 10;
/// Endpoints of an application at most: a message has a row for each.
const ENDPOINTS_MAX: usize = 1_000;

/// What a caller says of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointInput {
    /// `http` or `https`, without credentials.
    pub url: String,
    /// The customer's own id for it.
    pub uid: Option<String>,
    /// Free text.
    pub description: String,
    /// Receives nothing while true.
    pub disabled: bool,
    /// Names of event types that exist; all when none.
    pub filter_types: Option<Vec<String>>,
    /// 1 to 10 channels; all messages when none.
    pub channels: Option<Vec<String>>,
    /// Messages a second that it receives at most; at least 1.
    pub throttle_rate: Option<u16>,
    /// Free text pairs.
    pub metadata: BTreeMap<String, String>,
    /// Headers sent with every delivery. When an endpoint is replaced, none leaves them as they are.
    pub headers: Option<BTreeMap<String, String>>,
    /// `whsec_…`. Made when none; only read when an endpoint is made.
    pub secret: Option<String>,
}

impl Provider {
    /// Makes an endpoint of an application; `render` makes the JSON of the 201 that is kept for the idempotency key.
    /// 404 (application), 409 (uid), 422, 400 `limit_reached`.
    pub async fn create_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        input: EndpointInput,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&Endpoint) -> String + Send,
    ) -> ProviderResult<Created<Endpoint>> {
        let checked = self.check_endpoint(caller, input).await?;
        let endpoint = self.new_endpoint(caller, application, checked).await?;
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            endpoint.created_at,
            201,
            || render(&endpoint),
            |answer| self.store().create_endpoint(endpoint.clone(), answer),
        )
        .await;
        self.snapshots().forget(&endpoint.application);
        Ok(match written? {
            Write::Done => Created::New(endpoint),
            Write::Before(answer) => Created::Before(answer),
        })
    }

    /// An endpoint by id or uid. 404.
    pub async fn endpoint(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<Endpoint> {
        let application = self.application(caller, application).await?;
        self.store().endpoint(&application.id, id_or_uid).await?.ok_or(ProviderError::NotFound)
    }

    /// The application's endpoints, newest first unless asked otherwise.
    pub async fn list_endpoints(
        &self,
        caller: &Caller,
        application: &str,
        page: &PageRequest,
    ) -> ProviderResult<Slice<Endpoint>> {
        let application = self.application(caller, application).await?;
        let rows = self.store().endpoints(&application.id, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |endpoint| &endpoint.id))
    }

    /// Replaces an endpoint, or makes one when there is none of that id or uid; the id in the path is not used then. Its
    /// secret stays.
    pub async fn put_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        input: EndpointInput,
    ) -> ProviderResult<Put<Endpoint>> {
        let checked = self.check_endpoint(caller, input).await?;
        let mut endpoint = match self.endpoint(caller, application, id_or_uid).await {
            Ok(endpoint) => endpoint,
            Err(ProviderError::NotFound) => {
                let endpoint = self.new_endpoint(caller, application, checked).await?;
                let created = self.store().create_endpoint(endpoint.clone(), None).await;
                self.snapshots().forget(&endpoint.application);
                return created.map(|()| Put::Created(endpoint)).map_err(Into::into);
            }
            Err(error) => return Err(error),
        };
        let Checked { input, headers, secret: _ } = checked;
        endpoint.url = input.url;
        endpoint.uid = input.uid;
        endpoint.description = input.description;
        // Switched on again by hand: the failures until now don't count any more.
        if endpoint.disabled && !input.disabled {
            endpoint.failing_since = None;
        }
        endpoint.disabled = input.disabled;
        endpoint.filter_types = input.filter_types;
        endpoint.channels = input.channels;
        endpoint.throttle_rate = input.throttle_rate;
        endpoint.metadata = input.metadata;
        if let Some(headers) = headers {
            endpoint.headers = headers;
        }
        self.update_endpoint(&mut endpoint).await?;
        Ok(Put::Updated(endpoint))
    }

    /// Deletes an endpoint and whatever waits for it. 404.
    pub async fn delete_endpoint(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<()> {
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        let there = self.store().delete_endpoint(&endpoint.application, &endpoint.id).await;
        self.snapshots().forget(&endpoint.application);
        if there? { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    async fn update_endpoint(&self, endpoint: &mut Endpoint) -> ProviderResult<()> {
        endpoint.updated_at = self.now();
        let updated = self.store().update_endpoint(endpoint.clone()).await;
        self.snapshots().forget(&endpoint.application);
        Ok(updated?)
    }

    async fn check_endpoint(&self, caller: &Caller, mut input: EndpointInput) -> ProviderResult<Checked> {
        let mut checks = Checks::default();
        match outbound::url::parse_endpoint_url(&input.url) {
            Ok(url) => input.url = url.as_str().to_owned(),
            Err(error) => checks.fault("url", error.to_string()),
        }
        checks.uid("uid", input.uid.as_deref(), ids::ENDPOINT);
        checks.text("description", &input.description);
        checks.names("eventTypes", input.filter_types.as_deref(), FILTER_TYPES_MAX, NAME_CHARS_MAX);
        checks.channels(input.channels.as_deref(), CHANNELS_MAX);
        checks.throttle_rate(input.throttle_rate);
        checks.metadata(&input.metadata);
        let headers = match input.headers.take().map(|headers| rules::check(&headers)) {
            Some(Err(faults)) => {
                checks.add(faults);
                None
            }
            Some(Ok(headers)) => Some(headers),
            None => None,
        };
        let secret = match input.secret.take().map(|secret| EndpointSecret::parse(&secret)) {
            Some(Err(error)) => {
                checks.fault("secret", error.to_string());
                None
            }
            Some(Ok(secret)) => Some(secret),
            None => None,
        };
        checks.finish()?;
        self.check_filter_types(caller, input.filter_types.as_deref().unwrap_or_default()).await?;
        Ok(Checked { input, headers, secret })
    }

    async fn check_filter_types(&self, caller: &Caller, names: &[String]) -> ProviderResult<()> {
        let mut checks = Checks::default();
        for (index, name) in names.iter().enumerate() {
            if self.store().event_type(&caller.account, name).await?.is_none() {
                checks.fault_at("eventTypes", index.to_string(), format!("there is no event type {name}"));
            }
        }
        checks.finish()
    }

    async fn new_endpoint(&self, caller: &Caller, application: &str, checked: Checked) -> ProviderResult<Endpoint> {
        let snapshot = self.snapshots().of_caller(&caller.account, application).await?;
        let snapshot = snapshot.ok_or(ProviderError::NotFound)?;
        if snapshot.targets.len() >= ENDPOINTS_MAX {
            return Err(ProviderError::BadRequest {
                code: "limit_reached",
                detail: format!("an application has at most {ENDPOINTS_MAX} endpoints"),
            });
        }
        let Checked { input, headers, secret } = checked;
        let (id, now): (Id, _) = (self.ids().make(ids::ENDPOINT), self.now());
        let secret = secret.unwrap_or_else(|| EndpointSecret::make(self.random()));
        Ok(Endpoint {
            secret: self.seal(&id, &secret),
            id,
            application: snapshot.application.id.clone(),
            uid: input.uid,
            url: input.url,
            description: input.description,
            disabled: input.disabled,
            filter_types: input.filter_types,
            channels: input.channels,
            throttle_rate: input.throttle_rate,
            metadata: input.metadata,
            headers: headers.unwrap_or_default(),
            old_secrets: Vec::new(),
            failing_since: None,
            created_at: now,
            updated_at: now,
        })
    }
}

/// An input without faults.
struct Checked {
    input: EndpointInput,
    headers: Option<BTreeMap<String, String>>,
    secret: Option<EndpointSecret>,
}
