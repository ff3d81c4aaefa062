//! Bulk changes of an auction, and the staged items of imports and copies.

use async_trait::async_trait;
use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use platform_rules::{AuctionEdit, Stagger};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreResult;

/// The input of a new item. Amounts are minor units of the auction's currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewItem {
    /// Lot number as printed; 1–32 characters, unique in its auction.
    pub lot_number: String,
    /// Title; 1–500 characters.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Category; 1–80 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// URL of an image; http or https.
    pub image_url: Option<String>,
    /// Images, documents and videos; at most 50.
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// Low estimate.
    pub low_estimate: Option<i64>,
    /// High estimate.
    pub high_estimate: Option<i64>,
    /// Opening bid; 0 means the first increment.
    pub opening_bid: i64,
    /// Lowest price that sells.
    pub reserve: Option<i64>,
    /// Buy-now price in a timed auction; not below the opening bid and the reserve.
    pub buy_now: Option<i64>,
    /// The vendor, who may not bid on the item.
    pub vendor: Option<Uuid>,
    /// Increment at any price; replaces the auction's table.
    pub fixed_increment: Option<i64>,
    /// Planned end in a timed auction; none for the end by the auction's closing time and stagger.
    pub end_time: Option<Timestamp>,
    /// DRAFT, or LIVE in a LIVE auction.
    pub status: ItemStatus,
    /// The item whose uploaded images it gets, in a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images_of: Option<Uuid>,
}

/// A change of an auction that its items follow in steps, each a commit of its own. An auction has at most one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkChange {
    /// The auction.
    pub auction: Uuid,
    /// Its customer.
    pub customer: Uuid,
    /// The operation on the items.
    #[serde(rename = "follows")]
    pub operation: BulkOperation,
    /// Who changed the auction.
    pub actor: String,
    /// When, by the clock of the auction.
    pub at: Timestamp,
    /// Number of steps done. A step is committed only if it is still the expected one.
    pub step: i64,
    /// Place in the running order up to which items were changed; -1 before the first.
    pub through: i64,
    /// Place of the last item to change.
    pub until: i64,
}

/// The operation of a bulk change on each item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkOperation {
    /// The auction went LIVE: its DRAFT and PREVIEW items go LIVE.
    GoLive,
    /// The auction returns to PREVIEW: LIVE items get new versions, so that no concurrent bid is committed. After the
    /// last item, the auction is PREVIEW.
    #[serde(rename = "return")]
    ReturnToPreview,
    /// The auction returned to PREVIEW: its LIVE items become DRAFT, as if an administrator had changed each.
    #[serde(rename = "take_back")]
    ResetToDraft,
    /// The auction was reconciled: its PASSED items become UNSOLD.
    Reconcile,
    /// The auction was archived as a mistake: its items become WITHDRAWN.
    Archive {
        /// Why.
        reason: String,
    },
    /// The planned ends are shifted by a number of seconds.
    #[serde(rename = "shift")]
    ShiftEnds {
        /// Seconds.
        seconds: i64,
        /// Why; required for LIVE and SUSPENDED items.
        reason: Option<String>,
    },
    /// The ends of all items are planned anew from the auction's closing time and stagger.
    #[serde(rename = "plan")]
    PlanEnds {
        /// Why; required for LIVE and SUSPENDED items.
        reason: Option<String>,
    },
    /// The auction's closing time or stagger was edited: ends that follow the previous plan are planned anew.
    #[serde(rename = "replan")]
    ReplanEnds {
        /// Closing time before the edit.
        ends_at: Option<Timestamp>,
        /// Stagger before the edit.
        stagger: Option<Stagger>,
    },
    /// The terms of the LIVE auction change: LIVE items get new versions, so that no bid that was decided on the old
    /// terms is committed. After the last item, the auction has the new terms.
    #[serde(rename = "terms")]
    EditTerms {
        /// The edit of the auction.
        edit: Box<AuctionEdit>,
    },
    /// Inserts the items of an import; each step inserts one staged chunk.
    Import {
        /// The import.
        import: Uuid,
    },
    /// Inserts the copied items of another auction, staged in the same way.
    Copy {
        /// The UUID that they are staged under.
        import: Uuid,
    },
}

/// A step of a bulk change, as part of a [`Change`](super::Change).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkChangeStep {
    /// The auction.
    pub auction: Uuid,
    /// [`BulkChange::step`] when it was loaded; none when the auction had no bulk change. `Conflict` when it changed.
    pub expected_step: Option<i64>,
    /// The bulk change after the step; none when it has ended.
    pub bulk_change: Option<BulkChange>,
    /// The staged chunk that this step inserted, which is deleted with it.
    pub entered: Option<(Uuid, i64)>,
}

impl BulkChange {
    /// Whether the item at this position is still to be changed. An import covers none, because it creates its items.
    pub fn covers(&self, position: i64) -> bool {
        self.operation.import_id().is_none() && self.through < position && position <= self.until
    }
}

impl BulkOperation {
    /// The UUID that the items are staged under; none for operations on existing items.
    pub fn import_id(&self) -> Option<Uuid> {
        match self {
            Self::Import { import } | Self::Copy { import } => Some(*import),
            _ => None,
        }
    }

    /// True when the operation changes the status of items. A command on an item that was not changed yet may then be
    /// rejected because of a status that is about to change.
    pub(crate) fn changes_status(&self) -> bool {
        matches!(
            self,
            Self::GoLive | Self::ReturnToPreview | Self::ResetToDraft | Self::Reconcile | Self::Archive { .. }
        )
    }
}

/// Bulk changes and staged items. [`super::AuctionStore::commit`] inserts, advances and deletes bulk changes.
#[async_trait]
pub trait BulkChangeStore: Send + Sync {
    /// The bulk change of an auction, while there is one.
    async fn bulk_change(&self, auction: Uuid) -> StoreResult<Option<BulkChange>>;
    /// Bulk changes that are under way, at most `limit`, in the order of their auctions.
    async fn bulk_changes(&self, limit: usize) -> StoreResult<Vec<BulkChange>>;
    /// Stores a chunk of an import, numbered from 0, until a step inserts it.
    async fn stage_chunk(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()>;
    /// A chunk of an import; none when it was inserted or does not exist.
    async fn staged_chunk(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>>;
    /// Deletes at most `limit` chunks of an import; returns their number.
    async fn delete_staged_chunks(&self, import: Uuid, limit: usize) -> StoreResult<usize>;
    /// Deletes at most `limit` chunks that were staged before `before` and belong to no bulk change; returns their
    /// number.
    async fn delete_orphaned_chunks(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
