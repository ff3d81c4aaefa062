//! The bids of an item as they were taken, in order, and what became of each. A bid is never edited: it stands, or it was
//! struck, for a cause (decisions, sections 6 and 7).
//!
//! An item's state knows its standing bid only, so that a bid costs the same after ten as after ten thousand. Commands
//! that look back (cancel, undo, retract, asking price, commission) are given the log as a fact.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{BidSource, Hidden, Item, ItemChange, RegistrationRef, Rejection};

/// Bids of one item, at most: what a command that looks back may have to read.
pub const BIDS_MAX: i64 = 100_000;

/// A bid that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BidRecord {
    /// UUID, version 7.
    pub bid: Uuid,
    /// Number of the bid on its item, from 1 without gaps.
    pub number: i64,
    /// Who bid, as others see it.
    pub bidder: String,
    /// What it came to at once, minor units, as others see it: the price that its bidder led at, or, outbid at once, the
    /// whole bid. 0 for an absentee's maximum, which is no offer yet.
    pub amount: i64,
    /// How far the bidder goes. In a ring, the amount.
    pub maximum: Hidden,
    /// Where it came from.
    pub source: BidSource,
    /// Number of the bid that stood right before this one.
    pub before: Option<i64>,
    /// The asking price that it answered, in a ring.
    pub asked: Option<i64>,
    /// The registration that it was taken under; none where nobody asked for one: in an open auction, and by the clerk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationRef>,
    /// The server's time.
    pub at: Timestamp,
    /// Set when it does not count any more.
    pub struck: Option<Struck>,
}

/// A bid that does not count any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Struck {
    /// Why.
    pub strike: StrikeReason,
    /// Number of the item's last bid at that moment.
    pub after: i64,
}

/// Why a bid does not count any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StrikeReason {
    /// Cancelled by an administrator: it is as if it had never been made.
    Cancelled,
    /// Undone by the clerk: what stood before stands again.
    Undone,
    /// Taken back by its bidder: no earlier bid comes back.
    Retracted,
    /// The asking price was lowered to it or below. Raising the price again brings it back, until
    /// another bid is taken or the item leaves the ring.
    Lowered,
}

impl StrikeReason {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Cancelled, Self::Undone, Self::Retracted, Self::Lowered];

    /// Stable word, as APIs carry it.
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
    /// If it counts.
    pub fn stands(&self) -> bool {
        self.struck.is_none()
    }
}

/// All bids of an item by their number, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BidLog(Vec<BidRecord>);

impl BidLog {
    /// The log of these bids. Errors: `bid_log_incomplete` when their numbers are not 1, 2, 3 and so on.
    pub fn new(bids: Vec<BidRecord>) -> Result<Self, Rejection> {
        let gapless = (1..).zip(&bids).all(|(number, bid)| bid.number == number);
        if gapless { Ok(Self(bids)) } else { Err(Rejection::BidLogIncomplete) }
    }

    /// The bids, the first one first.
    pub fn bids(&self) -> &[BidRecord] {
        &self.0
    }

    /// Takes over what a change does to bids.
    pub fn apply(&mut self, change: &ItemChange) {
        match change {
            ItemChange::BidAccepted { record, .. } => self.0.push(record.clone()),
            ItemChange::BidStruck { number, struck, .. } => {
                if let Some(bid) = self.place(*number).and_then(|place| self.0.get_mut(place)) {
                    bid.struck = Some(*struck);
                }
            }
            ItemChange::BidReinstated { number, .. } => {
                if let Some(bid) = self.place(*number).and_then(|place| self.0.get_mut(place)) {
                    bid.struck = None;
                }
            }
            _ => {}
        }
    }

    /// The bid with this number.
    pub fn get(&self, number: i64) -> Option<&BidRecord> {
        self.0.get(self.place(number)?)
    }

    fn place(&self, number: i64) -> Option<usize> {
        usize::try_from(number).ok()?.checked_sub(1)
    }

    /// The bids that the item knows of and that have not lapsed. Bids that came after the item was read are left out: the
    /// commit will find out.
    pub(crate) fn of_item(&self, item: &Item) -> Result<&[BidRecord], Rejection> {
        let known = usize::try_from(item.bid_count).unwrap_or_default();
        let lapsed = usize::try_from(item.bids_lapsed).unwrap_or_default();
        self.0.get(lapsed.min(known)..known).ok_or(Rejection::BidLogIncomplete)
    }

    /// A bid of the item that counts.
    pub(crate) fn standing(&self, item: &Item, bid: Uuid) -> Result<&BidRecord, Rejection> {
        let is_it = |record: &&BidRecord| record.bid == bid && !item.is_over(record.number, record.source);
        let found = self.of_item(item)?.iter().find(is_it).ok_or(Rejection::BidNotFound)?;
        if found.stands() { Ok(found) } else { Err(Rejection::BidStruck) }
    }
}
