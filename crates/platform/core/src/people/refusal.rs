//! Why a person was refused, in words that tell a stranger nothing.

/// Why signing in, or a change of people, was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeopleRefusal {
    /// The caller does not learn which of the reasons applies.
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
    /// A signed-in user gave a wrong password.
    #[error("the password is not the one that this user has")]
    PasswordRefused,
    /// A signed-in user gave a wrong or used code.
    #[error(
        "this code is wrong, or it was used before: wait for the next one, and look at the clock of the authenticator"
    )]
    OwnCodeRefused,
    /// Too many attempts, or too many people at the same time.
    #[error("there were too many attempts: wait {retry_after_s} s, as Retry-After says")]
    TooManyAttempts {
        /// Seconds until the next attempt is allowed.
        retry_after_s: u64,
    },
    /// The change would leave no administrator who can sign in.
    #[error("this is the last administrator who can sign in: make another user an administrator first")]
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
    /// A clerk has to do with the webcasts that they are assigned to.
    #[error(
        "this is for the clerks of this webcast, and you are none of them: ask an administrator or an operator to assign you \
         to it"
    )]
    ClerkNotAssigned,
    /// Others need not be assigned, or would gain nothing by it.
    #[error(
        "only users with the role clerk are assigned: administrators and operators need not be, and others get that role first"
    )]
    NotAClerk,
    /// As many as a webcast may have.
    #[error("the webcast has {maximum} clerks, as many as it may: take one off first")]
    TooManyClerks {
        /// How many may.
        maximum: usize,
    },
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
            Self::ClerkNotAssigned => "clerk_not_assigned",
            Self::NotAClerk => "not_a_clerk",
            Self::TooManyClerks { .. } => "too_many_clerks",
        }
    }
}

impl From<PeopleRefusal> for crate::PlatformError {
    fn from(refusal: PeopleRefusal) -> Self {
        Self::People(refusal)
    }
}
