//! Bids of bidders who are not in the room.

pub mod absentee_bids;
pub mod bids;

/// Bids as the store keeps them.
pub mod bid {
    pub use crate::port::{Bid, BidSource, BidStrike, StruckBid};
}
