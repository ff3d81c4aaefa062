//! Assignments of clerks to webcasts, and the reports of their desks.

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
    /// The user, who has the role clerk.
    pub user: Uuid,
    /// Time of the assignment.
    pub assigned_at: Timestamp,
    /// Who assigned them, as the audit log names them.
    pub assigned_by: String,
}

/// The result of assigning a clerk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClerkAssignResult {
    /// The user is a clerk of the webcast now.
    Assigned,
    /// The user was a clerk of the webcast before; that assignment stays.
    AlreadyAssigned,
    /// Nothing changed: the user does not exist or has another role.
    NotAClerk,
    /// Nothing changed: the webcast has the maximum number of clerks.
    LimitReached,
}

/// Clerks of webcasts. [`super::AccessChange`] assigns and unassigns them. A user who gets another role, or is removed,
/// is unassigned from every webcast in the same transaction.
#[async_trait]
pub trait ClerkStore: Send + Sync {
    /// True when the user is a clerk of the webcast now, whichever node assigned them.
    async fn is_clerk(&self, auction: Uuid, user: Uuid) -> StoreResult<bool>;
    /// Clerks of a webcast, in order of their UUID.
    async fn clerks(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>>;
    /// Webcasts of a clerk that are not ARCHIVED, in order of creation (UUID).
    async fn webcasts_of_clerk(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// Users with the role clerk who can sign in, in order of creation (UUID).
    async fn users_with_clerk_role(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
    /// Stores that a desk of the webcast holds its live stream at this time. A later time that is stored stays.
    async fn report_desk(&self, webcast: Uuid, at: Timestamp) -> StoreResult<()>;
    /// When a desk of the webcast last reported; none before the first report.
    async fn desk_reported_at(&self, webcast: Uuid) -> StoreResult<Option<Timestamp>>;
}
