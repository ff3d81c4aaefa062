//! The buyer of an item that was sold in a webcast or to an offer after the sale: named after the hammer, or changed.
//! The price stays, and nothing is announced.

use contract::ItemStatus;

use super::decide::{clean_reason, require_reason};
use crate::{Auction, AuctionKind, Bidder, Item, ItemChange, Rejection};

/// What the clerk confirmed about a buyer. A suspended bidder, the vendor and the auctioneer are rejected all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConfirmedBuyer {
    /// The buyer may have no registration, also where registration is open, or one that is not approved.
    pub not_approved: bool,
    /// The price may exceed the buyer's spending limit. Needs a reason.
    pub over_limit: bool,
}

/// Names the buyer of a sold item. A buyer who was known before changes with a reason only. The clerk saw the buyer, so a
/// missing approval and a limit are confirmed and do not leave the buyer open.
pub(super) fn change_buyer(
    auction: &Auction,
    item: &Item,
    bidder: Bidder,
    (reason, confirmed): (Option<String>, ConfirmedBuyer),
) -> Result<Vec<ItemChange>, Rejection> {
    if !item.post_sale_offer {
        auction.require_kind(AuctionKind::Webcast)?;
    }
    auction.require_unarchived()?;
    let standing = match (item.status, &item.standing) {
        (ItemStatus::Sold, Some(standing)) => standing,
        (status, _) => return Err(Rejection::ItemNotSold { status: status.name() }),
    };
    let reason = match standing.known_bidder() {
        None => clean_reason(reason)?,
        Some(buyer) if buyer == bidder.paddle => return Ok(Vec::new()),
        Some(_) => Some(require_reason(reason.unwrap_or_default())?),
    };
    bidder.require_admitted_to_room(auction, item)?;
    // The clerk types the paddle: one without an approved registration may be a slip, also where registration is open.
    if (!bidder.approved || bidder.pending || bidder.registered.is_none()) && !confirmed.not_approved {
        return Err(Rejection::BidderNotApproved);
    }
    let reason = match bidder.require_within_limit(standing.amount) {
        Err(_) if confirmed.over_limit => Some(require_reason(reason.unwrap_or_default())?),
        within => within.map(|()| reason)?,
    };
    Ok(vec![ItemChange::BuyerChanged { bidder: bidder.paddle, registration: bidder.registered, reason }])
}
