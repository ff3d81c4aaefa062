//! The ring of a webcast: items are sent in, bid on, sold or passed (decisions, section 7).
//!
//! One item is in the ring at a time. The item's place is in [`Item::ring`], the auction's side in
//! [`Auction::in_ring`]; both move together in one [`RingDecision`], to be committed together with the versions that the
//! clerk saw. The rest of the clerk's desk (asking price, undo, warnings, pause, absentee bids) grows here: commands on
//! what is in the ring, decided against the same two states.

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use crate::bid::{Offer, accept};
use crate::transitions::{ItemBy, ItemFacts, follow_item};
use crate::{Auction, AuctionChange, AuctionKind, BidSource, Item, ItemChange, Rejection, RingPlace};

/// What the clerk wants of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingCommand {
    /// The item enters the empty ring. A PASSED one is offered again by it.
    Send,
    /// Somebody in the room bids.
    RoomBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids, such as a paddle number; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: i64,
    },
    /// The clerk takes a bid that came over the internet.
    InternetBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: i64,
    },
    /// The hammer falls: the item is sold to the standing bid, and the ring is empty.
    Sell,
    /// The item is not sold, and the ring is empty.
    Pass,
    /// The item leaves the ring undecided, LIVE and waiting; bids on it stand.
    Remove,
    /// A PASSED item is LIVE and waits to be sent again; the ring may be occupied meanwhile.
    OfferAgain,
}

/// What becomes of an item and of its auction's ring; commit both or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingDecision {
    /// Changes of the item.
    pub item: Vec<ItemChange>,
    /// Changes of the auction; empty when its ring stays as it is.
    pub auction: Vec<AuctionChange>,
}

/// Decides a clerk's command. `item` is the one that the command is about; for bids, sell, pass and remove that is the
/// one in the ring.
///
/// Errors: `item_not_in_auction`, `wrong_auction_kind`, `auction_not_live`, `ring_occupied`, `item_not_live`,
/// `not_in_ring`, `no_standing_bid`, `bid_too_low`, `bid_too_high`, `field_invalid`, `illegal_transition`.
pub fn decide(auction: &Auction, item: &Item, command: RingCommand, now: Timestamp) -> Result<RingDecision, Rejection> {
    item.require_in(auction)?;
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    match command {
        RingCommand::Send => send(auction, item, now),
        RingCommand::RoomBid { bid, bidder, amount } => {
            take_bid(auction, item, Offer { bid, bidder, amount, source: BidSource::Room }, now)
        }
        RingCommand::InternetBid { bid, bidder, amount } => {
            take_bid(auction, item, Offer { bid, bidder, amount, source: BidSource::Internet }, now)
        }
        RingCommand::Sell => finish(auction, item, ItemBy::ClerkSells, ItemStatus::Sold, now),
        RingCommand::Pass => finish(auction, item, ItemBy::ClerkPasses, ItemStatus::Passed, now),
        RingCommand::Remove => {
            require_in_ring(auction, item)?;
            Ok(empty_ring(vec![ItemChange::RingChanged { ring: RingPlace::Waiting }]))
        }
        RingCommand::OfferAgain => Ok(RingDecision { item: offer_again(auction, item, now)?, auction: Vec::new() }),
    }
}

fn send(auction: &Auction, item: &Item, now: Timestamp) -> Result<RingDecision, Rejection> {
    if let Some(occupant) = auction.in_ring {
        return Err(Rejection::RingOccupied { item: occupant });
    }
    let mut changes = match item.status {
        ItemStatus::Passed => offer_again(auction, item, now)?,
        _ => item.require_live().map(|()| Vec::new())?,
    };
    changes.push(ItemChange::RingChanged { ring: RingPlace::InRing });
    Ok(RingDecision { item: changes, auction: vec![AuctionChange::RingChanged { item: Some(item.uuid) }] })
}

fn offer_again(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = follow_item(&facts, &[ItemBy::ClerkOffersAgain], Some(ItemStatus::Live))?;
    Ok(row.changes(auction, item, None))
}

fn take_bid(auction: &Auction, item: &Item, offer: Offer, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_in_ring(auction, item)?;
    Ok(RingDecision { item: vec![accept(auction, item, offer, now)?], auction: Vec::new() })
}

fn finish(
    auction: &Auction,
    item: &Item,
    by: ItemBy,
    to: ItemStatus,
    now: Timestamp,
) -> Result<RingDecision, Rejection> {
    require_in_ring(auction, item)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    let mut changes = follow_item(&facts, &[by], Some(to))?.changes(auction, item, None);
    changes.push(ItemChange::RingChanged { ring: RingPlace::Done });
    Ok(empty_ring(changes))
}

fn empty_ring(item: Vec<ItemChange>) -> RingDecision {
    RingDecision { item, auction: vec![AuctionChange::RingChanged { item: None }] }
}

fn require_in_ring(auction: &Auction, item: &Item) -> Result<(), Rejection> {
    let both_say_so = auction.in_ring == Some(item.uuid) && item.ring == RingPlace::InRing;
    both_say_so.then_some(()).ok_or(Rejection::NotInRing)
}

#[cfg(test)]
mod tests;
