//! Bids of bidders who are not in the room, and the queue that serialises the commands on one item.

pub mod bid;
pub mod bids;
pub(crate) mod item_queue;
