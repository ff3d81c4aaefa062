//! Who of the clerks has to do with which webcast.

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

/// Part of the platform's store port. Who gets another role, or is removed, is the clerk of no webcast any more, in the
/// transaction of that ([`super::UserStore::change_user`], [`super::UserStore::remove_user`]).
#[async_trait]
pub trait ClerkStore: Send + Sync {
    /// Assigns a clerk, however many others are assigned or get another role at the same time; a webcast has `clerks_max` at most.
    async fn assign_clerk(&self, clerk: Clerk, clerks_max: usize) -> StoreResult<ClerkAssignResult>;
    /// Takes a clerk off; false when they were none of this webcast.
    async fn unassign_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool>;
    /// True when they are the webcast's clerk at this moment, whichever node has said so.
    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool>;
    /// Clerks of a webcast, in order of their UUID.
    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>>;
    /// Webcasts of a clerk that are not ARCHIVED, in order of creation (UUID).
    async fn webcasts_of_clerk(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// Users with the role clerk who can sign in, in order of creation (UUID).
    async fn users_with_clerk_role(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
}
