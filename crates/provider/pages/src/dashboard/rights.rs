//! What the user may do, for templates.

use provider_core::model::Role;

use super::session::DashboardSession;

/// What a user's role allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rights {
    /// Open the App Portal of an application.
    pub(super) preview: bool,
    /// Change applications, event types and endpoints.
    pub(super) change: bool,
    /// Change settings of the account.
    pub(super) administer: bool,
}

impl Rights {
    pub(super) fn of(session: &DashboardSession) -> Self {
        Self {
            preview: session.may(Role::Support),
            change: session.may(Role::Member),
            administer: session.may(Role::Admin),
        }
    }
}
