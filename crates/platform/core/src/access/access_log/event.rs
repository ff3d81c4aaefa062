//! What the log of access tells.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What happened. In the log `event` names it, and `details` has its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", content = "details", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AccessEvent {
    /// A person signed in: a session began.
    SignedIn {
        /// Who.
        user: Uuid,
        /// The session.
        session: Uuid,
    },
    /// A person showed the right password and was refused all the same.
    SignInRefused {
        /// Who.
        user: Uuid,
        /// `disabled` or `code_refused`.
        reason: String,
    },
    /// Sign-ins that failed at the name or the password, on one node, since it noted them last.
    SignInsRefused {
        /// How many.
        count: u64,
    },
    /// A user was made.
    UserCreated {
        /// Who.
        user: Uuid,
        /// Their address: the only place that has it when they are removed.
        email: String,
        /// With this role.
        role: String,
    },
    /// A user got another role, was disabled or enabled.
    UserChanged {
        /// Who.
        user: Uuid,
        /// The role before.
        role_before: String,
        /// The role from now on.
        role: String,
        /// Whether they can't sign in from now on.
        disabled: bool,
    },
    /// A user who had never signed in was removed.
    UserRemoved {
        /// Who.
        user: Uuid,
    },
    /// An administrator set another password for a user.
    PasswordReset {
        /// Whose.
        user: Uuid,
    },
    /// A user changed the own password.
    PasswordChanged {
        /// Whose.
        user: Uuid,
    },
    /// A user's second factor is asked for from now on.
    SecondFactorOn {
        /// Whose.
        user: Uuid,
    },
    /// A user's second factor is asked for no more.
    SecondFactorOff {
        /// Whose.
        user: Uuid,
    },
    /// A clerk was assigned to a webcast.
    ClerkAssignResult {
        /// The webcast.
        auction: Uuid,
        /// Who.
        user: Uuid,
    },
    /// A clerk was taken off a webcast.
    ClerkTakenOff {
        /// The webcast.
        auction: Uuid,
        /// Who.
        user: Uuid,
    },
    /// An API key was made.
    KeyCreated {
        /// The key.
        key: Uuid,
        /// Its name.
        name: String,
        /// The customer that it is confined to.
        customer: Option<Uuid>,
        /// What it may do.
        scopes: Vec<String>,
    },
    /// An API key was revoked.
    KeyRevoked {
        /// The key.
        key: Uuid,
    },
    /// A customer's connection to its provider was entered or changed.
    ConnectionEntered {
        /// Whose.
        customer: Uuid,
        /// The provider.
        provider_url: String,
        /// The consumer application.
        application_id: Option<String>,
        /// Whether an API key of the provider was entered with it.
        api_key_entered: bool,
    },
    /// A customer's connection was ended, and its credentials forgotten.
    ConnectionEnded {
        /// Whose.
        customer: Uuid,
    },
}
