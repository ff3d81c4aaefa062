//! Both transition tables of decisions, section 2, as data: the code consults them, tests walk them, documents print
//! them. A pair of statuses that is in no row is illegal.

mod auction;
mod item;

pub use auction::{AUCTION_TRANSITIONS, AuctionGuard, AuctionTransition};
pub(crate) use auction::{AuctionFacts, follow_auction, require_complete};
pub use item::{Announced, ITEM_TRANSITIONS, ItemBy, ItemGuard, ItemTransition};
pub(crate) use item::{ItemFacts, follow_item};
