//! Registrations of bidders for an auction: paddles and spending limits.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{Item, LogHead};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{DecidedLimit, IdempotentAnswer, LogEntry, NewMail, NoticeCause, Page, StoreResult, Versioned};

/// The registration that a bid was decided on. The store commits the bid only if the registration is unchanged, on
/// whichever node it changed. Nodes can therefore cache registrations instead of reading them for each bid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedRegistration {
    /// The auction.
    pub auction: Uuid,
    /// The bidder's paddle.
    pub paddle: String,
    /// [`Registration::version`](super::Registration::version); 0 when there was none.
    pub version: i64,
}

/// Status of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationStatus {
    /// Not decided yet.
    Pending,
    /// The bidder may bid.
    Approved,
    /// The bidder may not bid.
    Refused,
    /// Approved before, and suspended from bidding. Standing bids stay.
    Suspended,
}

impl RegistrationStatus {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Approved, Self::Refused, Self::Suspended];

    /// Stable name in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Suspended => "suspended",
        }
    }
}

/// A bidder's registration for one auction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The auction's customer.
    pub customer: Uuid,
    /// The public name of the bidder; unique in its auction. It can't change once a bid names it.
    pub paddle: String,
    /// The person or firm behind the paddle: identifies vendors and the auctioneer. Registered once in an auction.
    pub party: Option<Uuid>,
    /// Name, for the staff of the sale; none for a paddle that was registered at the desk, until staff enter it.
    pub name: Option<String>,
    /// E-mail address, for the staff of the sale.
    pub email: Option<String>,
    /// Spending limit in this auction, minor units; none for no limit.
    pub limit: Option<i64>,
    /// A note of the staff about the bidder.
    pub note: Option<String>,
    /// The status.
    pub status: RegistrationStatus,
    /// The reason that a person gave for a refusal or suspension.
    pub reason: Option<String>,
    /// Who changed it last.
    pub actor: String,
    /// Number of its last change, from 1. `If-Match` compares it.
    pub version: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Head of its audit log.
    pub log: LogHead,
    /// Rises with each change, and with each bid under a spending limit. The store raises it.
    #[serde(skip)]
    pub spending_version: i64,
}

/// A registration to be written.
#[derive(Debug, Clone)]
pub struct RegistrationWrite {
    /// Its next state, with the version that was loaded; 0 for a new one.
    pub registration: Versioned<Registration>,
    /// The entries of its audit log for this change.
    pub log: Vec<LogEntry>,
    /// The answer to store for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
    /// The mail about the decision. It replaces mails about earlier decisions that were not sent yet.
    pub mail: Option<NewMail>,
    /// What happened that the bidder may have to know.
    pub notice_cause: Option<NoticeCause>,
    /// The bidder's wish for a higher limit that this change grants. `Conflict` when it is not open any more.
    pub limit_decided: Option<DecidedLimit>,
}

/// An item on which a bidder has bid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BidderItem {
    /// The item's auction.
    pub auction: Uuid,
    /// The bidder's paddle.
    pub paddle: String,
    /// The item.
    pub item: Uuid,
}

/// The version of a bidder's spending that a bid was decided on. Of two bids that were decided on the same version, the
/// second one is decided again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendingVersion {
    /// The registration.
    pub registration: Uuid,
    /// [`Registration::spending_version`] when it was loaded.
    pub expected: i64,
}

impl Registration {
    /// The paddle as a number, for the next one to be assigned.
    pub fn number(&self) -> Option<i64> {
        let digits = (1..=9).contains(&self.paddle.len()) && self.paddle.bytes().all(|byte| byte.is_ascii_digit());
        self.paddle.parse().ok().filter(|_| digits)
    }
}

/// Registrations, and the items on which bidders have bid.
///
/// The store keeps no sum of what a bidder has committed, since each bid would have to write it, and most bidders have
/// no limit. It records each item on which a bidder has bid ([`BidderItem`]), once, and computes the sum from the
/// states of these items when it is needed.
#[async_trait]
pub trait RegistrationStore: Send + Sync {
    /// Writes a registration with its log entries, and raises its spending version. `Conflict` when the version
    /// changed, or when it gets another paddle after a bid with the present one; `Taken("paddle")`, `Taken("party")`,
    /// `Replayed`.
    async fn put_registration(&self, entry: RegistrationWrite) -> StoreResult<()>;
    /// A registration.
    async fn registration(&self, uuid: Uuid) -> StoreResult<Option<Registration>>;
    /// The registration of a paddle.
    async fn registration_by_paddle(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>>;
    /// The registrations of these paddles, in no order. A paddle without one is left out.
    async fn registrations_of_paddles(&self, auction: Uuid, paddles: &[String]) -> StoreResult<Vec<Registration>>;
    /// The first registration, in order of creation, whose paddle is another one that differs from this paddle only in the
    /// case of ASCII letters or in leading zeros. Reads the registrations of the auction.
    async fn similar_registration(&self, auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>>;
    /// In order of creation (UUID).
    async fn registrations(&self, auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>>;
    /// Registrations of an auction with one of these statuses (each named once), in order of creation (UUID).
    async fn registrations_with_status(
        &self,
        auction: Uuid,
        statuses: &[RegistrationStatus],
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Registration>>;
    /// The highest paddle of an auction that is a number of at most nine digits; 0 without one.
    async fn highest_paddle(&self, auction: Uuid) -> StoreResult<i64>;
    /// True when a bid of this paddle was accepted in the auction, struck bids included. Without a recorded bidder item
    /// it reads the auction's bids: for rare commands of administrators.
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool>;
    /// True when a bidder item of this paddle and item is recorded. Without one, the committed amount does not include
    /// it.
    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool>;
    /// The items on which a registered bidder has bid, in running order, at most `limit`.
    async fn items_of_bidder(&self, auction: Uuid, paddle: &str, limit: usize) -> StoreResult<Vec<Item>>;
    /// Records bidder items that are not recorded yet.
    async fn record_bidder_items(&self, bidder_items: Vec<BidderItem>) -> StoreResult<()>;
    /// What a bidder has committed on the recorded bidder items, except one item: the sum of
    /// [`platform_rules::Item::committed_by`], minor units. Call it after the registration was loaded.
    async fn committed_amount(&self, auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64>;
}
