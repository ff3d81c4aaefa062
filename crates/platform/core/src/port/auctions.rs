//! Auctions, items and bids, and the one commit that changes them.

use async_trait::async_trait;
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::trace::{RequestOrigin, TraceParent};
use platform_rules::{Auction, AuctionKind, Item, SaleMode};
use uuid::Uuid;

use super::{
    Address, Bid, BidStrike, BidderItem, BulkChangeStep, Cursor, EndedOffer, ExpectedRegistration, IdempotentAnswer,
    ItemCounts, ItemImage, JournalEntry, LogEntry, NodeId, NoticeCause, OutboxEvent, Page, SpendingVersion,
    StoreResult, UnloggedChanges,
};

/// Owner of the wanted auctions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuctionOwner {
    /// Any owner.
    #[default]
    All,
    /// Of this customer.
    Customer(Uuid),
    /// Of this auctioneer.
    Auctioneer(Uuid),
}

/// A filter of auctions: those that match all fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctionFilter {
    /// Owner.
    pub of: AuctionOwner,
    /// With one of these statuses, each named once; an empty list matches every status.
    pub statuses: Vec<AuctionStatus>,
    /// Of this kind.
    pub kind: Option<AuctionKind>,
    /// Real ones, or sandboxes.
    pub sale_mode: Option<SaleMode>,
}

impl AuctionFilter {
    /// Every combination of status, kind and sale mode that matches the filter, once.
    pub fn combinations(&self) -> Vec<(AuctionStatus, AuctionKind, SaleMode)> {
        let statuses = if self.statuses.is_empty() { AuctionStatus::ALL } else { &self.statuses };
        let kinds = self.kind.map_or(AuctionKind::ALL.to_vec(), |kind| vec![kind]);
        let sale_modes = self.sale_mode.map_or(vec![SaleMode::Real, SaleMode::Sandbox], |sale_mode| vec![sale_mode]);
        let mut combinations = Vec::with_capacity(statuses.len() * kinds.len() * sale_modes.len());
        for status in statuses {
            for kind in &kinds {
                combinations.extend(sale_modes.iter().map(|sale_mode| (*status, *kind, *sale_mode)));
            }
        }
        combinations
    }
}

/// A new or changed state with the version that it was decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The version loaded; 0 for a new one. The store refuses the change with `Conflict` if the version changed.
    pub expected_version: i64,
    /// The state to store; its own `version` is already `expected_version + 1`.
    pub state: T,
}

/// One atomic unit of work: the store commits it as a whole or not at all.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Auction created or changed.
    pub auction: Option<Versioned<Auction>>,
    /// A new address, the auction's.
    pub address: Option<Address>,
    /// Items created or changed, each at most once.
    pub items: Vec<Versioned<Item>>,
    /// Bids accepted; appended.
    pub bids: Vec<Bid>,
    /// Bids that are struck or reinstated, in order. They were accepted before or in this change.
    pub bid_strikes: Vec<BidStrike>,
    /// Items on which bidders have bid, for
    /// [`RegistrationStore::committed_amount`](super::RegistrationStore::committed_amount).
    pub bidder_items: Vec<BidderItem>,
    /// The spending version that a bid of a bidder with a limit was decided on. `Conflict` when another bid raised it.
    pub spending_version: Option<SpendingVersion>,
    /// The registration that a bid of another bidder was decided on. `Conflict` when it changed.
    pub registration: Option<ExpectedRegistration>,
    /// Images of new items, with the content of existing ones. One whose content was removed meanwhile is left out.
    pub images: Vec<ItemImage>,
    /// A bulk change that begins, advances or ends.
    pub bulk_change: Option<BulkChangeStep>,
    /// Status changes, in order; those of one subject with rising sequences.
    pub journal: Vec<JournalEntry>,
    /// Changes of the auction and items that are not sealed as log entries yet. The platform commits only changes
    /// without any.
    pub unlogged: Vec<UnloggedChanges>,
    /// Entries of the audit log; those of one subject with rising numbers.
    pub log: Vec<LogEntry>,
    /// The offer that the bidder accepted, which sells its lot. `Conflict` when it is not open any more.
    pub accepted_offer: Option<EndedOffer>,
    /// What happened that bidders may have to know.
    pub notice_causes: Vec<NoticeCause>,
    /// Answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
    /// The request that made the change; none for a worker.
    pub origin: Option<RequestOrigin>,
}

impl Change {
    /// The position in a trace of the request that made the change. It is stored with the outbox rows.
    pub fn trace_parent(&self) -> Option<TraceParent> {
        self.origin.as_ref()?.position
    }
}

/// The result of a committed change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReceipt {
    /// Cursors of `Change::journal`, in its order.
    pub cursors: Vec<Cursor>,
    /// Outbox rows that were assigned to the node named in [`AuctionStore::commit`], ready to be published.
    pub assigned: Vec<OutboxEvent>,
    /// Outbox rows that wait in the table unassigned: no node was named, or an earlier row of their subject waits.
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
    /// An item with its auction. The auction is as new as the item or newer, so a change of the auction between the two
    /// reads is not missed. `Corrupt` when the item has no auction.
    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>>;
    /// Number of items by status, for the guards of the auction's transitions. Does not load the items.
    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts>;
    /// The categories of an auction's items with one of these statuses, each once, in the order of their bytes, at most `limit`.
    async fn item_categories(&self, auction: Uuid, statuses: &[ItemStatus], limit: usize) -> StoreResult<Vec<String>>;
    /// Number of SOLD items whose buyer's paddle is not known yet.
    async fn open_buyers(&self, auction: Uuid) -> StoreResult<u64>;
    /// Item counts of each of these auctions, in their order, capped at 1: `live`, `suspended` and `with_bids` are 1
    /// when at least one such item exists; `total` and `passed` are always 0. The cost does not depend on the number of
    /// items.
    async fn capped_item_counts(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>>;
    /// Bids of an item by their number, oldest first.
    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>>;
    /// Commits each change as a whole or not at all, all of them in one transaction as far as the engine can. Returns
    /// one result for each change, in order. Outbox rows without an earlier waiting row of their subject are assigned
    /// to `assign_to`, if it is named. The errors of a change are `Conflict` (a version changed), `Replayed` and
    /// `Taken`. A change may be based on an earlier one of the same call, with versions rising by one; a change that is
    /// based on a refused one is refused with `Conflict`.
    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>>;
}
