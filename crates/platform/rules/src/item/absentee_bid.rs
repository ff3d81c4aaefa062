//! Absentee bids: maxima that bidders leave before a webcast is live. Nothing stands because of them; the clerk bids
//! commission bids within them.

use crate::bid::{Offer, next_price};
use crate::{Auction, AuctionKind, BidRecord, Bidder, Item, ItemChange, Rejection, WebcastPhase};

/// Places an absentee bid; `offer.amount` is the maximum.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    if auction.phase != WebcastPhase::PreBidding {
        return Err(Rejection::PreBiddingOver);
    }
    item.require_live()?;
    offer.require_countable(item)?;
    offer.require_at_least(next_price(auction, item))?;
    bidder.require_allowed(auction, item, offer.amount)?;
    let record = BidRecord { amount: 0, ..offer.record(item) };
    Ok(vec![ItemChange::BidAccepted { record, standing: item.standing.clone() }])
}
