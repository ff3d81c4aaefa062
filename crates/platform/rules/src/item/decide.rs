//! Decides commands on an item outside of the ring: creation, changes of status, bids, ends.

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::buyer::ConfirmedBuyer;
use super::{absentee_bid, bidding, buy_now, buyer, cancel_bid, ends, fields, hammer_price, post_sale};
use crate::bid::Offer;
use crate::transitions::{ItemActor, ItemFacts, ItemTransition, find_item_transition};
use crate::{Auction, BidLog, BidSource, Bidder, Cause, Item, ItemChange, Rejection, RingStatus};

/// Characters of a reason, at most.
pub const REASON_CHARS_MAX: usize = 500;

/// A command on an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemCommand {
    /// An API call creates the item, as DRAFT, or as LIVE in a LIVE auction. The given state has `sequence` 0.
    Create {
        /// First status.
        status: ItemStatus,
    },
    /// A catalogue import creates the item, under the rules of [`ItemCommand::Create`].
    Import {
        /// First status.
        status: ItemStatus,
    },
    /// An administrator changes the status. From SOLD or PASSED to LIVE, this is a correction; from SOLD or SOLD_BUY_NOW
    /// to UNSOLD, the buyer did not pay.
    ChangeStatus {
        /// Requested status.
        to: ItemStatus,
        /// Why; required for a suspension, for its end, for a correction, and for a buyer who did not pay.
        reason: Option<String>,
    },
    /// The item goes LIVE with its auction. A DRAFT item passes through PREVIEW.
    GoLive,
    /// A timer reports that the effective end is reached.
    ReachEnd,
    /// A bidder bids in a timed auction.
    PlaceBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The bidder.
        bidder: Bidder,
        /// The bidder's maximum, minor units. The platform bids up to it by proxy, never more than needed.
        amount: i64,
    },
    /// An absentee leaves a maximum while the item of a webcast is not in the ring. It replaces an earlier one of the same
    /// bidder.
    PlaceAbsenteeBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The bidder.
        bidder: Bidder,
        /// How much the clerk may bid at most, minor units.
        maximum: i64,
        /// The caller confirmed a maximum far from the item's known amounts, which is rejected with `unusual_amount`
        /// otherwise.
        unusual_amount: bool,
    },
    /// The maximum of an absentee is withdrawn while the item is not in the ring.
    WithdrawAbsenteeBid {
        /// The absentee's paddle.
        bidder: String,
        /// Why; optional.
        reason: Option<String>,
        /// The item's bids.
        log: BidLog,
    },
    /// A bidder buys an item of a timed auction at its buy-now price.
    BuyNow {
        /// UUID of the bid that records the purchase.
        bid: Uuid,
        /// The buyer.
        bidder: Bidder,
    },
    /// An administrator cancels a bid.
    CancelBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// An administrator moves the effective end of an item of a timed auction to a later time.
    MoveEnd {
        /// The new effective end.
        to: Timestamp,
        /// Why.
        reason: String,
    },
    /// A timer finds that the effective end passed while the platform was down, and extends it.
    ExtendEndAfterDowntime {
        /// The new effective end.
        to: Timestamp,
    },
    /// A clerk or an administrator corrects a sale or a pass: the item is LIVE again.
    Correct {
        /// Why.
        reason: String,
    },
    /// The auction is reconciled: a PASSED item becomes UNSOLD.
    Reconcile,
    /// The auction was a mistake and is archived: the item becomes WITHDRAWN.
    Archive {
        /// Why the auction is archived.
        reason: String,
    },
    /// The clerk names the buyer of an item that was sold in the room, or changes the buyer; the price stays.
    ChangeBuyer {
        /// The buyer.
        bidder: Bidder,
        /// Why; required when the buyer was known before, and above a spending limit.
        reason: Option<String>,
        /// The clerk's confirmations. A buyer who needs one is rejected without it, with `bidder_not_approved` or
        /// `spending_limit_reached`.
        confirmed: ConfirmedBuyer,
    },
    /// The hammer price of a sold item is corrected; the buyer stays.
    CorrectPrice {
        /// The right hammer price, minor units.
        amount: i64,
        /// Why.
        reason: String,
        /// The caller confirmed a price far from the price before, which is rejected with `unusual_amount` otherwise.
        unusual_amount: bool,
    },
    /// An administrator accepts an offer for a PASSED or UNSOLD item: it is SOLD.
    AcceptOffer {
        /// UUID of the bid that records the offer.
        bid: Uuid,
        /// The buyer, who has to be registered.
        bidder: Bidder,
        /// Hammer price, minor units; it may lie below the reserve.
        amount: i64,
        /// Why.
        reason: String,
        /// The caller confirmed an amount far from the item's known amounts, which is rejected with `unusual_amount`
        /// otherwise.
        unusual_amount: bool,
    },
}

