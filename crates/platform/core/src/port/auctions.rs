//! Auctions, items and bids, and the one commit that changes them.

use async_trait::async_trait;
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Item, SaleMode};
use uuid::Uuid;

use super::{
    Address, BidderItem, BulkChangeStep, Cursor, ExpectedRegistration, IdempotentAnswer, ItemCounts, NodeId,
    OutboxEvent, Page, SpendingVersion, StoreResult,
};
use crate::audit::{LogEntry, UnloggedChanges};
use crate::bidding::bid::{Bid, BidStrike};
use crate::journal::JournalEntry;

/// Whose auctions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuctionOwner {
    /// Everybody's.
    #[default]
    All,
    /// Of this customer.
    Customer(Uuid),
    /// Of this auctioneer.
    Auctioneer(Uuid),
}

/// Which auctions are wanted: those that meet all that is said here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctionFilter {
    /// Whose.
    pub of: AuctionOwner,
    /// With one of these statuses, each named once; with any when there are none.
    pub statuses: Vec<AuctionStatus>,
    /// Of this kind.
    pub kind: Option<AuctionKind>,
    /// Real ones, or sandboxes.
    pub sale_mode: Option<SaleMode>,
}

impl AuctionFilter {
    /// Each combination of what the filter leaves open, once: an auction that is wanted is of one of them.
    pub fn combinations(&self) -> Vec<(AuctionStatus, AuctionKind, SaleMode)> {
        let statuses = if self.statuses.is_empty() { AuctionStatus::ALL } else { &self.statuses };
        let kinds = self.kind.map_or(AuctionKind::ALL.to_vec(), |kind| vec![kind]);
        let realms = self.sale_mode.map_or(vec![SaleMode::Real, SaleMode::Sandbox], |sale_mode| vec![sale_mode]);
        let mut combinations = Vec::with_capacity(statuses.len() * kinds.len() * realms.len());
        for status in statuses {
            for kind in &kinds {
                combinations.extend(realms.iter().map(|sale_mode| (*status, *kind, *sale_mode)));
            }
        }
        combinations
    }
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
    /// A new address, the auction's.
    pub address: Option<Address>,
    /// Items created or changed. Distinct.
    pub items: Vec<Versioned<Item>>,
    /// Bids accepted; appended.
    pub bids: Vec<Bid>,
    /// What becomes of bids that were accepted before, or in this change; in order.
    pub bid_strikes: Vec<BidStrike>,
    /// Items on which bidders have bid, to be found again by
    /// [`RegistrationStore::committed_amount`](super::RegistrationStore::committed_amount).
    pub bidder_items: Vec<BidderItem>,
    /// The turn that a bid of a bidder with a spending limit takes. `Conflict` when another took it.
    pub spending_version: Option<SpendingVersion>,
    /// The registration that a bid was decided on, where it takes no turn. `Conflict` when it is another by now.
    pub registration: Option<ExpectedRegistration>,
    /// A bulk change that begins, goes on or is over.
    pub bulk_change: Option<BulkChangeStep>,
    /// Status changes, in order; of one subject with rising sequences.
    pub journal: Vec<JournalEntry>,
    /// What happened to its auction and items and is no entry of the log yet. The platform's commit leaves none.
    pub unlogged: Vec<UnloggedChanges>,
    /// Entries of the log, of one subject with rising numbers.
    pub log: Vec<LogEntry>,
    /// Answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// What became of a committed change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReceipt {
    /// Cursors of `Change::journal`, in its order.
    pub cursors: Vec<Cursor>,
    /// Outbox rows that were given to the node named in [`AuctionStore::commit`], ready to be published now.
    pub assigned: Vec<OutboxEvent>,
    /// Outbox rows that wait in the table: the publisher did not ask for them, or an earlier one of their subject
    /// waits.
    pub waiting: usize,
    /// When the connection of the customer whose rows were assigned was last changed, as the transaction read it.
    pub connection_updated_at: Option<Timestamp>,
}

/// Auctions, items and bids. [`AuctionStore::commit`] is the only call that changes them. The cost of a page of a list
/// depends on the page, not on the length of the list: indexes serve every filter.
#[async_trait]
pub trait AuctionStore: Send + Sync {
    /// An auction.
    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>>;
    /// In order of creation (UUID).
    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// Auctions in order of creation (UUID).
    async fn filtered_auctions(&self, filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
    /// An item.
    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>>;
    /// In running order: by position.
    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>>;
    /// Items of an auction with one of these statuses, each named once, by position.
    async fn items_with_status(
        &self,
        auction: Uuid,
        statuses: &[ItemStatus],
        page: Page<i64>,
    ) -> StoreResult<Vec<Item>>;
    /// The item of an auction with this lot number.
    async fn item_by_lot_number(&self, auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>>;
    /// An item with its auction, which is of the same moment or a later one: a change of the auction that touches its
    /// items can't slip between the two. `Corrupt` when the item has no auction.
    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>>;
    /// Items per status; what guards of the auction's transitions ask. Never loads the items.
    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts>;
    /// What there is among the items of each of these auctions, in their order: `live`, `suspended` and `with_bids` are
    /// 1 where there are some, however many; `total` and `passed` are not told. It costs the same for ten items and for
    /// a hundred thousand.
    async fn item_presence(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>>;
    /// Bids of an item by their number, oldest first.
    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>>;
    /// Commits each change as a whole or not at all, all of them in one transaction as far as the engine can; the
    /// answer has one entry for each, in order. Outbox rows that nothing earlier of their subject holds back are given
    /// to `assign_to`, when named. The errors of an entry are `Conflict` (a version moved), `Replayed` and `Taken`.
    /// Changes of one thing may stand on each other, versions rising one by one: those that stand on a refused one are
    /// `Conflict` too.
    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>>;
}
