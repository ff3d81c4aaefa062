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

use std::fmt;

use async_trait::async_trait;
pub use auction::ItemCounts;
use auction::{Auction, Item};
use contract::event::{Event, EventType};
use jiff::Timestamp;
use runtime::signal::Signal;
use runtime::vault::Sealed;
use uuid::Uuid;

use crate::bid::Bid;
use crate::journal::{JournalEntry, JournalRow};

/// Position in the journal; 0 is before the first row.
pub type Cursor = i64;

/// Why a store call did not do what was asked.
#[derive(Debug, thiserror::Error)]
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

/// Who runs auctions and receives events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// Name; unique.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Who holds auctions; a customer has one or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auctioneer {
    /// Primary key of the common model, given by the store, from 1, stable for ever.
    pub id: i64,
    /// UUID, version 7; what events carry.
    pub uuid: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Why a customer's queue waits for a person (decisions, section 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// What the provider answered, for support to read. Holds no secret.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
}

/// A customer's connection to its consumer application at a provider. It is complete, and anything is published, only
/// with both the application identifier and the API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The customer.
    pub customer: Uuid,
    /// Base address of the provider's API, such as `http://127.0.0.1:8071`.
    pub provider_url: String,
    /// Consumer application identifier (`app_…`).
    pub application_id: Option<String>,
    /// The provider API key, sealed.
    pub api_key: Option<Sealed>,
    /// Set while the queue waits for support.
    pub parked: Option<Parked>,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Consumer {
    /// True when events can be published: both credentials are there.
    pub fn is_complete(&self) -> bool {
        self.application_id.is_some() && self.api_key.is_some()
    }
}

/// Which announced events a new connection begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFrom {
    /// Those that happen from now on. The default.
    Now,
    /// Those after this journal cursor as well, as far as they are not in the outbox yet.
    Cursor(Cursor),
}

/// An access right of a key of the platform's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// SHA-256 of the whole key (a key is 192 random bits, so no salt or stretching is needed).
    pub hash: [u8; 32],
    /// The customer that it is confined to; none for the platform's own staff.
    pub customer: Option<Uuid>,
    /// Name, for people.
    pub name: String,
    /// Scope names; see `access::Scope`.
    pub scopes: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
}

/// A person who signs in to the administration application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// E-mail address in lower case; unique.
    pub email: String,
    /// Role name; see `access::Role`.
    pub role: String,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The answer given to a request with an idempotency key, kept for 24 h.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// Who asked: the API key's UUID. The same key of two callers are two keys.
    pub caller: Uuid,
    /// The `Idempotency-Key`.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// Status code answered.
    pub status: u16,
    /// Body answered.
    pub body: String,
    /// When it was answered.
    pub at: Timestamp,
}

/// A new or changed state with the version that it was decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The version loaded; 0 for a new one. The store refuses the change with `Conflict` if it is another by now.
    pub expected_version: i64,
    /// The state to store; its own `version` is already `expected_version + 1`.
    pub state: T,
}

/// One atomic unit of work. Everything in it becomes true together.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Auction created or changed.
    pub auction: Option<Versioned<Auction>>,
    /// Items created or changed. Distinct.
    pub items: Vec<Versioned<Item>>,
    /// Bids accepted; appended.
    pub bids: Vec<Bid>,
    /// Status changes, in order; of one subject with rising sequences.
    pub journal: Vec<JournalEntry>,
    /// Answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// What became of a committed change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Cursors of `Change::journal`, in its order.
    pub cursors: Vec<Cursor>,
    /// Outbox rows that were given to the node named in [`Store::commit`], ready to be published now.
    pub handed: Vec<OutboxEvent>,
    /// Outbox rows that wait in the table: the publisher did not ask for them, or an earlier one of their subject waits.
    pub waiting: usize,
}

/// An announced event on its way to the customer's provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Journal cursor; key of the outbox row.
    pub cursor: Cursor,
    /// The customer it is for.
    pub customer: Uuid,
    /// Item or auction.
    pub subject: Uuid,
    /// Per-subject sequence.
    pub sequence: i64,
    /// Event type.
    pub event_type: EventType,
    /// The exact body.
    pub body: String,
    /// Attempts made so far.
    pub attempts: u32,
    /// Server time of the status change.
    pub at: Timestamp,
}

impl OutboxEvent {
    /// The provider's `eventId` and idempotency key: `<subject uuid>.<sequence>`.
    pub fn event_id(&self) -> String {
        format!("{}.{}", self.subject, self.sequence)
    }
}

