//! Bulk changes of an auction, and the staged items of imports and copies.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{AuctionEdit, Stagger};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreResult;
use crate::sales::new_item::NewItem;

/// A change of an auction that its items follow, a step after the other, each a commit of its own. An auction has one
/// at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkChange {
    /// The auction.
    pub auction: Uuid,
    /// Its customer.
    pub customer: Uuid,
    /// What the items follow.
    #[serde(rename = "follows")]
    pub operation: BulkOperation,
    /// Who changed the auction.
    pub actor: String,
    /// When, by the clock of the auction.
    pub at: Timestamp,
    /// Steps done; what a step compares.
    pub step: i64,
    /// Items up to this place of the running order have followed; -1 before the first.
    pub through: i64,
    /// Place of the last item that is to follow.
    pub until: i64,
}

/// What items follow, each in its own commit by the rules of that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkOperation {
    /// Their auction went LIVE: so do those that are DRAFT or PREVIEW.
    GoLive,
    /// Their auction goes back to PREVIEW: no bid may slip in, so the versions of LIVE ones move on. Then it is
    /// PREVIEW.
    #[serde(rename = "return")]
    ReturnToPreview,
    /// Their auction went back to PREVIEW: LIVE ones are DRAFT, as if an administrator had set each.
    #[serde(rename = "take_back")]
    ResetToDraft,
    /// Their auction is reconciled: PASSED ones are UNSOLD.
    Reconcile,
    /// The planned ends become later by a number of seconds.
    #[serde(rename = "shift")]
    ShiftEnds {
        /// Seconds.
        seconds: i64,
        /// Why; needed by LIVE and SUSPENDED ones.
        reason: Option<String>,
    },
    /// Their ends are planned anew, by what their auction says now.
    #[serde(rename = "plan")]
    PlanEnds {
        /// Why; needed by LIVE and SUSPENDED ones.
        reason: Option<String>,
    },
    /// Their auction's closing time or stagger was corrected: the ends that were planned by those of before are planned
    /// anew.
    #[serde(rename = "replan")]
    ReplanEnds {
        /// Closing time of before.
        ends_at: Option<Timestamp>,
        /// Stagger of before.
        stagger: Option<Stagger>,
    },
    /// Their auction, which is LIVE, gets other terms: no bid may slip in that was decided on those of before, so the
    /// versions of LIVE ones move on. Then it has them.
    #[serde(rename = "terms")]
    EditTerms {
        /// What is another way then.
        edit: Box<AuctionEdit>,
    },
    /// They were staged as this import, and enter; each step is one of its pieces.
    Import {
        /// The import.
        import: Uuid,
    },
    /// They are copies of another auction's, staged in the same way.
    Copy {
        /// What they were staged as.
        import: Uuid,
    },
}

/// A step of a bulk change, as part of a [`Change`](super::Change).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkChangeStep {
    /// The auction.
    pub auction: Uuid,
    /// [`BulkChange::step`] as it was loaded; none when the auction had no bulk_change. `Conflict` when it is another
    /// by now.
    pub expected_step: Option<i64>,
    /// The bulk change from now on; none when it is over.
    pub bulk_change: Option<BulkChange>,
    /// The staged piece that this step has entered, and that goes with it.
    pub entered: Option<(Uuid, i64)>,
}

impl BulkChange {
    /// Whether the item at this position is still to be changed. An import covers none, because it creates its items.
    pub fn covers(&self, position: i64) -> bool {
        self.operation.import_id().is_none() && self.through < position && position <= self.until
    }
}

impl BulkOperation {
    /// What the items were staged as, when they enter piece by piece.
    pub fn import_id(&self) -> Option<Uuid> {
        match self {
            Self::Import { import } | Self::Copy { import } => Some(*import),
            _ => None,
        }
    }

    /// If it leads items to another status: what has still to follow may be refused for a status that it has no more in
    /// a moment.
    pub(crate) fn changes_status(&self) -> bool {
        matches!(self, Self::GoLive | Self::ReturnToPreview | Self::ResetToDraft | Self::Reconcile)
    }
}

/// Bulk changes and staged items. [`super::AuctionStore::commit`] inserts, advances and deletes bulk changes.
#[async_trait]
pub trait BulkChangeStore: Send + Sync {
    /// The bulk change of an auction, while there is one.
    async fn bulk_change(&self, auction: Uuid) -> StoreResult<Option<BulkChange>>;
    /// Bulk changes that are under way, at most `limit`, in the order of their auctions.
    async fn bulk_changes(&self, limit: usize) -> StoreResult<Vec<BulkChange>>;
    /// Keeps a piece of an import, numbered from 0, until a step enters it.
    async fn stage_chunk(&self, import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()>;
    /// A chunk of an import; none when it was entered or does not exist.
    async fn staged_chunk(&self, import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>>;
    /// Takes at most `limit` pieces of an import away; how many.
    async fn delete_staged_chunks(&self, import: Uuid, limit: usize) -> StoreResult<usize>;
    /// Takes at most `limit` pieces away that were staged before `before` and belong to no bulk change; how many.
    async fn delete_orphaned_chunks(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
