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
    /// Who it is; history and records name them as the actor `user:<uuid>`.
    pub(crate) user: Uuid,
    pub(crate) email: String,
    /// Since when they can't sign in; null while they can.
    #[schema(format = DateTime)]
    pub(crate) disabled_at: Option<String>,
    #[schema(format = DateTime)]
    pub(crate) assigned_at: String,
    /// Who assigned them: `user:<uuid>`, `key:<uuid>` or `command-line`.
    pub(crate) assigned_by: String,
}

impl From<&(Clerk, User)> for ClerkView {
    fn from((clerk, user): &(Clerk, User)) -> Self {
        Self {
            user: user.uuid,
            email: user.email.clone(),
            disabled_at: user.disabled_at.map(time),
            assigned_at: time(clerk.assigned_at),
            assigned_by: clerk.assigned_by.clone(),
        }
    }
}

/// A person with the role clerk.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClerkToChoose)]
pub(crate) struct ClerkToChooseView {
    pub(crate) uuid: Uuid,
    pub(crate) email: String,
}

impl From<&User> for ClerkToChooseView {
    fn from(user: &User) -> Self {
        Self { uuid: user.uuid, email: user.email.clone() }
    }
}
