//! Bids that wait for the clerk, and web bids that were refused or not taken.

use kit_runtime::clock::rfc3339_ms;
use platform_core::ring::{LateBid, WaitingBid};
use platform_rules::{BidSource, Cause, Item, LostBid, PendingBid};
use serde::Serialize;
use uuid::Uuid;

use super::amounts::{Amount, Money};

/// Web bids shown that were not taken.
const LOST_SHOWN_MAX: usize = 10;

#[derive(Debug, Serialize)]
pub(super) struct PendingView {
    uuid: Uuid,
    bidder: String,
    amount: Amount,
    at: String,
}

#[derive(Debug, Serialize)]
pub(super) struct WaitingView {
    /// The web bid, or the commission.
    bid: Uuid,
    source: &'static str,
    bidder: String,
    amount: Amount,
    /// Where it waits, in words.
    place: &'static str,
}

/// A web bid that was refused, or that waited and was not taken.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LateView {
    bidder: String,
    amount: Amount,
    text: String,
    at: String,
}

pub(super) fn pending(bid: &PendingBid, money: &Money) -> PendingView {
    PendingView { uuid: bid.bid, bidder: bid.bidder.clone(), amount: money.amount(bid.amount), at: rfc3339_ms(bid.at) }
}

pub(super) fn waiting(bid: &WaitingBid, money: &Money) -> WaitingView {
    let place = if bid.source == BidSource::Internet { "on the internet" } else { "in the book" };
    let amount = money.amount(bid.amount);
    WaitingView { bid: bid.bid, source: bid.source.as_str(), bidder: bid.bidder.clone(), amount, place }
}

pub(super) fn late(bid: &LateBid, money: &Money) -> LateView {
    let why = match bid.code {
        "bid_too_low" => "below the asking price",
        "ring_paused" => "while bidding was paused",
        "already_leading" => "from the leading bidder",
        "spending_limit_reached" => "above the spending limit",
        "bidder_not_approved" | "bidder_suspended" => "from a bidder who may not bid",
        "not_in_ring" => "the lot was not in the ring",
        _ => "refused",
    };
    let text = match bid.late_ms {
        Some(late_ms) => format!("{}.{} s after the hammer", late_ms / 1_000, late_ms % 1_000 / 100),
        None => why.to_owned(),
    };
    LateView { bidder: bid.bidder.clone(), amount: money.amount(bid.amount), text, at: rfc3339_ms(bid.at) }
}

/// The web bids that were not taken, without those that their bidder replaced.
pub(super) fn lost(item: &Item, money: &Money) -> Vec<LateView> {
    let why = |cause| match cause {
        Cause::BidTaken => "outbid while it waited",
        Cause::SoldInRing => "not taken before the hammer",
        Cause::PassedInRing => "not taken before the pass",
        Cause::RemovedFromRing => "the lot was removed from the ring",
        Cause::AskingPriceSet => "the asking price was set anew",
        _ => "a bid was taken back",
    };
    let shown = item.lost.iter().rev().filter(|lost| lost.cause != Cause::BidOffered).take(LOST_SHOWN_MAX);
    let view = |lost: &LostBid| LateView {
        bidder: lost.bid.bidder.clone(),
        amount: money.amount(lost.bid.amount),
        text: format!("Lot {}: {}", item.lot_number, why(lost.cause)),
        at: rfc3339_ms(lost.bid.at),
    };
    shown.map(view).collect()
}
