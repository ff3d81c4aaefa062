//! Offers of lots that did not sell, each to one bidder, who answers it.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{NoticeCause, StoreResult};

/// A lot that did not sell, offered to one bidder. A lot has one open offer at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LotOffer {
    /// UUID, version 7. The form of staff carries it, so that a form that is sent twice offers once.
    pub uuid: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The item.
    pub item: Uuid,
    /// The registration of the bidder.
    pub registration: Uuid,
    /// Hammer price, minor units of the auction's currency.
    pub amount: i64,
    /// Number of the item's last status change when it was offered. A later change ends the offer, except that a passed lot becomes
    /// unsold when its sale closes.
    pub sequence: i64,
    /// Who offered it, as the journal names callers.
    pub offered_by: String,
    /// When.
    pub offered_at: Timestamp,
    /// The bidder can answer before this time.
    pub until: Timestamp,
    /// How it ended; none before.
    pub ended: Option<OfferEnd>,
}

/// The end of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferEnd {
    /// What ended it.
    pub outcome: OfferOutcome,
    /// Who ended it, as the journal names callers.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// What ended an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferOutcome {
    /// The bidder accepted: the lot was sold in the same commit.
    Accepted,
    /// The bidder declined.
    Declined,
    /// Staff withdrew it.
    Withdrawn,
    /// Its time had passed, or the lot had changed, when another offer took its place.
    Lapsed,
}

impl OfferOutcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Accepted, Self::Declined, Self::Withdrawn, Self::Lapsed];

    /// Stable name, in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Lapsed => "lapsed",
        }
    }

    /// The outcome of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// The end of an open offer, with its entry in the access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedOffer {
    /// The offer.
    pub offer: Uuid,
    /// Its end.
    pub end: OfferEnd,
    /// Content of the entry.
    pub note: String,
}

/// Offers to bidders. [`AuctionStore::commit`](super::AuctionStore::commit) ends one that the bidder accepts, with the sale of the lot.
#[async_trait]
pub trait LotOfferStore: Send + Sync {
    /// Stores an offer with the cause of its notice and its entry in the access log. The offer `lapsed` of the lot ends with it, if it is
    /// open. `Taken("offer")` when the lot has another open offer, or the UUID is known.
    async fn put_offer(
        &self,
        offer: LotOffer,
        lapsed: Option<Uuid>,
        cause: Option<NoticeCause>,
        note: String,
    ) -> StoreResult<()>;
    /// An offer.
    async fn lot_offer(&self, uuid: Uuid) -> StoreResult<Option<LotOffer>>;
    /// The offers of an item, the latest first, at most `limit`.
    async fn offers_of_item(&self, item: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
    /// The offers of an auction, the latest first, at most `limit`.
    async fn offers_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
    /// The offers to a registration, the latest first, at most `limit`.
    async fn offers_to(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
    /// Ends an offer without a sale, with its entry in the access log. `Conflict` when it is not open.
    async fn end_offer(&self, ended: EndedOffer) -> StoreResult<()>;
}