/// Decides a command on an item.
///
/// Errors: `item_not_in_auction`, `sandbox_mismatch`, `illegal_transition`, `field_invalid`, and those of the guards in
/// [`ITEM_TRANSITIONS`](crate::transitions::ITEM_TRANSITIONS); for a bid `wrong_auction_kind`, `auction_not_live`,
/// `item_not_live`, `auction_not_started`, `item_ended`, `bid_too_low`, `bid_too_high`, `maximum_not_raised`,
/// `too_many_bids`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`,
/// `item_in_ring`; for an absentee bid, an offer and a hammer price also `unusual_amount`; for a withdrawal of an absentee
/// bid also `no_commission`; for a purchase `no_buy_now`, `buy_now_over`; for a cancellation `bid_not_found`, `bid_struck`,
/// `bid_log_incomplete`, `item_in_ring`, `reason_required`; for an end `end_not_later`, `end_not_reached`, and
/// `item_not_live`, by which a late or repeated timer learns that another timer has ended the item; for an offer after the
/// sale `buyer_not_registered`, `already_relisted` and those of a bid; for a buyer `item_not_sold` and those of a bid; for a hammer
/// price `item_not_sold`, `wrong_auction_kind`, `auction_closed`, `bid_too_high`, `field_invalid`.
pub fn decide(
    auction: &Auction,
    item: &Item,
    command: ItemCommand,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    match command {
        ItemCommand::Create { status } => create(auction, item, ItemActor::Creation, status, now),
        ItemCommand::Import { status } => create(auction, item, ItemActor::Import, status, now),
        ItemCommand::ChangeStatus { to: ItemStatus::Sold, reason }
            if matches!(item.current(), Some(ItemStatus::Unsold | ItemStatus::Passed)) =>
        {
            change_status(auction, item, &[ItemActor::PostSaleOffer], ItemStatus::Sold, reason, now)?;
            Err(Rejection::OfferRequired)
        }
        ItemCommand::ChangeStatus { to, reason } => {
            change_status(auction, item, &[ItemActor::Administrator, ItemActor::Correction], to, reason, now)
        }
        ItemCommand::Correct { reason } => {
            change_status(auction, item, &[ItemActor::Correction], ItemStatus::Live, Some(reason), now)
        }
        ItemCommand::GoLive => go_live(auction, item, now),
        ItemCommand::ReachEnd => {
            item.require_live()?;
            let facts = ItemFacts { auction, item, reason: None, now };
            Ok(find_item_transition(&facts, &[ItemActor::End], None)?.changes(auction, item, None))
        }
        ItemCommand::ExtendEndAfterDowntime { to } => ends::extend_end_after_downtime(auction, item, to, now),
        ItemCommand::Reconcile => {
            let facts = ItemFacts { auction, item, reason: None, now };
            let row = find_item_transition(&facts, &[ItemActor::Reconciliation], Some(ItemStatus::Unsold))?;
            Ok(row.changes(auction, item, None))
        }
        ItemCommand::Archive { reason } => {
            change_status(auction, item, &[ItemActor::AuctionArchived], ItemStatus::Withdrawn, Some(reason), now)
        }
        ItemCommand::ChangeBuyer { bidder, reason, confirmed } => {
            buyer::change_buyer(auction, item, bidder, (reason, confirmed))
        }
        ItemCommand::CorrectPrice { amount, reason, unusual_amount } => {
            hammer_price::correct(auction, item, (amount, unusual_amount), require_reason(reason)?)
        }
        ItemCommand::AcceptOffer { bid, bidder, amount, reason, unusual_amount } => {
            let offer = Offer::of(&bidder, bid, amount, BidSource::PostSaleOffer, now);
            post_sale::accept_offer(auction, item, &bidder, (&offer, unusual_amount), require_reason(reason)?)
        }
        ItemCommand::PlaceBid { bid, bidder, amount } => {
            let offer = Offer::of(&bidder, bid, amount, BidSource::Internet, now);
            bidding::place(auction, item, &bidder, &offer)
        }
        ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum, unusual_amount } => {
            let offer = Offer::of(&bidder, bid, maximum, BidSource::Absentee, now);
            absentee_bid::place(auction, item, &bidder, (&offer, unusual_amount))
        }
        ItemCommand::WithdrawAbsenteeBid { bidder, reason, log } => {
            absentee_bid::withdraw(auction, item, &bidder, clean_reason(reason)?, &log)
        }
        ItemCommand::BuyNow { bid, bidder } => buy_now::buy_now(auction, item, bid, &bidder, now),
        ItemCommand::CancelBid { bid, reason, log } => {
            cancel_bid::cancel(auction, item, bid, require_reason(reason)?, &log)
        }
        ItemCommand::MoveEnd { to, reason } => ends::move_end(auction, item, to, require_reason(reason)?, now),
    }
}

