//! Bids as they are stored: an append-only record for each item.

use jiff::Timestamp;
pub use platform_rules::BidSource;
use platform_rules::{BidRecord, Hidden, StrikeReason, Struck};
use uuid::Uuid;

/// An accepted bid. Never edited; it can be struck, with who, when and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bid {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The item.
    pub item: Uuid,
    /// Number of the bid on its item, from 1 without gaps.
    pub number: i64,
    /// Who bids, as the caller names bidders; 1 to 64 characters.
    pub bidder: String,
    /// What it came to at once, minor units of the auction's currency; 0 for an absentee's maximum.
    pub amount: i64,
    /// How far the bidder goes. Never leaves the platform.
    pub maximum: Hidden,
    /// Where it came from.
    pub source: BidSource,
    /// Number of the bid that stood right before.
    pub before: Option<i64>,
    /// The asking price that it answered in a ring, minor units.
    pub asked: Option<i64>,
    /// Who entered it: the API key or user.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
    /// Set when it does not count any more.
    pub struck: Option<StruckBid>,
}

/// How a bid came to count no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StruckBid {
    /// What became of it.
    pub strike: StrikeReason,
    /// Number of the item's last bid at that moment.
    pub after: i64,
    /// Why, in a person's words; none when the asking price was lowered.
    pub reason: Option<String>,
    /// Who did it.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
}

/// What becomes of a bid that was accepted before: it is struck, or with none it counts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BidStrike {
    /// The item.
    pub item: Uuid,
    /// Number of the bid on it.
    pub number: i64,
    /// How it was struck.
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

    /// The bid as the rules read it, which ask for no registration when they look back: the log alone has it.
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
