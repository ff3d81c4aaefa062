//! Why a sign-in by single sign-on did not succeed: a stable code, and a sentence for the visitor. What only the operator needs
//! is in [`OpenIdError::detail`], for the log.

/// Why a sign-in was refused or did not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenIdError {
    /// The issuer could not be reached, or did not answer as an issuer does.
    #[error(
        "{issuer} does not answer as it should, so single sign-on does not work now: try again in a few minutes, or sign in with a password"
    )]
    IssuerUnavailable {
        /// The name on the button.
        issuer: String,
        /// The cause, for the log.
        detail: String,
    },
    /// The browser has no sign-in under way: the cookie is missing or too old, or the sign-in began in another browser.
    #[error("this sign-in began in another browser, or more than ten minutes ago: begin again")]
    FlowMissing,
    /// The answer belongs to another sign-in than the cookie, or another issuer sent it.
    #[error("the answer does not belong to the sign-in that this browser began last: begin again")]
    FlowMismatch,
    /// The answer was used before.
    #[error("this sign-in was used before: begin again")]
    FlowUsed,
    /// The issuer did not sign the person in.
    #[error("{issuer} did not sign you in ({code}): try again, or ask who manages your account there")]
    Denied {
        /// The name on the button.
        issuer: String,
        /// The error code of the standard that it sent, such as `access_denied`.
        code: String,
    },
    /// The issuer did not accept the code of its answer.
    #[error(
        "{issuer} did not accept the sign-in: begin again. If that does not help, the operator finds the cause in the server's log"
    )]
    CodeRefused {
        /// The name on the button.
        issuer: String,
        /// The cause, for the log.
        detail: String,
    },
    /// The ID token is not valid.
    #[error(
        "what {issuer} says of you can't be verified: begin again. If that does not help, the operator finds the cause in the server's log"
    )]
    TokenRefused {
        /// The name on the button.
        issuer: String,
        /// The cause, for the log.
        detail: String,
    },
    /// The issuer's answer has no e-mail address, and no user is linked to the person.
    #[error("{issuer} does not say what your e-mail address is, so no user can be found: ask an administrator")]
    EmailMissing {
        /// The name on the button.
        issuer: String,
    },
    /// The issuer has not verified the address, and no user is linked to the person.
    #[error(
        "{issuer} has not verified your e-mail address, so it can't be used to find your user: verify it there, then sign in again"
    )]
    EmailNotVerified {
        /// The name on the button.
        issuer: String,
    },
    /// Another person of the issuer is linked to the user with this address.
    #[error("the user with your e-mail address is linked to another account: ask an administrator to remove that link")]
    LinkedToAnother,
    /// The user with the address joined with a password, and nothing shows that the address is theirs.
    #[error(
        "a user with your e-mail address joined with a password: sign in with it once and link your profile to {issuer}. If you did not join, ask an administrator"
    )]
    NotLinked {
        /// The name on the button.
        issuer: String,
    },
    /// A signed-in user began to link their profile, and another person signed in at the issuer.
    #[error(
        "at {issuer} you are not the person with your e-mail address here: sign in there as that person, then link again"
    )]
    OtherPerson {
        /// The name on the button.
        issuer: String,
    },
    /// An Admin removed the user, and no invitation followed.
    #[error("your user was removed: ask an administrator for an invitation")]
    Removed,
    /// No user has the address, and none is made.
    #[error(
        "there is no user for you here: ask an administrator for an invitation to the e-mail address that {issuer} knows"
    )]
    NoUser {
        /// The name on the button.
        issuer: String,
    },
    /// None of the person's groups gives a role.
    #[error("you are in no group that may sign in here: ask an administrator which group you need at {issuer}")]
    NoGroup {
        /// The name on the button.
        issuer: String,
    },
    /// The user is disabled.
    #[error("your user is disabled: ask an administrator")]
    Disabled,
    /// The user belongs to an account whose users sign in with passwords only.
    #[error("users of your account sign in with a password")]
    OtherAccount,
    /// The groups would take the role from the last administrator.
    #[error(
        "your groups no longer make you an administrator, and you are the last one who can sign in: sign in with your \
         password and make another user an administrator first"
    )]
    LastAdministrator,
}

impl OpenIdError {
    /// Stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::IssuerUnavailable { .. } => "issuer_unavailable",
            Self::FlowMissing => "flow_missing",
            Self::FlowMismatch => "flow_mismatch",
            Self::FlowUsed => "flow_used",
            Self::Denied { .. } => "issuer_denied",
            Self::CodeRefused { .. } => "code_refused",
            Self::TokenRefused { .. } => "token_refused",
            Self::EmailMissing { .. } => "email_missing",
            Self::EmailNotVerified { .. } => "email_not_verified",
            Self::LinkedToAnother => "linked_to_another",
            Self::NotLinked { .. } => "not_linked",
            Self::OtherPerson { .. } => "other_person",
            Self::Removed => "removed",
            Self::NoUser { .. } => "no_user",
            Self::NoGroup { .. } => "no_group",
            Self::Disabled => "disabled",
            Self::OtherAccount => "other_account",
            Self::LastAdministrator => "last_administrator",
        }
    }

    /// The cause, for the operator's log; none when the sentence has everything. It has no code, token or secret.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::IssuerUnavailable { detail, .. }
            | Self::CodeRefused { detail, .. }
            | Self::TokenRefused { detail, .. } => Some(detail),
            _ => None,
        }
    }
}
