//! Both transition tables of decisions, section 2, as data: the code consults them, tests walk them, documents print
//! them. A pair of statuses that is in no row is illegal.

mod auction;
mod item;

pub use auction::{AUCTION_TRANSITIONS, AuctionGuard, AuctionTransition};
pub(crate) use auction::{AuctionFacts, find_auction_transition, require_complete};
pub use item::{Announced, ITEM_TRANSITIONS, ItemActor, ItemGuard, ItemTransition};
pub(crate) use item::{ItemFacts, find_item_transition};
