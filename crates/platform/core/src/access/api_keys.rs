//! Lists and revokes API keys.

use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, ApiKey, Page};
use crate::{Caller, Platform, Scope};

/// A caller who may revoke keys may list them.
const READING: [Scope; 2] = [Scope::KeysRead, Scope::KeysWrite];

impl Platform {
    /// Keys that the caller sees, of one customer if it is named, in order of creation. The list includes revoked and
    /// expired keys.
    ///
    /// Errors: `forbidden`, `not_found` (customer).
    pub async fn api_keys(
        &self,
        caller: &Caller,
        customer: Option<Uuid>,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<ApiKey>> {
        caller.require_one_of(&READING)?;
        if let Some(customer) = customer {
            self.visible_customer(caller, customer).await?;
        }
        Ok(self.store().api_keys(customer.or(caller.customer), page).await?)
    }

    /// The record of a key, without the key itself. Errors: `forbidden`, `not_found`.
    pub async fn api_key(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<ApiKey> {
        caller.require_one_of(&READING)?;
        self.visible_api_key(caller, uuid).await
    }

    /// Revokes an API key permanently. This node refuses the key immediately; other nodes refuse it when their cached
    /// entry expires (`key_cache_ttl`). A caller who may create keys may revoke every key that they see, their own
    /// included, because a revocation grants no rights. Revoking a revoked key changes nothing.
    ///
    /// Errors: `forbidden`, `not_found`.
    pub async fn revoke_api_key(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<()> {
        caller.require(Scope::KeysWrite)?;
        let key = self.visible_api_key(caller, uuid).await?;
        if key.revoked_at.is_none() {
            let note = self.note(caller, AccessEvent::KeyRevoked { key: uuid })?;
            self.store().apply_access_change(AccessChange::RevokeApiKey(uuid, self.now()), note).await?;
            tracing::info!(key = %uuid, name = key.name, by = caller.actor, "a key was revoked");
        }
        self.api_key_cache().forget(&key.hash);
        Ok(())
    }

    /// Only staff can see a key of the platform's own staff.
    async fn visible_api_key(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<ApiKey> {
        let found = self.store().api_key(uuid).await?;
        let is_seen = |key: &ApiKey| caller.customer.is_none() || key.customer == caller.customer;
        found.filter(is_seen).ok_or(PlatformError::NotFound("key"))
    }
}
