//! Changes of a registration, as its audit log stores them.

use jiff::Timestamp;
use platform_rules::Cause;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ErasedValues, Registration, RegistrationStatus};

/// A change of a registration. The log entry and the state have its actor and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum RegistrationChange {
    /// Fields were edited. The change has all editable fields, so that the log does not reveal which of them changed.
    /// The paddle is public and only present when it changed.
    Edited {
        /// The new paddle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paddle: Option<String>,
        /// The person or firm behind the paddle.
        party: Option<Uuid>,
        /// Name.
        name: Option<String>,
        /// E-mail address.
        email: Option<String>,
        /// Spending limit, minor units.
        limit: Option<i64>,
        /// Note about the bidder.
        note: Option<String>,
    },
    /// The status changed.
    StatusChanged {
        /// Status before.
        from: RegistrationStatus,
        /// Status after.
        to: RegistrationStatus,
        /// The reason that a person gave for a refusal or suspension.
        reason: Option<String>,
    },
    /// The person behind it was erased: name, e-mail address and note. The paddle, the party and the limit stay.
    Erased {
        /// Status after.
        status: RegistrationStatus,
        /// Reason after.
        reason: Option<String>,
        /// The values that the erasure removed from earlier entries.
        removed: Vec<ErasedValues>,
    },
    /// The record behind it was merged with another one. The entry raises the version, so that every node learns of the merge.
    PersonMerged {
        /// The record after.
        party: Option<Uuid>,
        /// Status after: a registration of a person who is blocked is suspended or declined.
        status: RegistrationStatus,
        /// Reason after.
        reason: Option<String>,
    },
}

impl RegistrationChange {
    /// The cause, as the log stores it.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Edited { .. } => Cause::Edited,
            Self::StatusChanged { .. } => Cause::StatusChangedByAdministrator,
            Self::Erased { .. } => Cause::PersonErased,
            Self::PersonMerged { .. } => Cause::PersonMerged,
        }
    }

    /// The reason that a person gave, if the change has one.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Edited { .. } | Self::Erased { .. } | Self::PersonMerged { .. } => None,
            Self::StatusChanged { reason, .. } => reason.as_deref(),
        }
    }
}

impl Registration {
    /// Applies the change that `actor` made at `at`, and raises the version.
    pub(crate) fn apply(&mut self, change: &RegistrationChange, actor: &str, at: Timestamp) {
        match change.clone() {
            RegistrationChange::Edited { paddle, party, name, email, limit, note } => {
                if let Some(paddle) = paddle {
                    self.paddle = paddle;
                }
                (self.party, self.name, self.email, self.limit, self.note) = (party, name, email, limit, note);
            }
            RegistrationChange::StatusChanged { to, reason, .. } => (self.status, self.reason) = (to, reason),
            RegistrationChange::Erased { status, reason, .. } => {
                (self.status, self.reason) = (status, reason);
                (self.name, self.email, self.note) = (None, None, None);
            }
            RegistrationChange::PersonMerged { party, status, reason } => {
                (self.party, self.status, self.reason) = (party, status, reason);
            }
        }
        actor.clone_into(&mut self.actor);
        self.updated_at = at;
        self.version += 1;
    }
}
