//! An administrator accepts an offer for an unsold item: PASSED, or UNSOLD after the sale.

use contract::ItemStatus;

use crate::bid::Offer;
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::unusual_amount::require_usual;
use crate::{Auction, Bidder, Cause, Item, ItemChange, Rejection};

/// Sells the item to the offer, which may lie below the reserve and below earlier bids. The bids of the sale lapse, so
/// that the offer alone counts; it is recorded as a bid of its amount.
pub(super) fn accept_offer(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    (offer, unusual_amount): (&Offer, bool),
    reason: String,
) -> Result<Vec<ItemChange>, Rejection> {
    let facts = ItemFacts { auction, item, reason: Some(&reason), now: offer.at };
    let row = find_item_transition(&facts, &[ItemActor::PostSaleOffer], Some(ItemStatus::Sold))?;
    if offer.amount < 1 {
        return Err(Rejection::FieldInvalid { field: "amount", problem: "must be at least 1 minor unit" });
    }
    offer.require_countable(item)?;
    bidder.require_registered()?;
    bidder.require_allowed(auction, item, offer.amount)?;
    if !unusual_amount {
        require_usual(auction, item, offer.amount)?;
    }
    let mut changes = Vec::with_capacity(3);
    let mut lapsed = item.clone();
    if item.has_bids() {
        let change = ItemChange::BidsLapsed { through: item.bid_count, cause: Cause::PostSaleOfferAccepted };
        lapsed.apply(&change);
        changes.push(change);
    }
    let record = offer.record(&lapsed);
    let standing = Some(record.standing_at(offer.amount));
    changes.push(ItemChange::BidAccepted { record, standing });
    changes.extend(row.changes(auction, item, Some(reason)));
    Ok(changes)
}
