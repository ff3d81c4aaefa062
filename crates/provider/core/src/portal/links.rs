//! The links to the App Portal of an application, as the users of the account see them: who made each, until when it
//! works, whether it was used, and its revocation.

use kit_runtime::clock::rfc3339_ms;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{AppToken, Role};
use crate::page::{ListPage, PageRequest};
use crate::port::Order;
use crate::provider::Provider;

impl Provider {
    /// Links to the App Portal of an application with their tokens, newest first, without previews. Expired links are
    /// listed until they are deleted. 403, 404.
    pub async fn portal_links(
        &self,
        caller: &Caller,
        application: &str,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<AppToken>> {
        caller.require_role(Role::Viewer)?;
        let application = self.application(caller, application).await?;
        let rows = self.store().app_tokens(&application.id, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |token| &token.id))
    }

    /// A link to the App Portal of an application. 403, 404.
    pub async fn portal_link(&self, caller: &Caller, application: &str, id: &str) -> ProviderResult<AppToken> {
        caller.require_role(Role::Viewer)?;
        let application = self.application(caller, application).await?;
        self.store().app_token(&application.id, id).await?.ok_or(ProviderError::NotFound)
    }

    /// Revokes a link to the App Portal of an application, and ends the sessions that were opened with it, at once on every
    /// node. 403, 404.
    pub async fn revoke_portal_link(&self, caller: &Caller, application: &str, id: &str) -> ProviderResult<()> {
        caller.require_role(Role::Support)?;
        let application = self.application(caller, application).await?;
        let link = self.portal_link(caller, &application.id, id).await?;
        let made_by = link.maker.name.as_str();
        let values = ChangedValues::default()
            .value("link", Some(&link.id), None)
            .value("made by", Some(made_by), None)
            .value("capabilities", Some(&capabilities(&link)), None);
        let subject = Subject { id: &application.id, name: &application.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PortalLinkRevoked, subject, values);
        let existed = self.store().delete_app_token(&application.id, &link.id, Some(entry)).await?;
        if existed { Ok(()) } else { Err(ProviderError::NotFound) }
    }
}

/// What the activity log says of a new link.
pub(super) fn values_of_new(link: &AppToken) -> ChangedValues {
    ChangedValues::default()
        .value("link", None, Some(&link.id))
        .value("capabilities", None, Some(&capabilities(link)))
        .value("expires", None, Some(&rfc3339_ms(link.expires_at)))
}

fn capabilities(link: &AppToken) -> String {
    let names: Vec<&str> = link.capabilities.iter().map(|capability| capability.name()).collect();
    names.join(", ")
}
