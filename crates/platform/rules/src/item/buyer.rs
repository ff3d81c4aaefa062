//! The buyer of an item that was sold in a webcast: named after the hammer, or changed. The price stays, and nothing is
//! announced.

use contract::ItemStatus;

use super::decide::{clean_reason, require_reason};
use crate::{Auction, AuctionKind, Bidder, Item, ItemChange, Rejection};

/// Names the buyer of a sold item. A buyer who was known before changes with a reason only.
pub(super) fn change_buyer(
    auction: &Auction,
    item: &Item,
    bidder: Bidder,
    reason: Option<String>,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Webcast)?;
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
    bidder.require_allowed(auction, item, standing.amount)?;
    Ok(vec![ItemChange::BuyerChanged { bidder: bidder.paddle, registration: bidder.registered, reason }])
}
