//! Proxy bids (decisions, section 6): whoever has the highest maximum leads, at the price that the others force.

use crate::{Auction, BidRecord, BidSource, Hidden, Item, StandingBid};

/// What of an auction and its item sets prices.
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

    /// By how much a price rises; an item's fixed increment takes the table's place.
    pub(crate) fn increment_at(&self, price: i64) -> i64 {
        self.fixed_increment.unwrap_or_else(|| self.auction.increments.increment_at(price))
    }

    /// The next step above a price.
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

    /// What stands after a bid that was accepted. It is not asked again whether it reached the minimum: when bids are
    /// replayed without one that was cancelled, each of the others keeps what its bidder was promised.
    pub(crate) fn after(&self, leader: Option<&StandingBid>, bid: &BidRecord) -> StandingBid {
        let maximum = bid.maximum.reveal();
        let stands = |amount: i64| StandingBid {
            bid: bid.bid,
            number: bid.number,
            bidder: bid.bidder.clone(),
            amount,
            maximum: bid.maximum,
            at: bid.at,
        };
        let mut standing = match leader {
            None => stands(self.opening().min(maximum)),
            Some(leader) => {
                let (price, limit) = (leader.amount, leader.maximum.reveal());
                match () {
                    () if leader.bidder == bid.bidder && maximum > limit => stands(price),
                    () if leader.bidder == bid.bidder => leader.clone(),
                    // A tie goes to the earlier one, and takes the whole of its maximum.
                    () if maximum <= limit => {
                        StandingBid { amount: self.above(maximum).min(limit).max(price), ..leader.clone() }
                    }
                    () => stands(self.above(limit).min(maximum).max(price)),
                }
            }
        };
        if let Some(reserve) = self.reserve {
            standing.amount = standing.amount.max(reserve.min(standing.maximum).reveal());
        }
        standing
    }

    /// What stands after all these bids, but for those that were struck.
    pub(crate) fn replay<'b>(&self, bids: impl Iterator<Item = &'b BidRecord>) -> Option<StandingBid> {
        let counting = bids.filter(|bid| bid.stands() && bid.source != BidSource::Absentee);
        counting.fold(None, |leader, bid| Some(self.after(leader.as_ref(), bid)))
    }
}
