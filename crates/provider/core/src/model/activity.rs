//! The activity log of an account.

use jiff::Timestamp;

use super::Id;

/// An entry of the activity log. It contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEntry {
    /// `act_…`
    pub id: Id,
    /// The account of the log.
    pub account: Id,
    /// When it happened.
    pub at: Timestamp,
    /// Kind of the actor.
    pub actor_kind: ActorKind,
    /// Id of the user, key or token; `operator` for the operator.
    pub actor: Id,
    /// Name of the actor at that time.
    pub actor_name: String,
    /// Name of the action: see [`crate::activity::Action`].
    pub action: String,
    /// Id or name of the changed object.
    pub subject: String,
    /// Name of the changed object at that time; empty when it has none.
    pub subject_name: String,
    /// The changed values before, one `name: value` a line; empty when there were none.
    pub before: String,
    /// The changed values after, in the same form.
    pub after: String,
}

/// Kind of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// A user who signed in to the dashboard.
    User,
    /// An API key.
    ApiKey,
    /// A link to the App Portal.
    PortalLink,
    /// The operator of the installation, on the command line.
    Operator,
}

impl ActorKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::User, Self::ApiKey, Self::PortalLink, Self::Operator];

    /// The stable name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::ApiKey => "api_key",
            Self::PortalLink => "portal_link",
            Self::Operator => "operator",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
