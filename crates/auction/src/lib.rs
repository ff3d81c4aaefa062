//! The rules of auctions and items: who may do what when, and what follows.
//!
//! Everything here is a pure function of a state, a command and a time. Nothing reads a clock, makes a random number
//! or does IO: callers (the `platform` crate) load a state, call a `decide` function, and commit what it returns.
//!
//! ```text
//! lifecycle::decide(&Auction, &ItemCounts, AuctionCommand, now) ─> Ok(Vec<AuctionChange>)  | Err(Rejection)
//! item::decide(&Auction, &Item, ItemCommand, now) ───────────────> Ok(Vec<ItemChange>)     | Err(Rejection)
//! ring::decide(&Auction, &Item, RingCommand, now) ───────────────> Ok(RingDecision: both)  | Err(Rejection)
//! ```
//!
//! What it guarantees:
//! - a state moves by `state.apply(&change)` only; replaying all changes on the initial state gives the same state again;
//! - every change of a status follows a row of [`transitions`], and raises `sequence` by one;
//! - once a status of an item was announced, every later one is;
//! - the standing bid is the highest accepted one, and a price never falls.

mod auction;
mod bid;
mod cause;
mod change;
pub mod increments;
pub mod item;
pub mod lifecycle;
mod rejection;
pub mod ring;
pub mod transitions;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod sample;

pub use auction::{Auction, AuctionKind, Stagger, new_item_end};
pub use bid::{AMOUNT_MAX, BIDDER_CHARS_MAX, BidSource, minimum_bid};
pub use cause::Cause;
pub use change::{AuctionChange, ItemChange};
pub use increments::IncrementTable;
pub use item::{Item, ItemCommand, RingPlace, StandingBid};
pub use lifecycle::{AuctionCommand, ItemCounts};
pub use rejection::Rejection;
pub use ring::{RingCommand, RingDecision};