/// What happened to an outbox row that this node had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutboxOutcome {
    /// The provider has it; the row goes.
    Published {
        /// The row.
        cursor: Cursor,
    },
    /// It is to be tried again; the row is nobody's until then, and later ones of its subject wait.
    Retry {
        /// The row.
        cursor: Cursor,
        /// Not before.
        at: Timestamp,
        /// What went wrong; holds no secret.
        error: String,
    },
    /// The provider will never take it; it is kept aside and later ones of its subject flow.
    Quarantined {
        /// The row.
        cursor: Cursor,
        /// What the provider answered; holds no secret.
        error: String,
    },
    /// Given back untried.
    Released {
        /// The row.
        cursor: Cursor,
    },
}

/// An event that the provider refused for good, kept for support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedEvent {
    /// The event.
    pub event: OutboxEvent,
    /// What the provider answered.
    pub error: String,
    /// When.
    pub at: Timestamp,
}

/// How much of a customer's outbox waits, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Rows not published yet.
    pub pending: u64,
    /// Server time of the oldest of them.
    pub oldest_at: Option<Timestamp>,
    /// Events in quarantine.
    pub quarantined: u64,
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
pub trait Store: Send + Sync + 'static {
    // --- the node ---------------------------------------------------------------------------------------------------

    /// Says that `node` lives. Outbox rows of nodes that were last heard of before `dead_before` become nobody's.
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;

    /// Signals that another process (a management command, another node) changed something that may be work for this
    /// one. It may fire without cause; polling mends what it misses.
    fn changed_elsewhere(&self) -> Signal;

    /// Answers if the database can be read and written.
    async fn ping(&self) -> StoreResult<()>;

    // --- customers and access ---------------------------------------------------------------------------------------

    /// `Taken("name")` when the name is.
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>>;
    /// In order of creation (UUID).
    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>>;

    /// Gives the id.
    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer>;
    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>>;
    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>>;
    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>>;

    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()>;
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    /// `Taken("email")` when it is.
    async fn create_user(&self, user: User) -> StoreResult<()>;

    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Keeps an answer of a write that is no [`Change`].
    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()>;
    /// Forgets at most `limit` answers given before `before`; the number forgotten.
    async fn forget_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;

    // --- connections to providers -----------------------------------------------------------------------------------

    /// Creates or replaces the connection. When it becomes complete with `StartFrom::Cursor`, the announced events after
    /// the cursor that have no outbox row enter the outbox in the same transaction.
    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()>;
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>>;
    /// Parks the customer's queue, or resumes it with `None`.
    async fn park(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()>;
    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog>;
    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>>;

    // --- auctions ---------------------------------------------------------------------------------------------------

    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>>;
    /// In order of creation (UUID).
    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>>;
    /// In running order: by position.
    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>>;
    /// Items per status; what guards of the auction's transitions ask. Never loads the items.
    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts>;
    /// Bids of an item by their number, oldest first.
    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>>;

    /// Items of timed auctions that are LIVE with `effective_end_time <= now`, the earliest first, with their auctions.
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Auction)>>;
    /// The earliest `effective_end_time` of a LIVE item of a timed auction.
    async fn next_end(&self) -> StoreResult<Option<Timestamp>>;

    /// Commits each change as a whole or not at all, all of them in one transaction as far as the engine can; the answer
    /// has one entry for each, in order. Outbox rows that nothing earlier of their subject holds back are given to
    /// `hand_to`, when named. The errors of an entry are `Conflict` (a version moved), `Replayed` and `Taken`.
    async fn commit(&self, changes: Vec<Change>, hand_to: Option<NodeId>) -> StoreResult<Vec<StoreResult<Receipt>>>;

    // --- journal and outbox -----------------------------------------------------------------------------------------

    /// Announced events of a customer after a cursor, in order.
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>>;
    /// Journal of one subject, announced or not, by sequence.
    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>>;

    /// Customers (connected, not parked) with outbox rows that could be claimed now. Each once.
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>>;
    /// Gives `node` at most `limit` rows of a customer, oldest first: nobody's, due, and each the earliest of its subject.
    async fn claim_outbox(&self, node: NodeId, customer: Uuid, now: Timestamp, limit: usize) -> StoreResult<Vec<OutboxEvent>>;
    /// When the earliest row of a customer that waits for its time may be tried.
    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>>;
    /// Records outcomes of rows that this node had; one transaction.
    async fn settle_outbox(&self, outcomes: Vec<OutboxOutcome>, now: Timestamp) -> StoreResult<()>;
}

/// An auctioneer before the store has given it an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuctioneer {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Name, unique for the customer.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The event of an outbox row as the contract has it.
pub fn event_of(row: &OutboxEvent) -> Result<Event, StoreError> {
    Event::parse(row.event_type, &row.body).map_err(|error| StoreError::Corrupt(error.to_string()))
}
