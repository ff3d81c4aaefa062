//! The rules of auctions and items: which command is allowed when, and what it changes.
//!
//! Every rule is a pure function of a state, a command and a time. No function reads a clock, makes a random number or
//! does IO. The caller, the `platform-core` crate, loads a state, calls a `decide` function, and commits the changes
//! that it returns.
//!
//! ```text
//! lifecycle::decide(&Auction, &ItemCounts, AuctionCommand, now) ─> Ok(Vec<AuctionChange>)  | Err(Rejection)
//! item::decide(&Auction, &Item, ItemCommand, now) ───────────────> Ok(Vec<ItemChange>)     | Err(Rejection)
//! edit::edit, edit::replan, item::edit, item::move_plan: corrections of fields and of planned ends
//! ring::decide(&Auction, &Item, RingCommand, now) ───────────────> Ok(RingDecision: both)  | Err(Rejection)
//! ```
//!
//! Guarantees:
//! - A state changes only by `state.apply(&change)`. Replaying all changes on the initial state gives the same state.
//! - Every change of a status follows a row of [`transitions`] and increments `sequence`.
//! - After the first announced status of an item, every later status is announced too.
//! - The bidder with the highest maximum leads; among equal maxima, the earliest. A price falls only by a cancellation,
//!   an undo, a retraction, a pass or a lowered asking price. An effective end only moves later.
//! - Reserves and maxima are [`Hidden`], and no public view contains them.
//!
//! `docs/run-sales/rules.md` explains each rule with worked examples; the test `rules_page` runs those examples.

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
mod spending_limit;
mod stagger;
pub mod test_clock;
pub mod transitions;
mod unusual_amount;
mod view;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules_page;
#[cfg(test)]
mod sample;

pub use auction::{
    Admission, Auction, AuctionKind, EXTENSION_SECONDS_DEFAULT, EXTENSION_SECONDS_MAX, InternetBids, WebcastPhase,
};
pub use bid::{AMOUNT_MAX, BidSource, minimum_bid};
pub use bid_log::{BIDS_MAX, BidLog, BidRecord, StrikeReason, Struck};
pub use bidder::{Bidder, RegistrationRef};
pub use cause::Cause;
pub use change::{AuctionChange, ItemChange};
pub use edit::AuctionEdit;
pub use hidden::Hidden;
pub use increments::IncrementTable;
pub use item::{BeforePass, InRing, Item, ItemCommand, LostBid, PendingBid, RingStatus, StandingBid};
pub use lifecycle::{AuctionCommand, ItemCounts, OpenBuyers};
pub use log::{LogHash, LogHead, Logged};
pub use paddle::{BIDDER_CHARS_MAX, known_paddle, paddle_problem};
pub use rejection::Rejection;
pub use results::{BASIS_POINTS_MAX, Charges, SaleResult};
pub use ring::{RingCommand, RingDecision};
pub use stagger::{Stagger, new_item_end};
pub use test_clock::{SaleMode, TestClock};
pub use unusual_amount::KnownAmount;
pub use view::{PublicBid, PublicItem};
