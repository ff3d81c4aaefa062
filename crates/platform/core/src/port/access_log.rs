//! Changes of who may do what, each with its entry in the log of access.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{LogHash, LogHead};
use uuid::Uuid;

use super::{
    ApiKey, Clerk, ClerkAssignResult, Consumer, IdempotentAnswer, Page, Session, StartFrom, StoreResult, User,
    UserChange, UserChangeResult,
};

/// A change of access. What each does is said at the method of the same name ([`super::Store`], [`super::UserStore`],
/// [`super::ApiKeyStore`], [`super::ClerkStore`], [`super::Quarantine`]).
#[derive(Debug, Clone)]
pub enum AccessChange {
    /// Nothing but the entry.
    EntryOnly,
    /// A user is made.
    CreateUser(User, Option<IdempotentAnswer>),
    /// A user changes.
    ChangeUser(UserChange),
    /// A user of this version is removed.
    RemoveUser(Uuid, i64),
    /// A session of a user of this version begins; so many of the user's stay.
    BeginSession(Session, i64, usize, Option<IdempotentAnswer>),
    /// An API key is made.
    CreateApiKey(ApiKey, Option<IdempotentAnswer>),
    /// An API key gives no access from then on.
    RevokeApiKey(Uuid, Timestamp),
    /// A clerk is assigned; so many are at most.
    AssignClerk(Clerk, usize),
    /// A clerk is taken off a webcast.
    UnassignClerk(Uuid, Uuid),
    /// A customer's connection is entered.
    PutConsumer(Consumer, StartFrom),
    /// A customer's connection ends.
    Disconnect(Uuid),
}

/// What came of a change of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessChangeResult {
    /// It is done.
    Done,
    /// There was nothing to do: the key was revoked, or the clerk taken off, or the connection ended before.
    Unchanged,
    /// What came of the change of a user.
    User(UserChangeResult),
    /// What came of assigning a clerk.
    Clerk(ClerkAssignResult),
    /// The connection ended; so many events had waited.
    Disconnected(u64),
}

impl AccessChangeResult {
    /// True when something has become true: then, and only then, there is an entry.
    pub fn is_recorded(self) -> bool {
        match self {
            Self::Done | Self::Disconnected(_) => true,
            Self::Unchanged => false,
            Self::User(written) => written == UserChangeResult::Done,
            Self::Clerk(assigned) => assigned == ClerkAssignResult::Assigned,
        }
    }
}

/// An entry of the log of access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessEntry {
    /// From 1 without gaps.
    pub number: i64,
    /// [`crate::access_log::AccessContent`] as JSON. These bytes are what the hash covers.
    pub content: String,
    /// See [`crate::audit::access_chain`].
    pub hash: LogHash,
}

/// Part of the platform's store port: one log, chained by hash, that only grows. Its head is kept beside it.
#[async_trait]
pub trait AccessLogStore: Send + Sync {
    /// Makes a change true together with its entry, or neither; without an entry when there was nothing to do. Entries follow one
    /// another, on however many nodes. Errors are those of the change.
    async fn apply_access_change(&self, change: AccessChange, content: String) -> StoreResult<AccessChangeResult>;
    /// Entries by number, the oldest first.
    async fn access_log(&self, page: Page<i64>) -> StoreResult<Vec<AccessEntry>>;
    /// Entries before a number, or the last ones: the latest first.
    async fn latest_access_entries(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>>;
    /// What the log has come to, as it is kept beside the entries. `Corrupt` when it is gone.
    async fn access_log_head(&self) -> StoreResult<LogHead>;
}
