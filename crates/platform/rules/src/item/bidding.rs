//! Bids on timed items. A bid names the bidder's maximum; the platform bids up to it by proxy.

use jiff::Timestamp;

use super::ends::soft_close_end;
use crate::bid::{Offer, next_price};
use crate::proxy::Pricing;
use crate::{Auction, AuctionKind, Bidder, Item, ItemChange, Rejection};

/// Places a bid on a timed item; `offer.amount` is the bidder's maximum.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    require_open_for_bids(auction, item, offer.at)?;
    offer.require_countable(item)?;
    match &item.standing {
        // The leading bidder raises their own maximum. Anyone who knows the paddle could send this bid, so the
        // rejection does not reveal the maximum.
        Some(leader) if leader.bidder == bidder.paddle => {
            offer.require_at_least(leader.maximum.reveal() + 1).map_err(|_| Rejection::MaximumNotRaised)?;
        }
        _ => offer.require_at_least(next_price(auction, item))?,
    }
    bidder.require_allowed(auction, item, offer.amount)?;
    let mut record = offer.record(item);
    let standing = Pricing::of(auction, item).after(item.standing.as_ref(), &record);
    if standing.bid == record.bid {
        record.amount = standing.amount;
    }
    let mut changes = vec![ItemChange::BidAccepted { record, standing: Some(standing) }];
    changes.extend(soft_close_end(auction, item, offer.at).map(|end| ItemChange::EndExtended { end }));
    Ok(changes)
}

/// Rejects a bid outside of the time between the auction's start and the item's effective end.
pub(super) fn require_open_for_bids(auction: &Auction, item: &Item, now: Timestamp) -> Result<(), Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_live()?;
    item.require_live()?;
    match auction.starts_at {
        Some(starts_at) if now < starts_at => return Err(Rejection::AuctionNotStarted { starts_at }),
        _ => {}
    }
    match item.effective_end_time {
        Some(ended_at) if now >= ended_at => Err(Rejection::ItemEnded { ended_at }),
        _ => Ok(()),
    }
}
