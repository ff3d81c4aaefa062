//! Access of an account's customers to their own application: magic links, tokens, and their revocation. Users of the
//! account list and revoke [`links`], and open the App Portal with a [`preview`].

mod links;
mod preview;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};

use crate::accounts::authentication::{TOKEN_PREFIX, hash};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::applications::ApplicationInput;
use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{ActorKind, AppToken, Application, Capability, Preview, Role};
use crate::port::{NewAppToken, StoreError};
use crate::provider::Provider;
use crate::uid::{NAME_CHARS_MAX, check_name};
use crate::validation::FieldErrors;

/// Default and maximum validity of a token in seconds.
const SECONDS_MAX: i64 = 7 * 24 * 3_600;
/// Minimum validity of a token in seconds.
const SECONDS_MIN: i64 = 3_600;
const REVOCATION_DELAY_SECONDS_MAX: i64 = 3 * 24 * 3_600;
const FEATURE_FLAGS_MAX: usize = 25;
const SESSION_CHARS_MAX: usize = 64;
const SESSIONS_MAX: usize = 1_000;
/// Maximum number of tokens of an application. A further token replaces the oldest.
const TOKENS_MAX: usize = 10_000;
/// Expired tokens that one store call deletes.
const DELETE_MAX: usize = 1_000;
/// Path of the App Portal below the provider's public address.
const LOGIN_PATH: &str = "/app-portal/login";

/// A request for access to an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortalAccessInput {
    /// Creates the application when no application has the uid in the path.
    pub application: Option<ApplicationInput>,
    /// Capabilities of the token; all when none.
    pub capabilities: Option<BTreeSet<Capability>>,
    /// At most 25 feature flags of event types that the token may see.
    pub feature_flags: BTreeSet<String>,
    /// Validity in seconds: 3,600 to 604,800; 604,800 when none.
    pub expiry_seconds: Option<i64>,
    /// Session of the token: 1 to 64 characters of `a-zA-Z0-9@_-`.
    pub session_id: Option<String>,
}

/// Access to one application.
#[derive(Clone, PartialEq, Eq)]
pub struct PortalAccess {
    /// Magic link to the App Portal. The token is in the fragment, which browsers do not send to servers.
    pub url: String,
    /// The token. It is returned once and not stored.
    pub token: String,
    /// When the token expires.
    pub expires_at: Timestamp,
}

/// The values of a new token.
struct TokenInput {
    /// Text of the token, or the code that is exchanged for it.
    text: String,
    capabilities: BTreeSet<Capability>,
    feature_flags: BTreeSet<String>,
    session_id: Option<String>,
    lifetime_seconds: i64,
    preview: Option<Preview>,
}

impl std::fmt::Debug for PortalAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortalAccess").finish_non_exhaustive()
    }
}

impl Provider {
    /// Creates a token for an application, and a link with it. The response is a secret, so it is not stored for an
    /// idempotency key: each call creates a new token. A user needs the role Support, and Member for more than reading.
    /// A token of a user ends when the user is removed or gets a lower role. 403, 404, 422.
    pub async fn create_portal_access(
        &self,
        caller: &Caller,
        application: &str,
        input: PortalAccessInput,
    ) -> ProviderResult<PortalAccess> {
        input.check()?;
        let capabilities = input.capabilities.unwrap_or_else(|| Capability::ALL.into_iter().collect());
        let is_read_only = capabilities.iter().all(|capability| *capability == Capability::ViewBase);
        caller.require_role(if is_read_only { Role::Support } else { Role::Member })?;
        input.application.as_ref().map_or(Ok(()), |inline| inline.check_inline(application))?;
        let application = match (self.application(caller, application).await, input.application) {
            (Err(ProviderError::NotFound), Some(inline)) => {
                self.create_inline(caller, inline).await?;
                self.application(caller, application).await?
            }
            (found, _) => found?,
        };
        let token = TokenInput {
            text: self.new_secret(TOKEN_PREFIX),
            capabilities,
            feature_flags: input.feature_flags,
            session_id: input.session_id,
            lifetime_seconds: input.expiry_seconds.unwrap_or(SECONDS_MAX),
            preview: None,
        };
        self.add_token(caller, &application, token).await
    }

