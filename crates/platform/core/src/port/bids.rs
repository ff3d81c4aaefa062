//! Stored bids: an append-only list for each item.

use jiff::Timestamp;
pub use platform_rules::BidSource;
use platform_rules::{BidRecord, Hidden, StrikeReason, Struck};
use uuid::Uuid;

/// An accepted bid. It is never edited; it can be struck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bid {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The item.
    pub item: Uuid,
    /// Number of the bid on its item, from 1 without gaps.
    pub number: i64,
    /// The bidder's paddle; 1 to 64 characters.
    pub bidder: String,
    /// The public amount when it was accepted, minor units of the auction's currency; 0 for an absentee bid.
    pub amount: i64,
    /// The bidder's maximum. It never leaves the platform.
    pub maximum: Hidden,
    /// Source of the bid.
    pub source: BidSource,
    /// Number of the bid that stood right before.
    pub before: Option<i64>,
    /// The asking price that it answered in a ring, minor units.
    pub asked: Option<i64>,
    /// Who entered it: the API key or user.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
    /// Set when the bid no longer counts.
    pub struck: Option<StruckBid>,
}

/// Why and when a bid was struck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StruckBid {
    /// Why.
    pub strike: StrikeReason,
    /// Number of the item's last bid at that moment.
    pub after: i64,
    /// The reason that a person gave; none when the asking price was lowered.
    pub reason: Option<String>,
    /// Who did it.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
}

/// A change of an accepted bid: it is struck, or without `struck` it counts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BidStrike {
    /// The item.
    pub item: Uuid,
    /// Number of the bid on it.
    pub number: i64,
    /// Why and when it was struck; none when it counts again.
    pub struck: Option<StruckBid>,
}

impl Bid {
    /// A bid on an item, as the rules accepted it; `actor` entered it.
    pub fn of(item: Uuid, record: &BidRecord, actor: &str) -> Self {
        Self {
            uuid: record.bid,
            item,
            number: record.number,
            bidder: record.bidder.clone(),
            amount: record.amount,
            maximum: record.maximum,
            source: record.source,
            before: record.before,
            asked: record.asked,
            actor: actor.to_owned(),
            at: record.at,
            struck: None,
        }
    }

    /// The bid as the rules read it, without its registration, which only the audit log has.
    pub fn record(&self) -> BidRecord {
        BidRecord {
            bid: self.uuid,
            number: self.number,
            bidder: self.bidder.clone(),
            amount: self.amount,
            maximum: self.maximum,
            source: self.source,
            before: self.before,
            asked: self.asked,
            registration: None,
            at: self.at,
            struck: self.struck.as_ref().map(|struck| Struck { strike: struck.strike, after: struck.after }),
        }
    }
}
