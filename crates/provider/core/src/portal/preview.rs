//! Previews: a user of the account opens the App Portal of an application from the dashboard.
//!
//! Guarantee: a preview ends with the user's session, and when the user is removed or gets another role, at once on
//! every node, because each use looks up the session.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::{PortalAccess, SECONDS_MIN, TokenInput};
use crate::accounts::authentication::{TOKEN_PREFIX, hash};
use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Capability, Preview, Role};
use crate::provider::Provider;

/// Prefix of the codes of preview links. It differs from the prefix of tokens, so a code is not accepted as a token.
const CODE_PREFIX: &str = "lwpv_";
const CODE_BYTES_MAX: usize = 128;
/// Seconds in which a code can be exchanged.
const CODE_SECONDS: i64 = 600;

impl Provider {
    /// Creates a link that opens the App Portal of an application once, within ten minutes. The preview lasts one hour,
    /// and no longer than the caller's session. [`Provider::redeem_portal_code`] exchanges the code in the link for a
    /// token. For the roles Viewer and Support, the preview is read-only and shows no secrets of endpoints. 403 for an
    /// API key, 403, 404.
    pub async fn create_portal_preview(&self, caller: &Caller, application: &str) -> ProviderResult<PortalAccess> {
        caller.require_role(Role::Support)?;
        let user = caller.require_user()?;
        let application = self.application(caller, application).await?;
        let code = self.new_secret(CODE_PREFIX);
        let capabilities: BTreeSet<Capability> = match user.role {
            Role::Viewer | Role::Support => [Capability::ViewBase].into(),
            Role::Member | Role::Admin => Capability::ALL.into_iter().collect(),
        };
        let token = TokenInput {
            text: code,
            capabilities,
            feature_flags: BTreeSet::new(),
            session_id: Some(caller.key.to_string()),
            lifetime_seconds: CODE_SECONDS,
            preview: Some(Preview { session: user.session.clone(), role: user.role }),
        };
        self.add_token(caller, &application, token).await
    }

    /// Exchanges a code of [`Provider::create_portal_preview`] for a token, once. Any other text is returned unchanged.
    /// 401 when the code was used or has expired.
    pub async fn redeem_portal_code(&self, code: &str) -> ProviderResult<String> {
        if !code.starts_with(CODE_PREFIX) || code.len() > CODE_BYTES_MAX {
            return Ok(code.to_owned());
        }
        let (token, now) = (self.new_secret(TOKEN_PREFIX), self.now());
        let expires_at = now + SignedDuration::from_secs(SECONDS_MIN);
        let exchanged = self.store().exchange_app_token(hash(code), hash(&token), expires_at, now).await?;
        if exchanged { Ok(token) } else { Err(ProviderError::Unauthenticated) }
    }

    /// Whether the caller's token of an application is still valid, for long requests. True for other callers.
    pub async fn token_goes_on(&self, caller: &Caller) -> ProviderResult<bool> {
        let Scope::Application(token) = &caller.scope else { return Ok(true) };
        match self.store().app_token_by_hash(token.hash).await? {
            Some(found) if found.expires_at > self.now() => self.is_preview_active(&found).await,
            _ => Ok(false),
        }
    }
}
