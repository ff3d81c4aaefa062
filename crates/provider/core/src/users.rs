//! Users of an account who may sign in to its dashboard, with their roles and sessions.
//!
//! The dashboard and the command line call it. The first user joins with a one-time code of the operator; Admins
//! invite other users with a link that works once. A user signs in with a password and, if enabled, a second factor,
//! and receives a session token: `lwps_` and 33 base62 characters (192 random bits). The provider stores its SHA-256.
//!
//! Guarantees:
//! - A session ends at its expiry, after the idle time-out, and when its user is removed or gets another password, at
//!   once on every node. A changed role takes effect with the next request.
//! - Signing in takes the same time with an unknown address. Too many attempts are delayed on all nodes and across
//!   restarts, because the store counts an attempt before the password or the code is checked. With a second factor, a
//!   correct password restores an account's attempts only together with the correct code.
//! - A device that signed in before has its own attempts, so wrong passwords from other devices do not delay it.
//! - A code of the second factor, a recovery code and an invitation work once.
//! - By single sign-on, a user is whom the issuer's verified ID token is linked to: once, by an e-mail address that the issuer
//!   verified. Passwords work beside it.
//! - An account with an Admin always keeps at least one.

mod invitations;
mod members;
mod profile;
mod refusal;
mod second_factor;
mod sessions;
mod sign_in;
mod single_sign_on;

use kit_identity::passwords;
use kit_identity::user::is_email;
use kit_identity::{IdentityError, Refusal};
pub use kit_openid::{NewSingleSignOn, OpenIdError};
use kit_runtime::vault::Secret;

pub use invitations::{InvitationLink, Joining};
pub use second_factor::Enrolled;
pub use sessions::SignedInUser;
pub use sign_in::{Client, SignIn, SignInResult, SignedIn};
pub use single_sign_on::SignedInByIssuer;

use crate::error::{ProviderError, Quota};
use crate::validation::FieldErrors;

/// Characters of a user's name.
const NAME_CHARS_MAX: usize = 100;

impl FieldErrors {
    fn email(&mut self, email: &str) {
        if !is_email(email) {
            self.fault("email", "must be an e-mail address, such as ann@example.com");
        }
    }

    fn user_name(&mut self, name: &str) {
        self.required_text("name", name, NAME_CHARS_MAX);
    }

    /// Checks a new password of the user with this e-mail address.
    fn new_password(&mut self, password: &Secret, email: &str) {
        if let Some(problem) = passwords::problem(password, email) {
            self.fault("password", problem);
        }
    }
}

impl From<IdentityError> for ProviderError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Refused(refusal) => refusal.into(),
            IdentityError::Failed(text) => Self::Internal(text),
        }
    }
}

impl From<Refusal> for ProviderError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooManyAttempts { retry_after, limit } => Self::TooManyRequests {
                detail: "there were too many sign-in attempts",
                retry_after,
                quota: Quota {
                    name: "address",
                    requests: limit.attempts_max,
                    window_s: u32::try_from(limit.window.as_secs()).unwrap_or(u32::MAX),
                },
            },
            // Pages show the same text before and after the sign-in.
            Refusal::OwnCodeRefused => Refusal::CodeRefused.into(),
            // The link may be of the operator, or for a new password.
            Refusal::InvitationRefused => Self::BadRequest {
                code: refusal.code(),
                detail: "this link has expired, was withdrawn or was used before; ask for a new one".to_owned(),
            },
            refusal => Self::BadRequest { code: refusal.code(), detail: refusal.to_string() },
        }
    }
}
