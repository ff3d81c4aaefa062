//! The hammer price of an item that was sold in a webcast or to an offer after the sale: corrected with a reason. The
//! buyer stays, and nothing is announced.

use contract::ItemStatus;

use crate::bid::AMOUNT_MAX;
use crate::unusual_amount::require_usual_correction;
use crate::{Auction, AuctionKind, Item, ItemChange, Rejection};

/// Corrects the hammer price. The hammer has fallen, so neither the reserve nor a spending limit forbids a price. A price
/// far from the one before has to be confirmed.
pub(super) fn correct(
    auction: &Auction,
    item: &Item,
    (amount, unusual_amount): (i64, bool),
    reason: String,
) -> Result<Vec<ItemChange>, Rejection> {
    if !item.post_sale_offer {
        auction.require_kind(AuctionKind::Webcast)?;
    }
    auction.require_unarchived()?;
    if item.status != ItemStatus::Sold {
        return Err(Rejection::ItemNotSold { status: item.status.name() });
    }
    if amount < 1 {
        return Err(Rejection::FieldInvalid { field: "amount", problem: "must be at least 1 minor unit" });
    }
    if amount > AMOUNT_MAX {
        return Err(Rejection::BidTooHigh { maximum: AMOUNT_MAX });
    }
    if item.price() == Some(amount) {
        return Ok(Vec::new());
    }
    if !unusual_amount {
        require_usual_correction(item, amount)?;
    }
    Ok(vec![ItemChange::PriceCorrected { amount, reason }])
}