    /// Stores a token of the caller, and makes the link with its text. The activity log names the user or the operator who
    /// made it. It does not name an API key: its program makes a token at each click of a customer.
    async fn add_token(
        &self,
        caller: &Caller,
        application: &Application,
        input: TokenInput,
    ) -> ProviderResult<PortalAccess> {
        let TokenInput { text, capabilities, feature_flags, session_id, lifetime_seconds, preview } = input;
        let (now, actor) = (self.now(), Actor::of_caller(caller));
        let maker = actor.token_maker();
        let token = AppToken {
            id: self.ids().make(ids::APP_TOKEN),
            hash: hash(&text),
            account: application.account.clone(),
            application: application.id.clone(),
            capabilities,
            feature_flags,
            session_id,
            created_at: now,
            expires_at: now + SignedDuration::from_secs(lifetime_seconds),
            last_used_at: None,
            maker,
            preview,
        };
        let (action, values) = match token.preview {
            Some(_) => (Action::PortalPreviewed, ChangedValues::default()),
            None => (Action::PortalLinkCreated, links::values_of_new(&token)),
        };
        let subject = Subject { id: &application.id, name: &application.name };
        let activity =
            (token.maker.kind != ActorKind::ApiKey).then(|| self.activity_entry(&actor, action, subject, values));
        let (expires_at, maker_role) = (token.expires_at, caller.user.as_ref().map(|user| user.role));
        match self.store().create_app_token(NewAppToken { token, maker_role, activity }, TOKENS_MAX).await {
            // The user was removed or got another role while the request was on its way.
            Err(StoreError::Conflict) => return Err(Role::Support.needed()),
            created => created?,
        }
        let key = serde_json::json!({ "appId": &*application.id, "token": text }).to_string();
        let base = self.config().public_url.trim_end_matches('/');
        Ok(PortalAccess { url: format!("{base}{LOGIN_PATH}#key={}", STANDARD.encode(key)), token: text, expires_at })
    }

    /// Revokes the caller's App Portal token. 403 for an API key.
    pub async fn log_out(&self, caller: &Caller) -> ProviderResult<()> {
        let Scope::Application(token) = &caller.scope else {
            return Err(ProviderError::Forbidden("only the token of an application can log itself out"));
        };
        // False means that another call revoked the token meanwhile.
        self.store().delete_app_token(&token.application, &token.id, None).await?;
        Ok(())
    }

    /// Revokes all tokens of an application, or those of these sessions, after `left_seconds`: 0 to 259,200; at once
    /// when none. 404, 422.
    pub async fn end_app_tokens(
        &self,
        caller: &Caller,
        application: &str,
        sessions: Option<Vec<String>>,
        left_seconds: Option<i64>,
    ) -> ProviderResult<()> {
        let (left_seconds, mut errors) = (left_seconds.unwrap_or(0), FieldErrors::default());
        if !(0..=REVOCATION_DELAY_SECONDS_MAX).contains(&left_seconds) {
            errors.fault("expiry", format!("must be 0 to {REVOCATION_DELAY_SECONDS_MAX} seconds"));
        }
        if sessions.as_ref().is_some_and(|sessions| sessions.len() > SESSIONS_MAX) {
            errors.fault("sessionIds", format!("must have at most {SESSIONS_MAX} entries"));
        }
        for (index, session) in sessions.iter().flatten().take(SESSIONS_MAX).enumerate() {
            if !is_session_id(session) {
                errors.fault_at("sessionIds", index.to_string(), NO_SESSION_ID);
            }
        }
        errors.finish()?;
        let application = self.application(caller, application).await?;
        let at = self.now() + SignedDuration::from_secs(left_seconds);
        // An empty list means all sessions: clients send it that way.
        let sessions = sessions.filter(|sessions| !sessions.is_empty());
        Ok(self.store().end_app_tokens(&application.id, sessions, at).await?)
    }

    /// Deletes expired tokens. A worker calls it every minute.
    pub(crate) async fn delete_expired_app_tokens(&self) -> ProviderResult<()> {
        while self.store().delete_expired_app_tokens(self.now(), DELETE_MAX).await? >= DELETE_MAX {}
        Ok(())
    }
}

const NO_SESSION_ID: &str = "must have 1 to 64 letters of the English alphabet, digits, '@', '_' and '-'";

impl PortalAccessInput {
    fn check(&self) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        if self.capabilities.as_ref().is_some_and(|capabilities| !capabilities.contains(&Capability::ViewBase)) {
            errors.fault("capabilities", "must have ViewBase among them, or be left out");
        }
        if self.feature_flags.len() > FEATURE_FLAGS_MAX {
            errors.fault("featureFlags", format!("must have at most {FEATURE_FLAGS_MAX} entries"));
        }
        if let Some(error) = self.feature_flags.iter().find_map(|flag| check_name(flag, NAME_CHARS_MAX).err()) {
            errors.fault("featureFlags", format!("each {error}"));
        }
        if self.expiry_seconds.is_some_and(|seconds| !(SECONDS_MIN..=SECONDS_MAX).contains(&seconds)) {
            errors.fault("expiry", format!("must be {SECONDS_MIN} to {SECONDS_MAX} seconds, or be left out"));
        }
        if self.session_id.as_ref().is_some_and(|session| !is_session_id(session)) {
            errors.fault("sessionId", NO_SESSION_ID);
        }
        errors.finish()
    }
}

fn is_session_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'_' | b'-');
    (1..=SESSION_CHARS_MAX).contains(&text.len()) && text.bytes().all(allowed)
}
