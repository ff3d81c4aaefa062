//! The spending limit: how much a bidder may commit in one auction.
//!
//! A bidder has committed the maxima of the bids that lead, and the hammer prices of the items bought. A bid is
//! rejected when its maximum would exceed the limit together with the amounts committed on other items.

use contract::ItemStatus;

use crate::{Bidder, Item, Rejection};

impl Bidder {
    /// Rejects a maximum that exceeds the spending limit together with [`Bidder::committed`].
    pub(crate) fn require_within_limit(&self, maximum: i64) -> Result<(), Rejection> {
        match self.limit {
            Some(limit) if self.committed.saturating_add(maximum) > limit => {
                Err(Rejection::SpendingLimitReached { limit, committed: self.committed, amount: maximum })
            }
            _ => Ok(()),
        }
    }
}

impl Item {
    /// The amount that the bidder with this paddle has committed on this item, minor units: the maximum of the standing
    /// bid while the item can still be sold to them, and the hammer price once it was.
    pub fn committed_by(&self, paddle: &str) -> i64 {
        let Some(standing) = self.standing.as_ref().filter(|standing| standing.bidder == paddle) else { return 0 };
        match self.status {
            ItemStatus::Sold | ItemStatus::SoldBuyNow => standing.amount,
            ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended => {
                standing.maximum.reveal()
            }
            ItemStatus::Unsold | ItemStatus::Passed | ItemStatus::Withdrawn => 0,
        }
    }
}
