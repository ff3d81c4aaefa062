//! Proxy bids: the bidder with the highest maximum leads, at the lowest price that outbids the others.

use crate::{Auction, BidRecord, BidSource, Hidden, Item, StandingBid};

/// The terms of an auction and its item that determine prices.
pub(crate) struct Pricing<'a> {
    auction: &'a Auction,
    fixed_increment: Option<i64>,
    opening_bid: i64,
    reserve: Option<Hidden>,
}

impl<'a> Pricing<'a> {
    pub(crate) fn of(auction: &'a Auction, item: &Item) -> Self {
        let Item { fixed_increment, opening_bid, reserve, .. } = *item;
        Self { auction, fixed_increment, opening_bid, reserve }
    }

    /// The increment at a price. An item's fixed increment replaces the table.
    pub(crate) fn increment_at(&self, price: i64) -> i64 {
        self.fixed_increment.unwrap_or_else(|| self.auction.increments.increment_at(price))
    }

    /// The price plus its increment.
    pub(crate) fn above(&self, price: i64) -> i64 {
        price.saturating_add(self.increment_at(price))
    }

    /// The opening bid, or the first increment if that is 0.
    pub(crate) fn opening(&self) -> i64 {
        match self.opening_bid {
            0 => self.fixed_increment.unwrap_or_else(|| self.auction.increments.first()),
            opening_bid => opening_bid,
        }
    }

    /// The standing bid after an accepted bid. The minimum is not checked again: when the bids are replayed without a
    /// cancelled one, all the others stay accepted.
    pub(crate) fn after(&self, leader: Option<&StandingBid>, bid: &BidRecord) -> StandingBid {
        let maximum = bid.maximum.reveal();
        let mut standing = match leader {
            None => bid.standing_at(self.opening().min(maximum)),
            Some(leader) => {
                let (price, limit) = (leader.amount, leader.maximum.reveal());
                match () {
                    () if leader.bidder == bid.bidder && maximum > limit => bid.standing_at(price),
                    () if leader.bidder == bid.bidder => leader.clone(),
                    // In a tie the earlier bid leads, at its whole maximum.
                    () if maximum <= limit => {
                        StandingBid { amount: self.above(maximum).min(limit).max(price), ..leader.clone() }
                    }
                    () => bid.standing_at(self.above(limit).min(maximum).max(price)),
                }
            }
        };
        if let Some(reserve) = self.reserve {
            standing.amount = standing.amount.max(reserve.min(standing.maximum).reveal());
        }
        standing
    }

    /// The standing bid after these bids. Struck bids and absentee bids are skipped.
    pub(crate) fn replay<'b>(&self, bids: impl Iterator<Item = &'b BidRecord>) -> Option<StandingBid> {
        let counting = bids.filter(|bid| bid.stands() && bid.source != BidSource::Absentee);
        counting.fold(None, |leader, bid| Some(self.after(leader.as_ref(), bid)))
    }
}
