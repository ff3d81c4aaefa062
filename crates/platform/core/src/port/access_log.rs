//! Changes of access, each with its entry in the access log.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{LogHash, LogHead};
use uuid::Uuid;

use super::{
    ApiKey, Clerk, ClerkAssignResult, Consumer, Digest, IdempotentAnswer, Invitation, Page, ScreenKind, ScreenLink,
    Session, StartFrom, StoreResult, User, UserChange, UserChangeResult,
};

/// A change of access. The store commits it as a whole, with its entry and its answer, or not at all.
#[derive(Debug, Clone)]
pub enum AccessChange {
    /// No change: only the entry is appended.
    EntryOnly,
    /// Creates a user. `Taken("email")`, `Replayed`.
    CreateUser(User, Option<IdempotentAnswer>),
    /// Creates the first user with this code, and deletes all codes. Nothing changes when a user exists, or the code is
    /// unknown or expired at this time. `Taken("email")` never happens.
    CreateFirstUser(User, Digest, Timestamp),
    /// Changes a user, as [`super::UserStore::change_user`].
    ChangeUser(UserChange),
    /// Removes a user of this version who has never signed in, with the links that they made. `Conflict` when the version changed or the user does not
    /// exist.
    RemoveUser(Uuid, i64),
    /// Creates an invitation in place of an earlier one of its address. Nothing changes when this number of others have not
    /// expired. `Conflict` when a user created it who is no enabled administrator any more.
    CreateInvitation(Invitation, usize),
    /// Withdraws an invitation.
    WithdrawInvitation(Uuid),
    /// Creates the user of the invitation with this code, and deletes the invitation. Nothing changes when the code is
    /// unknown or expired at this time. `Taken("email")`.
    AcceptInvitation(Digest, User, Timestamp),
    /// Begins a session of a user of this version and records that the user has signed in. The user keeps the latest
    /// sessions, as many as the number says. `Conflict` when the user's version changed or the user does not exist;
    /// `Replayed`.
    BeginSession(Session, i64, usize, Option<IdempotentAnswer>),
    /// Creates an API key. `Taken("key")`, `Replayed`.
    CreateApiKey(ApiKey, Option<IdempotentAnswer>),
    /// Revokes an API key from this time on. A key that was revoked before keeps its first time.
    RevokeApiKey(Uuid, Timestamp),
    /// Assigns a clerk to a webcast, which has at most this number of clerks, however many assignments and changes of
    /// roles run at the same time.
    AssignClerk(Clerk, usize),
    /// Unassigns a user from a webcast.
    UnassignClerk(Uuid, Uuid),
    /// Creates a link to a screen in place of the webcast's earlier one of this kind. `Conflict` when a user created it who is
    /// disabled or has no role with `ring:write` any more.
    PutScreenLink(ScreenLink),
    /// Revokes the link of this kind of a webcast.
    RevokeScreenLink(Uuid, ScreenKind),
    /// Creates or replaces a customer's connection. Waiting outbox rows become due and their failures are cleared. If
    /// the connection is complete and starts from a cursor, the announced events after the cursor that have no outbox
    /// row are inserted into the outbox in the same transaction.
    PutConsumer(Consumer, StartFrom),
    /// The same from now on, for a connection that was last changed at this time, or does not exist. Nothing changes when it
    /// was changed since.
    ReplaceConsumer(Consumer, Option<Timestamp>),
    /// Deletes a customer's connection with its key and its outbox rows. Journal and quarantine stay.
    Disconnect(Uuid),
}

/// The result of a change of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessChangeResult {
    /// The change was made.
    Done,
    /// Nothing changed: the key was revoked, the clerk unassigned, the link revoked or the connection deleted before, the connection
    /// changed since, the invitation withdrawn before or one too many, or the code creates no user.
    Unchanged,
    /// The result of changing or removing a user.
    User(UserChangeResult),
    /// The result of assigning a clerk.
    Clerk(ClerkAssignResult),
    /// The connection was deleted; the number of outbox rows that waited.
    Disconnected(u64),
}

impl AccessChangeResult {
    /// True when the change was made. Then, and only then, the store appends an entry.
    pub fn is_recorded(self) -> bool {
        match self {
            Self::Done | Self::Disconnected(_) => true,
            Self::Unchanged => false,
            Self::User(written) => written == UserChangeResult::Done,
            Self::Clerk(assigned) => assigned == ClerkAssignResult::Assigned,
        }
    }
}

/// An entry of the access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessEntry {
    /// From 1 without gaps.
    pub number: i64,
    /// [`crate::access::access_log::AccessContent`] as JSON. These bytes are what the hash covers.
    pub content: String,
    /// Hash over the content and the hash before: [`crate::audit::access_chain`].
    pub hash: LogHash,
}

/// The access log: one chain of entries that only grows. The store keeps the head of the chain beside the entries.
#[async_trait]
pub trait AccessLogStore: Send + Sync {
    /// Commits a change with its entry, or neither; without an entry when nothing changed. Entries of all nodes form
    /// one chain. The errors are those of the change.
    async fn apply_access_change(&self, change: AccessChange, content: String) -> StoreResult<AccessChangeResult>;
    /// Entries by number, the oldest first.
    async fn access_log(&self, page: Page<i64>) -> StoreResult<Vec<AccessEntry>>;
    /// Entries before a number, or the last ones: the latest first.
    async fn latest_access_entries(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>>;
    /// The latest entries whose content has this UUID: the latest first. Reads the whole log: for rare commands.
    async fn access_entries_naming(&self, uuid: Uuid, limit: usize) -> StoreResult<Vec<AccessEntry>>;
    /// The stored head of the log. `Corrupt` when it is missing.
    async fn access_log_head(&self) -> StoreResult<LogHead>;
}
