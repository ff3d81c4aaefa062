//! Bids on the item in the ring that the clerk enters: from the room, and relayed from elsewhere.

use super::internet_bids::keep_pending;
use super::large_jump::require_no_large_jump;
use super::{InRing, in_ring, require_running};
use crate::bid::Offer;
use crate::paddle::require_name;
use crate::proxy::Pricing;
use crate::{Auction, BidSource, Bidder, Cause, Item, ItemChange, Rejection};

/// Accepts a bid made in the room.
pub(super) fn in_room(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    typed: (&Offer, bool),
) -> Result<Vec<ItemChange>, Rejection> {
    bidder.require_admitted_to_room(auction, item)?;
    enter(auction, item, typed)
}

/// Accepts an internet bid that the clerk relays, such as one from another platform.
pub(super) fn relayed(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    (offer, large_jump): (&Offer, bool),
) -> Result<Vec<ItemChange>, Rejection> {
    require_running(auction, item)?;
    require_not_leading(item, bidder)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    enter(auction, item, (offer, large_jump))
}

/// Accepts a bid whose amount the clerk entered, at the asking price or above. A large jump has to be confirmed.
pub(super) fn enter(
    auction: &Auction,
    item: &Item,
    (offer, large_jump): (&Offer, bool),
) -> Result<Vec<ItemChange>, Rejection> {
    let changes = accept_at_asking_price(auction, item, offer)?;
    if !large_jump {
        require_no_large_jump(auction, item, offer.amount)?;
    }
    Ok(changes)
}

/// Accepts a bid at the asking price or above.
pub(super) fn accept_at_asking_price(
    auction: &Auction,
    item: &Item,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    let asked = require_running(auction, item)?.asking_price;
    accept(auction, item, offer, asked)
}

/// Accepts a bid of at least `minimum`: it stands, the asking price is one increment above it unless a higher price was
/// asked, and pending bids below the new price are dropped.
pub(super) fn accept(
    auction: &Auction,
    item: &Item,
    offer: &Offer,
    minimum: i64,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    if offer.source != BidSource::Room {
        require_name(&offer.bidder)?;
    }
    offer.require_countable(item)?;
    offer.require_at_least(minimum)?;
    let record = offer.record(item);
    let asking_price = if record.amount < ring.asking_price {
        ring.asking_price
    } else {
        Pricing::of(auction, item).above(record.amount)
    };
    let standing = Some(record.standing_at(record.amount));
    let mut changes = vec![
        ItemChange::BidAccepted { record, standing },
        in_ring(InRing { asking_price, warnings: 0, lowered: false, ..ring }, Cause::BidTaken),
    ];
    changes.extend(keep_pending(item, asking_price, Some(offer.bid), Cause::BidTaken));
    Ok(changes)
}

/// A bidder can't outbid themselves. Bids in the room are exempt: one paddle may stand for several people.
pub(super) fn require_not_leading(item: &Item, bidder: &Bidder) -> Result<(), Rejection> {
    match &item.standing {
        Some(standing) if standing.bidder == bidder.paddle => Err(Rejection::AlreadyLeading),
        _ => Ok(()),
    }
}
