//! The provider's store port: what the provider stores, stated in its own terms.
//!
//! The provider's use cases call it; the `provider-store` crate implements it on SQLite and on PostgreSQL, and one
//! conformance suite runs on both. Each trait covers one aggregate, in a file with its types and guarantees; [`Store`]
//! is all of them. No transaction crosses the port. The hot calls ([`MessageStore::accept`],
//! [`AttemptStore::record_attempts`], [`DeliveryStore::claim`]) take batches: one call, one transaction, one fsync.
//!
//! Guarantees of every implementation:
//! - When a call that writes has returned `Ok`, its changes are on disk and survive `kill -9`.
//! - A message is acknowledged together with one delivery row for each endpoint that receives it. The row is deleted in
//!   the transaction that records its last attempt, so [`DeliveryStore::claim`] finds every acknowledged delivery that
//!   is not finished.
//! - A delivery row belongs to at most one living node.

mod accounts;
mod activity;
mod alerts;
mod app_tokens;
mod applications;
mod attempts;
mod backlog;
mod counts;
mod deliveries;
mod endpoint_search;
mod endpoints;
pub(crate) mod error;
mod event_types;
mod health;
mod hold;
mod idempotency;
mod message_search;
mod messages;
mod nodes;
mod operational_events;
mod overview;
mod pauses;
mod portal_settings;
mod retention;
mod sealings;
mod search_text;
mod tasks;
mod user_sessions;
mod users;

pub use accounts::AccountStore;
pub use activity::ActivityStore;
pub use alerts::{
    Alert, AlertCandidate, AlertEvent, AlertNotice, AlertQuery, AlertRecipient, AlertReport, AlertScope, AlertStage,
    AlertStore, FailingEndpoint, MAILS_COUNTED_MAX, MailBacklog, NewMail, SentAlert, WAITING_MAILS_MAX, WaitingMail,
    WaitingReport,
};
pub use app_tokens::{AppTokenStore, NewAppToken};
pub use applications::{ApplicationExclusion, ApplicationStore};
pub use attempts::{
    AttemptFilter, AttemptRecord, AttemptScope, AttemptStore, AttemptedMessage, DeliveryOutcome, DeliveryState,
    Destination, EndpointEffect,
};
pub use backlog::{BACKLOG_COUNT_MAX, Backlog, BacklogStore, DueEndpoint, EndpointBacklog, WaitingCounts};
pub use counts::{CountScope, CountStore};
pub use deliveries::{
    BlockedKeyRow, BlockedKeysTotal, ClaimLimit, Delivery, DeliveryKind, DeliveryStore, DroppedDelivery, HeadResult,
    RESEND_DUE, Resend,
};
pub use endpoint_search::{
    EndpointFilter, EndpointPage, EndpointPageKey, EndpointSearchStore, EndpointState, FoundEndpoint,
};
pub use endpoints::{EndpointStates, EndpointStore};
pub use error::{StoreError, StoreResult};
pub use event_types::{EventTypeStore, UNKNOWN_EVENT_TYPES_MAX};
pub use health::{EndpointWaiting, HealthStore};
pub use hold::HoldStore;
pub use idempotency::{Answer, IdempotencyStore, IdempotentAnswer};
pub use message_search::{
    AttemptEnd, FAILURE_BYTES_MAX, FailureFilter, LatestFailure, MessageConditions, MessageKey, MessageProgress,
    MessageScope, MessageSearchStore, MessageSource, NoResponse, ProgressFilter, SEARCHED_BYTES_MAX,
};
pub use messages::{MessageFilter, MessageStore, NewDelivery, NewMessage};
pub use nodes::{NodeId, NodeStore};
pub use operational_events::{AttemptEvent, OperationalEvent, OperationalEventStore};
pub use overview::{AccountFigures, ApplicationFigures, OverviewStore};
pub use pauses::{Pause, PauseReason, PauseStore};
pub use portal_settings::{LogoChange, PortalSettingsStore};
pub use retention::{EXPUNGED, RetentionStore};
pub use sealings::SealingStore;
pub use search_text::SearchText;
pub use tasks::{FailedAttempt, ReplayCandidate, TaskCount, TaskFilter, TaskStep, TaskStore};
pub use user_sessions::UserSessionStore;
pub use users::{
    AcceptedInvitation, InvitedUser, SessionsToEnd, UserChange, UserChangeResult, UserCreationResult, UserStore,
};

use crate::model::Id;

/// A slice of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Where the slice begins; none for the start of the list.
    pub from: Option<Cursor>,
    /// Direction of the list.
    pub order: Order,
    /// Maximum number of rows. A caller asks for one row more than it shows, to learn whether there are more.
    pub limit: usize,
}

/// Position in a list: an iterator of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// Rows after this key in the list's direction.
    After(String),
    /// The rows just before this key, in the list's direction.
    Before(String),
}

/// Direction of a list by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest first, or alphabetical.
    #[default]
    Ascending,
    /// Newest first.
    Descending,
}

/// A bounded search over ids, which are in order of time.
///
/// A filtered search scans at most `scanned_rows_max` rows: it stops there and returns its position, and the next page
/// continues from it. So filters need no separate indexes, and add no cost to accepting a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// Rows with ids after this.
    pub above: String,
    /// Rows with ids before this.
    pub below: String,
    /// Ascending from `above`, or descending from `below`.
    pub direction: Order,
    /// Maximum number of rows found.
    pub limit: usize,
    /// Maximum number of scanned rows; at least one.
    pub scanned_rows_max: usize,
    /// Maximum payload size of the rows found, in bytes. The first row is returned whatever its size.
    pub bytes_max: usize,
}

/// The result of a scan, in its direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanResult<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The last scanned row, when the scan stopped at `scanned_rows_max` or `bytes_max`.
    pub stopped_at: Option<Id>,
}

/// Whether a search reads payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadRead {
    /// Payloads are read.
    Include,
    /// Payloads are not read: `payload` is none.
    Skip,
}

/// The whole port. All methods are safe to call concurrently from any task.
pub trait Store:
    AccountStore
    + ActivityStore
    + AlertStore
    + AppTokenStore
    + ApplicationStore
    + AttemptStore
    + BacklogStore
    + CountStore
    + DeliveryStore
    + EndpointSearchStore
    + EndpointStore
    + EventTypeStore
    + HealthStore
    + IdempotencyStore
    + MessageSearchStore
    + MessageStore
    + NodeStore
    + OperationalEventStore
    + OverviewStore
    + PauseStore
    + UserStore
    + UserSessionStore
    + PortalSettingsStore
    + RetentionStore
    + SealingStore
    + HoldStore
    + TaskStore
    + 'static
{
}

impl<T> Store for T where
    T: AccountStore
        + ActivityStore
        + AlertStore
        + AppTokenStore
        + ApplicationStore
        + AttemptStore
        + BacklogStore
        + CountStore
        + DeliveryStore
        + EndpointSearchStore
        + EndpointStore
        + EventTypeStore
        + HealthStore
        + IdempotencyStore
        + MessageSearchStore
        + MessageStore
        + NodeStore
        + OperationalEventStore
        + OverviewStore
        + PauseStore
        + UserStore
        + UserSessionStore
        + PortalSettingsStore
        + RetentionStore
        + SealingStore
        + HoldStore
        + TaskStore
        + 'static
{
}
