//! The transition tables of auctions and items, as data. The rules look transitions up in them, and tests compare them
//! with `docs/run-sales/rules.md`. A transition between two statuses without a row is illegal.

mod auction;
mod item;

pub use auction::{AUCTION_TRANSITIONS, AuctionGuard, AuctionTransition};
pub(crate) use auction::{AuctionFacts, find_auction_transition, require_complete};
pub use item::{Announced, ITEM_TRANSITIONS, ItemActor, ItemGuard, ItemTransition};
pub(crate) use item::{ItemFacts, find_item_transition};
