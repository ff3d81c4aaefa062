//! Settings of an account, and the tokens that give access to one of its applications.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{ActorKind, Id};
use crate::model::Role;

/// Settings of an account; each has a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountSettings {
    /// How to handle a message if its payload does not match the schema of its event type.
    pub payload_check: PayloadCheck,
    /// How to handle a message if its event type is not registered.
    pub unknown_event_types: UnknownEventTypes,
    /// Maximum requests a second on each node; the server's setting when none.
    pub requests_per_second_max: Option<u32>,
    /// Maximum number of endpoints of each application; the server's setting when none.
    pub endpoints_max: Option<u32>,
}

/// How to handle a message if its payload does not match the schema of its event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PayloadCheck {
    /// Payloads are not checked.
    #[default]
    Off,
    /// The message is accepted, counted and logged without its content.
    Warn,
    /// The message is rejected: 422.
    Reject,
}

impl PayloadCheck {
    /// All values, in the order of their severity.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Reject];

    /// The stable name in the store, the API and the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Reject => "reject",
        }
    }

    /// The value with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// How to handle a message if its event type is not registered. Independent of [`PayloadCheck`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownEventTypes {
    /// The message is accepted.
    Accept,
    /// The message is accepted, and the event type is listed with the key that sent it.
    #[default]
    Warn,
    /// The message is rejected: 400 `unknown_event_type`.
    Reject,
}

impl UnknownEventTypes {
    /// All values, in the order of their severity.
    pub const ALL: [Self; 3] = [Self::Accept, Self::Warn, Self::Reject];

    /// The stable name in the store, the API and the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Warn => "warn",
            Self::Reject => "reject",
        }
    }

    /// The value with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|handling| handling.name() == name)
    }
}

/// A capability of an application token. The names are those of the API (`capabilities` of app-portal-access).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Read everything in the application except secrets of endpoints.
    ViewBase,
    /// Read the secrets of endpoints.
    ViewEndpointSecret,
    /// Read and rotate the secrets of endpoints.
    ManageEndpointSecret,
    /// Change transformations of endpoints. The provider has no transformations, but clients request this capability.
    ManageTransformations,
    /// Send examples, send messages again, recover.
    CreateAttempts,
    /// Create, change and delete endpoints, including their secrets.
    ManageEndpoint,
}

impl Capability {
    /// All capabilities: the default of a new token.
    pub const ALL: [Self; 6] = [
        Self::ViewBase,
        Self::ViewEndpointSecret,
        Self::ManageEndpointSecret,
        Self::ManageTransformations,
        Self::CreateAttempts,
        Self::ManageEndpoint,
    ];

    /// The stable name in the store and the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::ViewBase => "ViewBase",
            Self::ViewEndpointSecret => "ViewEndpointSecret",
            Self::ManageEndpointSecret => "ManageEndpointSecret",
            Self::ManageTransformations => "ManageTransformations",
            Self::CreateAttempts => "CreateAttempts",
            Self::ManageEndpoint => "ManageEndpoint",
        }
    }

    /// The value with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    /// Whether this capability includes `other`.
    pub fn covers(self, other: Self) -> bool {
        match self {
            Self::ManageEndpointSecret => other == self || other == Self::ViewEndpointSecret,
            Self::ManageEndpoint => {
                other == self || matches!(other, Self::ManageEndpointSecret | Self::ViewEndpointSecret)
            }
            _ => other == self,
        }
    }
}

/// A token for one application, which the App Portal uses. The text of the token is returned once and not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppToken {
    /// `apptk_…`
    pub id: Id,
    /// SHA-256 of the token without its region suffix.
    pub hash: [u8; 32],
    /// The account that the application belongs to.
    pub account: Id,
    /// The only application that it gives access to.
    pub application: Id,
    /// Capabilities of the token; they always include [`Capability::ViewBase`].
    pub capabilities: BTreeSet<Capability>,
    /// Feature flags. An event type with feature flags is visible only with one of them.
    pub feature_flags: BTreeSet<String>,
    /// The customer's name of the session. The tokens of one session can be revoked together.
    pub session_id: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was last used, to within an hour; none when it was never used.
    pub last_used_at: Option<Timestamp>,
    /// Who created it.
    pub maker: TokenMaker,
    /// The maker previews the App Portal with it.
    pub preview: Option<Preview>,
}

/// Who created a token. The tokens of a user end when the user is removed or gets a lower role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenMaker {
    /// Kind of the maker.
    pub kind: ActorKind,
    /// Id of the user or API key; `operator` for the operator.
    pub id: Id,
    /// Name at that time.
    pub name: String,
}

/// A user's preview of the App Portal. It ends when the user is removed or gets another role, and when the session
/// ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The session.
    pub session: Id,
    /// The role that the user had.
    pub role: Role,
}

impl AppToken {
    /// Whether the token has this capability.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.iter().any(|own| own.covers(capability))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for check in PayloadCheck::ALL {
            assert_eq!(PayloadCheck::parse(check.name()), Some(check));
        }
        for handling in UnknownEventTypes::ALL {
            assert_eq!(UnknownEventTypes::parse(handling.name()), Some(handling));
        }
        for capability in Capability::ALL {
            assert_eq!(Capability::parse(capability.name()), Some(capability));
        }
        assert_eq!((PayloadCheck::parse("Off"), Capability::parse("viewbase")), (None, None));
    }

    #[test]
    fn managing_endpoints_includes_their_secrets_only() {
        let covered =
            |capability: Capability| Capability::ALL.into_iter().filter(move |other| capability.covers(*other));
        assert_eq!(covered(Capability::ViewBase).count(), 1);
        assert_eq!(covered(Capability::ManageEndpointSecret).count(), 2);
        let covered: Vec<_> = covered(Capability::ManageEndpoint).collect();
        assert_eq!(
            covered,
            [Capability::ViewEndpointSecret, Capability::ManageEndpointSecret, Capability::ManageEndpoint]
        );
    }
}
