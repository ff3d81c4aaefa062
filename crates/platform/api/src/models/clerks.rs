//! Clerks of webcasts.

use platform_core::port::{Clerk, User};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A clerk of a webcast.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Clerk)]
pub(crate) struct ClerkView {
    /// UUID of the user. Histories and records name it as the actor `user:<uuid>`.
    pub(crate) user: Uuid,
    /// E-mail address.
    pub(crate) email: String,
    /// What people call the user; null for a user without a name.
    pub(crate) name: Option<String>,
    /// When the user was disabled; null if they may sign in.
    #[schema(format = DateTime)]
    pub(crate) disabled_at: Option<String>,
    /// When the clerk was assigned.
    #[schema(format = DateTime)]
    pub(crate) assigned_at: String,
    /// Who assigned the clerk: `user:<uuid>`, `key:<uuid>` or `command-line`.
    pub(crate) assigned_by: String,
}

impl From<&(Clerk, User)> for ClerkView {
    fn from((clerk, user): &(Clerk, User)) -> Self {
        Self {
            user: user.id,
            email: user.email.clone(),
            name: user.profile.name.clone(),
            disabled_at: user.disabled_at.map(time),
            assigned_at: time(clerk.assigned_at),
            assigned_by: clerk.assigned_by.clone(),
        }
    }
}

/// A user with the role clerk.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClerkToChoose)]
pub(crate) struct ClerkToChooseView {
    /// UUID of the user.
    pub(crate) uuid: Uuid,
    /// E-mail address.
    pub(crate) email: String,
    /// What people call the user; null for a user without a name.
    pub(crate) name: Option<String>,
}

impl From<&User> for ClerkToChooseView {
    fn from(user: &User) -> Self {
        Self { uuid: user.id, email: user.email.clone(), name: user.profile.name.clone() }
    }
}
