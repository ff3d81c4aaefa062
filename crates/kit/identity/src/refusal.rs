//! Refusals of sign-ins and of changes of users: their codes and texts. A text reveals nothing to a caller who is not
//! signed in.

use std::time::Duration;

use crate::passwords::PasswordsError;
use crate::throttle::Limit;

/// Why a sign-in or a change of a user was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller does not learn which of the reasons applies: an unknown address, a wrong password, a disabled user.
    #[error("the e-mail address or the password is wrong")]
    SignInRefused,
    /// The password is right.
    #[error(
        "this user has a second factor: send the code that the authenticator shows, or a recovery code, as `code` as well"
    )]
    CodeRequired,
    /// The password is right, the code is not.
    #[error(
        "the code is wrong, or it was used before: wait for the next one, and check the clock of the authenticator"
    )]
    CodeRefused,
    /// A signed-in user gave a wrong password.
    #[error("the password is wrong")]
    PasswordRefused,
    /// A signed-in user gave a wrong or used code.
    #[error(
        "this code is wrong, or it was used before: wait for the next one, and check the clock of the authenticator"
    )]
    OwnCodeRefused,
    /// Too many attempts, or too many sign-ins at the same time.
    #[error("there were too many attempts: wait {} s, as Retry-After says", retry_after.as_secs())]
    TooManyAttempts {
        /// Time until the next attempt is allowed, in whole seconds.
        retry_after: Duration,
        /// The limit that was reached.
        limit: Limit,
    },
    /// The code of a link is unknown, used, withdrawn or expired.
    #[error("this invitation was used or withdrawn, or has expired: ask an administrator for a new one")]
    InvitationRefused,
    /// A confirmed second factor can't be replaced before it is turned off.
    #[error("this user has a second factor already: turn it off first, with a code")]
    SecondFactorOn,
    /// There is nothing to confirm or to turn off.
    #[error("this user has no second factor, or none to confirm: enroll one first")]
    SecondFactorOff,
}

impl Refusal {
    /// Stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignInRefused => "sign_in_refused",
            Self::CodeRequired => "code_required",
            Self::CodeRefused | Self::OwnCodeRefused => "code_refused",
            Self::PasswordRefused => "password_refused",
            Self::TooManyAttempts { .. } => "too_many_attempts",
            Self::InvitationRefused => "invitation_refused",
            Self::SecondFactorOn => "second_factor_on",
            Self::SecondFactorOff => "second_factor_off",
        }
    }
}

/// Why a use case of this crate returned no change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// It was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A fault of the server: a secret that can't be opened, a time that can't be reached.
    #[error("{0}")]
    Failed(String),
}

impl IdentityError {
    pub(crate) fn failed(doing: &str, error: impl std::fmt::Display) -> Self {
        Self::Failed(format!("{doing}: {error}"))
    }
}

impl From<PasswordsError> for IdentityError {
    fn from(error: PasswordsError) -> Self {
        match error {
            PasswordsError::Full { retry_after_s, waiting_max } => {
                let retry_after = Duration::from_secs(retry_after_s);
                let limit = Limit { attempts_max: waiting_max, window: retry_after };
                Refusal::TooManyAttempts { retry_after, limit }.into()
            }
            PasswordsError::Failed(_) => Self::Failed(error.to_string()),
        }
    }
}
