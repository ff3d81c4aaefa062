//! What an account may do, and the tokens that give access to one of its applications.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Id;
use crate::people::Role;

/// What is set about an account; each value has a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountSettings {
    /// What becomes of a message whose payload does not match its event type's schema.
    pub payload_check: PayloadCheck,
    /// Requests a second at most, on each node; the configuration's when none.
    pub requests_per_second_max: Option<u32>,
    /// Endpoints of each application at most; the configuration's when none.
    pub endpoints_max: Option<u32>,
}

/// What becomes of a message whose payload does not match its event type's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PayloadCheck {
    /// Nothing is checked.
    #[default]
    Off,
    /// It is accepted, counted and logged, without its content.
    Warn,
    /// It is refused: 422.
    Reject,
}

impl PayloadCheck {
    /// All of them, in the order of their severity.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Reject];

    /// Stable name: what is stored, and what the API and the command line say.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Reject => "reject",
        }
    }

    /// The one of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// What an application token may do; the names are those of the API (`capabilities` of app-portal-access).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Read everything of the application but its endpoints' secrets.
    ViewBase,
    /// Read the secrets of its endpoints.
    ViewEndpointSecret,
    /// Read and rotate them.
    ManageEndpointSecret,
    /// Change transformations of endpoints. There are none here; clients ask for it all the same.
    ManageTransformations,
    /// Send examples, send messages again, recover.
    CreateAttempts,
    /// Make, change and delete endpoints, secrets included.
    ManageEndpoint,
}

impl Capability {
    /// All of them: what a token has that is asked for without saying.
    pub const ALL: [Self; 6] = [
        Self::ViewBase,
        Self::ViewEndpointSecret,
        Self::ManageEndpointSecret,
        Self::ManageTransformations,
        Self::CreateAttempts,
        Self::ManageEndpoint,
    ];

    /// Stable name: what is stored, and what the API says.
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

    /// The one of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    /// Whether having this one is having `other`, too.
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

/// A token for one application, as the App Portal uses it. The token itself is given out once and not kept.
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
    /// What it may do there; [`Capability::ViewBase`] is always among them.
    pub capabilities: BTreeSet<Capability>,
    /// Event types with a feature flag are only seen with that flag.
    pub feature_flags: BTreeSet<String>,
    /// Whose session it is, in the customer's words; tokens of one session can be ended together.
    pub session_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it gives access no more.
    pub expires_at: Timestamp,
    /// The person who looks at the App Portal with it; none for a token that an API key made.
    pub preview: Option<Preview>,
}

/// Whose preview of the App Portal a token is. It ends when the person is removed or gets another role, and with the session
/// that it was opened from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The person.
    pub person: Id,
    /// The session.
    pub session: Id,
    /// The role that the person had.
    pub role: Role,
}

impl AppToken {
    /// Whether it may do what needs `capability`.
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
        for capability in Capability::ALL {
            assert_eq!(Capability::parse(capability.name()), Some(capability));
        }
        assert_eq!((PayloadCheck::parse("Off"), Capability::parse("viewbase")), (None, None));
    }

    #[test]
    fn managing_endpoints_is_managing_their_secrets_and_nothing_else() {
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
