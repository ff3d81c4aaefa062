//! Notices to bidders: what a commit changed for them, what they read about it, and the browsers that show it.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{NewMail, StoreResult};

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// Another bid is higher than the bidder's.
    Outbid,
    /// The bidder bought the lot.
    Won,
    /// The lot ended, and the bidder did not buy it.
    NotWon,
    /// A sale for which the bidder is registered went live.
    SaleBegan,
    /// A lot that the bidder follows comes into the ring soon.
    LotSoon,
    /// Staff decided about the bidder's registration.
    RegistrationDecided,
    /// Staff decided about the bidder's request for a higher limit.
    LimitDecided,
    /// Staff wrote to the bidders of a sale, or to this one.
    Message,
    /// The house offers the bidder a lot that did not sell.
    Offer,
}

impl NoticeKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Outbid,
        Self::Won,
        Self::NotWon,
        Self::SaleBegan,
        Self::LotSoon,
        Self::RegistrationDecided,
        Self::LimitDecided,
        Self::Message,
        Self::Offer,
    ];

    /// Stable name, in tables and forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outbid => "outbid",
            Self::Won => "won",
            Self::NotWon => "not_won",
            Self::SaleBegan => "sale_began",
            Self::LotSoon => "lot_soon",
            Self::RegistrationDecided => "registration_decided",
            Self::LimitDecided => "limit_decided",
            Self::Message => "message",
            Self::Offer => "offer",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What happened that bidders may have to know. It is committed with what happened, and a worker makes the notices of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeCause {
    /// The auction.
    pub auction: Uuid,
    /// What happened.
    pub what: CauseOfNotice,
    /// When.
    pub at: Timestamp,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseOfNotice {
    /// The bidder with this paddle led on a lot of a timed auction, and does not lead any more.
    Outbid {
        /// The item.
        item: Uuid,
        /// The paddle.
        paddle: String,
    },
    /// A lot was sold, passed or not sold, or its buyer changed.
    LotEnded {
        /// The item.
        item: Uuid,
    },
    /// A lot came into the ring.
    LotInRing {
        /// The item.
        item: Uuid,
    },
    /// The auction went live.
    SaleBegan,
    /// A registration was approved, declined or suspended.
    RegistrationDecided {
        /// The registration.
        registration: Uuid,
    },
    /// A request for a higher limit was granted or declined.
    LimitDecided {
        /// The registration.
        registration: Uuid,
        /// The limit that staff set, minor units; none when they declined.
        granted: Option<i64>,
        /// Why they declined.
        reason: Option<String>,
    },
    /// Staff offered a lot to a bidder.
    Offered {
        /// The item.
        item: Uuid,
        /// The offer.
        offer: Uuid,
    },
    /// Staff sent a message.
    Message {
        /// The message.
        message: Uuid,
    },
}

/// A cause with the notices that are not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCause {
    /// Number of the cause; later ones have higher numbers.
    pub number: i64,
    /// The cause.
    pub cause: NoticeCause,
    /// The place up to which its notices were made, as the worker wrote it; empty before the first.
    pub through: String,
}

/// The next part of the notices of a cause.
#[derive(Debug, Clone)]
pub struct NoticeStep {
    /// The cause, with the place at which this part begins.
    pub cause: OpenCause,
    /// The place up to which notices are made now; none when the cause is done.
    pub through: Option<String>,
    /// The notices, each with its mail if the bidder wants one.
    pub notices: Vec<(Notice, Option<NewMail>)>,
    /// Mails to bidders without an account, each with the version of the registration that it was written from.
    pub mails: Vec<(NewMail, i64)>,
}

/// What a bidder reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The account.
    pub account: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The item; none for a notice about a sale.
    pub item: Option<Uuid>,
    /// What it is about.
    pub kind: NoticeKind,
    /// What it said when it was made.
    pub facts: NoticeFacts,
    /// When it was made.
    pub at: Timestamp,
    /// When the bidder saw it.
    pub seen_at: Option<Timestamp>,
    /// The bidder's mail about it was queued.
    pub is_mailed: bool,
}

