//! The platform's store port: what it needs kept, in its own words.
//!
//! Called by the platform's modules only; implemented three times in the `store` crate (memory, SQLite, PostgreSQL) and
//! held to one conformance suite. No transaction crosses the port: the platform loads, decides, and hands over what has
//! to become true; each [`Change`] becomes true as a whole or not at all, together with its journal and outbox rows.
//!
//! Guarantees that every implementation gives:
//! - when a call that writes has returned `Ok`, what it wrote is on disk (SQLite: `synchronous=FULL`; PostgreSQL:
//!   `synchronous_commit=on`), and survives `kill -9`;
//! - journal cursors rise in the order in which commits become visible: a reader that has seen cursor *n* never finds a
//!   new row at or below *n*;
//! - an outbox row exists exactly for the announced journal rows of a customer who was connected at the time of the
//!   commit, or whose connection asked for them.

mod access_log;
mod answered;
mod api_keys;
mod bidders;
mod bulk_changes;
mod change;
mod clerks;
mod consumer;
mod customer;
mod downtimes;
mod feed;
mod items_with_auctions;
mod lists;
mod log;
mod log_integrity;
mod notices;
mod outbox;
mod paddles;
mod people;
mod presence;
mod quarantine;
mod reference;
mod registration_precondition;
mod sandbox;
mod sealings;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
pub use platform_rules::ItemCounts;
use platform_rules::{Auction, Item};
use uuid::Uuid;

pub use access_log::{AccessChange, AccessChangeResult, AccessEntry, AccessLogStore};
pub use answered::AnsweredWrites;
pub use api_keys::ApiKeyStore;
pub use bidders::{
    BidderItem, Registration, RegistrationStatus, RegistrationStore, RegistrationWrite, SpendingVersion,
};
pub use bulk_changes::{BulkChange, BulkChangeStep, BulkChangeStore, BulkOperation};
pub use change::{Change, CommitReceipt, Versioned};
pub use clerks::{Clerk, ClerkAssignResult, ClerkStore};
pub use consumer::{Consumer, Parked, StartFrom};
pub use customer::{ApiKey, Auctioneer, Customer, IdempotentAnswer, NewAuctioneer};
pub use downtimes::{Downtime, Downtimes};
pub use feed::JournalEnd;
pub use items_with_auctions::ItemsWithAuctions;
pub use lists::{AuctionFilter, AuctionOwner, FilteredLists};
pub use log::Logs;
pub use log_integrity::{AuditStore, OrphanRow, PositionNumbering, PositionedEntry};
pub use notices::{NOTIFICATION_BYTES_MAX, NodeNotices, Notification, Notifications};
pub use outbox::{Backlog, Failing, OutboxEvent, OutboxSettlement, PublishResult, QuarantinedEvent, event_of};
pub use paddles::PaddleUse;
pub use people::{
    Digest, Session, SessionsToEnd, SignInAttempt, SignInAttemptsUpdate, Totp, TotpChange, User, UserChange,
    UserChangeResult, UserStore,
};
pub use presence::ItemPresence;
pub use quarantine::{OvertakenPolicy, Quarantine};
pub use reference::{Address, AuctioneerChange, AuctioneerProfile, References};
pub use registration_precondition::ExpectedRegistration;
pub use sandbox::Sandboxes;
pub use sealings::{SealedAnswer, SealedLocation, SealedReplacement, SealingStore};

use crate::bid::Bid;
use crate::journal::JournalRow;

/// Position in the journal; 0 is before the first row.
pub type Cursor = i64;

/// Why a store call did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Somebody else changed it first: load again, decide again.
    #[error("changed by somebody else meanwhile")]
    Conflict,
    /// A unique name or key is taken; the field that it is in.
    #[error("already taken: {0}")]
    Taken(&'static str),
    /// The idempotency key of this change was used before: look the answer up.
    #[error("the idempotency key was used before")]
    Replayed,
    /// The database can't be reached, is full or busy; trying again later may help.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// What the database holds can't be understood.
    #[error("the database holds something that can't be read: {0}")]
    Corrupt(String),
}

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// One process that works on the store. New at each start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub Uuid);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A slice of a list in its stable order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<K> {
    /// Entries after this key; none for the first page.
    pub after: Option<K>,
    /// At most this many, 1 to 250 on public surfaces.
    pub limit: usize,
}

