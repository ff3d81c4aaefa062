//! Users: who may sign in, with which role, and their sessions.
//!
//! The API and the command line call it. A user signs in with a password and, if one is set up, a second factor, or by single
//! sign-on, and gets a session token: `lws_` and 33 base62 characters (192 random bits). The platform shows it once and stores its
//! SHA-256. A session has the scopes of its user's role and works wherever an API key works. Journal and audit log name
//! its user as `user:<uuid>`.
//!
//! Guarantees:
//! - A session ends at its expiry, after the idle time-out, and when its user is disabled or gets another role or
//!   password; on other nodes at most `key_cache_ttl` later, like a revoked key. Its live streams end within five seconds.
//! - A user who has to choose another password can do nothing else.
//! - Signing in costs the same with an unknown name. Too many attempts are delayed on all nodes and across restarts,
//!   because the store counts an attempt before the password is checked.
//! - Wrong passwords from elsewhere don't delay a device that signed in before: it has attempts of its own.
//! - A code of the second factor works once; so does a recovery code.
//! - Open invitations and links of screens that a user made end or are replaced in the commit that takes their maker's access.
//! - By single sign-on, a user is whom the issuer's verified ID token is linked to: once, by an e-mail address that the issuer
//!   verified. Passwords work beside it.
//! - Once there is an administrator who can sign in, there always is one.

mod administration;
mod change_user;
mod first_administrator;
mod invitations;
mod made_links;
mod names;
mod second_factor;
mod sessions;
mod sign_in;
mod single_sign_on;
mod throttle;

use kit_identity::passwords;
use kit_identity::{Audience, Identity, IdentityError};
use kit_runtime::vault::Secret;
use uuid::Uuid;

pub use change_user::{ChangedUser, UserPatch};
pub use first_administrator::{FirstAdministrator, SETUP_CODE_VALID};
pub use invitations::{INVITATION_VALID, NewInvitation};
pub use kit_identity::Refusal;
pub use kit_openid::OpenIdError;
pub use made_links::{
    MadeByUser, MadeScreenLink, REPLACED_LINK_VALID, ReplacedScreenLink, ScreenLinksToEnd, loses_access,
};

pub use crate::error::user_refusal::UserRefusal;
pub use administration::{NewUser, PasswordReset, UserWithPassword, administers};
pub use names::{NAME_CHARS_MAX, UserName, UserNames};
pub use second_factor::{Enrolled, RecoveryCodes};
pub use sessions::SignedInUser;
pub use sign_in::{Client, SignIn, SignedIn};
pub use single_sign_on::SignedInByIssuer;

pub use crate::access::SESSION_PREFIX;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::User;
use crate::{Caller, Platform};

/// The names that keep these users apart from those of the provider.
pub(crate) static AUDIENCE: Audience = Audience {
    session_prefix: SESSION_PREFIX,
    device_realm: "platform",
    totp_context: "totp",
    code_purpose: "user-code",
};

/// The problem with a password that the user with this e-mail address chose, if it has one.
fn password_problem(pointer: &str, password: &Secret, email: &str) -> Option<Problem> {
    passwords::problem(password, email).map(|problem| Problem::new(pointer, problem))
}

/// A password that a user chose for themselves.
#[derive(Debug)]
pub struct ChosenPassword {
    /// The password.
    pub password: Secret,
    /// The password as it was typed again in a form; none for a caller that sends it once.
    pub repeated: Option<Secret>,
}

impl From<Secret> for ChosenPassword {
    fn from(password: Secret) -> Self {
        Self { password, repeated: None }
    }
}

impl ChosenPassword {
    /// The problems of the password at `pointer`, and of its repetition at `/repeated`.
    fn problems(&self, pointer: &str, email: &str) -> impl Iterator<Item = Problem> + use<> {
        let differs = self.repeated.as_ref().is_some_and(|repeated| repeated.expose() != self.password.expose());
        let differs = differs.then(|| Problem::new("/repeated", "is not the same as the password: type it again"));
        password_problem(pointer, &self.password, email).into_iter().chain(differs)
    }
}

impl From<IdentityError> for PlatformError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Refused(refusal) => Self::Identity(refusal),
            IdentityError::Failed(text) => Self::Internal(text),
        }
    }
}

impl From<Refusal> for PlatformError {
    fn from(refusal: Refusal) -> Self {
        Self::Identity(refusal)
    }
}

impl Platform {
    /// What the rules of sign-in are decided with.
    pub(crate) fn identity(&self) -> Identity<'_> {
        Identity {
            audience: &AUDIENCE,
            config: &self.config().identity,
            passwords: &self.sign_in_state().passwords,
            vault: self.vault(),
            random: self.random().as_ref(),
            now: self.now(),
        }
    }

    /// The signed-in caller as the store has them, and their session.
    async fn signed_in_user(&self, caller: &Caller) -> PlatformResult<(User, Uuid)> {
        let Some(session) = caller.session else {
            return Err(PlatformError::Forbidden("this call needs a signed-in user, not an API key".into()));
        };
        let user = self.store().user(caller.id).await?;
        Ok((user.ok_or(PlatformError::Unauthenticated)?, session))
    }
}
