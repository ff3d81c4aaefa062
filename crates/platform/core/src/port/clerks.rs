//! Which clerks run which webcast.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::Auction;
use uuid::Uuid;

use super::{Page, StoreResult, User};

/// A clerk of a webcast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clerk {
    /// The webcast.
    pub auction: Uuid,
    /// Who it is: a user with the role clerk.
    pub user: Uuid,
    /// Since when.
    pub assigned_at: Timestamp,
    /// Who has said so, as the log names them.
    pub assigned_by: String,
}

/// What came of assigning a clerk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClerkAssignResult {
    /// They are the webcast's clerk now.
    Assigned,
    /// They were before, and what was noted then stays.
    AlreadyAssigned,
    /// Nothing was done: there is no such user, or they have another role.
    NotAClerk,
    /// Nothing was done: the webcast has as many as it may.
    LimitReached,
}

/// Clerks of webcasts. [`super::AccessChange`] assigns and unassigns them. A user who gets another role, or is removed,
/// is unassigned from every webcast in the same transaction.
#[async_trait]
pub trait ClerkStore: Send + Sync {
    /// True when they are the webcast's clerk at this moment, whichever node has said so.
    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool>;
    /// Clerks of a webcast, in order of their UUID.
    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>>;
    /// Webcasts of a clerk that are not ARCHIVED, in order of creation (UUID).
    async fn webcasts_of_clerk(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// Users with the role clerk who can sign in, in order of creation (UUID).
    async fn users_with_clerk_role(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
}
