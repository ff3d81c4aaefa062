//! A bidder buys an item of a timed auction at its buy-now price.

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::bidding::require_open_for_bids;
use crate::bid::Offer;
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::{Auction, BidSource, Bidder, Item, ItemChange, Rejection};

/// Sells the item at its buy-now price. The purchase is recorded as a bid of that amount.
pub(super) fn buy_now(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    bidder: &Bidder,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    require_open_for_bids(auction, item, now)?;
    let buy_now = item.buy_now.ok_or(Rejection::NoBuyNow)?;
    if item.buy_now_open().is_none() {
        return Err(Rejection::BuyNowOver { buy_now });
    }
    let offer = Offer::of(bidder, bid, buy_now, BidSource::BuyNow, now);
    offer.require_countable(item)?;
    bidder.require_allowed(auction, item, buy_now)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = find_item_transition(&facts, &[ItemActor::Buyer], Some(ItemStatus::SoldBuyNow))?;
    let record = offer.record(item);
    let standing = Some(record.standing_at(buy_now));
    let mut changes = vec![ItemChange::BidAccepted { record, standing }];
    changes.extend(row.changes(auction, item, None));
    Ok(changes)
}

impl Item {
    /// The buy-now price; none when there is none, or when the price has reached it.
    pub(crate) fn buy_now_open(&self) -> Option<i64> {
        self.buy_now.filter(|buy_now| self.price().is_none_or(|price| price < *buy_now))
    }
}
