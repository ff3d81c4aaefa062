//! People of an account who may sign in to its dashboard, with their roles and sessions.
//!
//! The dashboard and the command line call it. The first person joins with a one-time code of the operator; Admins
//! invite other people with a link that works once. A person signs in with a password and, if enabled, a second factor,
//! and receives a session token: `lwps_` and 33 base62 characters (192 random bits). The provider stores its SHA-256.
//!
//! Guarantees:
//! - A session ends at its expiry, after the idle time-out, and when its person is removed or gets another password, at
//!   once on every node. A changed role takes effect with the next request.
//! - Signing in takes the same time with an unknown address. Too many attempts are delayed on all nodes and across
//!   restarts, because the store counts an attempt before the password or the code is checked. With a second factor, a
//!   correct password restores an account's attempts only together with the correct code.
//! - A device that signed in before has its own attempts, so wrong passwords from other devices do not delay it.
//! - A code of the second factor, a recovery code and an invitation work once.
//! - An account with an Admin always keeps at least one.

mod config;
mod invitations;
mod members;
mod profile;
mod refusal;
mod role;
mod second_factor;
mod sessions;
mod sign_in;
mod throttle;

use kit_identity::passwords::{self, Passwords, PasswordsError};
use kit_runtime::vault::Secret;

pub use config::PeopleConfig;
pub use invitations::{InvitationLink, Joining};
pub use role::Role;
pub use second_factor::Enrolled;
pub use sessions::SignedInPerson;
pub use sign_in::{Browser, SignIn, SignInResult, SignedIn};

use crate::error::ProviderError;
use crate::validation::FieldErrors;

const EMAIL_BYTES_MAX: usize = 254;
/// Characters of a person's name.
const NAME_CHARS_MAX: usize = 100;

pub(crate) struct SignInState {
    passwords: Passwords,
}

impl SignInState {
    pub(crate) fn new(config: &PeopleConfig) -> Self {
        Self { passwords: Passwords::new(config.passwords_at_once_max, config.passwords_waiting_max) }
    }
}

/// The context that the secret of a second factor is bound to.
pub(crate) fn totp_context(person: &str) -> String {
    format!("person-totp/{person}")
}

/// Normalises an e-mail address for storage and comparison.
fn plain_email(email: &str) -> String {
    email.trim().to_lowercase()
}

impl FieldErrors {
    fn email(&mut self, email: &str) {
        let parts = email.split_once('@');
        let has_both_parts =
            parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
        let is_valid = has_both_parts
            && email.len() <= EMAIL_BYTES_MAX
            && !email.chars().any(|c| c.is_whitespace() || c.is_control());
        if !is_valid {
            self.fault("email", "must be an e-mail address, such as ann@example.com");
        }
    }

    fn person_name(&mut self, name: &str) {
        self.required_text("name", name);
        if name.chars().count() > NAME_CHARS_MAX {
            self.fault("name", format!("must have at most {NAME_CHARS_MAX} characters"));
        }
    }

    /// Checks a new password of the person with this e-mail address.
    fn new_password(&mut self, password: &Secret, email: &str) {
        if let Some(problem) = passwords::problem(password, email) {
            self.fault("password", problem);
        }
    }
}

impl From<PasswordsError> for ProviderError {
    fn from(error: PasswordsError) -> Self {
        match error {
            PasswordsError::Full { retry_after_s } => refusal::too_many_attempts(
                std::time::Duration::from_secs(retry_after_s),
                u32::try_from(PeopleConfig::default().passwords_waiting_max).unwrap_or(u32::MAX),
                std::time::Duration::from_secs(retry_after_s),
            ),
            PasswordsError::Failed(_) => Self::Internal(error.to_string()),
        }
    }
}
