//! Refusals of changes of users that only the platform has. [`Refusal`] has those of every sign-in.

pub use kit_identity::Refusal;

/// Why a change of a user, of an invitation or of a clerk was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserRefusal {
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
    /// The installation has the maximum number of open invitations.
    #[error("there are {maximum} open invitations, which is the maximum: withdraw one first")]
    TooManyInvitations {
        /// The maximum.
        maximum: usize,
    },
    /// The change would leave no administrator who can sign in.
    #[error("this is the last administrator who can sign in: make another user an administrator first")]
    LastAdministrator,
    /// The user has no password to choose another one in place of.
    #[error("this user has no password and signs in by single sign-on: reset the password first to give them one")]
    NoPassword,
    /// The audit log may name the user.
    #[error("this user has signed in, so the log may name them: disable them instead")]
    HasSignedIn,
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

impl UserRefusal {
    /// Stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NewPasswordRequired => "new_password_required",
            Self::SetupCodeRefused => "setup_code_refused",
            Self::TooManyInvitations { .. } => "too_many_invitations",
            Self::LastAdministrator => "last_administrator",
            Self::NoPassword => "no_password",
            Self::HasSignedIn => "has_signed_in",
            Self::ClerkNotAssigned => "clerk_not_assigned",
            Self::NotAClerk => "not_a_clerk",
            Self::TooManyClerks { .. } => "too_many_clerks",
        }
    }
}

impl From<UserRefusal> for crate::PlatformError {
    fn from(refusal: UserRefusal) -> Self {
        Self::User(refusal)
    }
}
