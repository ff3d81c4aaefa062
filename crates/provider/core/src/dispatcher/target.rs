//! The target of deliveries: an endpoint with decrypted secrets and parsed address and headers, prepared once for many
//! deliveries.

use std::collections::HashSet;
use std::num::NonZeroU16;

use http::{HeaderName, HeaderValue, header};
use jiff::Timestamp;
use kit_outbound::{Destination, Headers};
use kit_runtime::trace::{TRACEPARENT, TraceParent};
use kit_runtime::vault::Vault;

use crate::headers::custom_headers;
use crate::headers::sealing;
use crate::model::ordering::DeliveryOrder;
use crate::model::{Application, Endpoint, Id, Message};
use crate::payload::media_type;
use crate::signing::Signer;
use crate::signing::secret::{EndpointSecret, UnsealError};

/// The header `User-Agent` of deliveries.
pub(crate) const USER_AGENT: &str = concat!("Lotwire-Webhooks/", env!("CARGO_PKG_VERSION"));

pub(crate) struct Target {
    pub(crate) endpoint: Id,
    pub(crate) url: String,
    pub(crate) disabled: bool,
    pub(crate) failing_since: Option<Timestamp>,
    pub(crate) account: Id,
    /// When a caller last changed the endpoint or its application.
    pub(crate) changed_at: Timestamp,
    /// Number of payload removals in the application.
    pub(crate) purges: i64,
    /// Messages a second to the endpoint.
    pub(crate) throttle_rate: Option<NonZeroU16>,
    /// Messages a second to all endpoints of the application together.
    pub(crate) application_rate: Option<NonZeroU16>,
    pub(crate) ordering: DeliveryOrder,
    /// The template of requests, or the error text for attempts if it can't be made.
    pub(crate) request_template: Result<RequestTemplate, String>,
    filter_types: Option<HashSet<String>>,
    channels: Option<Vec<String>>,
}

/// Address, headers and keys of an endpoint.
pub(crate) struct RequestTemplate {
    pub(crate) destination: Destination,
    headers: Headers,
    pub(crate) signer: Signer,
    /// Whether requests carry the header `traceparent`. A custom header of this name takes precedence.
    sends_trace_parent: bool,
}

impl Target {
    pub(crate) fn new(vault: &Vault, application: &Application, endpoint: Endpoint) -> Self {
        Self {
            request_template: RequestTemplate::new(vault, &application.account, &endpoint),
            throttle_rate: endpoint.throttle_rate.and_then(NonZeroU16::new),
            application_rate: application.throttle_rate.and_then(NonZeroU16::new),
            ordering: endpoint.ordering,
            purges: application.purges,
            account: application.account.clone(),
            changed_at: endpoint.updated_at.max(application.updated_at),
            endpoint: endpoint.id,
            url: endpoint.url,
            disabled: endpoint.disabled,
            failing_since: endpoint.failing_since,
            filter_types: endpoint.filter_types.map(|types| types.into_iter().collect()),
            channels: endpoint.channels,
        }
    }

    pub(crate) fn receives(&self, message: &Message) -> bool {
        self.is_enabled_for(&message.event_type, message.channels.as_deref())
    }

    /// Whether the endpoint is enabled and subscribes to messages of this type with these channels.
    pub(crate) fn is_enabled_for(&self, event_type: &str, channels: Option<&[String]>) -> bool {
        !self.disabled && self.subscribes_to(event_type, channels)
    }

    /// Whether the endpoint subscribes to messages of this type with these channels.
    pub(crate) fn subscribes_to(&self, event_type: &str, channels: Option<&[String]>) -> bool {
        let type_matches = self.filter_types.as_ref().is_none_or(|types| types.contains(event_type));
        let channel_matches = self
            .channels
            .as_ref()
            .is_none_or(|own| channels.iter().flat_map(|all| *all).any(|channel| own.contains(channel)));
        type_matches && channel_matches
    }
}

impl RequestTemplate {
    fn new(vault: &Vault, account: &Id, endpoint: &Endpoint) -> Result<Self, String> {
        let url = kit_outbound::url::parse_endpoint_url(&endpoint.url).map_err(|error| error.to_string())?;
        let signer = signer(vault, endpoint).map_err(|error| {
            tracing::error!(endpoint_id = %endpoint.id, %error, "a signing secret can't be decrypted; its endpoint receives nothing");
            "the signing secret of this endpoint can't be opened".to_owned()
        })?;
        let opened = sealing::open(vault, &endpoint.id, &endpoint.headers).map_err(|error| {
            tracing::error!(endpoint_id = %endpoint.id, %error, "custom headers can't be decrypted; their endpoint receives nothing");
            "the headers of this endpoint can't be opened".to_owned()
        })?;
        let mut headers = Headers::default();
        headers.add(&header::USER_AGENT, USER_AGENT.as_bytes());
        let has_own = |header: &str| opened.keys().any(|name| name.eq_ignore_ascii_case(header));
        if !has_own(header::ACCEPT.as_str()) {
            headers.add(&header::ACCEPT, b"*/*");
        }
        let sends_trace_parent = endpoint.sends_trace_parent && !has_own(TRACEPARENT);
        custom_headers::add_to(&mut headers, &opened);
        // Accounts do not share connections to a receiver, so that no account reads a response to another account.
        Ok(Self { destination: Destination::new(url.uri().clone(), account), headers, signer, sends_trace_parent })
    }

    /// The headers of a request with a body of this media type (JSON when none), from this position in a trace.
    pub(crate) fn request_headers(&self, media_type: Option<HeaderValue>, position: Option<TraceParent>) -> Headers {
        let mut headers = self.headers.clone();
        headers
            .add(&header::CONTENT_TYPE, media_type.as_ref().map_or(media_type::JSON.as_bytes(), HeaderValue::as_bytes));
        if let Some(position) = position.filter(|_| self.sends_trace_parent) {
            headers.add(&HeaderName::from_static(TRACEPARENT), position.to_string().as_bytes());
        }
        headers
    }
}

fn signer(vault: &Vault, endpoint: &Endpoint) -> Result<Signer, UnsealError> {
    let secret = EndpointSecret::unseal(vault, &endpoint.id, &endpoint.secret)?;
    let mut old_secrets = Vec::with_capacity(endpoint.old_secrets.len());
    for old in &endpoint.old_secrets {
        old_secrets.push((EndpointSecret::unseal(vault, &endpoint.id, &old.secret)?, old.expires_at));
    }
    Ok(Signer::new(&secret, old_secrets.iter().map(|(secret, expires_at)| (secret, *expires_at))))
}