fn create(
    auction: &Auction,
    item: &Item,
    by: ItemActor,
    status: ItemStatus,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    fields::require_valid(item)?;
    fields::require_valid_in_auction(auction, item)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    Ok(find_item_transition(&facts, &[by], Some(status))?.changes(auction, item, None))
}

fn change_status(
    auction: &Auction,
    item: &Item,
    by: &[ItemActor],
    to: ItemStatus,
    reason: Option<String>,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    let reason = clean_reason(reason)?;
    let facts = ItemFacts { auction, item, reason: reason.as_deref(), now };
    let row = find_item_transition(&facts, by, Some(to))?;
    Ok(row.changes(auction, item, reason))
}

/// The reason without leading and trailing white space; none when nothing remains.
pub(crate) fn clean_reason(reason: Option<String>) -> Result<Option<String>, Rejection> {
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let is_control = |char: char| char.is_control() && char != '\n';
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON_CHARS_MAX || reason.contains(is_control)) {
        let problem = "must have at most 500 characters, and no control character but line breaks";
        return Err(Rejection::FieldInvalid { field: "reason", problem });
    }
    Ok(reason)
}

/// A reason that is not blank.
pub(crate) fn require_reason(reason: String) -> Result<String, Rejection> {
    clean_reason(Some(reason))?.ok_or(Rejection::ReasonRequired)
}

fn go_live(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    let step = |item: &Item, to| {
        let facts = ItemFacts { auction, item, reason: None, now };
        find_item_transition(&facts, &[ItemActor::AuctionGoesLive], Some(to))
            .map(|row| row.changes(auction, item, None))
    };
    if item.current() != Some(ItemStatus::Draft) {
        return step(item, ItemStatus::Live);
    }
    let mut changes = step(item, ItemStatus::Preview)?;
    let mut previewed = item.clone();
    changes.iter().for_each(|change| previewed.apply(change));
    changes.extend(step(&previewed, ItemStatus::Live)?);
    Ok(changes)
}

impl Item {
    pub(crate) fn require_in(&self, auction: &Auction) -> Result<(), Rejection> {
        if self.auction != auction.uuid {
            return Err(Rejection::ItemNotInAuction);
        }
        if self.sale_mode() == auction.sale_mode() { Ok(()) } else { Err(Rejection::SandboxMismatch) }
    }

    pub(crate) fn require_live(&self) -> Result<(), Rejection> {
        match self.status {
            ItemStatus::Live => Ok(()),
            status => Err(Rejection::ItemNotLive { status: status.name() }),
        }
    }
}

impl ItemTransition {
    /// The changes of an item by this row: the status, and the changes that always accompany it. An item that is
    /// created or goes LIVE in a timed auction gets its end. An item that was sold or passed in the ring waits again
    /// when it is back to LIVE or DRAFT. The bids of an item that is reinstated after a withdrawal lapse, and so do those of
    /// an item that was sold to an offer after the sale and is LIVE again.
    pub(crate) fn changes(&self, auction: &Auction, item: &Item, reason: Option<String>) -> Vec<ItemChange> {
        let announced = self.announced.applies_to(item);
        let mut changes = Vec::with_capacity(2);
        if self.from.is_none() || self.to == ItemStatus::Live {
            changes.extend(item.end_to_plan(auction).map(|end| ItemChange::EndPlanned { end }));
        }
        changes.push(ItemChange::StatusChanged { from: self.from, to: self.to, cause: self.cause, announced, reason });
        if item.ring == RingStatus::Done && matches!(self.to, ItemStatus::Live | ItemStatus::Draft) {
            let ring = if self.to == ItemStatus::Live { RingStatus::WaitingAgain } else { RingStatus::Waiting };
            changes.push(ItemChange::RingChanged { ring, cause: self.cause });
        }
        let is_offer_over = item.post_sale_offer && self.to == ItemStatus::Live;
        if (self.cause == Cause::Reinstated || is_offer_over) && item.has_bids() {
            changes.push(ItemChange::BidsLapsed { through: item.bid_count, cause: self.cause });
        }
        changes
    }
}

#[cfg(test)]
mod tests;
