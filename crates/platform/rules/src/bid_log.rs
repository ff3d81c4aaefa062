//! The log of an item's bids: every accepted bid in order, and whether it still counts. A bid is never edited; it
//! counts until it is struck, for a reason.
//!
//! The state of an item holds only its standing bid, so the cost of a bid does not grow with the number of bids.
//! Commands that look back (cancel, undo, retract, asking price, commission) receive the log from the caller.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{BidSource, Hidden, Item, ItemChange, RegistrationRef, Rejection, StandingBid};

/// Bids of one item, at most. It bounds what a command that looks back has to read.
pub const BIDS_MAX: i64 = 100_000;

/// An accepted bid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BidRecord {
    /// UUID, version 7.
    pub bid: Uuid,
    /// Number of the bid on its item, from 1 without gaps.
    pub number: i64,
    /// Paddle of the bidder; empty for a bidder in the room whose paddle the clerk does not know yet.
    pub bidder: String,
    /// Public amount, minor units: the price at which the bid led, or the whole bid when an earlier maximum outbid it.
    /// 0 for an absentee bid, which never stands.
    pub amount: i64,
    /// The bidder's maximum. In the ring, it equals the amount.
    pub maximum: Hidden,
    /// Source of the bid.
    pub source: BidSource,
    /// Number of the bid that stood when this one was accepted.
    pub before: Option<i64>,
    /// In the ring, the asking price that the bid answered.
    pub asked: Option<i64>,
    /// The registration that the bid was accepted under. None when none was required: in an open auction, and for bids
    /// that the clerk enters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationRef>,
    /// The server's time at which it was accepted.
    pub at: Timestamp,
    /// Set when the bid no longer counts.
    pub struck: Option<Struck>,
}

/// Why and when a bid was struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Struck {
    /// Why.
    pub strike: StrikeReason,
    /// Number of the item's last bid when this one was struck.
    pub after: i64,
}

/// Why a bid was struck: it no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StrikeReason {
    /// Cancelled by an administrator. The price becomes what it would be without the bid.
    Cancelled,
    /// Undone by the clerk. The bid that stood before it stands again.
    Undone,
    /// Retracted by its bidder. No earlier bid stands again.
    Retracted,
    /// The clerk lowered the asking price to the bid's amount or below. Raising the price reinstates the bid, until
    /// another bid is accepted or the item leaves the ring.
    Lowered,
}

impl StrikeReason {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Cancelled, Self::Undone, Self::Retracted, Self::Lowered];

    /// Stable name in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Undone => "undone",
            Self::Retracted => "retracted",
            Self::Lowered => "lowered",
        }
    }
}

impl BidRecord {
    /// True when the bid was not struck.
    pub fn stands(&self) -> bool {
        self.struck.is_none()
    }

    /// True when this is the item's standing bid.
    pub(crate) fn is_standing_on(&self, item: &Item) -> bool {
        item.standing.as_ref().is_some_and(|standing| standing.number == self.number)
    }

    /// The bid as the standing bid at this price.
    pub(crate) fn standing_at(&self, amount: i64) -> StandingBid {
        StandingBid {
            bid: self.bid,
            number: self.number,
            bidder: self.bidder.clone(),
            amount,
            maximum: self.maximum,
            at: self.at,
        }
    }

    /// The change that strikes the bid.
    pub(crate) fn strike(&self, item: &Item, strike: StrikeReason, reason: Option<String>) -> ItemChange {
        let struck = Struck { strike, after: item.bid_count };
        ItemChange::BidStruck { number: self.number, bid: self.bid, struck, reason }
    }
}

/// All bids of an item, ordered by number without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BidLog(Vec<BidRecord>);

impl BidLog {
    /// A log of these bids.
    ///
    /// Errors: `bid_log_incomplete` when their numbers are not 1, 2, 3 and so on.
    pub fn new(bids: Vec<BidRecord>) -> Result<Self, Rejection> {
        let gapless = (1..).zip(&bids).all(|(number, bid)| bid.number == number);
        if gapless { Ok(Self(bids)) } else { Err(Rejection::BidLogIncomplete) }
    }

    /// The bids, oldest first.
    pub fn bids(&self) -> &[BidRecord] {
        &self.0
    }

    /// Applies a change of the item to the log; changes that concern no bid have no effect.
    pub fn apply(&mut self, change: &ItemChange) {
        match change {
            ItemChange::BidAccepted { record, .. } => self.0.push(record.clone()),
            ItemChange::BidStruck { number, struck, .. } => {
                if let Some(bid) = self.index(*number).and_then(|index| self.0.get_mut(index)) {
                    bid.struck = Some(*struck);
                }
            }
            ItemChange::BidReinstated { number, .. } => {
                if let Some(bid) = self.index(*number).and_then(|index| self.0.get_mut(index)) {
                    bid.struck = None;
                }
            }
            _ => {}
        }
    }

    /// The bid with this number.
    pub fn get(&self, number: i64) -> Option<&BidRecord> {
        self.0.get(self.index(number)?)
    }

    fn index(&self, number: i64) -> Option<usize> {
        usize::try_from(number).ok()?.checked_sub(1)
    }

    /// The item's bids that have not lapsed. Bids newer than the given state of the item are left out; in that case the
    /// commit fails with a version conflict.
    pub(crate) fn of_item(&self, item: &Item) -> Result<&[BidRecord], Rejection> {
        let known = usize::try_from(item.bid_count).unwrap_or_default();
        let lapsed = usize::try_from(item.bids_lapsed).unwrap_or_default();
        self.0.get(lapsed.min(known)..known).ok_or(Rejection::BidLogIncomplete)
    }

    /// The bid with this UUID, if it counts on the item.
    pub(crate) fn standing(&self, item: &Item, bid: Uuid) -> Result<&BidRecord, Rejection> {
        let is_it = |record: &&BidRecord| record.bid == bid && !item.is_over(record.number, record.source);
        let found = self.of_item(item)?.iter().find(is_it).ok_or(Rejection::BidNotFound)?;
        if found.stands() { Ok(found) } else { Err(Rejection::BidStruck) }
    }
}
