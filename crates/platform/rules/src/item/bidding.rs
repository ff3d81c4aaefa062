//! Bids on timed items, and those that absentees leave before a webcast (decisions, sections 6 and 7).

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::bid::{Offer, next_price};
use crate::bid_log::{BidLog, Struck};
use crate::proxy::Pricing;
use crate::ring::previous_standing_bid;
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::{
    Auction, AuctionKind, BidRecord, BidSource, Bidder, Cause, Hidden, Item, ItemChange, Rejection, StandingBid,
    StrikeReason, WebcastPhase,
};
use contract::ItemStatus;

/// A bid on a timed item: `offer.amount` is how far its bidder goes.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    open_for_bids(auction, item, offer.at)?;
    offer.require_countable(item)?;
    match &item.standing {
        // The leader raises its own maximum. Whoever sends the bid may be anybody who knows the paddle, so the refusal does
        // not tell how far the leader goes.
        Some(leader) if leader.bidder == bidder.paddle => {
            offer.require_at_least(leader.maximum.reveal() + 1).map_err(|_| Rejection::MaximumNotRaised)?;
        }
        _ => offer.require_at_least(next_price(auction, item))?,
    }
    bidder.require_allowed(auction, item, offer.amount)?;
    let mut record = record_of(item, offer);
    let standing = Pricing::of(auction, item).after(item.standing.as_ref(), &record);
    if standing.bid == record.bid {
        record.amount = standing.amount;
    }
    let mut changes = vec![ItemChange::BidAccepted { record, standing: Some(standing) }];
    changes.extend(extension(auction, item, offer.at).map(|end| ItemChange::EndExtended { end }));
    Ok(changes)
}

/// An absentee leaves a maximum for the clerk. Nothing stands by it.
pub(super) fn place_absentee(
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
    let record = BidRecord { amount: 0, ..record_of(item, offer) };
    Ok(vec![ItemChange::BidAccepted { record, standing: item.standing.clone() }])
}

/// The item is bought at its buy-now price.
pub(super) fn buy_now(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    bidder: &Bidder,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    open_for_bids(auction, item, now)?;
    let buy_now = item.buy_now.ok_or(Rejection::NoBuyNow)?;
    if item.buy_now_open().is_none() {
        return Err(Rejection::BuyNowOver { buy_now });
    }
    let offer = Offer::of(bidder, bid, buy_now, BidSource::BuyNow, now);
    offer.require_countable(item)?;
    bidder.require_allowed(auction, item, buy_now)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = find_item_transition(&facts, &[ItemActor::Buyer], Some(ItemStatus::SoldBuyNow))?;
    let record = record_of(item, &offer);
    let standing = StandingBid {
        bid,
        number: record.number,
        bidder: record.bidder.clone(),
        amount: buy_now,
        maximum: record.maximum,
        at: now,
    };
    let mut changes = vec![ItemChange::BidAccepted { record, standing: Some(standing) }];
    changes.extend(row.changes(auction, item, None));
    Ok(changes)
}

/// A bid is cancelled: the price becomes what it would be without it.
pub(super) fn cancel(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    reason: String,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_open()?;
    if !matches!(item.status, ItemStatus::Live | ItemStatus::Suspended) {
        return Err(Rejection::ItemNotLive { status: item.status.name() });
    }
    if item.in_ring().is_some() {
        return Err(Rejection::ItemInRing);
    }
    let record = log.standing(item, bid)?;
    let standing = match auction.kind {
        AuctionKind::Timed => {
            let others = log.of_item(item)?.iter().filter(|other| other.bid != bid);
            Pricing::of(auction, item).replay(others)
        }
        AuctionKind::Webcast if is_standing(item, record) => previous_standing_bid(item, record, log),
        AuctionKind::Webcast => item.standing.clone(),
    };
    let mut changes = vec![strike(item, record, StrikeReason::Cancelled, Some(reason))];
    if standing != item.standing {
        changes.push(ItemChange::StandingChanged { standing, cause: Cause::BidCancelled });
    }
    Ok(changes)
}

pub(crate) fn is_standing(item: &Item, record: &BidRecord) -> bool {
    item.standing.as_ref().is_some_and(|standing| standing.number == record.number)
}

pub(crate) fn strike(item: &Item, record: &BidRecord, strike: StrikeReason, reason: Option<String>) -> ItemChange {
    let struck = Struck { strike, after: item.bid_count };
    ItemChange::BidStruck { number: record.number, bid: record.bid, struck, reason }
}

/// The offer as the item's next bid.
pub(crate) fn record_of(item: &Item, offer: &Offer) -> BidRecord {
    BidRecord {
        bid: offer.bid,
        number: item.bid_count + 1,
        bidder: offer.bidder.clone(),
        amount: offer.amount,
        maximum: Hidden::new(offer.amount),
        source: offer.source,
        before: item.standing.as_ref().map(|standing| standing.number),
        asked: item.in_ring().map(|ring| ring.asking_price),
        registration: offer.registration,
        at: offer.at,
        struck: None,
    }
}

fn open_for_bids(auction: &Auction, item: &Item, now: Timestamp) -> Result<(), Rejection> {
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

/// The later end that a bid at `now` makes, if it makes one.
fn extension(auction: &Auction, item: &Item, now: Timestamp) -> Option<Timestamp> {
    let window = SignedDuration::from_secs(i64::from(auction.extension_seconds?));
    let end = now.checked_add(window).ok()?;
    item.effective_end_time.is_some_and(|planned| planned < end).then_some(end)
}

impl Item {
    /// The buy-now price, until the price reaches it.
    pub(crate) fn buy_now_open(&self) -> Option<i64> {
        self.buy_now.filter(|buy_now| self.price().is_none_or(|price| price < *buy_now))
    }
}
