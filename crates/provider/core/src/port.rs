//! The provider's store port: what it needs kept, in its own words.
//!
//! Called by the provider's modules only; implemented three times in the `store` crate (memory, SQLite, PostgreSQL) and
//! held to one conformance suite. No transaction crosses the port. The hot calls ([`Store::accept`],
//! [`Store::record_attempts`], [`Store::claim`]) take batches: one call, one transaction, one fsync.
//!
//! Guarantees that every implementation gives:
//! - when a call that writes has returned `Ok`, what it wrote is on disk and survives `kill -9`;
//! - a message is acknowledged together with one *delivery* row for each endpoint that is to receive it. A delivery row
//!   is work that is not finished: it goes in the transaction that records the attempt which finished it. So whatever
//!   was acknowledged and is not done is found again by [`Store::claim`];
//! - a delivery row belongs to at most one living node.

mod access;
mod deliveries;
mod endpoint_tasks;
mod history;
mod limits;
pub mod operations;
pub mod ordering;
mod resend;
mod retention;
pub mod supervision;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;

use crate::model::{Account, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};

use operations::NodeStore;
use ordering::OrderingStore;
use supervision::OperatorStore;

pub use history::{
    AttemptFilter, AttemptScope, AttemptedMessage, DeliveryState, Destination, HistoryStore, MessageFilter,
    PayloadRead, Scan, ScanResult,
};
pub use limits::LimitStore;
pub use resend::{RESEND_DUE, Resend, ResendStore};
pub use retention::{EXPUNGED, RetentionStore};

mod configuration;
mod counts;

pub use access::AccessStore;
pub use configuration::{ApplicationExclusion, ConfigurationStore};
pub use counts::{CountStore, EndpointCounts};
pub use deliveries::{
    AttemptRecord, Backlog, ClaimLimit, Delivery, DeliveryKind, DeliveryOutcome, EndpointEffect, NewDelivery,
    NewMessage,
};
pub use endpoint_tasks::EndpointTaskStore;
pub use waiting::{EndpointBacklog, EndpointBacklogStore};

mod operational;
mod sealings;
mod tasks;

pub use operational::{AttemptEvent, OperationalEvent, OperationalStore};
pub use sealings::SealingStore;
pub use tasks::{FailedAttempt, ReplayCandidate, TaskFilter, TaskStep, TaskStore};

/// Why a store call did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique name, uid or event id is taken; the field that it is in.
    #[error("already taken: {0}")]
    Taken(&'static str),
    /// The row to change is not there.
    #[error("not found")]
    NotFound,
    /// The application or its endpoints changed since the snapshot that the call was made from: load again.
    #[error("the application changed meanwhile")]
    Conflict,
    /// The idempotency key was used before: look its answer up.
    #[error("the idempotency key was used before")]
    Replayed,
    /// There are as many of these already as there may be.
    #[error("there are as many as there may be")]
    LimitReached,
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeId(pub Id);

/// Which slice of a list, in the API's terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Where the slice begins; none for the start of the list.
    pub from: Option<Cursor>,
    /// Direction of the list.
    pub order: Order,
    /// At most this many rows; the caller asks for one more than it shows, to know whether there are more.
    pub limit: usize,
}

/// An iterator of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// Rows after this key in the list's direction.
    After(String),
    /// The rows just before this key, still in the list's direction.
    Before(String),
}

/// Direction of a list by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest, or first in the alphabet, first.
    #[default]
    Ascending,
    /// Newest first.
    Descending,
}

/// The answer given to a request with an idempotency key, kept for 12 h.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// The account that asked. The same key of two accounts are two keys.
    pub account: Id,
    /// The `idempotency-key`.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// What was answered.
    pub answer: Answer,
    /// When.
    pub at: Timestamp,
}

/// What a request was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// 202 with this message; its payload is not kept twice.
    Message {
        /// The application.
        application: Id,
        /// The message.
        message: Id,
    },
    /// This status and body.
    Body {
        /// HTTP status code.
        status: u16,
        /// JSON text.
        body: String,
    },
}

