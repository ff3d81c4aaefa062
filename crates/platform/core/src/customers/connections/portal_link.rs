//! A link to the App Portal of a customer's application, made by the customer's provider.

use http::Method;
use kit_runtime::vault::Secret;
use serde::Deserialize;
use url::Url;
use uuid::Uuid;

use super::provider_api::accepted;
use crate::error::{PlatformError, PlatformResult};
use crate::port::Contact;
use crate::{Caller, Platform, Scope};

#[derive(Deserialize)]
struct PortalAccess {
    url: String,
}

impl Platform {
    /// A link that signs its owner in to the App Portal of the customer's application. The provider decides how long it
    /// is valid. Its owner can change the customer's endpoints, so it is shown once and never stored.
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn portal_link(&self, caller: &Caller, customer: Uuid) -> PlatformResult<Secret> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let provider = self.provider(customer).await?;
        let path = format!("/api/v1/auth/app-portal-access/{}/", provider.application_id());
        let answer = self.call(&provider, Method::POST, &path, "{}".to_owned()).await?;
        accepted(&answer)?;
        let access = serde_json::from_slice::<PortalAccess>(&answer.body).ok();
        // The link is shown to support: a provider must not make it run a script.
        let is_link = |access: &PortalAccess| {
            Url::parse(&access.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
        };
        let access = access.filter(is_link).ok_or_else(|| PlatformError::Provider {
            contact: Contact::Unreachable,
            text: "the provider did not answer with a link: it has no App Portal, or its address is wrong".into(),
        })?;
        tracing::info!(customer_id = %customer, by = caller.actor, "a link to the App Portal was made");
        Ok(Secret::new(access.url.into_bytes()))
    }
}
