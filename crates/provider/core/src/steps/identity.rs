//! What the rules of sign-in are decided with, and whether a session or a preview goes on.

use kit_identity::{Audience, Identity};

use crate::error::ProviderResult;
use crate::model::AppToken;
use crate::provider::Provider;

/// The names that keep these users apart from the platform's users.
pub(crate) static AUDIENCE: Audience = Audience {
    session_prefix: "lwps_",
    device_realm: "provider",
    totp_context: "user-totp",
    code_purpose: "user-code",
};

impl Provider {
    /// What the rules of sign-in are decided with.
    pub(crate) fn identity(&self) -> Identity<'_> {
        Identity {
            audience: &AUDIENCE,
            config: &self.config().identity,
            passwords: self.passwords(),
            vault: self.vault(),
            random: self.random(),
            now: self.now(),
        }
    }

    /// False if the token is of a preview that has ended because of its user, role or session.
    pub(crate) async fn is_preview_active(&self, token: &AppToken) -> ProviderResult<bool> {
        let Some(preview) = &token.preview else { return Ok(true) };
        let Some((session, user)) = self.store().session(&preview.session).await? else { return Ok(false) };
        let is_same = user.id == token.maker.id && user.profile.role == preview.role;
        Ok(is_same && self.identity().goes_on(&session))
    }
}