/// The port. All methods are safe to call at the same time from any task.
#[async_trait]
pub trait Store:
    AccessStore
    + ConfigurationStore
    + CountStore
    + EndpointTaskStore
    + HistoryStore
    + LimitStore
    + OperationalStore
    + NodeStore
    + OrderingStore
    + ResendStore
    + RetentionStore
    + OperatorStore
    + SealingStore
    + TaskStore
    + EndpointBacklogStore
    + Send
    + Sync
    + 'static
{
    // --- the node ---------------------------------------------------------------------------------------------------

    /// Says that `node` lives. Delivery rows of nodes last heard of before `dead_before` become nobody's and due.
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;
    /// Signals that another process changed something: caches are to be dropped and the table looked at. It may fire
    /// without cause; polling mends what it misses.
    fn remote_changes(&self) -> Signal;
    /// Answers if the database can be read and written.
    async fn ping(&self) -> StoreResult<()>;

    // --- accounts and keys ------------------------------------------------------------------------------------------

    /// Adds an account.
    async fn create_account(&self, account: Account) -> StoreResult<()>;
    /// The account of this id.
    async fn account(&self, id: &str) -> StoreResult<Option<Account>>;
    /// Accounts by id.
    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>>;
    /// `NotFound` when the account is not there.
    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()>;
    /// The key of this hash, whichever account it belongs to.
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
    /// An account's keys by id.
    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>>;
    /// False when it was not there.
    async fn delete_api_key(&self, account: &str, id: &str) -> StoreResult<bool>;

    /// The answer kept for this key of this account.
    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Forgets at most `limit` answers given before `before`; the number forgotten.
    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;

    // --- applications -----------------------------------------------------------------------------------------------

    /// `Taken("uid")` when it is; `Replayed`.
    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// By id or uid. An application that was deleted is not there.
    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>>;
    /// An account's applications by id.
    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>>;
    /// Replaces everything but id, account and creation; `version` rises by one. `NotFound`, `Taken("uid")`.
    async fn update_application(&self, application: Application) -> StoreResult<()>;
    /// Deletes it with its endpoints; what waits for them goes too. False when it was not there.
    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool>;

    // --- event types ------------------------------------------------------------------------------------------------

    /// `Taken("name")` when one of that name is there, archived or not; `Replayed`.
    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// By name, archived or not.
    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>>;
    /// By name; archived ones too.
    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>>;
    /// Replaces the one of that name, or creates it.
    async fn upsert_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// False when it was not there.
    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool>;

    // --- endpoints --------------------------------------------------------------------------------------------------

    /// Also raises the application's `version`. `Taken("uid")`, `NotFound` (application), `Replayed`.
    async fn create_endpoint(&self, endpoint: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// By id or uid.
    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>>;
    /// An application's endpoints by id.
    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>>;
    /// Replaces everything but id, application and creation; raises the application's `version`.
    async fn update_endpoint(&self, endpoint: Endpoint) -> StoreResult<()>;
    /// What waits for it goes too. Raises the application's `version`. False when it was not there.
    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool>;
    /// The application with all its endpoints, as of one moment: what messages are routed by.
    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>>;

    // --- messages ---------------------------------------------------------------------------------------------------

    /// Accepts messages: each as a whole or not at all, all in one transaction as far as the engine can; one entry for
    /// each, in order. Errors of an entry: `Stale`, `Taken("eventId")`, `Replayed`, `NotFound` (application). Two
    /// messages of one batch with the same event id or key count as one before the other. Delivery rows are due `now`, or
    /// at the message's `deliver_at`.
    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>>;
    /// By id or event id.
    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>>;
    /// An application's messages by id.
    async fn messages(&self, application: &str, page: Page) -> StoreResult<Vec<Message>>;

    // --- deliveries -------------------------------------------------------------------------------------------------

    /// Endpoints (application, endpoint) with a delivery row that is nobody's and due. Each once, at most `limit`; cheap
    /// even when one endpoint has a million rows.
    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>>;
    /// Gives `node` as many due rows of one kind of an endpoint as there is room for, the longest due first. A row that was asked for by
    /// hand is of its other kind too, and due before all others of that.
    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>>;
    /// The earliest time at which a row that is nobody's becomes due.
    async fn next_due(&self) -> StoreResult<Option<Timestamp>>;
    /// Records finished attempts with what follows from them; one transaction. An endpoint effect that changes
    /// `disabled` raises the application's `version`. A record whose row is gone keeps the attempt and changes nothing
    /// else. A row that was asked to be resent meanwhile stays, due at once, unless the attempt was that one. The same attempt again is once: it is handed in until the call has said `Ok`.
    async fn record_attempts(&self, records: Vec<AttemptRecord>) -> StoreResult<()>;
    /// The same, for attempts that nobody waits for: a store may hold them back for `within`, so that they share the
    /// transaction of something that somebody does wait for. Who calls may have to call again with the same.
    async fn record_attempts_within(&self, records: Arc<[AttemptRecord]>, _within: Duration) -> StoreResult<()> {
        self.record_attempts(records.to_vec()).await
    }
    /// Gives rows back untried (message, endpoint), due at once; those asked for by hand before all others.
    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()>;
    /// Drops the delivery rows (message, endpoint) without an attempt: the endpoint is disabled or went.
    async fn drop_deliveries(&self, rows: Vec<(Id, Id)>) -> StoreResult<()>;
    /// What waits for an endpoint.
    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog>;

    /// Attempts of one message, newest first.
    async fn attempts_of_message(&self, application: &str, message: &str, page: Page) -> StoreResult<Vec<Attempt>>;
    /// Attempts at one endpoint, newest first.
    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>>;
    /// One attempt of a message.
    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>>;
}
