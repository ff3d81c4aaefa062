//! What a decision changes, and how a state takes it.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Auction, BidSource, Cause, Item, RingPlace, StandingBid};

/// One change of an item. Changes of one decision apply in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemChange {
    /// Its status; one journal row each, numbered by the item's `sequence` after this change was applied.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<ItemStatus>,
        /// Status after.
        to: ItemStatus,
        /// Why.
        cause: Cause,
        /// True when it goes to the customer as ITEM_STATUS_CHANGE.
        announced: bool,
        /// Why, in a person's words, where the rules ask for it.
        reason: Option<String>,
    },
    /// A bid stands now.
    BidAccepted {
        /// The bid.
        standing: StandingBid,
        /// Where it came from.
        source: BidSource,
        /// Number of the bid on its item, from 1 without gaps.
        number: i64,
    },
    /// Its place in a webcast's ring.
    RingChanged {
        /// Place after.
        ring: RingPlace,
    },
    /// Its end in a timed auction was planned; it had none.
    EndPlanned {
        /// Planned and effective end.
        end: Timestamp,
    },
}

/// One change of an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuctionChange {
    /// Its status; always announced as AUCTION_STATUS_CHANGE. One journal row each, numbered by the auction's `sequence`
    /// after this change was applied.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<AuctionStatus>,
        /// Status after.
        to: AuctionStatus,
        /// Why.
        cause: Cause,
    },
    /// Which item is in the ring.
    RingChanged {
        /// The item; none when the ring is empty.
        item: Option<Uuid>,
    },
}

impl Item {
    /// Takes a change. `version` is the committer's and stays.
    pub fn apply(&mut self, change: &ItemChange) {
        match change {
            ItemChange::StatusChanged { to, announced, .. } => {
                self.status = *to;
                self.sequence += 1;
                self.announced |= announced;
            }
            ItemChange::BidAccepted { standing, number, .. } => {
                self.standing = Some(standing.clone());
                self.bid_count = *number;
            }
            ItemChange::RingChanged { ring } => self.ring = *ring,
            ItemChange::EndPlanned { end } => {
                self.end_time = Some(*end);
                self.effective_end_time = Some(*end);
            }
        }
    }
}

impl Auction {
    /// Takes a change. `version` is the committer's and stays.
    pub fn apply(&mut self, change: &AuctionChange) {
        match change {
            AuctionChange::StatusChanged { to, .. } => {
                self.status = *to;
                self.sequence += 1;
            }
            AuctionChange::RingChanged { item } => self.in_ring = *item,
        }
    }
}
