//! Bids of bidders who are not in the room, and the queue that serialises the commands on one item.

pub mod absentee_bids;
pub mod bids;
pub(crate) mod item_queue;

/// Bids as the store keeps them.
pub mod bid {
    pub use crate::port::{Bid, BidSource, BidStrike, StruckBid};
}
