//! What may happen to a registration, as its log keeps it.

use jiff::Timestamp;
use platform_rules::Cause;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::port::{Registration, RegistrationStatus};

/// A change of a registration. Who made it and when is beside it in the log, and part of the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum RegistrationChange {
    /// It says something else. All of what can be edited, so that the log does not tell what of it changed; but for the
    /// paddle, which everybody sees.
    Edited {
        /// Another paddle, when it got one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paddle: Option<String>,
        /// The person or firm behind it.
        party: Option<Uuid>,
        /// Name.
        name: String,
        /// E-mail address.
        email: Option<String>,
        /// What the bidder may spend, minor units.
        limit: Option<i64>,
        /// What is noted about the bidder.
        note: Option<String>,
    },
    /// It stands elsewhere.
    StatusChanged {
        /// Where it stood.
        from: RegistrationStatus,
        /// Where it stands.
        to: RegistrationStatus,
        /// Why, in a person's words; of a refusal or suspension.
        reason: Option<String>,
    },
}

impl RegistrationChange {
    /// Why it happened, in the log's word.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Edited { .. } => Cause::Edited,
            Self::StatusChanged { .. } => Cause::StatusChangedByAdministrator,
        }
    }

    /// Why it happened, in a person's words.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Edited { .. } => None,
            Self::StatusChanged { reason, .. } => reason.as_deref(),
        }
    }
}

impl Registration {
    /// Takes the change, which `actor` made at `at`, and its next version.
    pub(crate) fn apply(&mut self, change: &RegistrationChange, actor: &str, at: Timestamp) {
        match change.clone() {
            RegistrationChange::Edited { paddle, party, name, email, limit, note } => {
                if let Some(paddle) = paddle {
                    self.paddle = paddle;
                }
                (self.party, self.name, self.email, self.limit, self.note) = (party, name, email, limit, note);
            }
            RegistrationChange::StatusChanged { to, reason, .. } => (self.status, self.reason) = (to, reason),
        }
        actor.clone_into(&mut self.actor);
        self.updated_at = at;
        self.version += 1;
    }
}
