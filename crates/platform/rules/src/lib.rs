//! The rules of auctions and items: who may do what when, and what follows.
//!
//! Everything here is a pure function of a state, a command and a time. Nothing reads a clock, makes a random number
//! or does IO: callers (the `platform` crate) load a state, call a `decide` function, and commit what it returns.
//!
//! ```text
//! lifecycle::decide(&Auction, &ItemCounts, AuctionCommand, now) ─> Ok(Vec<AuctionChange>)  | Err(Rejection)
//! item::decide(&Auction, &Item, ItemCommand, now) ───────────────> Ok(Vec<ItemChange>)     | Err(Rejection)
//! edit::edit, edit::replan, item::edit, item::move_plan: corrections of what was entered, and of planned ends
//! ring::decide(&Auction, &Item, RingCommand, now) ───────────────> Ok(RingDecision: both)  | Err(Rejection)
//! ```
//!
//! What it guarantees:
//! - a state moves by `state.apply(&change)` only; replaying all changes on the initial state gives the same state again;
//! - every change of a status follows a row of [`transitions`], and raises `sequence` by one;
//! - once a status of an item was announced, every later one is;
//! - whoever has the highest maximum leads, of equal ones the earliest; a price falls only by a cancellation, an undo, a
//!   retraction, a pass or a lowered asking price; an effective end only moves forward;
//! - reserves and maxima are [`Hidden`], and are in no view.
//!
//! `docs/rules.md` has each rule with a worked example; a test runs those examples.

mod auction;
mod bid;
mod bid_log;
mod bidder;
mod cause;
mod change;
pub mod edit;
mod hidden;
pub mod increments;
pub mod item;
pub mod lifecycle;
mod log;
mod paddle;
mod proxy;
mod rejection;
mod results;
pub mod ring;
pub mod test_clock;
pub mod transitions;
mod view;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules_page;
#[cfg(test)]
mod sample;

pub use auction::{
    Admission, Auction, AuctionKind, EXTENSION_SECONDS_DEFAULT, EXTENSION_SECONDS_MAX, InternetBids, Stagger,
    WebcastPhase, new_item_end,
};
pub use bid::{AMOUNT_MAX, BidSource, minimum_bid};
pub use bid_log::{BIDS_MAX, BidLog, BidRecord, StrikeReason, Struck};
pub use bidder::{Bidder, RegistrationRef};
pub use cause::Cause;
pub use change::{AuctionChange, ItemChange};
pub use edit::AuctionEdit;
pub use hidden::Hidden;
pub use increments::IncrementTable;
pub use item::{BeforePass, InRing, Item, ItemCommand, Pending, RingStatus, StandingBid};
pub use lifecycle::{AuctionCommand, ItemCounts};
pub use log::{LogHash, LogHead, Logged};
pub use paddle::{BIDDER_CHARS_MAX, paddle_problem};
pub use rejection::Rejection;
pub use results::{BASIS_POINTS_MAX, Charges, SaleResult};
pub use ring::{RingCommand, RingDecision};
pub use test_clock::{SaleMode, TestClock};
pub use view::{PublicBid, PublicItem};
