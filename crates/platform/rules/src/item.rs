//! An item: one lot of an auction.

mod absentee_bid;
mod bidding;
mod buy_now;
mod buyer;
mod cancel_bid;
mod decide;
mod edit;
mod ends;
mod fields;
mod hammer_price;
mod post_sale;
mod relist;

pub use buyer::ConfirmedBuyer;
pub use decide::{ItemCommand, REASON_CHARS_MAX, decide};
pub(crate) use decide::{clean_reason, require_reason};
pub use edit::{ItemEdit, arrange, edit};
pub use ends::{move_plan, resume_after_pause};
pub use relist::{NewLot, Relisting, relist};

use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::paddle::known_paddle;
use crate::ring::PENDING_MAX;
use crate::{Auction, AuctionKind, BidSource, Cause, Hidden, LogHead};

/// Place of an item relative to the ring of a webcast, beside its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RingStatus {
    /// Not offered yet.
    #[default]
    Waiting,
    /// Waiting to be offered again: removed from the ring, offered again, or corrected. It comes after the last lot.
    WaitingAgain,
    /// In the ring.
    InRing(InRing),
    /// Sold or passed.
    Done,
}

/// State of an item in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InRing {
    /// Asking price: the next bid must reach it, minor units.
    pub asking_price: i64,
    /// True while the clerk has paused bidding.
    pub paused: bool,
    /// Fair warnings since the last bid or change of the asking price.
    pub warnings: u32,
    /// True when the clerk lowered the asking price to standing bids or below since the item entered the ring. Raising
    /// the price reinstates those bids.
    pub lowered: bool,
}

/// An internet bid that the clerk has not accepted yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingBid {
    /// The bid's UUID.
    pub bid: Uuid,
    /// Paddle of the bidder.
    pub bidder: String,
    /// Minor units.
    pub amount: i64,
    /// The server's time at which the bid arrived.
    pub at: Timestamp,
}

/// An internet bid that the clerk did not accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LostBid {
    /// The bid as it waited.
    #[serde(flatten)]
    pub bid: PendingBid,
    /// Why it waits no longer.
    pub cause: Cause,
}

/// Internet bids that were not accepted, of which an item keeps the latest: as many as can wait when the hammer falls.
const LOST_BIDS_MAX: usize = PENDING_MAX;

/// The bid that wins if nothing else happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingBid {
    /// The bid's UUID.
    pub bid: Uuid,
    /// Its number on the item.
    pub number: i64,
    /// Paddle of the bidder; empty for a bidder in the room whose paddle the clerk does not know yet.
    pub bidder: String,
    /// The price, minor units.
    pub amount: i64,
    /// The bidder's maximum. It never leaves the platform.
    pub maximum: Hidden,
    /// The server's time at which it was accepted.
    pub at: Timestamp,
}

impl StandingBid {
    /// Paddle of the bidder; none for a bidder in the room whose paddle the clerk does not know yet.
    pub fn known_bidder(&self) -> Option<&str> {
        known_paddle(&self.bidder)
    }
}

/// The state before a pass, kept while the clerk can reopen the lot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforePass {
    /// [`Item::bids_passed`] before the pass.
    pub passed: i64,
    /// The bid that stood before the pass.
    pub standing: Option<StandingBid>,
}

/// The state of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// UUID, version 7; the subject of its events.
    pub uuid: Uuid,
    /// Its auction.
    pub auction: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Lot number as printed, such as `12` or `12A`; unique in its auction.
    pub lot_number: String,
    /// Place in the running order, from 0.
    pub position: i64,
    /// Title.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Category under which the house offers it, such as `Furniture`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Image URL, stored as given.
    pub image_url: Option<String>,
    /// Images, documents and videos, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// Low estimate, minor units.
    pub low_estimate: Option<i64>,
    /// High estimate, minor units.
    pub high_estimate: Option<i64>,
    /// Opening bid, minor units; 0 means the first increment.
    pub opening_bid: i64,
    /// Reserve, minor units. It never leaves the platform.
    pub reserve: Option<Hidden>,
    /// Buy-now price, minor units; open until the price reaches it.
    pub buy_now: Option<i64>,
    /// The vendor, who may not bid on the item.
    pub vendor: Option<Uuid>,
    /// Increment at any price, minor units; replaces the auction's table.
    pub fixed_increment: Option<i64>,
    /// Status now.
    pub status: ItemStatus,
    /// True once a status was announced to the customer. Every later status is then announced too.
    pub announced: bool,
    /// Planned end in a timed auction.
    pub end_time: Option<Timestamp>,
    /// Effective end: `end_time`, or later after extensions. This end decides.
    pub effective_end_time: Option<Timestamp>,
    /// Place relative to the ring of a webcast.
    pub ring: RingStatus,
    /// The highest standing bid.
    pub standing: Option<StandingBid>,
    /// Bids accepted so far; also the number of the last one.
    pub bid_count: i64,
    /// Number of absentee bids before the first other bid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub absentee_bids: i64,
    /// Numbers of the absentee bids after the first other bid, in order: the item was bid on, and waits again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_absentee_bids: Vec<i64>,
    /// Number of the last bid that lapsed, with a withdrawal or with an offer after the sale; 0 without one.
    pub bids_lapsed: i64,
    /// Number of the last bid that ended with the clerk's last pass; 0 without one. Absentee bids continue after a
    /// pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bids_passed: i64,
    /// State before the pass, while the item is PASSED. Reopening the lot restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_pass: Option<BeforePass>,
    /// True when the standing bid is an offer that was accepted after the sale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub post_sale_offer: bool,
    /// Price at the hammer, while the item is sold at a corrected one. A later change of the status restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_before_correction: Option<i64>,
    /// Pending internet bids by time of arrival; at most one of each bidder.
    pub pending: Vec<PendingBid>,
    /// Internet bids that waited and were not accepted, the latest last; at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostBid>,
    /// The unsold item of an earlier auction that was relisted as this item.
    pub relisted_from: Option<Uuid>,
    /// The item of a later auction that this item was relisted as.
    pub relisted_as: Option<Uuid>,
    /// True in a sandbox auction, whose test clock ends the item.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// True in a rehearsal, whose events are never published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    /// Number of the last journal entry of this item, from 1 without gaps; 0 before the first.
    pub sequence: i64,
    /// Version: number of the last commit of this item, from 1. `If-Match` compares it.
    pub version: i64,
    /// Head of its log.
    #[serde(default, skip_serializing_if = "LogHead::is_empty")]
    pub log: LogHead,
    /// When it was created.
    pub created_at: Timestamp,
}

