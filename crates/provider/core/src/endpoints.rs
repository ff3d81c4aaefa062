//! Endpoints: the URLs that receive an application's messages, with their secrets, headers and statistics.

pub(crate) mod delivery_counts;
pub(crate) mod delivery_holds;
mod disable;
pub mod example;
mod headers;
pub mod health_timeline;
mod patch;
mod pause;
mod put;
mod rate_limits;
pub mod search;
mod secrets;
pub mod signature_check;
pub mod url_check;

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use crate::activity::Change;
use crate::caller::Caller;
use crate::config::endpoint_address::EndpointAddressPolicy;
use crate::error::{ProviderError, ProviderResult};
use crate::headers::custom_headers as rules;
use crate::ids;
use crate::model::ordering::DeliveryOrder;
use crate::model::{Endpoint, Id};
use crate::page::{ListPage, PageRequest};
use crate::port::{Order, StoreError};
use crate::provider::Provider;
use crate::signing::secret::EndpointSecret;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite};
use crate::steps::written::{CHANGE_TRIES_MAX, Created};
use crate::uid::NAME_CHARS_MAX;
use crate::validation::{self, FILTER_TYPES_MAX, FieldErrors};

pub use disable::Switch;
pub use patch::EndpointPatch;
pub use rate_limits::RateLimits;

const CHANNELS_MAX: usize = 10;

/// A caller's input for an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointInput {
    /// `http` or `https`, without credentials.
    pub url: String,
    /// The customer's own id for the endpoint.
    pub uid: Option<String>,
    /// Free text.
    pub description: String,
    /// Receives nothing while true.
    pub disabled: bool,
    /// Names of event types that exist; all when none.
    pub filter_types: Option<Vec<String>>,
    /// 1 to 10 channels; all messages when none.
    pub channels: Option<Vec<String>>,
    /// Messages a second that the endpoint receives at most; at least 1.
    pub throttle_rate: Option<u16>,
    /// The caller's own version of the endpoint; 1 when none. In a replacement, none keeps the version.
    pub version: Option<NonZeroU16>,
    /// Free text pairs.
    pub metadata: BTreeMap<String, String>,
    /// Headers sent with every delivery. In a replacement, none keeps the headers.
    pub headers: Option<BTreeMap<String, String>>,
    /// `whsec_…` or `whsk_…`; generated when none. A replacement keeps the secret and rejects a different one.
    pub secret: Option<String>,
    /// Whether messages of one key are delivered one after the other. In a replacement, none keeps the ordering.
    pub ordering: Option<DeliveryOrder>,
    /// Whether its deliveries carry the header `traceparent`. In a replacement, none keeps the setting.
    pub sends_trace_parent: Option<bool>,
}

