//! Why a person was refused, in words that tell a stranger nothing.

/// Why signing in, or a change of people, was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeopleRefusal {
    /// Which of the reasons it was is not told.
    #[error("the e-mail address or the password is wrong, or the user is disabled")]
    SignInRefused,
    /// The password is right.
    #[error(
        "this user has a second factor: send the code that the authenticator shows, or a recovery code, as `code` as well"
    )]
    CodeRequired,
    /// The password is right, the code is not.
    #[error(
        "the code is wrong, or it was used before: wait for the next one, and look at the clock of the authenticator"
    )]
    CodeRefused,
    /// By somebody who is signed in.
    #[error("the password is not the one that this user has")]
    PasswordRefused,
    /// By somebody who is signed in.
    #[error(
        "this code is wrong, or it was used before: wait for the next one, and look at the clock of the authenticator"
    )]
    OwnCodeRefused,
    /// Too many attempts, or too many people at the same time.
    #[error("there were too many attempts: wait {retry_after_s} s, as Retry-After says")]
    TooManyAttempts {
        /// Seconds until an attempt is there again.
        retry_after_s: u64,
    },
    /// Nobody could administer any more.
    #[error("this is the last administrator who can sign in: make somebody else one first")]
    LastAdministrator,
    /// The log may name them.
    #[error("this user has signed in, so the log may name them: disable them instead")]
    HasSignedIn,
    /// A second factor that is asked for can't be replaced without taking it away first.
    #[error("this user has a second factor already: turn it off first, with a code")]
    SecondFactorOn,
    /// There is nothing to confirm or to turn off.
    #[error("this user has no second factor, or none that waits for this: enroll one first")]
    SecondFactorOff,
}

impl PeopleRefusal {
    /// Stable word for the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignInRefused => "sign_in_refused",
            Self::CodeRequired => "code_required",
            Self::CodeRefused | Self::OwnCodeRefused => "code_refused",
            Self::PasswordRefused => "password_refused",
            Self::TooManyAttempts { .. } => "too_many_attempts",
            Self::LastAdministrator => "last_administrator",
            Self::HasSignedIn => "has_signed_in",
            Self::SecondFactorOn => "second_factor_on",
            Self::SecondFactorOff => "second_factor_off",
        }
    }
}

impl From<PeopleRefusal> for crate::PlatformError {
    fn from(refusal: PeopleRefusal) -> Self {
        Self::People(refusal)
    }
}