/// The port. All methods are safe to call at the same time from any task.
#[async_trait]
pub trait Store:
    AccessLogStore
    + AnsweredWrites
    + ApiKeyStore
    + AuditStore
    + ClerkStore
    + JournalEnd
    + BulkChangeStore
    + FilteredLists
    + Logs
    + ItemsWithAuctions
    + NodeNotices
    + PaddleUse
    + UserStore
    + ItemPresence
    + Quarantine
    + References
    + RegistrationStore
    + Downtimes
    + Sandboxes
    + SealingStore
    + Send
    + Sync
    + 'static
{
    // --- the node ---------------------------------------------------------------------------------------------------

    /// Says that `node` lives. Outbox rows of nodes that were last heard of before `dead_before` become nobody's.
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;

    /// Signals that another process (a management command, another node) changed something that may be work for this
    /// one. It may fire without cause; polling mends what it misses.
    fn remote_changes(&self) -> Signal;

    /// Answers if the database can be read and written.
    async fn ping(&self) -> StoreResult<()>;

    // --- customers and access ---------------------------------------------------------------------------------------

    /// `Taken("name")` when the name is.
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// A customer.
    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>>;
    /// In order of creation (UUID).
    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>>;

    /// Gives the id, unless one was drawn; its address and the answer are written with it. `Taken("name")`, `Replayed`.
    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer>;
    /// An auctioneer.
    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>>;
    /// An auctioneer by its primary key.
    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>>;
    /// In order of creation (UUID), of one customer if it is named.
    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>>;

    /// Keeps a new key with the answer, or neither.
    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// The key with this hash.
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
    /// Notes that a key was used. It is no error if it is gone.
    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;

    /// The answer given to a caller's idempotency key.
    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Keeps an answer of a write that is no [`Change`].
    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()>;
    /// Forgets at most `limit` answers given before `before`; the number forgotten.
    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;

    // --- connections to providers -----------------------------------------------------------------------------------

    /// Creates or replaces the connection. What waits for its time is due at once, and what it failed of is forgotten: it says
    /// nothing about this connection. When it becomes complete with `StartFrom::Cursor`, the announced events after
    /// the cursor that have no outbox row enter the outbox in the same transaction.
    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()>;
    /// A customer's connection.
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>>;
    /// Parks the customer's queue, or resumes it with `None`.
    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()>;
    /// How much of a customer's outbox waits.
    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog>;
    /// Events in quarantine by cursor.
    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>>;

    // --- auctions ---------------------------------------------------------------------------------------------------

    /// An auction.
    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>>;
    /// In order of creation (UUID).
    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// An item.
    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>>;
    /// In running order: by position.
    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>>;
    /// Items per status; what guards of the auction's transitions ask. Never loads the items.
    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts>;
    /// Bids of an item by their number, oldest first.
    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>>;

    /// Items of real timed auctions that are LIVE with `effective_end_time <= now`, the earliest first, with their
    /// auctions.
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>>;
    /// The earliest `effective_end_time` of a LIVE item of a real timed auction.
    async fn next_end(&self) -> StoreResult<Option<Timestamp>>;

    /// Commits each change as a whole or not at all, all of them in one transaction as far as the engine can; the answer
    /// has one entry for each, in order. Outbox rows that nothing earlier of their subject holds back are given to
    /// `assign_to`, when named. The errors of an entry are `Conflict` (a version moved), `Replayed` and `Taken`. Changes of one
    /// thing may stand on each other, versions rising one by one: those that stand on a refused one are `Conflict` too.
    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>>;

    // --- journal and outbox -----------------------------------------------------------------------------------------

    /// Announced events of a customer after a cursor, in order.
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>>;
    /// Journal of one subject, announced or not, by sequence.
    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>>;

    /// Customers (connected, not parked) with outbox rows that could be claimed now. Each once.
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>>;
    /// Gives `node` at most `limit` rows of a customer, oldest first: nobody's, due, and each the earliest of its subject.
    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>>;
    /// When the earliest row of a customer that waits for its time may be tried.
    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>>;
    /// Records outcomes of rows that this node had; one transaction.
    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()>;
}
