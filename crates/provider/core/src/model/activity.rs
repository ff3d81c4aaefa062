//! The activity log of an account: who changed what.

use jiff::Timestamp;

use super::Id;

/// An entry of the activity log. It contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEntry {
    /// `act_…`
    pub id: Id,
    /// The account whose log it is in.
    pub account: Id,
    /// When it happened.
    pub at: Timestamp,
    /// What kind of actor it was.
    pub actor_kind: ActorKind,
    /// Id of the person, key or token; `operator` for the operator.
    pub actor: Id,
    /// Name of the actor at that time.
    pub actor_name: String,
    /// What was done: see [`crate::activity::Action`].
    pub action: String,
    /// Id or name of what was changed.
    pub subject: String,
    /// Its name at that time; empty when it has none.
    pub subject_name: String,
    /// The changed values before, one `name: value` a line; empty when there were none.
    pub before: String,
    /// The changed values after, in the same form.
    pub after: String,
}

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// A person who signed in to the dashboard.
    Person,
    /// An API key.
    ApiKey,
    /// A link to the App Portal.
    PortalLink,
    /// The operator of the installation, on the command line.
    Operator,
}

impl ActorKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Person, Self::ApiKey, Self::PortalLink, Self::Operator];

    /// Stable name: what is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::ApiKey => "api_key",
            Self::PortalLink => "portal_link",
            Self::Operator => "operator",
        }
    }

    /// The one of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
