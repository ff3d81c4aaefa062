//! Links to the App Portal of a customer's application, made by the customer's provider.

use std::time::Duration;

use http::Method;
use kit_runtime::vault::Secret;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use super::provider_api::accepted_now;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::Contact;
use crate::{Caller, Platform, Scope};

/// The time for which a link works whose time the platform chooses.
const VALID_FOR: Duration = Duration::from_secs(3_600);

/// What the owner of a link may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortalRights {
    /// See endpoints, messages and attempts, for an hour.
    View,
    /// Everything, for an hour.
    Manage,
    /// Everything, for as long as the provider decides.
    ManageLong,
}

impl PortalRights {
    fn body(self) -> Value {
        match self {
            // Providers know one of the two fields or both; the more restrictive one counts.
            Self::View => json!({ "capabilities": ["ViewBase"], "readOnly": true, "expiry": VALID_FOR.as_secs() }),
            Self::Manage => json!({ "expiry": VALID_FOR.as_secs() }),
            Self::ManageLong => json!({}),
        }
    }

    fn valid_for(self) -> Option<Duration> {
        (self != Self::ManageLong).then_some(VALID_FOR)
    }
}

#[derive(Deserialize)]
struct PortalAccess {
    url: String,
}

impl Platform {
    /// A link that signs its owner in to the App Portal of the customer's application. It is shown once and never stored; the access
    /// log has who made it, and for what.
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn portal_link(&self, caller: &Caller, customer: Uuid, rights: PortalRights) -> PlatformResult<Secret> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let provider = self.provider(customer).await?;
        let path = format!("/api/v1/auth/app-portal-access/{}/", provider.application_id());
        let answer = self.call(&provider, Method::POST, &path, rights.body().to_string()).await?;
        accepted_now(&answer, self.now())?;
        let access = serde_json::from_slice::<PortalAccess>(&answer.body).ok();
        // The link is shown to support: a provider must not make it run a script.
        let is_link = |access: &PortalAccess| {
            Url::parse(&access.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
        };
        let access = access.filter(is_link).ok_or_else(|| PlatformError::Provider {
            contact: Contact::Unreachable,
            text: "the provider did not answer with a link: it has no App Portal, or its address is wrong".into(),
        })?;
        let word = if rights == PortalRights::View { "view" } else { "all" };
        let expires_at = rights.valid_for().map(|valid_for| self.now() + valid_for);
        let event = AccessEvent::PortalLinkCreated { customer, rights: word.to_owned(), expires_at };
        self.note_alone(self.note(caller, event)?).await?;
        Ok(Secret::new(access.url.into_bytes()))
    }
}