impl Provider {
    /// Creates an endpoint of an application. `render` makes the JSON of the 201 response, which is stored for the
    /// idempotency key. 404 (application), 409 (uid), 422, 400 `limit_reached`.
    pub async fn create_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        input: EndpointInput,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&Endpoint) -> String + Send,
    ) -> ProviderResult<Created<Endpoint>> {
        let validated = self.check_endpoint(caller, input, &[]).await?;
        let endpoint = self.new_endpoint(caller, application, validated).await?;
        let endpoints_max = self.endpoints_max(caller);
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            endpoint.created_at,
            201,
            || render(&endpoint),
            |answer| self.store().create_endpoint(endpoint.clone(), endpoints_max, answer),
        )
        .await;
        self.snapshots().invalidate(&endpoint.application);
        Ok(match written.map_err(|error| with_limit(error, endpoints_max))? {
            IdempotentWrite::Done => {
                self.record_endpoint(caller, Change::created(&endpoint)).await;
                Created::New(endpoint)
            }
            IdempotentWrite::Replayed(answer) => Created::Replayed(answer),
        })
    }

    /// An endpoint by id or uid. 404.
    pub async fn endpoint(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<Endpoint> {
        let application = self.application(caller, application).await?;
        self.store().endpoint(&application.id, id_or_uid).await?.ok_or(ProviderError::NotFound)
    }

    /// The application's endpoints, by default newest first.
    pub async fn list_endpoints(
        &self,
        caller: &Caller,
        application: &str,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<Endpoint>> {
        let application = self.application(caller, application).await?;
        let rows = self.store().endpoints(&application.id, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |endpoint| &endpoint.id))
    }

    /// Deletes an endpoint and its waiting deliveries. 404.
    pub async fn delete_endpoint(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<()> {
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        let deleted = self.store().delete_endpoint(&endpoint.application, &endpoint.id).await;
        self.snapshots().invalidate(&endpoint.application);
        if !deleted? {
            return Err(ProviderError::NotFound);
        }
        // Attempts under way are recorded before the caller reads the messages' history.
        self.dispatcher().wait_for_attempts(&endpoint.id).await;
        self.record_endpoint(caller, Change::deleted(&endpoint)).await;
        Ok(())
    }

    /// Changes the current state of an endpoint, and retries when another caller or an attempt changed it first. The
    /// next delivery uses the new state. 404.
    async fn change_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        change: impl Fn(&mut Endpoint) -> ProviderResult<()> + Send,
    ) -> ProviderResult<Endpoint> {
        for _ in 0..CHANGE_TRIES_MAX {
            let old = self.endpoint(caller, application, id_or_uid).await?;
            let mut new = old.clone();
            change(&mut new)?;
            new.updated_at = self.now();
            let replaced = self.store().replace_endpoint(old.clone(), new.clone(), None).await;
            self.snapshots().invalidate(&new.application);
            match replaced {
                Ok(()) => {
                    self.dispatcher().changed(&new.application).await;
                    self.record_endpoint(caller, Change::replaced(&old, &new)).await;
                    return Ok(new);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Checks an endpoint that subscribes to the event types in `kept` already.
    async fn check_endpoint(
        &self,
        caller: &Caller,
        input: EndpointInput,
        kept: &[String],
    ) -> ProviderResult<ValidatedEndpoint> {
        let validated = input.check(Some(&self.config().address_policy))?;
        let names = validated.input.filter_types.as_deref().unwrap_or_default();
        self.check_filter_types(caller, names, kept).await?;
        Ok(validated)
    }

    /// Rejects event types that do not exist or that the caller may not see, except those in `kept`.
    async fn check_filter_types(&self, caller: &Caller, names: &[String], kept: &[String]) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        for (index, name) in names.iter().enumerate() {
            let found = self.store().event_type(&caller.account, name).await?;
            if !found.is_some_and(|event_type| caller.can_see(&event_type) || kept.contains(name)) {
                errors.fault_at("eventTypes", index.to_string(), format!("there is no event type {name}"));
            }
        }
        errors.finish()
    }

    fn endpoints_max(&self, caller: &Caller) -> usize {
        caller.settings.endpoints_max.map_or(self.config().endpoints_max, |max| max as usize)
    }

    async fn new_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        validated: ValidatedEndpoint,
    ) -> ProviderResult<Endpoint> {
        let snapshot = self.snapshots().of_caller(&caller.account, application).await?;
        let snapshot = snapshot.ok_or(ProviderError::NotFound)?;
        let ValidatedEndpoint { input, headers, secret } = validated;
        let (id, now): (Id, _) = (self.ids().make(ids::ENDPOINT), self.now());
        let secret = secret.unwrap_or_else(|| EndpointSecret::make(self.config().secret_kind, self.random()));
        Ok(Endpoint {
            secret: self.seal(&id, &secret),
            headers: self.seal_headers(&id, &headers.unwrap_or_default()),
            id,
            application: snapshot.application.id.clone(),
            uid: input.uid,
            url: input.url,
            description: input.description,
            disabled: input.disabled,
            filter_types: input.filter_types,
            channels: input.channels,
            throttle_rate: input.throttle_rate,
            version: input.version.unwrap_or(NonZeroU16::MIN),
            metadata: input.metadata,
            old_secrets: Vec::new(),
            failing_since: None,
            disabled_at: input.disabled.then_some(now),
            ordering: input.ordering.unwrap_or_default(),
            sends_trace_parent: input.sends_trace_parent.unwrap_or_default(),
            created_at: now,
            updated_at: now,
        })
    }
}

#[derive(Clone)]
struct ValidatedEndpoint {
    input: EndpointInput,
    headers: Option<BTreeMap<String, String>>,
    secret: Option<EndpointSecret>,
}

fn with_limit(error: ProviderError, endpoints_max: usize) -> ProviderError {
    match error {
        ProviderError::BadRequest { code: "limit_reached", .. } => ProviderError::BadRequest {
            code: "limit_reached",
            detail: format!("an application of this account has at most {endpoints_max} endpoints; delete one first"),
        },
        error => error,
    }
}

impl EndpointInput {
    /// Checks the input, but not whether its event types exist. Without a policy, as for an unchanged URL, it does not
    /// check whether the address is allowed.
    fn check(mut self, address_policy: Option<&EndpointAddressPolicy>) -> ProviderResult<ValidatedEndpoint> {
        let mut errors = FieldErrors::default();
        match kit_outbound::url::parse_endpoint_url(&self.url) {
            Ok(url) => {
                if let Some(Err(reason)) = address_policy.map(|address_policy| address_policy.check(&url)) {
                    errors.fault("url", reason);
                }
                self.url = url.as_str().to_owned();
            }
            Err(error) => errors.fault("url", error.to_string()),
        }
        errors.uid("uid", self.uid.as_deref(), ids::ENDPOINT);
        errors.text("description", &self.description);
        errors.names("eventTypes", self.filter_types.as_deref(), FILTER_TYPES_MAX, NAME_CHARS_MAX);
        validation::dedup(self.channels.as_mut());
        errors.channels(self.channels.as_deref(), CHANNELS_MAX);
        errors.throttle_rate(self.throttle_rate);
        errors.metadata(&self.metadata);
        let headers = match self.headers.take().map(|headers| rules::check(&headers)) {
            Some(Err(faults)) => {
                errors.add(faults);
                None
            }
            Some(Ok(headers)) => Some(headers),
            None => None,
        };
        let secret = match self.secret.take().map(|secret| EndpointSecret::parse(&secret)) {
            Some(Err(error)) => {
                errors.fault("secret", error.to_string());
                None
            }
            Some(Ok(secret)) => Some(secret),
            None => None,
        };
        errors.finish()?;
        Ok(ValidatedEndpoint { input: self, headers, secret })
    }
}

impl Endpoint {
    /// The input that describes the endpoint as it is, without its headers and secret.
    fn as_input(&self) -> EndpointInput {
        EndpointInput {
            url: self.url.clone(),
            uid: self.uid.clone(),
            description: self.description.clone(),
            disabled: self.disabled,
            filter_types: self.filter_types.clone(),
            channels: self.channels.clone(),
            throttle_rate: self.throttle_rate,
            version: Some(self.version),
            metadata: self.metadata.clone(),
            headers: None,
            secret: None,
            ordering: Some(self.ordering),
            sends_trace_parent: Some(self.sends_trace_parent),
        }
    }

    /// Replaces the fields with the input, except the secret. The caller has sealed the headers.
    fn replace_with(&mut self, validated: ValidatedEndpoint) {
        let ValidatedEndpoint { input, headers, secret: _ } = validated;
        self.url = input.url;
        self.uid = input.uid;
        self.description = input.description;
        // After a caller enables the endpoint, earlier failures do not count.
        if self.disabled && !input.disabled {
            self.failing_since = None;
        }
        self.disabled = input.disabled;
        self.filter_types = input.filter_types;
        self.channels = input.channels;
        self.throttle_rate = input.throttle_rate;
        self.version = input.version.unwrap_or(self.version);
        self.metadata = input.metadata;
        self.ordering = input.ordering.unwrap_or(self.ordering);
        self.sends_trace_parent = input.sends_trace_parent.unwrap_or(self.sends_trace_parent);
        if let Some(headers) = headers {
            self.headers = headers;
        }
    }
}
