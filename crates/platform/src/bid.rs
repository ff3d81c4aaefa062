//! Bids as they are kept: an append-only record per item.

pub use auction::BidSource;
use jiff::Timestamp;
use uuid::Uuid;

/// An accepted bid. Never edited.
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
    /// Minor units of the auction's currency.
    pub amount: i64,
    /// Where it came from.
    pub source: BidSource,
    /// Who entered it: the API key or user.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
}
