//! The request of a delivery, for people who read or repeat it.

use jiff::Timestamp;

use crate::caller::{Caller, Scope};
use crate::dispatcher::target::USER_AGENT;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Attempt, Capability, Endpoint, Message, Role};
use crate::provider::Provider;
use crate::signing::Signer;
use crate::signing::secret::EndpointSecret;

/// A request to an endpoint, signed for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRequest {
    /// The message, with its payload.
    pub message: Message,
    /// The endpoint, with its present URL.
    pub endpoint: Endpoint,
    /// Value of the header `webhook-timestamp`.
    pub at: Timestamp,
    /// Value of the header `webhook-signature`.
    pub signature: String,
}

/// What stands for a secret value, and for signatures.
const MASKED: &str = "MASKED";
const MASKED_SIGNATURE: &str = "v1,MASKED";

/// The headers of an attempt's request, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentHeaders {
    /// Names and values. Signatures and the values of custom headers are masked.
    pub headers: Vec<(String, String)>,
    /// The endpoint was not changed since the attempt, so its custom headers are those that were sent.
    pub is_exact: bool,
}

/// The headers of an attempt's request. `media_type` is that of the payload; empty for JSON. `endpoint` is none when it was
/// deleted.
pub fn sent_headers(attempt: &Attempt, endpoint: Option<&Endpoint>, media_type: &str) -> SentHeaders {
    let seconds = attempt.at.as_second().to_string();
    let media_type = if media_type.is_empty() { "application/json" } else { media_type };
    let mut headers = vec![("content-type", media_type), ("user-agent", USER_AGENT)];
    let custom: Vec<&str> = endpoint.iter().flat_map(|endpoint| endpoint.headers.keys().map(String::as_str)).collect();
    if !custom.iter().any(|name| name.eq_ignore_ascii_case("accept")) {
        headers.push(("accept", "*/*"));
    }
    for [id, timestamp, signature] in
        [["webhook-id", "webhook-timestamp", "webhook-signature"], ["svix-id", "svix-timestamp", "svix-signature"]]
    {
        headers.extend([(id, &*attempt.message), (timestamp, &*seconds), (signature, MASKED_SIGNATURE)]);
    }
    let custom = custom.into_iter().map(|name| (name, MASKED));
    let headers = headers.into_iter().chain(custom).map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    SentHeaders {
        headers: headers.collect(),
        is_exact: endpoint.is_some_and(|endpoint| endpoint.updated_at <= attempt.at),
    }
}

impl Provider {
    /// Signs the request that would deliver a message to an endpoint now. The activity log gets an entry. 403 without
    /// [`Capability::ManageEndpoint`] or the role Member, 404, 400 (`missing_payload`).
    pub async fn sign_request(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        endpoint: &str,
    ) -> ProviderResult<SignedRequest> {
        match &caller.scope {
            Scope::Account => caller.require_role(Role::Member)?,
            Scope::Application(_) if caller.has(Capability::ManageEndpoint) => {}
            Scope::Application(_) => {
                return Err(ProviderError::Forbidden("this link does not allow to manage endpoints"));
            }
        }
        let message = self.message(caller, application, message).await?;
        let endpoint = self.endpoint(caller, &message.application, endpoint).await?;
        let Some(payload) = &message.payload else {
            let detail = "the request can't be signed: the payload was removed or has expired".into();
            return Err(ProviderError::BadRequest { code: "missing_payload", detail });
        };
        let unreadable = |error| ProviderError::Internal(format!("a signing secret can't be opened: {error}"));
        let secret = EndpointSecret::unseal(self.vault(), &endpoint.id, &endpoint.secret).map_err(unreadable)?;
        let at = self.now();
        let signature = Signer::new(&secret, []).sign(&message.id, at.as_second(), payload.text(), at);
        self.record_signed_request(caller, &endpoint, &message.id).await;
        Ok(SignedRequest { message, endpoint, at, signature })
    }
}