fn is_zero(count: &i64) -> bool {
    *count == 0
}

impl Item {
    /// The price: the amount of the standing bid, minor units.
    pub fn price(&self) -> Option<i64> {
        self.standing.as_ref().map(|standing| standing.amount)
    }

    /// Sets the amount of the standing bid, which is also its maximum in the ring and of an offer after the sale.
    pub(crate) fn set_price(&mut self, price: i64) {
        if let Some(standing) = &mut self.standing {
            standing.amount = price;
            standing.maximum = Hidden::new(price);
        }
    }

    /// True when a person entered what the item was sold for and to whom, so that both can be corrected: it was sold in
    /// a webcast, or to an offer after the sale.
    pub fn is_result_correctable(&self, auction: &Auction) -> bool {
        let is_entered = auction.kind == AuctionKind::Webcast || self.post_sale_offer;
        is_entered && self.status == ItemStatus::Sold && auction.require_unarchived().is_ok()
    }

    /// True when an accepted bid has not lapsed. Cancelled bids count.
    pub fn has_bids(&self) -> bool {
        self.bid_count > self.bids_lapsed
    }

    /// True for a bid made before a withdrawal, or made before a pass unless it is an absentee bid.
    pub fn is_over(&self, number: i64, source: BidSource) -> bool {
        number <= self.bids_lapsed || (number <= self.bids_passed && source != BidSource::Absentee)
    }

    /// True when an absentee bid was accepted. It may have been withdrawn since.
    pub fn has_absentee_bids(&self) -> bool {
        self.absentee_bids > 0 || !self.later_absentee_bids.is_empty()
    }

    /// Public number of a bid. Absentee bids are secret, so they have none and the other numbers skip them.
    pub fn shown_number(&self, number: i64) -> Option<i64> {
        let is_absentee = number <= self.absentee_bids || self.later_absentee_bids.binary_search(&number).is_ok();
        (!is_absentee).then(|| self.shown_through(number))
    }

    /// Number of public bids up to the bid with this number.
    pub fn shown_through(&self, number: i64) -> i64 {
        let later = self.later_absentee_bids.partition_point(|later| *later <= number);
        number - number.min(self.absentee_bids) - i64::try_from(later).unwrap_or(0)
    }

    /// Number of the last bid before the public bid that follows this public number: where a list continues.
    pub fn number_before_shown(&self, after: i64) -> i64 {
        let mut number = self.absentee_bids.saturating_add(after);
        for later in &self.later_absentee_bids {
            // An absentee bid directly after this number is skipped, too.
            if *later > number.saturating_add(1) {
                break;
            }
            number = number.saturating_add(1);
        }
        number
    }

    /// True when a public bid was accepted that has not lapsed.
    pub(crate) fn has_shown_bids(&self) -> bool {
        self.shown_bids() > self.shown_through(self.bids_lapsed)
    }

    /// Number of public bids.
    pub fn shown_bids(&self) -> i64 {
        self.shown_through(self.bid_count)
    }

    /// Its state in the ring; none outside of the ring.
    pub fn in_ring(&self) -> Option<InRing> {
        match self.ring {
            RingStatus::InRing(ring) => Some(ring),
            RingStatus::Waiting | RingStatus::WaitingAgain | RingStatus::Done => None,
        }
    }

    /// True when the price has reached the reserve; none without a reserve. This is public, the reserve is not.
    pub fn reserve_met(&self) -> Option<bool> {
        self.reserve.map(|reserve| self.price().is_some_and(|price| price >= reserve.reveal()))
    }

    /// Sets the pending internet bids, and keeps those that are lost.
    pub(crate) fn set_pending(&mut self, pending: &[PendingBid], lost: &[Uuid], cause: Cause) {
        let before = std::mem::replace(&mut self.pending, pending.to_vec());
        let is_lost = |was: &PendingBid| lost.contains(&was.bid);
        self.lost.extend(before.into_iter().filter(is_lost).map(|bid| LostBid { bid, cause }));
        let surplus = self.lost.len().saturating_sub(LOST_BIDS_MAX);
        self.lost.drain(..surplus);
    }

    /// True when the item is sold to a buyer in the room whose paddle the clerk has not entered yet.
    pub fn is_buyer_open(&self) -> bool {
        self.status == ItemStatus::Sold && self.standing.as_ref().is_some_and(|bid| bid.known_bidder().is_none())
    }

    /// True when the item would be sold if it ended now: a bid stands, and the price has reached the reserve.
    pub fn would_sell(&self) -> bool {
        self.standing.is_some() && self.reserve_met().unwrap_or(true)
    }
}