/// What a notice said when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NoticeFacts {
    /// Title of the sale.
    pub sale: String,
    /// Lot number; empty for a notice about a sale.
    pub lot_number: String,
    /// Title of the lot; subject of a message.
    pub title: String,
    /// ISO 4217 code of the auction's currency.
    pub currency: String,
    /// IANA name of the auction's time zone; empty in notices that were made before it was kept.
    pub time_zone: String,
    /// The price of the lot then, minor units; none where it has none.
    pub amount: Option<i64>,
    /// The price with premium and taxes, minor units; none for a notice without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// The bidder can answer before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Name of the status of the registration; `granted` or `declined` of a limit.
    pub decision: Option<String>,
    /// What staff wrote to the bidder, such as the reason of a decision.
    pub text: Option<String>,
}

/// A browser that shows notices (the Push API).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSubscription {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The account.
    pub account: Uuid,
    /// The session in which it was added. It shows notices while the session lasts.
    pub session: Uuid,
    /// URL of the push service. Who knows it and both keys can send to the browser.
    pub endpoint: String,
    /// Public key of the browser, uncompressed P-256 point (65 bytes).
    pub key: Vec<u8>,
    /// Authentication secret of the browser (16 bytes).
    pub auth: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Notices of one account that wait for its browsers. Further ones are not shown there.
pub const PUSHES_WAITING_MAX: i64 = 20;

/// A notice that browsers are to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedPush {
    /// The notice.
    pub notice: Notice,
    /// Tries so far, this one included.
    pub tries: u32,
}

/// Notices to bidders. [`AuctionStore::commit`](super::AuctionStore::commit) and
/// [`RegistrationStore::put_registration`](super::RegistrationStore::put_registration) insert causes.
#[async_trait]
pub trait NoticeStore: Send + Sync {
    /// Causes whose notices are not all made, the oldest first, at most `limit`.
    async fn open_causes(&self, limit: usize) -> StoreResult<Vec<OpenCause>>;
    /// Makes the notices of one part and queues their mails; both or none. `Conflict` when the cause went on meanwhile, or a
    /// registration has another version. A notice of an
    /// account that was closed meanwhile is left out.
    async fn make_notices(&self, step: NoticeStep) -> StoreResult<()>;
    /// The notices of an account, the latest first, at most `limit`; only later ones than `after`, if it is given.
    async fn notices(&self, account: Uuid, after: Option<Uuid>, limit: usize) -> StoreResult<Vec<Notice>>;
    /// Number of notices that an account has not seen, counted to `counted_max`, and the latest notice, seen or not.
    async fn unseen_notices(&self, account: Uuid, counted_max: usize) -> StoreResult<(usize, Option<Uuid>)>;
    /// The latest notices of an account about an item, the latest first, at most `limit`.
    async fn notices_about(&self, account: Uuid, item: Uuid, limit: usize) -> StoreResult<Vec<Notice>>;
    /// Marks the notices of an account up to `through` as seen.
    async fn see_notices(&self, account: Uuid, through: Uuid, at: Timestamp) -> StoreResult<()>;
    /// Paddles with a bid on an item that is not struck, in order, after `after`, at most `limit`.
    async fn paddles_on(&self, item: Uuid, after: &str, limit: usize) -> StoreResult<Vec<String>>;
    /// Accounts that watch an item, in order, after `after`, at most `limit`.
    async fn accounts_watching(&self, item: Uuid, after: Uuid, limit: usize) -> StoreResult<Vec<Uuid>>;
    /// Stores the browser of an account, in place of the one with the same endpoint and keys, also when that is another account's; one
    /// with other keys stays. The oldest ones of the account beyond `subscriptions_max` are removed.
    async fn put_push_subscription(&self, subscription: PushSubscription, subscriptions_max: usize) -> StoreResult<()>;
    /// The browsers of an account whose sessions last.
    async fn push_subscriptions(&self, account: Uuid) -> StoreResult<Vec<PushSubscription>>;
    /// Removes the browser with this endpoint.
    async fn remove_push_subscription(&self, endpoint: &str) -> StoreResult<()>;
    /// Claims at most `limit` notices that browsers are to show, the longest due first, until `until`, and counts a try of each.
    async fn claim_pushes(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedPush>>;
    /// Ends the push of a notice, or makes it due again at `again`.
    async fn end_push(&self, notice: Uuid, again: Option<Timestamp>) -> StoreResult<()>;
    /// Deletes at most `limit` notices that were made before `before`; returns their number.
    async fn delete_old_notices(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
