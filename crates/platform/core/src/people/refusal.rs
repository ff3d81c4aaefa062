//! Refusals of sign-ins and of changes of users. The texts reveal nothing to callers who are not signed in.

/// Why a sign-in or a change of a user was refused.
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
    #[error("there were too many attempts: wait {retry_after_s} s, as Retry-After says")]
    TooManyAttempts {
        /// Seconds until the next attempt is allowed.
        retry_after_s: u64,
    },
    /// The user has to choose another password before anything else.
    #[error(
        "an administrator requires that you choose a new password: send it with the present one to POST /api/v1/me/password, then repeat the call"
    )]
    NewPasswordRequired,
    /// The code does not create the first administrator.
    #[error(
        "the code is wrong, expired or used: copy the one that the server printed last, or start the server again for a new one"
    )]
    SetupCodeRefused,
    /// The link of an invitation creates no user.
    #[error("this invitation was used or withdrawn, or has expired: ask an administrator for a new one")]
    InvitationRefused,
    /// The installation has the maximum number of open invitations.
    #[error("there are {maximum} open invitations, which is the maximum: withdraw one first")]
    TooManyInvitations {
        /// The maximum.
        maximum: usize,
    },
    /// The change would leave no administrator who can sign in.
    #[error("this is the last administrator who can sign in: make another user an administrator first")]
    LastAdministrator,
    /// The audit log may name the user.
    #[error("this user has signed in, so the log may name them: disable them instead")]
    HasSignedIn,
    /// A confirmed second factor can't be replaced before it is turned off.
    #[error("this user has a second factor already: turn it off first, with a code")]
    SecondFactorOn,
    /// There is nothing to confirm or to turn off.
    #[error("this user has no second factor, or none to confirm: enroll one first")]
    SecondFactorOff,
    /// A clerk can only act on assigned webcasts.
    #[error("you are not a clerk of this webcast: ask an administrator or an operator to assign you to it")]
    ClerkNotAssigned,
    /// Only users with the role clerk can be assigned.
    #[error(
        "only users with the role clerk can be assigned: administrators and operators need no assignment, other users need the role first"
    )]
    NotAClerk,
    /// The webcast has the maximum number of clerks.
    #[error("the webcast has {maximum} clerks, which is the maximum: unassign one first")]
    TooManyClerks {
        /// The maximum.
        maximum: usize,
    },
}

impl PeopleRefusal {
    /// Stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignInRefused => "sign_in_refused",
            Self::CodeRequired => "code_required",
            Self::CodeRefused | Self::OwnCodeRefused => "code_refused",
            Self::PasswordRefused => "password_refused",
            Self::TooManyAttempts { .. } => "too_many_attempts",
            Self::NewPasswordRequired => "new_password_required",
            Self::SetupCodeRefused => "setup_code_refused",
            Self::InvitationRefused => "invitation_refused",
            Self::TooManyInvitations { .. } => "too_many_invitations",
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
