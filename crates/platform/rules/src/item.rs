//! An item: one lot of an auction.

mod bidding;
mod decide;
mod edit;
mod fields;
mod relist;

pub(crate) use bidding::{is_standing, record_of, strike};
pub(crate) use decide::require_reason;
pub use decide::{ItemCommand, REASON_CHARS_MAX, decide};
pub use edit::{ItemEdit, edit, move_plan};
pub use relist::{NewLot, Relisting, relist};

use contract::ItemStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Auction, AuctionKind, BidSource, Hidden, LogHead, new_item_end};

/// Where an item of a webcast is, apart from its status (decisions, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RingStatus {
    /// Not offered yet, or to be offered again.
    #[default]
    Waiting,
    /// Offered now.
    InRing(InRing),
    /// Sold or passed.
    Done,
}

/// How an item in the ring is being offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InRing {
    /// What the next bid has to reach, minor units.
    pub asking_price: i64,
    /// No bid is taken for the moment.
    pub paused: bool,
    /// Fair warnings since the last bid or price.
    pub warnings: u32,
    /// The asking price was lowered to standing bids or below, since the item came in: raising it brings them back.
    pub lowered: bool,
}

/// An internet bid that waits for the clerk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The bid's UUID.
    pub bid: Uuid,
    /// Who offers it.
    pub bidder: String,
    /// Minor units.
    pub amount: i64,
    /// The server's time at which it came.
    pub at: Timestamp,
}

/// The bid that wins if nothing else happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingBid {
    /// The bid's UUID.
    pub bid: Uuid,
    /// Its number on the item.
    pub number: i64,
    /// Who made it, as others see it.
    pub bidder: String,
    /// The price, minor units.
    pub amount: i64,
    /// How far its bidder goes. Never leaves the platform.
    pub maximum: Hidden,
    /// The server's time at which it was accepted.
    pub at: Timestamp,
}

/// What a pass has put an end to, as long as it can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforePass {
    /// [`Item::bids_passed`] before.
    pub passed: i64,
    /// The bid that stood.
    pub standing: Option<StandingBid>,
}

/// The state of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// UUID, version 7; the subject of its events.
    pub uuid: Uuid,
    /// The auction that it is a lot of.
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
    /// Image address; kept as given.
    pub image_url: Option<String>,
    /// Images, documents and videos beside it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<UrlAttachmentApiModel>,
    /// Low estimate, minor units.
    pub low_estimate: Option<i64>,
    /// High estimate, minor units.
    pub high_estimate: Option<i64>,
    /// Opening bid, minor units; 0 means the first increment.
    pub opening_bid: i64,
    /// Lowest price that sells, minor units. Never leaves the platform.
    pub reserve: Option<Hidden>,
    /// Price at which it can be bought at once, until the price reaches it, minor units.
    pub buy_now: Option<i64>,
    /// The party that sells it, and may not bid on it.
    pub vendor: Option<Uuid>,
    /// Increment of this item at any price, minor units, instead of the auction's table.
    pub fixed_increment: Option<i64>,
    /// Status now.
    pub status: ItemStatus,
    /// True once a status of this item has been announced: every later change is announced too.
    pub announced: bool,
    /// Planned end of an item in a timed auction.
    pub end_time: Option<Timestamp>,
    /// Real end: `end_time`, or later after extensions. Every reader uses this one.
    pub effective_end_time: Option<Timestamp>,
    /// Place in a webcast's ring.
    pub ring: RingStatus,
    /// The highest standing bid.
    pub standing: Option<StandingBid>,
    /// Bids accepted so far; also the number of the last one.
    pub bid_count: i64,
    /// How many of them are maxima that absentees left. These come before all others: nobody leaves one when the webcast is live.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub absentee_bids: i64,
    /// Number of the last bid that lapsed with a withdrawal; 0 when none did.
    pub bids_lapsed: i64,
    /// Number of the last bid that the clerk's last pass was the end of; 0 when there was none. What absentees left goes on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bids_passed: i64,
    /// What stood when it was passed, while it is PASSED: if the clerk reopens it, that stands again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_pass: Option<BeforePass>,
    /// Internet bids that wait for the clerk, by the time at which they came; at most one of a bidder.
    pub pending: Vec<Pending>,
    /// The unsold item of an earlier auction that this one offers again.
    pub relisted_from: Option<Uuid>,
    /// The item of a later auction that offers this one again.
    pub relisted_as: Option<Uuid>,
    /// True in a sandbox auction, whose own clock ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// Number of the last journal entry of this item, from 1 without gaps; 0 before the first.
    pub sequence: i64,
    /// Number of the last commit of this item, from 1; what `If-Match` compares.
    pub version: i64,
    /// Where its log has come to.
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

    /// If bids were accepted that did not lapse; those that were cancelled count.
    pub fn has_bids(&self) -> bool {
        self.bid_count > self.bids_lapsed
    }

    /// If a bid of it is over: it was made before a withdrawal, or, other than what an absentee left, before a pass.
    pub fn is_over(&self, number: i64, source: BidSource) -> bool {
        number <= self.bids_lapsed || (number <= self.bids_passed && source != BidSource::Absentee)
    }

    /// Number of a bid as others see it, who see nothing of what absentees left; none for one of those.
    pub fn shown_number(&self, number: i64) -> Option<i64> {
        Some(number - self.absentee_bids).filter(|number| *number > 0)
    }

    /// If bids were accepted, and did not lapse, that others know of.
    pub(crate) fn has_shown_bids(&self) -> bool {
        self.bid_count > self.bids_lapsed.max(self.absentee_bids)
    }

    /// Bids as others count them.
    pub fn shown_bids(&self) -> i64 {
        self.bid_count - self.absentee_bids
    }

    /// How it is being offered, when it is in the ring.
    pub fn in_ring(&self) -> Option<InRing> {
        match self.ring {
            RingStatus::InRing(ring) => Some(ring),
            RingStatus::Waiting | RingStatus::Done => None,
        }
    }

    /// If the price has reached the reserve; none when there is no reserve. It may be shown, the reserve may not.
    pub fn reserve_met(&self) -> Option<bool> {
        self.reserve.map(|reserve| self.price().is_some_and(|price| price >= reserve.reveal()))
    }

    /// If it is sold when it ends now: there is a standing bid, and the price has reached the reserve.
    pub fn would_sell(&self) -> bool {
        self.standing.is_some() && self.reserve_met().unwrap_or(true)
    }

    /// What this item binds of the bidder's spending limit, minor units: the whole maximum while it may still be sold to
    /// them, the hammer price when it was.
    pub fn committed_by(&self, paddle: &str) -> i64 {
        let Some(standing) = self.standing.as_ref().filter(|standing| standing.bidder == paddle) else { return 0 };
        match self.status {
            ItemStatus::Sold | ItemStatus::SoldBuyNow => standing.amount,
            ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended => {
                standing.maximum.reveal()
            }
            ItemStatus::Unsold | ItemStatus::Passed | ItemStatus::Withdrawn => 0,
        }
    }

    /// The end to plan for an item of a timed auction that has no effective end yet.
    pub(crate) fn end_to_plan(&self, auction: &Auction) -> Option<Timestamp> {
        match (auction.kind, self.effective_end_time) {
            (AuctionKind::Timed, None) => self.end_time.or_else(|| new_item_end(auction, self.position)),
            _ => None,
        }
    }
}
